"""The assumptions of theorems, and how they are checked.

Each kind of assumption has a statement, the measurement to watch during a game, and a check at its
end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noregret.proof.record.moment import Moment
    from noregret.proof.theorems.base_evidence import BaseEvidence
    from noregret.proof.theorems.evidence import Evidence

Params = Mapping[str, Any]
# Factor by which a measurement may exceed a limit: the rounding of a few additions.
ROUNDING = 1 + 1e-12


@dataclass(frozen=True)
class Finding:
    """The result of checking an assumption.

    Parameters
    ----------
    name
        The assumption in plain text with its number: ``norm(x) <= 1``.
    limit, measured
        The limit and the measured value; None if there is none.
    holds
        Whether it held; None if the data cannot show it.
    first_violation
        The first round in which it did not hold, counted from 1.
    """

    name: str
    limit: float | None
    measured: float | None
    holds: bool | None
    first_violation: int | None = None


@dataclass(frozen=True)
class Assumption:
    """An assumption of a theorem.

    Parameters
    ----------
    statement
        The assumption in Markdown with LaTeX.
    """

    statement: str
    # The remedy if it did not hold, as a sentence of plain text.
    remedy = ""

    def limit_of(self, params: Params) -> tuple[str, float] | None:
        """Return the measurement to watch during a game, and the limit, if known beforehand."""
        return None

    def may_hold(self, moment: Moment) -> bool:
        """Return whether it held so far, as far as known."""
        return True

    def check(self, evidence: Any) -> Finding | None:
        """Return the finding; None if there is nothing to check."""
        return None


@dataclass(frozen=True)
class AtMost(Assumption):
    """A measurement of the core stays below a limit in every round.

    Parameters
    ----------
    measure
        norm, peak, spread, outcome, gradient, gradient_peak or loss.
    limit
        The limit, from the learner's parameters.
    label
        The measurement in plain text.
    """

    measure: str
    limit: Callable[[Params], float]
    label: str

    def limit_of(self, params: Params) -> tuple[str, float]:
        """Watch the measurement."""
        return self.measure, self.limit(params) * ROUNDING

    def may_hold(self, moment: Moment) -> bool:
        """Compare the largest value so far with the limit."""
        measure, limit = self.limit_of(moment.params)
        return moment.largest.get(measure, 0.0) <= limit

    def check(self, evidence: Any) -> Finding:
        """Compare the largest value with the limit."""
        limit, largest = self.limit(evidence.params), evidence.largest(self.measure)
        holds = largest <= limit * ROUNDING
        first = None if holds else evidence.first_over(self.measure, limit * ROUNDING)
        return Finding(f"{self.label} <= {limit:.6g}", limit, largest, holds, first)


@dataclass(frozen=True)
class Chosen(Assumption):
    """A parameter is within the limits of the theorem.

    Parameters
    ----------
    name
        In plain text.
    value
        The number that must be below the limit.
    limit
        The limit.
    strict
        If True, the limit itself is not allowed.
    """

    name: str
    value: Callable[[Any], float]
    limit: float
    strict: bool = True

    def check(self, evidence: Any) -> Finding:
        """Compare."""
        value = self.value(evidence)
        holds = value < self.limit if self.strict else value <= self.limit
        return Finding(self.name, self.limit, value, holds, None if holds else 1)


@dataclass(frozen=True)
class WithinHorizon(Assumption):
    """No more rounds are played than the learner was tuned for.

    Parameters
    ----------
    optional
        If True, the learner may have no horizon.
    """

    statement: str = r"$T$ is known beforehand: no more rounds are played than the horizon"
    optional: bool = False

    def may_hold(self, moment: Moment) -> bool:
        """Compare the rounds so far with the horizon."""
        horizon = moment.params["horizon"]
        return horizon is None or moment.rounds <= horizon

    def check(self, evidence: Any) -> Finding:
        """Compare the rounds with the horizon."""
        told = evidence.params["horizon"]
        if self.optional and told is None:
            return Finding("no horizon was set", None, None, True)
        horizon = int(told)
        rounds, first = evidence.longest_game(horizon)
        return Finding(f"rounds <= {horizon}", horizon, rounds, first is None, first)


@dataclass(frozen=True)
class Trusted(Assumption):
    """An assumption that data cannot confirm.

    Parameters
    ----------
    name
        In plain text.
    """

    name: str

    def check(self, evidence: Any) -> Finding:
        """Return that it cannot be checked."""
        return Finding(self.name, None, None, None)


@dataclass(frozen=True)
class Structural(Assumption):
    """A property of every learner that the theorem covers: stated, not measured."""


@dataclass(frozen=True)
class Shown(Assumption):
    """A property that is checked at the end of the game.

    Parameters
    ----------
    finding
        The check.
    """

    finding: Callable[[Any], Finding]

    def check(self, evidence: Any) -> Finding:
        """Run the check."""
        return self.finding(evidence)


# What all theorems assume.
UNTRAINED = "rounds learned before = 0"


def starts_untrained(evidence: BaseEvidence) -> Finding | None:
    """Check what every theorem assumes: that the game starts from the initial weights."""
    before = evidence.rounds_before
    if before is None:
        return None
    return Finding(UNTRAINED, 0, before, before == 0, 1 if before else None)


def known_from_the_start(evidence: Evidence) -> Finding:
    """Check that no feature joined after the first round, if that would change the weights."""
    late = evidence.late_features
    return Finding(
        "features that joined after round 1", 0, late, late == 0, evidence.first_late_round
    )


def separable(evidence: Evidence) -> Finding:
    """Check that some predictor has a positive margin in every round."""
    first = evidence.inseparable_after()
    if first is not None:
        return Finding("margin > 0", 0.0, 0.0, False, first)
    margin = evidence.margin()
    return Finding("margin > 0", 0.0, margin.lower, margin.separable, None)


def is_convex(evidence: Evidence) -> Finding:
    """Return whether the loss is known to be convex; a custom one cannot be checked."""
    from noregret.base.compiled.losses import PythonLoss

    loss = evidence.learner.engine.loss
    known = None if isinstance(loss, PythonLoss) else loss.name != "mistake"
    return Finding("the loss is convex", None, None, known)


@dataclass(frozen=True)
class Convex(Shown):
    """The loss is convex: halfway between two predictions it is at most halfway between theirs."""

    remedy = "Take a learner whose loss is, such as the hinge or the logistic loss."


CONVEX = Convex("the loss is convex; one of your own is taken on trust", is_convex)
