"""The soft-margin support vector machine.

Of all weights, those that pay least for examples within the margin and for their own length:

    w = argmin over u of  Σ max(0, 1 − y_t (u·x_t)) + λ‖u‖²

In other words C = 1/(2λ) a row. It rests on the rows whose margin is 1 or less; the others could be
left out.

Promise. The objective of w is within the tolerance of the least there is, which is proven by its
dual: any weights 0 ≤ a_t ≤ 1 over the rows show that no u has an objective below
Σ a_t − ‖Σ a_t y_t x_t‖²/(4λ). So no weights that are as short as w pay noticeably less.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from noregret.base.registry import register
from noregret.batch.machine import Machine, closer, resting_on, tolerance_of
from noregret.batch.method import Solution
from noregret.checks import positive, truth
from noregret.hindsight import best_penalised
from noregret.hindsight.proofs.rounding import upward
from noregret.proof.theorems.assumptions import Finding, Shown, Structural
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.batch.evidence import BatchEvidence
    from noregret.hindsight import Answer


def least(evidence: BatchEvidence) -> Answer:
    """Return the least objective there is, as an interval."""
    penalty = evidence.params["penalty"]
    return evidence.once(
        "objective",
        lambda: best_penalised(evidence.rows, "hinge", penalty, limits=closer(evidence)),
    )


def objective(evidence: BatchEvidence) -> float:
    """Return what the weights pay for the examples and for their length."""
    return float(evidence.loss + evidence.params["penalty"] * evidence.length**2)


def within(evidence: BatchEvidence) -> float:
    """Return what the tolerance allows."""
    return float(least(evidence).lower * (1 + evidence.params["tolerance"]))


def found_best(evidence: BatchEvidence) -> Finding:
    """Check that the search came as near to the least as it was told to."""
    near = least(evidence).relative_gap <= evidence.params["tolerance"]
    return Finding("the search came within the tolerance", None, None, near)


def best(evidence: BatchEvidence) -> Answer:
    """Return the best weights that are no longer."""
    return evidence.no_longer(least(evidence), evidence.params["penalty"])


@register
class SoftMarginSvm(Machine):
    """The support vector machine that lets examples into the margin, at a price.

    Parameters
    ----------
    penalty
        λ > 0: what a unit of squared length costs; elsewhere called C, which is 1/(2λ).
    intercept
        Whether to add a constant feature of value 1. Its weight counts in the length.
    tolerance
        Between 0 and 1: how far the objective may be from the least, as a share of it.

    Examples
    --------
    >>> method = SoftMarginSvm(penalty=0.5).fit([[2.0], [1.0], [-1.0], [-3.0]], [1, 1, -1, -1])
    >>> method.weights.round(4), method.support
    (array([1.]), array([1, 2]))
    >>> method.predict_many([[5.0], [-5.0]])
    array([ 1, -1])

    References
    ----------
    C. Cortes and V. Vapnik, "Support-vector networks", 1995.
    """

    name = "soft-margin-svm"
    theorems = (
        Theorem(
            name="soft-margin",
            quantity="objective",
            formula=r"H_w + \lambda \|w\|^2 \le (1 + \varepsilon)"
            r" \min_u \left[ H_u + \lambda \|u\|^2 \right]",
            plain="hinge loss + λ‖w‖² <= (1 + ε) min over u of  H(u) + λ‖u‖²",
            where="$w$ are the weights found",
            assumptions=(
                Shown("the search for the least came within the tolerance", found_best),
                Structural(
                    r"$H_u = \sum_t \max(0, 1 - y_t\, u \cdot x_t)$; $\lambda$ is the penalty and"
                    r" $\varepsilon$ the tolerance. The minimum is proven from below by duality"
                ),
            ),
            best=best,
            measured=objective,
            bound=within,
            needs_rows=True,
            source="Cortes and Vapnik, 1995",
        ),
    )

    def __init__(
        self, penalty: float = 1.0, intercept: bool = False, tolerance: float = 1e-6
    ) -> None:
        self.penalty = positive("penalty", penalty)
        self.intercept = truth("intercept", intercept)
        self.tolerance = tolerance_of(tolerance)
        super().__init__()

    def solve(self, examples: BatchEvidence) -> Solution:
        """Minimise the objective, until its dual proves that it is nearly least."""
        answer = least(examples)
        # The objective is so strongly convex.
        off = math.sqrt(upward(max(0.0, answer.gap)) / self.penalty)
        return Solution(
            answer.witness,
            {"objective": answer.loss, "lower": answer.lower},
            {"support": resting_on(examples.rows, answer.witness, off)},
        )

    @property
    def objective(self) -> tuple[float, float]:
        """The least objective, between two ends that are proven; the weights attain the second."""
        numbers = self.solution.numbers
        return float(numbers["lower"]), float(numbers["objective"])
