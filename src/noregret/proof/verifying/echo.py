"""Verify the certificate of an echo canceller by replaying the recordings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from noregret.base.model_file import UNUSABLE
from noregret.base.numbers import count
from noregret.echo.canceller import Canceller
from noregret.echo.certifying import ROUNDING, CancellerGame
from noregret.echo.sound import look_over, reading
from noregret.errors import CertificateError, NoRegretError
from noregret.hindsight.proofs.answer import USUAL
from noregret.proof.certificates.certificate import Certificate
from noregret.proof.verifying.comparing import MISSING, close, same
from noregret.proof.verifying.confirm import RULES, compared
from noregret.proof.verifying.judging import Judge, Replay, Rule
from noregret.proof.verifying.verification import Line, Verification

# Relative tolerance of the loss: it depends on recursive sums in single precision, which processors
# with fused multiply-add round differently.
SINGLE = 1e-5


def rebuilt_canceller(stated: Certificate) -> Canceller:
    """Return a new canceller with the certificate's parameters, which keeps its signals."""
    if stated.learner != "canceller":
        raise CertificateError(f"learner: there is no {stated.learner!r} of the family ‘echo’")
    try:
        made = Canceller(**stated.params, certify=True)
    except UNUSABLE as error:
        raise CertificateError(f"learner: {error}") from None
    if made.channels > 1:
        raise CertificateError(
            f"learner: channels: certificates are for a far end of one channel: got {made.channels}"
        )
    return made


def verify_canceller(
    contents: Mapping[str, Any], stated: Certificate, canceller: Canceller, data: Any
) -> Verification:
    """Play two recordings, as files or as arrays, and compare every figure."""
    if not isinstance(data, list | tuple) or len(data) != 2:
        got = len(data) if isinstance(data, list | tuple) else 1
        raise NoRegretError(
            "the certificate of a canceller is of two recordings, that of the far end and then that"
            f" of the microphone: got {got}"
        )
    far, mic = data
    if isinstance(far, str | Path) and isinstance(mic, str | Path):
        play_files(canceller, str(far), str(mic), stated.data.digest)
    else:
        canceller.process_many(far, mic)
    if not canceller.kept.samples:
        raise NoRegretError("there are no samples in the microphone's recording")
    game = CancellerGame(canceller)
    found = game.certificate()
    replay = Replay(game, stated, found, None, USUAL, lambda: found, lambda: found, SINGLE)
    with np.errstate(all="ignore"):  # stated weights may be huge
        return compared(contents, replay, ECHO_RULES)


def play_files(canceller: Canceller, far: str, mic: str, digest: str) -> None:
    """Play sound files as ‘noregret echo’ does; of several channels, the one with the digest."""
    said, heard = look_over(far), look_over(mic)
    if said.channels > 1:
        raise NoRegretError(
            f"{count(said.channels, 'channel')}: the certificate is for a far end of one channel",
            file=far,
        )
    for channel in range(1, heard.channels + 1):
        canceller.reset()
        one = look_over(mic, channel)
        with reading(said, canceller.rate) as left, reading(one, canceller.rate, channel) as right:
            size = min(right.frames, canceller.kept.most)
            mic_read = right.read(size)[:, 0] * (0.0 if one.silent else 1.0)
            canceller.process_many(left.read(size)[:, 0], mic_read)
        if canceller.kept.digest == digest:
            return


def none_of_it(judge: Judge, path: str, stated: Any, found: Any) -> Line | None:
    """Refuse options that a canceller does not have."""
    return None if stated is MISSING else Line(path, stated, "left out", False)


def measured(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Compare the promise's quantity with the stated loss."""
    total = judge.replay.stated.loss.total
    return close(path, stated, total).given(judge.line("loss.total"))


def holds(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Compare the verdict with the one found, and with the stated figures."""
    said, _ = judge.promises(path)
    own = (
        said.measured is not None
        and said.bound is not None
        and said.measured <= said.bound * (1 + ROUNDING)
    )
    line = same(path, stated, found)
    if stated != own:  # it contradicts its own figures
        line = replace(line, found=own, confirmed=False)
    return line.given(judge.line("theorem.bound"), judge.line("theorem.measured"))


ECHO_RULES: dict[str, Rule] = {
    **RULES,
    "data.target": none_of_it,
    "hindsight.seconds": none_of_it,
    "hindsight.tolerance": none_of_it,
    "theorem.measured": measured,
    "theorem.holds": holds,
}
