"""The rules of the best in hindsight, and of the regret."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from noregret.hindsight.proofs.answer import EXACT_FIT, EXACT_GAP, USUAL, is_rounding
from noregret.hindsight.proofs.witness import NORM_FACTOR, REACH, Paid, is_as_far, is_of_weights
from noregret.hindsight.solvers.quadratic import up_to
from noregret.limits import MAX_PARAMETER, UNDERFLOW
from noregret.proof.certificates.certificate import LOOSEST, TIGHTEST, Best, Certificate, number
from noregret.proof.theorems.evidence import Evidence
from noregret.proof.verifying.comparing import (
    MISSING,
    ROUNDING,
    SEARCH_FACTOR,
    SEARCHED,
    TOLERANCE,
    close,
    same,
)
from noregret.proof.verifying.judging import Judge, Replay, Rule
from noregret.proof.verifying.verification import Line

# A witness whose loss is uncertain by more than this share, through rounding, is refused.
MAX_WITNESS_ROUNDING = 1e-6
# The loss, as a share of the squares of the outcomes, up to which a search that lost digits counts
# as a fit of all of them: ill-conditioned columns leave the square root of that in a prediction.
NEARLY_FIT = 1e-16
# The loss, as a share of that of zero weights, up to which nothing is left to search for.
FIT = 1e-6
# Classes that are searched for a predictor that separates the labels, as long as time allows.
SEARCHABLE = ("all linear predictors", "all functions of the RKHS", "all weights")


def class_of(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Compare the class: in the same words, or in words for the part of it that sums prove."""
    if stated == found:
        return same(path, stated, found)
    by_sums, evidence = judge.replay.by_sums, judge.replay.evidence()
    words = found if by_sums is None else by_sums.hindsight.comparator
    if stated == words or (is_linear(stated, found) and claims_nothing(judge.replay.stated)):
        return Line(path, stated, found, True)
    if judge.replay.stopped and found in SEARCHABLE and stated == f"{found}, best found":
        return Line(path, stated, found, True, "the best found in time")
    if judge.replay.cut_short and is_linear(stated, found) and is_open(judge.replay.stated):
        return Line(
            path, stated, found, True, "a part of the class"
        )  # what is stated of it is judged
    if not (
        evidence.is_proven(stated, found)
        or evidence.is_proven(stated, words)
        or is_nearly(stated, found)  # what is stated of it is proven for that norm
    ):
        return Line(path, stated, found, False)
    proven = is_as_far(stated, found, words) or is_open_beyond(judge.replay)
    return Line(path, stated, found, proven, "" if proven else "a part of the class only")


def claims_nothing(stated: Certificate) -> bool:
    """Return True for all linear predictors of which nothing is claimed: no loss is below 0."""
    best = stated.hindsight
    return best.comparator == up_to(math.inf) and best.loss - best.gap <= 0


def is_open_beyond(replay: Replay) -> bool:
    """Return True if nothing is proven of a larger class, and none of it was found to be better."""
    said, best = replay.stated.hindsight, replay.found.hindsight
    return best.gap >= best.loss and said.loss <= (1 + SEARCHED) * best.loss


def is_nearly(stated: str, found: str) -> bool:
    """Return whether a class reaches a little beyond the one found: sums round differently."""
    here, there = REACH.fullmatch(stated), REACH.fullmatch(found)
    if here is None or there is None:
        return False
    reach = float(here[1])
    most = min(NORM_FACTOR * float(there[1]), MAX_PARAMETER)
    return stated == up_to(reach) and reach < most


