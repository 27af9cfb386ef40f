"""The rules for the learner, the data and the loss."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from noregret.proof.certificates.file import is_sealed
from noregret.proof.verifying.comparing import (
    MISSING,
    ROUNDING,
    TOLERANCE,
    close,
    is_number,
    same,
)
from noregret.proof.verifying.judging import Judge, Replay, Rule
from noregret.proof.verifying.verification import Line

TRAINED = "The learner was trained before this game: give the model that it started from (--start)"

UNNAMED = "it does not say that the learner was trained before"


def equal(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Compare values that must be equal."""
    return same(path, stated, found)


def sealed(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Check that the seal matches the contents."""
    intact = is_sealed(judge.stated)
    note = "" if intact else "does not match the contents of the file"
    return Line(path, stated, stated, intact, note)


def start(judge: Judge, path: str, stated: Any, found: Any) -> Line | None:
    """Compare the model that the learner started from.

    Older certificates do not name it, but those with a theorem tell the rounds learned before.
    """
    if stated is MISSING and (found is MISSING or judge.replay.stated.theorem is not None):
        return None
    if stated is MISSING:
        return Line(path, "untrained", f"after {found['rounds']:,} rounds", False, UNNAMED)
    told = f"{stated['digest']} after {stated['rounds']:,} rounds"
    if found is MISSING:
        return Line(path, told, "untrained", False, TRAINED)
    return same(path, told, f"{found['digest']} after {found['rounds']:,} rounds")


def target(judge: Judge, path: str, stated: Any, found: Any) -> Line | None:
    """Compare the column that held the outcomes."""
    if (
        stated is MISSING
    ):  # a game of pairs or arrays has no column name, even if they are in a file now
        return None
    note = "these data do not name the column of their outcomes" if found is MISSING else ""
    return replace(same(path, stated, found), note=note)


def cost(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Compare the loss."""
    line = close(path, stated, found, judge.replay.tolerance)
    if line.confirmed:
        return line
    if not is_as_stated(judge.replay, stated, found):
        return replace(line, note=rule_changed(judge))
    return replace(line, confirmed=True, note="but for rounding")


def rule_changed(judge: Judge) -> str:
    """Return why an untouched certificate of these data differs, if its learner has changed."""
    since = getattr(judge.replay.game.learner, "_rule_since", "")
    if not since or not is_sealed(judge.stated) or not judge.line("data.digest").confirmed:
        return ""
    name = judge.stated["learner"]["name"]
    return (
        f"The learner {name} has another rule since {since}: a certificate that was made before"
        " cannot be confirmed by this version; make it again"
    )


def is_as_stated(replay: Replay, stated: float, found: float) -> bool:
    """Return whether a loss differs only by the rounding of the rows."""
    return abs(stated - found) <= TOLERANCE * abs(found) + replay.evidence().loss_rounding


def part(judge: Judge, path: str, stated: Any, found: Any) -> Line | None:
    """Compare a part of the data; there is a line only for one that is not confirmed."""
    if stated == found:
        return None
    number = int(path.rpartition(".")[2])
    parts = judge.replay.stated.data.parts
    first = 1 + sum(part.rounds for part in parts[: number - 1])
    where = f"rows {first:,} to {first + parts[number - 1].rounds - 1:,}"
    if files := judge.replay.files_of(first, parts[number - 1].rounds):
        where += f" ({', '.join(files)})"
    return Line(path, stated["digest"], found["digest"], False, f"{where} have changed")


def mean(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Compare the mean loss with the stated total and rounds."""
    own = judge.replay.stated.loss.total / judge.replay.stated.data.rounds
    return close(path, stated, own, ROUNDING).given(
        judge.line("loss.total"), judge.line("data.rounds")
    )


def mistakes(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Compare mistakes: counts exactly, their expectation to rounding."""
    if isinstance(found, float) and is_number(stated):
        return close(path, stated, found)
    return same(path, stated, found)


# Reading options (data.transforms) are confirmed if the file, read with them, has the digest. One
# that changes nothing for this file, such as on-error=skip without a skipped row, may have been
# given or not: the certificate is true of the file either way.
EXACTLY: tuple[str, ...] = (
    *("format", "given", "loss.name"),
    *(f"learner.{name}" for name in ("name", "params", "averaged", "family", "shards")),
    *(f"data.{name}" for name in ("rounds", "features", "digest", "transforms")),
)
RULES: dict[str, Rule] = {
    **dict.fromkeys(EXACTLY, equal),
    "seal": sealed,
    "learner.start": start,
    "data.target": target,
    "data.parts.*": part,
    "loss.total": cost,
    "loss.mean": mean,
    "loss.mistakes": mistakes,
}
