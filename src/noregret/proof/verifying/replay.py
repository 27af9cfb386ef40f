"""Verify a certificate: replay the game from the data, and compare every figure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.base.model_file import UNUSABLE, load
from noregret.base.params import is_python, plain_params, restored
from noregret.base.registry import built_again, find
from noregret.errors import BadExample, CertificateError, NoRegretError, Use, WrongUsage
from noregret.hindsight import Limits
from noregret.hindsight.proofs.answer import USUAL
from noregret.linear.groups import Groups
from noregret.linear.learner import Learner
from noregret.proof.certificates.certifiable import Certifiable
from noregret.proof.certificates.certificate import LOOSEST, TIGHTEST, Certificate, Played
from noregret.proof.certificates.file import certificate_of, checked, read_contents
from noregret.proof.certificates.issue import beside, candidates
from noregret.proof.game.group_game import GroupGame
from noregret.proof.game.late_game import FIELD, LateGame, events_of, field_of, plain_of, take_raw
from noregret.proof.game.shards import Sharded
from noregret.proof.theorems.averaging import averaged
from noregret.proof.theorems.theorem import REGRETS
from noregret.proof.verifying.comparing import SEARCHED, TOLERANCE, are_close
from noregret.proof.verifying.confirm import compared
from noregret.proof.verifying.judging import Replay
from noregret.proof.verifying.limits import check_limits
from noregret.proof.verifying.parts import Player, files_with, play_rows
from noregret.proof.verifying.verification import Verification
from noregret.streams import Stream, stream_of
from noregret.streams.addresses import shown
from noregret.streams.options import Options

if TYPE_CHECKING:
    from noregret.base.compiled.losses import Loss

# The tolerance of the search in hindsight, relative to the certificate's.
TOLERANCE_FACTOR = 0.1
# The same of a search for a lower end that this one does not prove, and its time in seconds.
FINER, FINER_SECONDS = 1e-3, 10.0
ECHO = "echo"
UNTRAINED = (
    "it is about a learner that was a trained model at the start, and a new one rejects these rows"
)
LEAVE_START_OUT = Use("start", text="leave {} out")
# A sum of losses in a state.
LOSS_PARTS = ("loss_sum", "loss_rest")
# A game's loss is told to this accuracy; no loss at all to this value.
TOLD = 1e-9
GIVE_START = Use("start", ..., "give the file of that model ({})")


def verify(
    certificate: Certificate | str | Path | Mapping[str, Any],
    data: Any,
    outcomes: Any = None,
    *,
    target: str | None = None,
    loss: Loss | None = None,
    format: str | None = None,
    keys: Any = None,
    start: Learner | str | Path | None = None,
) -> Verification:
    """Replay the game of a certificate, and return which of its figures are confirmed.

    Parameters
    ----------
    certificate
        A certificate, the path of its file, or the contents of the file.
    data
        A file that ``noregret.streams`` reads, or several, or anything that ``play`` takes. For an
        echo canceller, the far end and the microphone: two sound files, or two arrays at the
        certificate's rate.
    outcomes
        One outcome per row, for a table.
    target
        The column with the outcomes, for a file or a data frame; by default the one that the
        certificate names.
    loss
        The loss, for a learner with a custom loss: files have no code.
    format
        The format of the files, if their extensions do not tell.
    keys
        For a game of ``Groups``: the key of each row of a table. For files and data frames, the
        certificate names the columns.
    start
        The trained model that the learner started from, or its file, if the certificate names one.

    Raises
    ------
    CertificateError
        If the certificate is invalid.

    Examples
    --------
    >>> from noregret import WidrowHoff, play, verify
    >>> stream = [({"size": 1.0}, 2.0)] * 20
    >>> certificate = play(WidrowHoff(rate=0.5), stream).certificate()
    >>> verify(certificate, stream).confirmed
    True
    >>> verify(certificate, stream[1:]).confirmed
    False
    """
    return verified(certificate, data, outcomes, target, loss, format, keys, start)


def verified(
    certificate: Certificate | str | Path | Mapping[str, Any],
    data: Any,
    outcomes: Any = None,
    target: str | None = None,
    loss: Loss | None = None,
    format: str | None = None,
    keys: Any = None,
    start: Learner | str | Path | None = None,
    play: Player | None = None,
) -> Verification:
    """Verify a certificate; ``play`` replays its game in place of this process."""
    try:
        contents = contents_of(certificate, data)
        stated = certificate_of(contents)
        check_limits(stated, data)
        learner = rebuilt(stated, loss)
        if start is not None:
            learner = started(stated, learner, start, loss)
        check_further(stated, learner)
    except CertificateError as error:
        error.at(file=certificate if isinstance(certificate, str | Path) else None)
        raise
    if play is not None:
        check_shareable(stated)
    if stated.family == ECHO:
        from noregret.proof.verifying.echo import verify_canceller

        return verify_canceller(
            contents, stated, learner, data if outcomes is None else (data, outcomes)
        )
    if stated.groups is None and keys is not None:
        raise CertificateError("it is about one learner, not about groups", "leave keys out")
    keys = keys_of(stated, data) if keys is None else keys
    try:
        game = replayed(learner, data, outcomes, target, stated.data, format, keys, play)
    except BadExample as error:
        if stated.start is None or start is not None:
            raise
        raise CertificateError(UNTRAINED, GIVE_START) from error
    if start is not None:
        check_loss_since(game.loss, learner)
    with np.errstate(all="ignore"):  # stated weights may be huge
        return compared(contents, replay_of(stated, game, target, data))


def check_shareable(stated: Certificate) -> None:
    """Refuse a certificate of which only one process can replay the game."""
    if stated.groups is None and not stated.data.parts:
        raise WrongUsage(
            f"this certificate is about one game of {stated.learner}, whose rows are played in"
            " order by one process: workers share those of shards, of groups, and of merged parts",
            Use("workers", text="leave {} out"),
        )


def contents_of(
    certificate: Certificate | str | Path | Mapping[str, Any], data: Any
) -> dict[str, Any]:
    """Return the contents of a certificate, whether or not they match its seal."""
    if isinstance(certificate, Certificate):
        return certificate.to_dict()
    if not isinstance(certificate, str | Path):
        return checked(certificate, sealed=False)
    try:
        return checked(read_contents(certificate), sealed=False)
    except CertificateError:
        last = data[-1] if is_files(data) and not isinstance(data, str | Path) else data
        if is_certificate(last):
            raise CertificateError(
                f"this is no certificate, but {last} is one",
                "the certificate comes first, then the data",
            ) from None
        raise


def is_certificate(path: Any) -> bool:
    """Return whether a path is that of a certificate."""
    try:
        if not isinstance(path, str | Path) or not Path(path).is_file():
            return False
        return bool(checked(read_contents(path), sealed=False))
    except (OSError, CertificateError):
        return False


def rebuilt(stated: Certificate, loss: Loss | None) -> Any:
    """Return a new learner with the certificate's name and parameters."""
    if loss is not None and not any(map(is_python, stated.params.values())):
        raise CertificateError("its loss is not written in Python", "leave loss out")
    if stated.family == ECHO:
        from noregret.proof.verifying.echo import rebuilt_canceller

        return rebuilt_canceller(stated)
    try:
        params = {
            name: restored(name, value, loss, "noregret.verify(…, loss=…) in Python")
            for name, value in stated.params.items()
        }
        learner = built_again(find(stated.learner, stated.family), params)
        if stated.shards:
            if stated.averaged or stated.groups or len(stated.data.parts) != stated.shards:
                raise ValueError(f"shards: {stated.shards}, and data.parts lists others")
            return Sharded(learner)
        learner = averaged(learner) if stated.averaged else learner
        return learner if stated.groups is None else Groups(learner)
    except (NoRegretError, *UNUSABLE) as error:
        raise CertificateError(f"learner: {error}") from None


