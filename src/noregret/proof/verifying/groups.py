"""The rules for games with one learner per key: the best predictor of each key, and the theorem.

A certificate has no witness per key. The interval that it states for the sum over the keys is
confirmed if the interval found now, whose ends are both proven, lies within it; and, unless time
had run out, if it is no wider than the search explains.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from noregret.hindsight.proofs.answer import EXACT_FIT
from noregret.limits import UNDERFLOW
from noregret.proof.certificates.certificate import number
from noregret.proof.certificates.groups import BestPerKey, Grouped
from noregret.proof.certificates.issue import within
from noregret.proof.game.best_per_key import ALL, UP_TO_A_NORM
from noregret.proof.game.group_game import GroupGame
from noregret.proof.theorems.theorem import REGRETS
from noregret.proof.verifying.comparing import (
    MISSING,
    ROUNDING,
    SEARCHED,
    TOLERANCE,
    are_close,
    close,
    same,
)
from noregret.proof.verifying.judging import Judge, Rule
from noregret.proof.verifying.played import equal
from noregret.proof.verifying.verification import Line

# The loss per round up to which nothing is left to search for.
FIT = 1e-6


def both(judge: Judge) -> tuple[Grouped, Grouped]:
    """Return the figures of groups, as stated and as found."""
    stated, found = judge.replay.stated.groups, judge.replay.found.groups
    assert stated is not None
    assert found is not None
    return stated, found


def bests(judge: Judge) -> tuple[BestPerKey, BestPerKey]:
    """Return the best predictors per key, as stated and as found."""
    stated, found = both(judge)
    return stated.hindsight, found.hindsight


def size_of(best: BestPerKey) -> float:
    """Return the size of the ends of what was found."""
    return max(abs(best.loss), abs(best.loss - best.gap) if math.isfinite(best.gap) else 0.0)


def rounding_of(judge: Judge, best: BestPerKey) -> float:
    """Return by how much an end may contradict what is proven: by rounding alone."""
    fit = EXACT_FIT * (judge.replay.evidence().energy or 0.0) + UNDERFLOW
    return TOLERANCE * size_of(best) + fit


def slack_of(judge: Judge, best: BestPerKey) -> float:
    """Return by how much less may be found or proven: rounding, or where the searches stopped.

    Where rounding ended the search of a key, another may end anywhere; all it claims must be true.
    """
    size = size_of(best)
    nothing = FIT * judge.replay.found.data.rounds
    if best.gap > SEARCHED * max(size, nothing) + rounding_of(judge, best):
        return math.inf
    stopped = min(best.gap, SEARCHED * size) if best.exact else SEARCHED * size
    return rounding_of(judge, best) + stopped


def classes(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Compare the class; of a larger one than is stated, the same is proven."""
    line = same(path, stated, found)
    if stated == UP_TO_A_NORM and found == ALL:
        return replace(line, confirmed=True, note="proven for all")
    return line


