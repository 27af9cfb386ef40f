"""The soft-margin support vector machine.

The weights that minimise the hinge loss plus a penalty on their squared norm:

    w = argmin over u of  Σ max(0, 1 − y_t (u·x_t)) + λ‖u‖²

This is the usual form with C = 1/(2λ). The rows whose margin is 1 or less are the support vectors;
the others could be left out.

Promise. The objective of w is within the tolerance of the minimum, which is proven by its dual: for
any weights 0 ≤ a_t ≤ 1 of the rows, no u has an objective below Σ a_t − ‖Σ a_t y_t x_t‖²/(4λ). So
no weights with at most the norm of w have a noticeably smaller loss.
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
    """Return the minimal objective, as an interval."""
    penalty = evidence.params["penalty"]
    return evidence.once(
        "objective",
        lambda: best_penalised(evidence.rows, "hinge", penalty, limits=closer(evidence)),
    )


def objective(evidence: BatchEvidence) -> float:
    """Return the loss of the weights plus the penalty."""
    return float(evidence.loss + evidence.params["penalty"] * evidence.length**2)


def within(evidence: BatchEvidence) -> float:
    """Return the minimal objective with the tolerance."""
    return float(least(evidence).lower * (1 + evidence.params["tolerance"]))


def found_best(evidence: BatchEvidence) -> Finding:
    """Check that the search found the minimum within the tolerance."""
    near = least(evidence).relative_gap <= evidence.params["tolerance"]
    return Finding("the search came within the tolerance", None, None, near)


def best(evidence: BatchEvidence) -> Answer:
    """Return the best weights with at most the same norm."""
    return evidence.no_longer(least(evidence), evidence.params["penalty"])


@register
class SoftMarginSvm(Machine):
    """The support vector machine that allows examples within the margin, at a cost.

    Parameters
    ----------
    penalty
        λ > 0, the factor of the squared norm; other libraries have C = 1/(2λ).
    intercept
        Whether to add a constant feature of value 1. Its weight counts in the norm.
    tolerance
        The largest relative difference of the objective from the minimum, between 0 and 1.

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
                Shown("the search for the minimum came within the tolerance", found_best),
                Structural(
                    r"$H_u = \sum_t \max(0, 1 - y_t\, u \cdot x_t)$; $\lambda$ is the penalty and"
                    r" $\varepsilon$ the tolerance. Its lower bound is proven by duality"
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

    def _solve(self, examples: BatchEvidence) -> Solution:
        """Minimise the objective until its dual proves that it is nearly minimal."""
        answer = least(examples)
        # By strong convexity: gap ≥ λ · distance².
        off = math.sqrt(upward(max(0.0, answer.gap)) / self.penalty)
        return Solution(
            answer.witness,
            {"objective": answer.loss, "lower": answer.lower},
            {"support": resting_on(examples.rows, answer.witness, off)},
        )

    @property
    def objective(self) -> tuple[float, float]:
        """Proven lower and upper bounds of the minimal objective; the weights attain the second."""
        numbers = self.solution.numbers
        return float(numbers["lower"]), float(numbers["objective"])
