"""Comparing a certificate with the same game played again, line by line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from noregret.assumptions import Finding, Shown, Structural
from noregret.certificate import LINEAR, Certificate, Promise, number
from noregret.certificate_file import is_sealed
from noregret.certify import beside, within
from noregret.hindsight import Limits
from noregret.hindsight.answer import USUAL
from noregret.hindsight.witness import Paid
from noregret.theorem import REGRETS, Theorem
from noregret.verifying.verification import Line, Verification

# How far a figure that is computed again may be off, relatively: rounding on another machine.
TOLERANCE = 1e-9
# The same for figures that follow from others in the file by an addition or a division.
ROUNDING = 1e-14
# The same for figures that depend on where a search stopped, in favour of the certificate: what
# its file says of the search may only excuse figures that are worse than those found here.
SEARCHED = 10 * USUAL.tolerance
# A witness whose own loss rounding blurs by more than this share is none.
BLUR = 1e-6
TRAINED = "The learner was trained before this game, so these data alone cannot confirm it"


@dataclass(frozen=True)
class Replay:
    """A game played again.

    Parameters
    ----------
    game
        With the rows.
    stated, found
        The certificate to check, and the one of the game played again.
    theorem
        The one that was found to speak.
    limits
        How hard hindsight was searched.
    solver
        How far figures that depend on where a search stopped may be off, relatively.
    tolerance
        How far the loss may be.
    """

    game: Any
    stated: Certificate
    found: Certificate
    theorem: Theorem | None
    limits: Limits
    solver: float
    tolerance: float = TOLERANCE

    def evidence(self, answers: dict[Any, Any] | None = None) -> Any:
        """Return what was to be seen when the game was over."""
        return self.game.evidence(self.found.given, self.limits, answers)

    @property
    def blur(self) -> float:
        """The size of the sums that the loss is a difference of, where it is one."""
        return float(self.evidence().blur)


def compared(contents: Mapping[str, Any], replay: Replay) -> Verification:
    """Compare a certificate with the game played again."""
    sealed, regret = is_sealed(contents), list(hindsight(replay))
    lines = [
        same("format", contents["format"], replay.found.to_dict()["format"]),
        Line("seal", contents["seal"], "the same" if sealed else "another", sealed),
        *played(replay),
        *regret,
        *promise(replay, regret[-1]),
        *further(replay, regret[-1]),
    ]
    return Verification(tuple(lines), TOLERANCE, replay.solver)


def same(name: str, stated: Any, found: Any) -> Line:
    """Compare what must be the same."""
    return Line(name, stated, found, stated == found and type(stated) is type(found))


def are_close(
    stated: float | None, found: float | None, tolerance: float = TOLERANCE, size: float = 0.0
) -> bool:
    """Compare numbers, relatively to themselves or to a larger size."""
    if stated is None or found is None or not (math.isfinite(stated) and math.isfinite(found)):
        return stated == found
    return abs(stated - found) <= tolerance * max(abs(stated), abs(found), size)


def not_better(stated: float | None, found: float | None, replay: Replay) -> bool:
    """Compare bounds that were searched for: the stated one may be larger, if searched less."""
    tight = stated is not None and found is not None and stated < found
    return are_close(stated, found, min(SEARCHED, replay.solver) if tight else replay.solver)


def close(
    name: str,
    stated: float | None,
    found: float | None,
    tolerance: float = TOLERANCE,
    size: float = 0.0,
) -> Line:
    """Compare numbers."""
    return Line(name, stated, found, are_close(stated, found, tolerance, size))


def played(replay: Replay) -> Iterator[Line]:
    """Compare who played what, and what it cost."""
    stated, found = replay.stated, replay.found
    yield same("learner.name", stated.learner, found.learner)
    if stated.family != LINEAR:
        yield same("learner.family", stated.family, found.family)
    yield same("learner.params", dict(stated.params), dict(found.params))
    yield same("given", dict(stated.given), dict(found.given))
    for name in ("rounds", "features", "digest", "transforms"):
        yield same(f"data.{name}", getattr(stated.data, name), getattr(found.data, name))
    names = replay.game.feature_names
    numbered = names == [str(k) for k in range(len(names))]
    if stated.data.target is not None and (found.data.target is not None or numbered):
        note = "" if found.data.target is not None else "these data have no names of columns"
        named = same("data.target", stated.data.target, found.data.target)
        yield replace(named, note=note)
    yield same("loss.name", stated.loss.name, found.loss.name)
    total = cost(replay)
    yield total
    mean = stated.loss.total / stated.data.rounds
    yield close("loss.mean", stated.loss.mean, mean, ROUNDING).given(total)
    yield same("loss.mistakes", stated.loss.mistakes, found.loss.mistakes)


def cost(replay: Replay) -> Line:
    """Compare the loss."""
    stated, found = replay.stated.loss.total, replay.found.loss.total
    return close("loss.total", stated, found, replay.tolerance, replay.blur)


def hindsight(replay: Replay) -> Iterator[Line]:
    """Compare the best in hindsight and the regret."""
    stated, found = replay.stated.hindsight, replay.found.hindsight
    evidence = replay.evidence()
    known = evidence.is_proven(stated.comparator, found.comparator)
    yield Line("hindsight.class", stated.comparator, found.comparator, known)
    yield same("hindsight.exact", stated.exact, found.exact)
    names, features = sorted(stated.witness), sorted(replay.game.feature_names)
    counted = f"{len(names)} weights", f"{len(features)} features"
    member = evidence.is_within(stated.witness, stated.comparator)
    note = "" if member or names != features else "not of the class"
    witness = Line("hindsight.witness", *counted, member, note)
    yield witness
    own, there = (
        Paid(*(evidence.paid_by(best.witness, best.comparator) or (math.nan, 0.0)))
        for best in (stated, found)
    )
    size = max(abs(stated.loss), abs(own.loss))
    slack = TOLERANCE * size + own.rounding + there.rounding
    # A solver adds its own rounding to what it states: as much as it adds here.
    added = 2 * max(0.0, found.loss - there.loss) + own.by_sums
    pays = -slack <= stated.loss - own.loss <= slack + added
    note = "what the witness pays"
    if own.rounding > max(BLUR * max(abs(own.loss), abs(found.loss)), 100 * there.rounding):
        pays, note = False, "weights so large that rounding hides what the witness pays"
    upper = Line("hindsight.loss", stated.loss, number(own.loss), pays, note).given(witness)
    lower = lower_end(replay, there.rounding, there.by_sums)
    yield from (upper, lower)
    total, regret = replay.stated.loss.total, replay.stated.regret
    paid = cost(replay)
    size = abs(total) + abs(stated.loss) + (number(stated.gap) or 0.0)
    least, most = total - stated.loss, total - (stated.loss - stated.gap)
    yield close("regret.lower", regret.lower, least, ROUNDING, size).given(paid, upper)
    yield close("regret.upper", regret.upper, most, ROUNDING, size).given(paid, lower)


def lower_end(replay: Replay, rounding: float, by_sums: float) -> Line:
    """Check that no predictor of the class pays less than stated: by what is proven now.

    ``rounding`` and what sums may lose are those of the witness found now: nothing stated may
    loosen this. Sums only widen a gap.
    """
    stated, found = replay.stated.hindsight, replay.found.hindsight
    claimed, proven = stated.loss - stated.gap, found.loss - found.gap
    size = max(abs(found.loss), abs(proven))
    slack = TOLERANCE * size + min(found.gap, SEARCHED * size) + rounding
    true = claimed <= proven + slack and stated.loss >= proven - slack
    if stated.exact:  # then the gap is rounding, and hides nothing better
        true = true and stated.gap <= found.gap + slack + SEARCHED * size + 2 * by_sums
    return Line("hindsight.gap", stated.gap, found.gap, true, "none of the class pays less")


def promise(replay: Replay, regret: Line) -> Iterator[Line]:
    """Compare the theorem's part; where it bounds the regret, that follows from its line."""
    stated, found = replay.stated.theorem, replay.found.theorem
    yield same("theorem.name", stated and stated.name, found and found.name)
    if stated is None or found is None or replay.theorem is None or stated.name != found.name:
        return
    yield from one_promise("theorem", replay, regret, stated, found, replay.theorem)