def started(
    stated: Certificate, learner: Any, start: Learner | str | Path, loss: Loss | None
) -> Learner:
    """Return the model that a game began with, which must be of the certificate's learner."""
    model = load(start, loss=loss) if isinstance(start, str | Path) else start.copy()
    same = isinstance(model, Learner) and type(model) is type(learner)
    if not same or plain_params(model) != plain_params(learner):
        raise CertificateError(
            f"it is about {learner!r}, and the model to start from is {model!r}",
            "give the model that it started from",
        )
    if not model.rounds:
        raise CertificateError("the model to start from has learned nothing", LEAVE_START_OUT)
    return model


def check_loss_since(loss: float, learner: Learner) -> None:
    """Refuse a model to start from whose own loss is so large that what comes after is lost in it.

    The loss of the game is the difference of the sums after and before it. A sum is a large and a
    small part, which may not hide each other.
    """
    numbers = learner.get_state()[1]
    parts = [value for name, value in numbers.items() if name.rpartition(".")[2] in LOSS_PARTS]
    largest = max(map(abs, [learner.total_loss, *parts]))
    if not math.ulp(largest) <= TOLD * (abs(loss) or 1.0):
        raise CertificateError(
            f"the model to start from comes to a loss of {largest:.3g}, beside which that of the"
            " game cannot be told"
        )


