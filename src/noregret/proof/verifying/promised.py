"""The rules for a theorem's promise: its bound, its quantity and its assumptions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

from noregret.proof.certificates.certificate import Certificate, Promise, number
from noregret.proof.certificates.issue import beside, rounding_of, within
from noregret.proof.theorems import searched
from noregret.proof.theorems.assumptions import Assumption, Shown, Structural
from noregret.proof.theorems.theorem import OLD_QUANTITIES, REGRETS, Theorem
from noregret.proof.verifying.comparing import (
    ROUNDING,
    SEARCHED,
    are_close,
    are_equal,
    close,
    is_between,
    same,
)
from noregret.proof.verifying.judging import Judge, Replay, Rule
from noregret.proof.verifying.played import TRAINED, equal, is_as_stated
from noregret.proof.verifying.verification import Line

HELD = {True: "held", False: "not held", None: "not known"}


def quantity(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Compare the names of the bounded quantity, which may be an old one."""
    return same(path, OLD_QUANTITIES.get(stated, stated), found)


def bound(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Compare the bound; one from a shorter search may be larger."""
    replay, theorem = judge.replay, theorem_of(judge, path)
    line = close(path, stated, found)
    if line.confirmed or found is None or theorem is None or theorem.bound is None:
        return line
    if stated is None and replay.stopped and is_searched(replay, theorem.bound):
        return replace(line, confirmed=True, note="not claimed, as time ran out")
    if is_from_sums(judge, path, stated, found):
        return replace(line, confirmed=True, note="from sums over the rows alone")
    if stated is None or not is_searched(replay, theorem.bound):
        return line
    if are_close(stated, found, SEARCHED) or (replay.cut_short and stated > found):
        return replace(line, confirmed=True)
    return replace(line, confirmed=explains(judge, path, stated, found))


def is_from_sums(judge: Judge, path: str, stated: float | None, found: float) -> bool:
    """Return whether a bound, or a missing one, is that of sums without rows."""
    by_sums = None if judge.replay.by_sums is None else promise_at(judge.replay.by_sums, path)
    if by_sums is None or by_sums.bound is None or stated is None:
        return by_sums is not None and by_sums.bound is stated
    ends = found, found + 2 * (by_sums.bound - found)
    return min(ends) <= stated <= max(ends)


def explains(judge: Judge, path: str, stated: float, found: float) -> bool:
    """Return whether a bound lies between those of a longer search and of the stated one.

    A longer search may give a larger bound, as it minimises the loss and not the bound.
    """
    again = promise_at(judge.replay.again, path)
    return again is not None and is_between(stated, found, again.bound)


def promise_at(certificate: Certificate, path: str) -> Promise | None:
    """Return the promise of a path."""
    if path.startswith("theorem."):
        return certificate.theorem
    at = int(path.split(".")[1]) - 1
    return certificate.further[at] if at < len(certificate.further) else None


def theorem_of(judge: Judge, path: str) -> Theorem | None:
    """Return the theorem of a path."""
    if path.startswith("theorem."):
        return judge.replay.theorem
    _, found = judge.promises(path)
    known = {theorem.name: theorem for theorem in beside(judge.replay.game.learner)}
    return known.get(found.name)


def measured(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Compare the bounded quantity; a regret has a line of its own."""
    said, _ = judge.promises(path)
    if said.quantity in REGRETS:
        upper = number(judge.replay.stated.regret.upper)
        return close(path, stated, upper, ROUNDING).given(judge.line("regret.upper"))
    line = close(path, stated, found)
    if line.confirmed or None in (stated, found) or not is_as_stated(judge.replay, stated, found):
        return line
    return replace(line, confirmed=True)


def holds(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Compare the verdict with the stated figures, and with the one found."""
    said, _ = judge.promises(path)
    theorem = theorem_of(judge, path)
    rounding = 0.0 if theorem is None else rounding_of(theorem, judge.replay.evidence())
    line = same(path, stated, verdict(judge.replay.stated, said, rounding))
    # The verdict depends on a tolerance; time that ran out may hide one, but no broken promise.
    if found is not None and stated != found and (stated is not None or not found):
        line = replace(line, found=found, confirmed=False)
    before = path.rpartition(".")[0]
    return line.given(judge.line(f"{before}.bound"), judge.line(f"{before}.measured"))


def verdict(stated: Certificate, promise: Promise, rounding: float) -> bool | None:
    """Return whether the stated figures are within the stated bound, up to rounding."""
    if promise.bound is None:
        return None
    low = high = math.nan if promise.measured is None else promise.measured
    if promise.quantity in REGRETS:
        low, high = stated.regret.lower, stated.regret.upper
    return within(low, high, promise.bound, stated.loss.total, rounding)


# What a theorem assumes.


def assumption(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Compare an assumption with all its parts; the first is common to all theorems."""
    at = int(path.rpartition(".")[2]) - 1
    agree = agrees(judge, path, stated, found)
    if not agree and not judge.replay.stated.hindsight.exact:
        by_sums = None if judge.replay.by_sums is None else promise_at(judge.replay.by_sums, path)
        others = () if by_sums is None else by_sums.assumptions[at : at + 1]
        agree = any(agrees(judge, path, stated, asdict(other)) for other in others)
    note = TRAINED if at == 0 and stated["measured"] and not agree else ""
    return Line(path, in_words(stated), in_words(found), agree, note)


def agrees(judge: Judge, path: str, stated: Any, found: Any) -> bool:
    """Compare every part of an assumption."""
    if stated.keys() == found.keys() and is_unknown(judge, path, stated, found):
        return True
    return (
        stated.keys() == found.keys()
        and all(
            PARTS[key](judge, path, value, found[key]) if key in PARTS else False
            for key, value in stated.items()
        )
        and (are_close(stated["measured"], found["measured"]) or is_consistent(stated))
    )


def is_consistent(stated: Any) -> bool:
    """Return whether a searched value, the larger the better, agrees with its own verdict."""
    least, measured = stated["limit"], stated["measured"]
    return not stated["holds"] or None in (least, measured) or bool(measured >= least)


def is_unknown(judge: Judge, path: str, stated: Any, found: Any) -> bool:
    """Return whether an assumption is rightly stated as not known: its search ran out of time."""
    kind = kind_of(judge, path)
    if kind is None or stated["holds"] is not None or not judge.replay.stopped:
        return False
    least, most = stated["measured"], found["measured"]
    return (
        stated["name"] == found["name"]
        and are_close(stated["limit"], found["limit"])
        and stated["first_violation"] is None
        and (least is None or (most is not None and least <= most))
        and is_searched(judge.replay, kind.check)
    )


def is_first(judge: Judge, path: str, stated: Any, found: Any) -> bool:
    """Compare the first round that breaks an assumption; a stopped search may find a later one."""
    if are_equal(stated, found):
        return True
    kind = kind_of(judge, path)
    return (
        judge.replay.stopped
        and None not in (stated, found)
        and found < stated <= judge.replay.found.data.rounds
        and kind is not None
        and is_searched(judge.replay, kind.check)
    )


def is_same(judge: Judge, path: str, stated: Any, found: Any) -> bool:
    """Compare values that must be equal."""
    return are_equal(stated, found)


def is_near(judge: Judge, path: str, stated: Any, found: Any) -> bool:
    """Compare numbers."""
    return are_close(stated, found)


def is_measured(judge: Judge, path: str, stated: Any, found: Any) -> bool:
    """Compare the measured value; a searched one may be a weaker bound on a margin.

    That is a smaller lower bound if the assumption holds, a larger upper bound if it does not.
    """
    if are_close(stated, found):
        return True
    kind = kind_of(judge, path)
    if kind is None or None in (stated, found) or not is_searched(judge.replay, kind.check):
        return False
    if are_close(stated, found, SEARCHED):
        return True
    at = int(path.rpartition(".")[2]) - 1
    known = judge.promises(path)[1].assumptions[at]
    weaker = stated > found if known.holds is False else 0 < stated < found
    if weaker and judge.replay.cut_short and known.name.startswith("margin"):
        return True
    again = promise_at(judge.replay.again, path)
    if again is None or at >= len(again.assumptions):
        return False
    return is_between(stated, found, again.assumptions[at].measured)


def kind_of(judge: Judge, path: str) -> Assumption | None:
    """Return the assumption at an index, if it is checked after the game."""
    theorem, at = theorem_of(judge, path), int(path.rpartition(".")[2]) - 1
    if theorem is None or at == 0:
        return None
    kinds = [kind for kind in theorem.assumptions if not isinstance(kind, Structural)]
    kind = kinds[at - 1] if at <= len(kinds) else None
    return kind if isinstance(kind, Shown) else None


# Names of assumptions in certificates of 0.1.0, and those of today.
RENAMED = {
    "rounds that no AND of literals fits": "rounds that the best AND found does not fit",
    "rounds that no OR of features fits": "rounds that the best OR found does not fit",
}
PARTS: dict[str, Callable[[Judge, str, Any, Any], bool]] = {
    "name": lambda judge, path, stated, found: RENAMED.get(stated, stated) == found,
    "limit": is_near,
    "measured": is_measured,
    "holds": is_same,
    "first_violation": is_first,
}


def in_words(finding: Mapping[str, Any]) -> str:
    """Return an assumption as text."""
    parts = [str(finding["name"])]
    for name in ("limit", "measured"):
        parts += [] if finding[name] is None else [f"{name} {finding[name]:.12g}"]
    first = finding["first_violation"]
    parts += [HELD[finding["holds"]], *([] if first is None else [f"first in round {first}"])]
    return ", ".join(parts)


def is_searched(replay: Replay, ask: Callable[[Any], Any]) -> bool:
    """Return whether a figure depends on where a search stopped; all answers are cached."""
    return searched.is_searched(replay.evidence, replay.game.answers, ask)


def rules_of(part: str) -> dict[str, Rule]:
    """Return the rules of the promise at a path."""
    return {
        f"{part}.name": equal,
        f"{part}.quantity": quantity,
        f"{part}.measured": measured,
        f"{part}.bound": bound,
        f"{part}.holds": holds,
        f"{part}.assumptions.*": assumption,
    }