def further(replay: Replay, regret: Line) -> Iterator[Line]:
    """Compare the promises beside the theorem's."""
    stated, found = replay.stated.further, replay.found.further
    if stated or found:
        yield same("further", [each.name for each in stated], [each.name for each in found])
    known = {theorem.name: theorem for theorem in beside(replay.game.learner)}
    for k, (said, is_so) in enumerate(zip(stated, found, strict=False), 1):
        if said.name == is_so.name:
            theorem = known[said.name]
            yield from one_promise(f"further.{k}", replay, regret, said, is_so, theorem)


def one_promise(
    where: str, replay: Replay, regret: Line, stated: Promise, found: Promise, theorem: Theorem
) -> Iterator[Line]:
    """Compare a promise with the same one found again."""
    yield same(f"{where}.quantity", stated.quantity, found.quantity)
    yield from assumptions(where, replay, stated, found, theorem)
    searched = is_searched_for(replay, theorem, found)
    agree = not_better(stated.bound, found.bound, replay) if searched else None
    bound = close(f"{where}.bound", stated.bound, found.bound, size=replay.blur)
    bound = bound if agree is None else replace(bound, confirmed=agree)
    measured = close(f"{where}.measured", stated.measured, found.measured, size=replay.blur)
    if stated.quantity in REGRETS:
        upper = number(replay.stated.regret.upper)
        measured = close(f"{where}.measured", stated.measured, upper, ROUNDING).given(regret)
    yield from (bound, measured)
    holds = same(f"{where}.holds", stated.holds, verdict(replay.stated, stated))
    decided = stated.holds is not None and found.holds is not None
    if decided and stated.holds != found.holds:  # a bound within tolerance decides the question
        holds = replace(holds, found=found.holds, confirmed=False)
    yield holds.given(bound, measured)