def check_further(stated: Certificate, learner: Any) -> None:
    """Refuse more promises than the learner makes, before it plays."""
    alone = stated.family != ECHO and stated.groups is None
    most = len(beside(learner)) if alone else 0
    if len(stated.further) > most:
        raise CertificateError(
            f"further: {len(stated.further):,} promises, and {stated.learner} makes {most}"
            " besides its theorem's"
        )


def replayed(
    learner: Any,
    data: Any,
    outcomes: Any,
    target: str | None,
    stated: Played,
    format: str | None,
    keys: Any = None,
    play: Player | None = None,
) -> Any:
    """Play the data; files are read with the certificate's options."""
    play = play or play_rows
    if (field := field_of(stated.transforms)) is not None:
        return replayed_late(learner, data, target or stated.target or "y", field, stated)
    if not is_files(data):
        has_columns = hasattr(data, "columns") or hasattr(data, "column_names")
        if not has_columns and not isinstance(data, Stream):
            target = None
        elif target is None and outcomes is None and has_columns:
            target = stated.target
        try:
            return play(learner, stated.parts, data, outcomes, target, keys)
        except (NoRegretError, TypeError):
            raise
        except UNUSABLE as error:
            raise CertificateError(f"learner: {error}") from None
    try:
        options = replace(
            Options.of(stated.transforms, target or stated.target, sniff=False),
            format=format,
            passed=keys or (),
        )
    except ValueError as error:
        raise CertificateError(f"data: transforms: {error}") from None
    try:
        game = play(learner, stated.parts, stream_of(data, options), None, None, keys)
        if not game.rounds:
            raise NoRegretError("there are no examples in it")
    except NoRegretError as error:
        error.at(file=shown(data if isinstance(data, str | Path) else data[0]))
        raise
    except UNUSABLE as error:  # parameters that do not fit the data
        raise CertificateError(f"learner: {error}") from None
    return game


def keys_of(stated: Certificate, data: Any) -> tuple[str, ...] | None:
    """Return the columns with the keys of groups, if a certificate names them."""
    named = hasattr(data, "columns") or hasattr(data, "column_names")
    if stated.groups is None or not (named or is_files(data)):
        return None
    if not stated.groups.columns:
        raise CertificateError(
            "it does not name the column with the keys of its groups", "give keys, one per row"
        )
    return stated.groups.columns


def replayed_late(learner: Any, data: Any, target: str, field: str, stated: Played) -> Any:
    """Play predictions and outcomes of files in the order in which they came."""
    if not is_files(data) or not isinstance(learner, Learner):
        raise CertificateError(
            "its outcomes came late", "verify it with the file of events that the service exports"
        )
    paths = [data] if isinstance(data, str | Path) else list(data)
    try:
        if not learner.rounds:  # else it knows how
            take_raw(learner, stated.transforms)
        game = LateGame(learner, field, plain_of(stated.transforms))
    except ValueError as error:
        raise CertificateError(f"data: transforms: {error}") from None
    game.describe((), target)
    try:
        game.play_events(events_of(paths, field, target))
        if not game.rounds:
            raise NoRegretError("there are no examples in it")
    except NoRegretError as error:
        error.at(file=shown(paths[0]))
        raise
    # Services state the usual field also if all outcomes came at once.
    if field != FIELD and not game.joined:
        raise CertificateError(f"data: transforms: no line has the field {field!r}")
    return game


