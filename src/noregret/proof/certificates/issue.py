"""Make the certificate of a game: choose the theorem, check its assumptions, compute the regret."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from noregret.base.params import plain, plain_params
from noregret.errors import NoRegretError
from noregret.hindsight import Limits
from noregret.hindsight.proofs.answer import USUAL, is_rounding
from noregret.hindsight.proofs.deadline import Deadline, time_limit
from noregret.limits import UNDERFLOW
from noregret.linear.learner import Learner
from noregret.proof.certificates.certificate import (
    LOOSEST,
    TIGHTEST,
    TRANSFORMS,
    Best,
    Certificate,
    Interval,
    Paid,
    Played,
    Promise,
    max_characters,
)
from noregret.proof.theorems.assumptions import Finding, starts_untrained
from noregret.proof.theorems.base_evidence import BaseEvidence
from noregret.proof.theorems.theorem import REGRETS, Theorem

if TYPE_CHECKING:
    from noregret.proof.certificates.certifiable import Certifiable, LearnerLike

# To prove the part of one weight in an answer, and to name it.
SECONDS_PER_WEIGHT = 1e-6
# The share by which an interval is widened where rounding ended its search.
MARGIN = 0.25
# With groups, the share of the time that the best predictor for all keys may take.
SHARE_FOR_ALL = 0.5


class LostDigits(NoRegretError):
    """Sums over the rows have too few digits left for a certificate."""


def certify(
    game: Certifiable, name: str | None, limits: Limits, given: Mapping[str, Any]
) -> Certificate:
    """Return the certificate of a game, within the time limit."""
    if game.parts and limits is USUAL:  # it is not to depend on who has read them, or how fast
        limits = replace(limits, seconds=math.inf)
    if limits.margin is None:
        limits = replace(limits, margin=MARGIN)
    if game.promises:
        return in_time(game, name, limits, given)
    if given:
        raise ValueError(f"certificates of groups take no {', '.join(given)}: leave it out")
    began = limits.clock()
    made = in_time(game, None, replace(limits, seconds=SHARE_FOR_ALL * limits.seconds), given)
    left = max(0.0, limits.seconds - (limits.clock() - began))
    return replace(made, groups=game.per_key(name, replace(limits, seconds=left)))


def in_time(
    game: Certifiable, name: str | None, limits: Limits, given: Mapping[str, Any]
) -> Certificate:
    """Return the certificate of a game as a whole, within the time limit."""
    # What follows a search takes time as well: its proof, and the names of the weights.
    limited = game.rounds > 0 and math.isfinite(limits.seconds)
    after = min(0.5 * limits.seconds, SECONDS_PER_WEIGHT * game.width) if limited else 0.0
    with time_limit(replace(limits, seconds=limits.seconds - after)) as deadline:
        return certified(game, name, limits, given, deadline)


def certified(
    game: Certifiable,
    name: str | None,
    limits: Limits,
    given: Mapping[str, Any],
    deadline: Deadline,
) -> Certificate:
    """Return the certificate of a game; the caller sets the time limit."""
    game.check()
    if not TIGHTEST <= limits.tolerance <= LOOSEST:
        raise ValueError(
            f"the tolerance of a certificate is from {TIGHTEST:g} to {LOOSEST:g}:"
            f" got {limits.tolerance!r}"
        )
    if game.rounds == 0:
        raise NoRegretError("nothing was played yet, so there is nothing to certify")
    for text in game.transforms:
        if len(text) > max_characters(TRANSFORMS, text):
            what = f"the names of classes or columns have {len(text):,} characters"
            raise NoRegretError(f"{what}: too long for a certificate", "use shorter names")
    learner, told = game.learner, ExtraArguments(given)
    evidence = game.evidence(told, limits)
    for key in given:
        if key not in evidence.told:
            known = ", ".join(evidence.told) or "nothing"
            raise ValueError(f"unknown {key!r}: a theorem can be told {known}")
    theorems = candidates(learner, name, game.delayed) if game.promises else []
    theorem, findings = chosen(theorems, evidence)
    best = evidence.usual() if theorem is None or theorem.best is None else theorem.best(evidence)
    if (lost := evidence.lost_by_sums(best)) is not None:
        raise LostDigits(f"only sums over the rows were kept, which {lost}", game.rows_cure)
    slack = evidence.bound_tolerance * abs(best.loss)
    if best.lower > best.loss + slack:  # so the loss cannot be convex
        best = replace(best, lower=-math.inf)
        findings = (*findings, Finding("the loss is convex", None, 0.0, False))
    regret = Interval(evidence.loss - best.loss, evidence.loss - best.lower)
    paid = Paid(
        game.loss_name, evidence.loss, evidence.loss / evidence.rounds, game.counted_mistakes
    )
    promise = None if theorem is None else promised(theorem, findings, evidence, regret)
    further = tuple(
        promised(each, chosen([each], evidence)[1], evidence, regret)
        for each in beside(learner)
        if each is not theorem and game.promises
    )
    if unused := sorted(set(told) - told.used):
        spoken = "the usual comparison" if theorem is None else theorem.name
        raise ValueError(f"{', '.join(unused)} makes no difference to {spoken} here: leave it out")
    exact = best.exact and is_rounding(best.gap, best.loss, evidence.energy)
    cut_short = evidence.once("cut short", lambda: deadline.passed)
    issued = Certificate(
        learner.name,
        plain_params(learner),
        Played(game.rounds, game.width, game.digest, game.transforms, game.target, game.parts),
        paid,
        Best(
            best.comparator,
            best.loss,
            best.gap,
            evidence.witness_of(best),
            exact,
            None if limits.tolerance == USUAL.tolerance else limits.tolerance,
            limits.seconds if cut_short else None,
        ),
        regret,
        promise,
        {key: plain(value) for key, value in given.items()},
        game.averaged,
        learner.family,
        further,
        shards=game.sharded,
        start=game.start,
    )
    if cut_short and exact and not issued.leaves_open:  # a closed form, and all is known
        issued = replace(issued, hindsight=replace(issued.hindsight, seconds=None))
    return issued


class ExtraArguments(dict[str, Any]):
    """The extra arguments of a certificate, which records those that were used."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        super().__init__(given)
        self.used: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        """Return an argument, or the default."""
        self.used.add(key)
        return super().get(key, default)