def loss(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Check that the best predictors may pay the stated sum, and not much less.

    Both intervals contain the true sum, so they overlap.
    """
    said, best = bests(judge)
    if stated < min(0.0, best.loss) or stated < best.loss - best.gap - rounding_of(judge, best):
        return Line(path, stated, found, False, "no predictors have so little loss")
    if said.seconds is None and stated > best.loss + slack_of(judge, best):
        return Line(path, stated, found, False, "better predictors were found")
    return Line(path, stated, found, True, "sum over the keys")


def gap(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Check the stated lower limit against the predictors found and the limit proven now."""
    said, best = bests(judge)
    if math.isinf(said.gap) or math.isinf(best.gap):
        agree = said.gap == best.gap or (said.seconds is not None and math.isinf(said.gap))
        return Line(path, stated, found, agree)
    claimed = said.loss - said.gap
    if claimed > best.loss + rounding_of(judge, best):
        return Line(path, stated, found, False, "predictors with less loss were found")
    if said.seconds is None and claimed < best.loss - best.gap - slack_of(judge, best):
        return Line(path, stated, found, False, "more is proven than is stated")
    return Line(path, stated, found, True, "lower limit on the sum over the keys")


def exactness(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Compare whether all answers are closed forms; a search that was stopped may not say so."""
    said, _ = bests(judge)
    line = same(path, stated, found)
    if said.seconds is not None and not stated:
        return replace(line, confirmed=True, note="not known, as time ran out")
    return line


def reached(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Compare how many keys were searched, which depends on the machine if time ran out."""
    said, _ = bests(judge)
    if said.seconds is None:
        return same(path, stated, found)
    return Line(path, stated, found, 1 <= stated <= found, checked=False)


def seconds(judge: Judge, path: str, stated: Any, found: Any) -> Line | None:
    """Take note of when the search is said to have been stopped."""
    if stated is MISSING:
        return None
    (said, best), promise = bests(judge), both(judge)[0].theorem
    # No search for them can have been stopped, only one for the theorem.
    closed = said.exact or (best.exact and said.reached == best.reached)
    if closed and (promise is None or promise.bound is not None):
        return Line(path, stated, "none", False, "closed forms are not searched")
    return Line(path, stated, stated, True, checked=False)


def regret_lower(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Compare the lower end of the regret with the losses that are stated."""
    said, best = bests(judge)
    paid = judge.replay.stated.loss.total
    least = paid - said.loss
    # What is stated may be as high as one likes: it does not count, only the difference.
    line = close(path, stated, least, ROUNDING, abs(paid) + abs(least) + abs(best.loss))
    return line.given(judge.line("loss.total"), judge.line("groups.hindsight.loss"))


def regret_upper(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Compare the upper end of the regret with the losses that are stated."""
    said, best = bests(judge)
    paid = judge.replay.stated.loss.total
    upper = number(paid - (said.loss - said.gap))
    line = close(path, stated, upper, ROUNDING, abs(paid) + abs(upper or 0.0) + abs(best.loss))
    return line.given(judge.line("loss.total"), judge.line("groups.hindsight.gap"))


# The theorem.


def is_open(judge: Judge) -> bool:
    """Return whether time had run out, so that less may be claimed than is known."""
    return bests(judge)[0].seconds is not None


def measured(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Compare the bounded quantity; a regret is that of the certificate."""
    said, _ = both(judge)
    assert said.theorem is not None
    if said.theorem.quantity in REGRETS:
        line = close(path, stated, number(said.regret.upper), ROUNDING)
        return line.given(judge.line("groups.regret.upper"))
    if stated is None and is_open(judge):
        return Line(path, stated, found, True, "not known, as time ran out")
    return close(path, stated, found)


def bound(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Compare the sum of the bounds, which is larger where a shorter search found one."""
    if stated is None and is_open(judge):
        return Line(path, stated, found, True, "not claimed, as time ran out")
    line, game = close(path, stated, found), judge.replay.game
    assert isinstance(game, GroupGame)
    if line.confirmed or None in (stated, found) or not game.searched_bound or stated < found:
        return line
    return replace(line, confirmed=are_close(stated, found, SEARCHED))


def holds(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Compare the verdict with the stated figures."""
    said, _ = both(judge)
    promise, paid = said.theorem, judge.replay.stated.loss.total
    assert promise is not None
    own = None
    if promise.bound is not None:
        low = high = math.nan if promise.measured is None else promise.measured
        if promise.quantity in REGRETS:
            low, high = said.regret.lower, said.regret.upper
        own = within(low, high, promise.bound, paid)
    line = same(path, stated, own)
    hidden = found is False or not is_open(judge)  # a broken promise even if time ran out
    if found is not None and stated != found and hidden:
        line = replace(line, found=found, confirmed=False)
    return line.given(judge.line("groups.theorem.bound"), judge.line("groups.theorem.measured"))


def met(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Compare how many keys met the assumptions."""
    if is_open(judge):
        return Line(path, stated, found, 0 <= stated <= found)
    return same(path, stated, found)


RULES: dict[str, Rule] = {
    **{f"groups.{name}": equal for name in ("columns", "keys", "digest")},
    "groups.hindsight.class": classes,
    "groups.hindsight.loss": loss,
    "groups.hindsight.gap": gap,
    "groups.hindsight.exact": exactness,
    "groups.hindsight.reached": reached,
    "groups.hindsight.seconds": seconds,
    "groups.regret.lower": regret_lower,
    "groups.regret.upper": regret_upper,
    "groups.theorem.name": equal,
    "groups.theorem.quantity": equal,
    "groups.theorem.measured": measured,
    "groups.theorem.bound": bound,
    "groups.theorem.holds": holds,
    "groups.theorem.keys": met,
}
