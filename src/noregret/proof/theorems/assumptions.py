"""The assumptions of theorems, and how they are checked.

Each kind of assumption knows how to say what it assumes, what to watch while a game is played, and
what was found when it is over.
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
# What a measurement may exceed a limit by: the rounding of a few additions.
ROUNDING = 1 + 1e-12


@dataclass(frozen=True)
class Finding:
    """An assumption as it was found.

    Parameters
    ----------
    name
        What was assumed, in plain text with its number: ``norm(x) <= 1``.
    limit, measured
        The number, and what was measured; None where there is none.
    holds
        Whether it held; None where that cannot be told from the data.
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
        What it says, in Markdown with LaTeX.
    """

    statement: str
    # What to do where it did not hold, in a sentence of plain text.
    remedy = ""

    def limit_of(self, params: Params) -> tuple[str, float] | None:
        """Return what to watch while playing, and the limit, where that is known beforehand."""
        return None

    def may_hold(self, moment: Moment) -> bool:
        """Return whether it held until a moment, as far as that is known then."""
        return True

    def check(self, evidence: Any) -> Finding | None:
        """Return what was found; None where there is nothing to find out."""
        return None


@dataclass(frozen=True)
class AtMost(Assumption):
    """A measurement of the core stays below a limit in every round.

    Parameters
    ----------
    measure
        One of the core's: norm, peak, spread, outcome, gradient, gradient_peak; or loss.
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
    """A parameter lies where the theorem wants it.

    Parameters
    ----------
    name
        In plain text.
    value
        The number that must be below the limit.
    limit
        The limit.
    strict
        Whether it must not be reached.
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
        Whether the learner may do without a horizon.
    """

    statement: str = r"$T$ is known beforehand: no more rounds are played than the horizon"
    optional: bool = False

    def may_hold(self, moment: Moment) -> bool:
        """Compare the rounds so far with the horizon."""
        horizon = moment.params["horizon"]
        return horizon is None or moment.rounds <= horizon

    def check(self, evidence: Any) -> Finding:
        """Compare the rounds with the horizon."""
        rounds, told = evidence.rounds, evidence.params["horizon"]
        if self.optional and told is None:
            return Finding("no horizon was set", None, None, True)
        horizon = int(told)
        holds = rounds <= horizon
        first = None if holds else horizon + 1
        return Finding(f"rounds <= {horizon}", horizon, rounds, holds, first)


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
        """Say that it is taken on trust."""
        return Finding(self.name, None, None, None)


@dataclass(frozen=True)
class Structural(Assumption):
    """Something that holds for every learner that the theorem covers: said, not measured."""


@dataclass(frozen=True)
class Shown(Assumption):
    """Something found out when the game is over.

    Parameters
    ----------
    finding
        What finds it out.
    """

    finding: Callable[[Any], Finding]

    def check(self, evidence: Any) -> Finding:
        """Find it out."""
        return self.finding(evidence)


# What all theorems assume, where it can be told.
UNTRAINED = "rounds learned before = 0"


def starts_untrained(evidence: BaseEvidence) -> Finding | None:
    """Check what every theorem assumes: that the first weights are the ones it speaks of."""
    before = evidence.rounds_before
    if before is None:
        return None
    return Finding(UNTRAINED, 0, before, before == 0, 1 if before else None)


def known_from_the_start(evidence: Evidence) -> Finding:
    """Check that no feature joined after the first round, where that would change the weights."""
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
    """Say whether the loss is known to be convex; one's own is taken on trust."""
    from noregret.base.compiled.losses import PythonLoss

    loss = evidence.learner.engine.loss
    known = None if isinstance(loss, PythonLoss) else loss.name != "mistake"
    return Finding("the loss is convex", None, None, known)


@dataclass(frozen=True)
class Convex(Shown):
    """The loss is convex: halfway between two predictions it is at most halfway between theirs."""

    remedy = "Take a learner whose loss is, such as the hinge or the logistic loss."


CONVEX = Convex("the loss is convex; one of your own is taken on trust", is_convex)