def candidates(learner: LearnerLike, name: str | None, delayed: bool = False) -> list[Theorem]:
    """Return the applicable theorems, in order."""
    if name is None:
        late = late_theorems(learner) if delayed else []
        return late or [t for t in learner.theorems if t.covers(learner.params) and not t.beside]
    from noregret.proof.theorems.averaging import theorems as general_theorems
    from noregret.proof.theorems.tuning import takes_of

    general = general_theorems if isinstance(learner, Learner) and learner.engine.linear else ()
    known = {t.name: t for t in (*learner.theorems, *general, *late_theorems(learner))}
    if name not in known:
        hint = f"choose one of {', '.join(known)}" if known else "it answers for none"
        raise ValueError(f"{learner.name} does not answer for {name!r}: {hint}")
    if not known[name].covers(learner.params):
        hint = f"see ‘noregret theorems {name}’"
        if known[name].tune is not None:
            hint = f"{type(learner).__name__}.tuned({takes_of(known[name])}) would be one it covers"
        raise ValueError(f"{name} does not speak of {learner!r}: {hint}")
    return [known[name]]


def late_theorems(learner: LearnerLike) -> list[Theorem]:
    """Return the theorem about late outcomes, if a learner has one."""
    from noregret.proof.theorems.delay import DELAYED, rate_of

    return [DELAYED] if isinstance(learner, Learner) and rate_of(learner) is not None else []


def beside(learner: LearnerLike) -> list[Theorem]:
    """Return the further theorems that every certificate of a learner states."""
    return [t for t in learner.theorems if t.beside and t.covers(learner.params)]


def chosen(
    theorems: Iterable[Theorem], evidence: BaseEvidence
) -> tuple[Theorem | None, tuple[Finding, ...]]:
    """Return the first theorem whose assumptions held, or else the first, with the findings."""
    first: tuple[Theorem | None, tuple[Finding, ...]] = (None, ())
    for theorem in theorems:
        checked = [starts_untrained(evidence), *(a.check(evidence) for a in theorem.assumptions)]
        if evidence.late_updates and not theorem.delayed:
            from noregret.proof.theorems.delay import in_time

            checked.append(in_time(evidence))
        if evidence.late_rows:
            from noregret.proof.theorems.delay import waited

            checked.append(waited(evidence))
        findings = tuple(found for found in checked if found is not None)
        if all(surely(found) for found in findings):
            return theorem, findings
        if first[0] is None:
            first = theorem, findings
    return first


def surely(found: Finding) -> bool:
    """Return whether an assumption held, or cannot be checked from data."""
    return found.holds is True or (found.holds is None and found.measured is None)


def promised(
    theorem: Theorem, findings: tuple[Finding, ...], evidence: BaseEvidence, regret: Interval
) -> Promise:
    """Return the promise: the quantity, its bound, and whether that held."""
    low = high = math.nan
    if theorem.quantity in REGRETS:
        low, high = regret.lower, regret.upper
    elif theorem.quantity == "loss":
        low = high = evidence.loss
    elif theorem.quantity == "mistakes" and evidence.mistakes is not None:
        low = high = float(evidence.mistakes)
    if theorem.measured is not None:
        told = theorem.measured(evidence)
        low = high = math.nan if told is None else told
    bound = holds = None
    if theorem.bound is not None and all(surely(found) for found in findings):
        bound = theorem.bound(evidence) + evidence.waited
        rounding = rounding_of(theorem, evidence)
        holds = within(low, high, bound, evidence.loss, rounding, evidence.bound_tolerance)
    return Promise(
        theorem.name,
        theorem.quantity,
        None if math.isnan(high) else high,
        bound,
        holds,
        findings,
        theorem.wording,
    )


def rounding_of(theorem: Theorem, evidence: BaseEvidence) -> float:
    """Return a bound on the rounding error in the quantity that a theorem bounds."""
    return evidence.rounding if theorem.quantity in ("loss", *REGRETS) else 0.0


def within(
    low: float,
    high: float,
    bound: float,
    loss: float,
    rounding: float = 0.0,
    tolerance: float = BaseEvidence.bound_tolerance,
) -> bool | None:
    """Return whether a figure between low and high is within a bound; None if undecided.

    Some theorems hold with equality in exact arithmetic. A figure exceeds the bound only if it
    does so by more than ``rounding``.
    """
    most = bound + tolerance * max(abs(bound), abs(loss)) + UNDERFLOW
    return True if high <= most else False if low > most + rounding else None
