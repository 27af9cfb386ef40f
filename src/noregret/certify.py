"""From a game to its certificate: which theorem speaks, what it assumes, what is regretted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.assumptions import Finding, starts_untrained
from noregret.certificate import Best, Certificate, Interval, Paid, Played, Promise
from noregret.errors import NoRegretError
from noregret.evidence import Evidence
from noregret.hindsight import Answer, Limits
from noregret.hindsight.answer import USUAL
from noregret.params import plain
from noregret.theorem import Theorem
from noregret.tuning import takes_of

if TYPE_CHECKING:
    from noregret.game import Game

# What a measured figure may exceed its bound by: the rounding of sums.
ROUNDING = 1e-9
# What a theorem can be told besides the learner's parameters.
GIVEN = ("chance", "largest_loss", "radius")


def certify(game: Game, name: str | None, limits: Limits, given: Mapping[str, Any]) -> Certificate:
    """Return the certificate of a game."""
    game.ledger.check()
    if game.rounds == 0:
        raise NoRegretError("nothing was played yet, so there is nothing to certify")
    for name_of_it in given:
        if name_of_it not in GIVEN:
            raise ValueError(f"unknown {name_of_it!r}: a theorem can be told {', '.join(GIVEN)}")
    learner, told = game.learner, Told(given)
    evidence = Evidence(game.ledger, told, limits, game.answers)
    theorem, findings = chosen(candidates(game, name), evidence)
    best = ((theorem and theorem.best) or Evidence.usual)(evidence)
    if best.lower > best.loss + ROUNDING * abs(best.loss):  # so the loss cannot be convex
        best = replace(best, lower=-math.inf)
        findings = (*findings, Finding("the loss is convex", None, 0.0, False))
    regret = Interval(evidence.loss - best.loss, evidence.loss - best.lower)
    paid = Paid(
        learner.engine.loss.name,
        evidence.loss,
        evidence.loss / evidence.rounds,
        evidence.mistakes if learner.engine.loss.labels else None,
    )
    promise = None if theorem is None else promised(theorem, findings, evidence, regret)
    if unheard := sorted(set(told) - told.heard):
        spoken = "the usual comparison" if theorem is None else theorem.name
        raise ValueError(f"{', '.join(unheard)} makes no difference to {spoken} here: leave it out")
    return Certificate(
        learner.name,
        {key: plain(value) for key, value in learner.params.items()},
        Played(
            game.rounds,
            game.ledger.books.features,
            game.digest,
            game.transforms,
            game.target,
        ),
        paid,
        Best(
            best.comparator,
            best.loss,
            best.gap,
            witness_of(best, evidence, game.names),
            best.exact,
            None if limits.tolerance == USUAL.tolerance else limits.tolerance,
        ),
        regret,
        promise,
        {key: plain(value) for key, value in given.items()},
        learner.averaged_weights and not learner.params.get("averaged"),
    )


class Told(dict[str, Any]):
    """What was told besides, and which of it somebody asked for."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        super().__init__(given)
        self.heard: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        """Return what was told, or the default."""
        self.heard.add(key)
        return super().get(key, default)


def candidates(game: Game, name: str | None) -> list[Theorem]:
    """Return the theorems that may speak, in order."""
    from noregret.registry import general_theorems

    learner = game.learner
    if name is None:
        return [t for t in learner.theorems if t.covers(learner.params)]
    known = {t.name: t for t in (*learner.theorems, *general_theorems())}
    if name not in known:
        raise ValueError(
            f"{learner.name} does not answer for {name!r}: choose one of {', '.join(known)}"
        )
    if not known[name].covers(learner.params):
        hint = f"see ‘noregret theorems {name}’"
        if known[name].tune is not None:
            hint = f"{type(learner).__name__}.tuned({takes_of(known[name])}) would be one it covers"
        raise ValueError(f"{name} does not speak of {learner!r}: {hint}")
    return [known[name]]


def chosen(
    theorems: Iterable[Theorem], evidence: Evidence
) -> tuple[Theorem | None, tuple[Finding, ...]]:
    """Return the first theorem whose assumptions held, or else the first, with what was found."""
    first: tuple[Theorem | None, tuple[Finding, ...]] = (None, ())
    for theorem in theorems:
        checked = (assumption.check(evidence) for assumption in theorem.assumptions)
        findings = (starts_untrained(evidence), *(found for found in checked if found is not None))
        if all(surely(found) for found in findings):
            return theorem, findings
        if first[0] is None:
            first = theorem, findings
    return first


def surely(found: Finding) -> bool:
    """Whether an assumption held, or is one that only trust can hold."""
    return found.holds is True or (found.holds is None and found.measured is None)


def promised(
    theorem: Theorem, findings: tuple[Finding, ...], evidence: Evidence, regret: Interval
) -> Promise:
    """Return the theorem's part: what it bounds, by what, and whether that held."""
    low, high = {
        "loss": (evidence.loss, evidence.loss),
        "mistakes": (float(evidence.mistakes), float(evidence.mistakes)),
        "regret": (regret.lower, regret.upper),
    }.get(theorem.quantity, (math.nan, math.nan))
    if theorem.measured is not None:
        told = theorem.measured(evidence)
        low = high = math.nan if told is None else told
    bound = holds = None
    if theorem.bound is not None and all(surely(found) for found in findings):
        bound = theorem.bound(evidence)
        holds = within(low, high, bound, evidence.loss)
    return Promise(
        theorem.name,
        theorem.quantity,
        None if math.isnan(high) else high,
        bound,
        holds,
        findings,
    )


def within(low: float, high: float, bound: float, loss: float) -> bool | None:
    """Return whether a figure between low and high is within a bound; None if it may or may not."""
    slack = ROUNDING * max(abs(bound), loss)
    return True if high <= bound + slack else False if low > bound + slack else None


def witness_of(best: Answer, evidence: Evidence, names: list[str] | None) -> dict[str, float]:
    """Name the weights of the best fixed predictor."""
    books, weights = evidence.ledger.books, best.witness
    names = names or books.names or [str(i) for i in range(books.features)]
    signed = evidence.params.get("weight")
    if len(weights) >= 2 * evidence.features and signed is not None:  # parts for U x and −U x
        n = len(weights) // 2
        weights = signed * (weights[:n] - weights[n:])
    return {
        name: float(weight)
        for name, weight in zip(names, np.asarray(weights)[: len(names)], strict=True)
    }
