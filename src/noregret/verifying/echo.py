"""Checking the certificate of an echo canceller: the recordings are played through it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from noregret.certificate import Certificate
from noregret.certificate_file import is_sealed
from noregret.echo.canceller import Canceller
from noregret.echo.certifying import ROUNDING, FixedFilters, fixed_filters, kept
from noregret.echo.sound import look_over, reading
from noregret.errors import CertificateError, NoRegretError
from noregret.hindsight.answer import USUAL
from noregret.model_file import UNUSABLE
from noregret.report.figures import count
from noregret.verifying.confirm import Replay, close, hindsight, played, same
from noregret.verifying.verification import Line, Verification

# How far the loss may be off, relatively: it comes of sums in single precision that feed on each
# other, and which processors that multiply and add in one step round otherwise.
SINGLE = 1e-5


def rebuilt_canceller(stated: Certificate) -> Canceller:
    """Return a fresh canceller of the certificate's parameters, which keeps what it plays."""
    if stated.learner != "canceller":
        raise CertificateError(f"learner: there is no {stated.learner!r} of the family ‘echo’")
    try:
        made = Canceller(**stated.params, certify=True)
    except UNUSABLE as error:
        raise CertificateError(f"learner: {error}") from None
    if made.channels > 1:
        raise CertificateError(
            f"learner: channels: certificates are of a far end of one, got {made.channels}"
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
    said, heard, _ = kept(canceller)
    game = Heard(fixed_filters(canceller, said, heard))
    found = canceller.certificate()
    solver = 10 * USUAL.tolerance
    replay = Replay(game, stated, found, None, USUAL, solver, SINGLE)
    return Verification(tuple(compared(contents, replay)), SINGLE, solver)


def play_files(canceller: Canceller, far: str, mic: str, digest: str) -> None:
    """Play sound files, read as ‘noregret echo’ does; of several channels, that of the digest."""
    said, heard = look_over(far), look_over(mic)
    if said.channels > 1:
        raise NoRegretError(
            f"{far}: {count(said.channels, 'channel')}: the certificate is of a far end of one"
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


class Heard(NamedTuple):
    """A recording as ``confirm`` asks about it."""

    fixed: FixedFilters

    @property
    def feature_names(self) -> list[str]:
        """The lags of the filters."""
        return self.fixed.lags

    def evidence(self, *_: Any) -> FixedFilters:
        """Return what other filters would have left."""
        return self.fixed


def compared(contents: Mapping[str, Any], replay: Replay) -> Iterator[Line]:
    """Compare a certificate with the recordings played again."""
    stated, sealed = replay.stated, is_sealed(contents)
    regret = list(hindsight(replay))
    yield same("format", contents["format"], replay.found.to_dict()["format"])
    yield Line("seal", contents["seal"], "the same" if sealed else "another", sealed)
    paid = {line.name: line for line in played(replay) if line.name != "data.target"}
    yield from paid.values()
    yield from regret
    yield from promise(replay, paid["loss.total"])
    for name, value in (
        ("learner.averaged", stated.averaged or None),
        ("data.target", stated.data.target),
        ("hindsight.tolerance", stated.hindsight.tolerance),
        ("further", [each.name for each in stated.further] or None),
    ):
        if value is not None:  # a canceller has none of these
            yield Line(name, value, None, confirmed=False)


def promise(replay: Replay, paid: Line) -> Iterator[Line]:
    """Compare what was promised: that the microphone is never left louder."""
    stated, found = replay.stated.theorem, replay.found.theorem
    assert found is not None
    yield same("theorem.name", stated and stated.name, found.name)
    if stated is None:
        return
    yield same("theorem.quantity", stated.quantity, found.quantity)
    yield same("theorem.assumptions", len(stated.assumptions), len(found.assumptions))
    bound = close("theorem.bound", stated.bound, found.bound)
    measured = close("theorem.measured", stated.measured, replay.stated.loss.total).given(paid)
    yield from (bound, measured)
    own = (
        stated.measured is not None
        and stated.bound is not None
        and (stated.measured <= stated.bound * (1 + ROUNDING))
    )
    holds = same("theorem.holds", stated.holds, found.holds)
    if stated.holds != own:  # it contradicts its own figures
        holds = replace(holds, found=own, confirmed=False)
    yield holds.given(bound, measured)