def assumptions(
    where: str, replay: Replay, stated: Promise, found: Promise, theorem: Theorem
) -> Iterator[Line]:
    """Compare every assumption; the first is the one that all theorems share."""
    here, there = stated.assumptions, found.assumptions
    yield same(f"{where}.assumptions", len(here), len(there))
    kinds = [None, *(a for a in theorem.assumptions if not isinstance(a, Structural))]
    for k, (said, is_so) in enumerate(zip(here, there, strict=False), 1):
        kind = kinds[k - 1] if k <= len(kinds) else None
        # What is searched for here is a margin: a larger one is the better claim.
        shown = isinstance(kind, Shown) and said.measured is not None and is_so.measured is not None
        agree = (
            (said.name, said.holds, said.first_violation)
            == (is_so.name, is_so.holds, is_so.first_violation)
            and are_close(said.limit, is_so.limit)
            and (
                not_better(-(said.measured or 0.0), -(is_so.measured or 0.0), replay)
                if shown
                else are_close(said.measured, is_so.measured)
            )
        )
        trained = k == 1 and bool(said.measured)
        note = TRAINED if trained else ""
        yield Line(f"{where}.assumptions.{k}", in_words(said), in_words(is_so), agree, note)


def in_words(found: Finding) -> str:
    """Write an assumption down in full."""
    parts = [found.name]
    parts += [] if found.limit is None else [f"limit {found.limit:.12g}"]
    parts += [] if found.measured is None else [f"measured {found.measured:.12g}"]
    parts += [{True: "held", False: "not held", None: "not known"}[found.holds]]
    first = found.first_violation
    return ", ".join(parts) + ("" if first is None else f", first in round {first}")


def verdict(stated: Certificate, promise: Promise) -> bool | None:
    """Return whether the stated figures are within the stated bound."""
    if promise.bound is None:
        return None
    low = high = math.nan if promise.measured is None else promise.measured
    if promise.quantity in REGRETS:
        low, high = stated.regret.lower, stated.regret.upper
    return within(low, high, promise.bound, stated.loss.total)


class Asked(dict[Any, Any]):
    """Answers of hindsight that note whether one that is no closed form was asked for."""

    searched = False

    def __getitem__(self, key: Any) -> Any:
        answer = super().__getitem__(key)
        self.searched |= not getattr(answer, "exact", False)
        return answer


def is_searched_for(replay: Replay, theorem: Theorem, found: Promise) -> bool:
    """Whether the bound depends on where a search stopped; all answers are in memory."""
    asked = Asked(replay.game.answers)
    if theorem.bound is not None and found.bound is not None:
        theorem.bound(replay.evidence(asked))
    return asked.searched