def exactness(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Compare whether the answer is a closed form; one from sums may have lost its digits."""
    line, said = same(path, stated, found), judge.replay.stated.hindsight
    if judge.replay.cut_short and is_of_weights(said.comparator):
        return replace(line, confirmed=True, note="not known, as time ran out")
    energy = judge.replay.evidence().energy
    if stated and not line.confirmed and is_linear(said.comparator) and energy is not None:
        # This search lost digits that the stated one kept, whose ends are judged by themselves.
        both = said, judge.replay.found.hindsight
        here, there = (is_rounding(each.gap, each.loss, energy) for each in both)
        line = replace(line, confirmed=here and not there)
        return line.given(judge.line("hindsight.loss"), judge.line("hindsight.gap"))
    if line.confirmed or stated or judge.replay.by_sums is None:
        return line
    best = judge.replay.by_sums.hindsight
    lost = SEARCH_FACTOR * best.gap > EXACT_GAP * abs(best.loss)
    wide = said.gap > EXACT_GAP * abs(said.loss)
    return replace(line, confirmed=lost and wide, note="from sums over the rows alone")


def witness(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Check that the witness has the names that it must have, and is of its class."""
    replay = judge.replay
    evidence, words = replay.evidence(), replay.stated.hindsight.comparator
    counted = f"{len(stated)} weights", f"{len(found)} features"
    member, note = evidence.is_within(stated, words), ""
    if not member and evidence.paid_by(stated, words) is not None:
        note = "not of the class"
    if replay.outdone:
        member, note = False, "the method finds better weights"
    return Line(path, *counted, member, note)


def loss(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Check that the witness has the stated loss, and that no better predictor was found."""
    line, best = judge.line("hindsight.witness"), judge.replay.stated.hindsight
    own, there = (
        paid_by(judge.replay, each) if line.confirmed or k else Paid(math.nan, 0.0)
        for k, each in enumerate((best, judge.replay.best))
    )
    found = judge.replay.best.loss
    size = max(abs(stated), abs(own.loss))
    slack = TOLERANCE * size + own.rounding + there.rounding + UNDERFLOW
    # Of exact fits, each search leaves another rounding error.
    slack += EXACT_FIT * (judge.replay.evidence().energy or 0.0)
    # A solver adds its own rounding to what it states: as much as it adds here.
    added = 2 * max(0.0, found - there.loss)
    if stated - own.loss > slack + added:
        added = max(added, rounded_up(judge.replay, best, own, there))
    pays = -slack <= stated - own.loss <= slack + added
    note = "loss of the stated weights on these data"
    if own.rounding > max(
        MAX_WITNESS_ROUNDING * max(abs(own.loss), abs(found)), 100 * there.rounding
    ):
        pays, note = False, "the weights are so large that rounding error hides their loss"
    elif (
        pays
        and not (judge.replay.cut_short and not judge.replay.best.exact)  # no closed form is
        and not are_fits(judge.replay)
        and is_worse(judge.replay, stated, found, slack)
        and (
            best.exact or is_worse(judge.replay, stated, found, slack + worse_by_sums(judge.replay))
        )
    ):
        return Line(path, stated, found, False, "a better predictor of the same class was found")
    return Line(path, stated, number(own.loss), pays, note).given(line)


def are_fits(replay: Replay) -> bool:
    """Return whether both searches fit all outcomes, up to the digits that each of them lost.

    How many are lost depends on the order of summing and on the processor's instructions.
    """
    said, energy = replay.stated.hindsight, replay.evidence().energy
    if said.exact or energy is None:
        return False
    return max(said.loss, said.gap, replay.best.loss) <= NEARLY_FIT * energy


def rounded_up(replay: Replay, best: Best, own: Paid, there: Paid) -> float:
    """Return the rounding that a solver adds to the loss of a witness with scores as usual.

    Scores may be rounded by a factor more than those of the witness found now.
    """
    evidence = replay.evidence()
    if not isinstance(evidence, Evidence):
        return 0.0
    here, most = (evidence.highest_paid(each.witness) for each in (best, replay.best))
    if not (own.loss <= here < math.inf and there.loss <= most < math.inf):
        return 0.0
    off = SEARCH_FACTOR * (math.sqrt(most) - math.sqrt(there.loss))
    return min(here - own.loss, off * (2 * math.sqrt(own.loss) + off))


def worse_by_sums(replay: Replay) -> float:
    """Return how much worse the best may be where sums, as sharp as is certified, were kept."""
    if replay.by_sums is None:
        return 0.0
    return SEARCH_FACTOR * max(0.0, replay.by_sums.hindsight.loss - replay.best.loss)


def gap_by_sums(replay: Replay) -> float:
    """Return the gap that sums over these rows alone leave open, of dependent columns above all."""
    gap = 0.0 if replay.by_sums is None else replay.by_sums.hindsight.gap
    return gap if math.isfinite(gap) else 0.0


def paid_by(replay: Replay, best: Best) -> Paid:
    """Return the loss of a witness."""
    paid = replay.evidence().paid_by(best.witness, best.comparator)
    return Paid(math.nan, 0.0) if paid is None else Paid(*paid)


def is_worse(replay: Replay, stated: float, found: float, slack: float) -> bool:
    """Return whether the stated best is worse than the early stop of its search explains.

    The search that the certificate tells of is done again only where that makes a difference.
    """
    excess = stated - found - slack
    if replay.best.exact:
        return excess > replay.best.gap
    if excess <= SEARCHED * abs(found) or is_blurred(replay):
        return False
    return excess > SEARCHED * abs(found) + max(0.0, replay.again.hindsight.loss - found)


def gap(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Check the stated lower limit on the loss of the class against the one proven now.

    Nothing in the certificate may loosen this check, so the rounding error allowed is that of the
    witness found now. The stated limit may be lower than the one proven now, by as much as an
    earlier stop of its search explains.
    """
    replay = judge.replay
    said, proven = replay.stated.hindsight, replay.best
    line = Line(path, stated, found, False, "lower limit on the loss of any predictor of the class")
    if math.isinf(said.gap) or math.isinf(proven.gap):
        agree = said.gap == proven.gap or (replay.cut_short and math.isinf(said.gap))
        return Line(path, stated, found, agree, line.note)
    claimed, lower = said.loss - said.gap, proven.loss - proven.gap
    size = max(abs(proven.loss), abs(lower))
    slack = TOLERANCE * size + paid_by(replay, proven).rounding
    if proven.exact:
        slack += min(proven.gap, SEARCHED * size)
    lower = highest_proven(replay, lower, claimed - slack)
    if not (claimed <= lower + slack and said.loss >= lower - slack):
        return line
    # A search may leave anything open, as long as all it claims is proven; a closed form may not.
    if (replay.cut_short and not proven.exact) or is_blurred(replay):
        return replace(line, confirmed=True)
    room = slack + (proven.gap if proven.exact else SEARCHED * size)
    if REACH.fullmatch(proven.comparator):  # how rows were summed decides what is left open
        room += SEARCH_FACTOR * max(proven.gap, number(replay.found.hindsight.gap) or 0.0)
    if claimed < lower - room and not said.exact:  # sums only widen a gap
        room += SEARCH_FACTOR * gap_by_sums(replay)
    if claimed < lower - room and not proven.exact:  # the stated search may have stopped sooner
        again = replay.again.hindsight
        room += max(0.0, lower - (again.loss - again.gap))
    if claimed < lower - room:
        return Line(path, stated, found, False, "more is proven than is stated")
    return Line(path, stated, found, True, line.note)


def highest_proven(replay: Replay, lower: float, enough: float) -> float:
    """Return the highest lower end proven, by further searches as long as it is not enough."""
    if not replay.best.exact:  # the stated search may have proven more, or a more precise one
        for search in ("again", "finer"):
            if enough > lower:
                other = getattr(replay, search).hindsight
                if other.comparator == replay.best.comparator:
                    lower = max(lower, other.loss - other.gap)
    return max(lower, lower_by_lines(replay)) if enough > lower else lower


def lower_by_lines(replay: Replay) -> float:
    """Return the lower end that lines below the losses prove; minus infinity if none.

    The gap of a search may be due to its rounding, so that another order of summing, or another
    processor, proves another. Lines at the stated witness prove again about what they proved there,
    and a stated interval has a margin (``Limits.margin``).
    """
    said, evidence = replay.stated.hindsight, replay.evidence()
    if not isinstance(evidence, Evidence):
        return -math.inf
    tried = (said, replay.best, replay.found.hindsight)
    return max(evidence.lowest_at(each.witness, said.comparator) for each in tried)


def is_blurred(replay: Replay) -> bool:
    """Return whether rounding ended this search: others may end anywhere, with all they claim true.

    Both ends of an interval are proven wherever a search stops. How narrow it must be is judged
    only where this search came to its own tolerance.
    """
    best, evidence = replay.best, replay.evidence()
    if best.exact or not isinstance(evidence, Evidence) or evidence.loss_name == "square":
        return False
    if evidence.searched_at(best.witness) is None:
        return False
    nothing = paid_by(replay, replace(best, witness=dict.fromkeys(best.witness, 0.0))).loss
    size = max(abs(best.loss), abs(best.loss - best.gap), FIT * nothing)
    return best.gap > SEARCHED * size


def tolerance(judge: Judge, path: str, stated: Any, found: Any) -> Line | None:
    """Judge where the search is said to have stopped: by doing it again."""
    if stated is MISSING:
        return None
    usual = f"{USUAL.tolerance:g}"
    if stated == USUAL.tolerance:
        return Line(path, stated, usual, False, "the usual one is left out")
    replay, possible = judge.replay, TIGHTEST <= stated <= LOOSEST
    if not possible or replay.cut_short:  # a search that was cut short never came there
        return Line(path, stated, f"{TIGHTEST:g} to {LOOSEST:g}", possible)
    for left, here, there, size in excesses(replay.stated, replay.found, replay.again):
        # What the search leaves depends on where it stops; a closed form leaves nothing.
        if there > SEARCH_FACTOR * max(here, 0.0) + SEARCHED * size:
            return Line(path, stated, usual, False, f"a search that stops there leaves more {left}")
        if here > SEARCH_FACTOR * max(there, stated * size) + TOLERANCE * size:
            return Line(path, stated, usual, False, f"a search that stops there leaves less {left}")
    return Line(path, stated, stated, True)


def seconds(judge: Judge, path: str, stated: Any, found: Any) -> Line | None:
    """Take note of when the search is said to have been stopped.

    How far it comes by then depends on the machine: what is stated is judged by what is proven.
    """
    if stated is MISSING:
        return None
    certificate = judge.replay.stated
    if certificate.hindsight.exact and not certificate.leaves_open:
        return Line(path, stated, "none", False, "a closed form is not searched")
    return Line(path, stated, stated, True, checked=False)


def is_linear(*words: str) -> bool:
    """Return True if classes are all linear predictors, or those up to some norm."""
    return all(each == up_to(math.inf) or REACH.fullmatch(each) is not None for each in words)


def is_open(stated: Certificate) -> bool:
    """Return True for a class up to some norm, or where nothing else is claimed of it."""
    best = stated.hindsight
    return REACH.fullmatch(best.comparator) is not None or best.loss - best.gap <= 0


def excesses(
    stated: Certificate, found: Certificate, again: Certificate
) -> Iterator[tuple[str, float, float, float]]:
    """Yield what the stated search left and what it leaves again, with the size of the figure."""
    best, other = stated.hindsight, again.hindsight
    if not other.exact and math.isfinite(best.gap) and math.isfinite(other.gap):
        size = max(abs(found.hindsight.loss), abs(found.hindsight.loss - found.hindsight.gap))
        yield "to find", best.gap - found.hindsight.gap, other.gap - found.hindsight.gap, size
    promises = zip(proven(stated), proven(found), proven(again), strict=False)
    for here, least, there in promises:
        if here is not None and least is not None and there is not None:
            yield "to prove", abs(here - least), abs(there - least), abs(least)


def proven(certificate: Certificate) -> list[float | None]:
    """Return the figures of a certificate's promises that a search may have found."""
    first = [] if certificate.theorem is None else [certificate.theorem]
    figures: list[float | None] = []
    for promise in (*first, *certificate.further):
        figures += [promise.bound, *(each.measured for each in promise.assumptions)]
    if certificate.groups is not None and certificate.groups.theorem is not None:
        figures.append(certificate.groups.theorem.bound)
    return figures


def regret_lower(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Compare the lower end of the regret with the losses that are stated."""
    certificate = judge.replay.stated
    least = certificate.loss.total - certificate.hindsight.loss
    line = close(path, stated, least, ROUNDING, size_of(judge.replay, least))
    return line.given(judge.line("loss.total"), judge.line("hindsight.loss"))


def regret_upper(judge: Judge, path: str, stated: Any, found: Any) -> Line:
    """Compare the upper end of the regret with the losses that are stated."""
    certificate, best = judge.replay.stated, judge.replay.stated.hindsight
    most = number(certificate.loss.total - (best.loss - best.gap))
    line = close(path, stated, most, ROUNDING, size_of(judge.replay, most))
    return line.given(judge.line("loss.total"), judge.line("hindsight.gap"))


def size_of(replay: Replay, regret: float | None) -> float:
    """Return the size of the numbers that the regret is a difference of.

    A gap may be stated as wide as one likes, and a loss as high: they do not count, only their
    difference, and the loss that was found.
    """
    own = 0.0 if regret is None else abs(regret)
    return abs(replay.stated.loss.total) + own + abs(replay.found.hindsight.loss)


RULES: dict[str, Rule] = {
    "hindsight.class": class_of,
    "hindsight.loss": loss,
    "hindsight.gap": gap,
    "hindsight.exact": exactness,
    "hindsight.witness": witness,
    "hindsight.tolerance": tolerance,
    "hindsight.seconds": seconds,
    "regret.lower": regret_lower,
    "regret.upper": regret_upper,
}