def is_files(data: Any) -> bool:
    """Return whether data are the path of a file, or of several."""
    if isinstance(data, list | tuple):
        return bool(data) and all(isinstance(path, str | Path) for path in data)
    return isinstance(data, str | Path)


def promises_left_open(stated: Certificate) -> int | None:
    """Return the keys that met a theorem's assumptions, if time ran out before the others."""
    groups = stated.groups
    if groups is None or groups.theorem is None or groups.hindsight.seconds is None:
        return None
    return groups.theorem.keys if groups.theorem.bound is None else None


def replay_of(
    stated: Certificate, game: Certifiable, target: str | None = None, data: Any = None
) -> Replay:
    """Return the certificate of the replay, with a longer search in hindsight.

    For rows without columns, ``target`` is the name of the outcomes. ``data`` are those played.
    """
    told = stated.hindsight.tolerance or USUAL.tolerance
    # A loose certificate is compared with the result of a full search.
    tolerance = max(TIGHTEST, TOLERANCE_FACTOR * min(told, USUAL.tolerance))
    limits = Limits(tolerance, margin=0.0)
    promise = stated.theorem if stated.groups is None else stated.groups.theorem
    name, given = None if promise is None else promise.name, dict(stated.given)
    try:
        candidates(game.learner, name)
    except ValueError:  # no theorem of this learner: the line of its name shows that
        name = None

    def certified(game: Certifiable, limits: Limits) -> Certificate:
        try:
            found = game.certificate(name, limits=limits, **given)
        except UNUSABLE as error:
            raise CertificateError(f"given: {error}") from None
        named = found.data.target or target
        return replace(found, data=replace(found.data, target=named))

    if isinstance(game, GroupGame):
        game.patient = True
        game.promises_wanted = promises_left_open(stated)
    found, outdone = certified(game, limits), False
    if (other := game.restated(stated.hindsight.witness)) is not None:
        restated = certified(other, limits)
        outdone = not is_as_good(stated, restated, found, game.loss_by_sums)
        if not outdone:
            game, found = other, restated
    theorem = None if found.theorem is None else candidates(game.learner, found.theorem.name)[0]
    finer = replace(
        limits, tolerance=max(TIGHTEST, FINER * limits.tolerance), seconds=FINER_SECONDS
    )
    as_told = Limits(tolerance=min(max(told, TIGHTEST), LOOSEST))

    def from_sums() -> Certificate | None:
        try:
            other = game.from_sums()
            return None if other is None else other.certificate(name, limits=limits, **given)
        except (NoRegretError, *UNUSABLE):
            return None

    return Replay(
        game,
        stated,
        found,
        theorem,
        limits,
        lambda: certified(game, as_told),
        lambda: certified(game, finer),
        outdone=outdone,
        from_sums=from_sums,
        files_of=files_with(data, stated.data),
    )


def is_as_good(
    stated: Certificate,
    restated: Certificate,
    found: Certificate,
    loss_by_sums: Callable[[], float],
) -> bool:
    """Return whether stated weights are as good as those that the method finds.

    Their loss is at most that of the method's own weights; or, if the certificate is not exact, of
    weights computed from sums over the rows. If the theorem is about another quantity, this and the
    loss are nearly those of the method's own weights, and the mistakes are the same.
    """
    here, there = restated.theorem, found.theorem
    if here is not None and there is not None and here.quantity not in REGRETS:
        both = (here.measured, there.measured), (restated.loss.total, found.loss.total)
        return (
            here.holds == there.holds
            and restated.loss.mistakes == found.loss.mistakes
            and all(are_close(*pair, SEARCHED) for pair in both)
        )
    excess = restated.loss.total - found.loss.total * (1 + TOLERANCE)
    excess -= restated.hindsight.loss - restated.loss.total  # rounding
    if stated.hindsight.exact:
        return excess <= 0
    return excess <= 0 or excess <= (1 + SEARCHED) * (loss_by_sums() - found.loss.total)
