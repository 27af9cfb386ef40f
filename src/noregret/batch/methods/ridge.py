"""Ridge regression.

The weights that minimise the square loss plus a penalty on their squared norm:

    w = argmin over u of  Σ (u·x_t − y_t)² + λ‖u‖²  =  (λI + Σ x_t x_tᵀ)⁻¹ Σ y_t x_t

Promise. The objective of w is minimal up to rounding. So no weights with at most the norm of w have
a smaller loss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.base.registry import register
from noregret.batch.method import Solution
from noregret.batch.summed import Summed
from noregret.checks import positive, truth
from noregret.proof.theorems.assumptions import Finding, Shown, Structural
from noregret.proof.theorems.theorem import Theorem

# Bounds on the rounding error of the objective, relative to the loss of zero weights and to itself.
MAX_ROUNDING, MAX_RELATIVE_ERROR = 1e-9, 1e-6

if TYPE_CHECKING:
    from noregret.batch.evidence import BatchEvidence
    from noregret.hindsight import Answer


def objective(evidence: BatchEvidence) -> float:
    """Return the loss of the weights plus the penalty."""
    return float(evidence.loss + evidence.params["penalty"] * evidence.length**2)


def least(evidence: BatchEvidence) -> float:
    """Return the minimal objective plus its rounding error."""
    answer, nothing = evidence.best_ridge(evidence.params["penalty"], 1.0), evidence.nothing
    return answer.lower + max(answer.gap, MAX_ROUNDING * nothing) if nothing else 0.0


def is_known(evidence: BatchEvidence) -> Finding:
    """Check that the minimal objective is known up to rounding."""
    answer = evidence.best_ridge(evidence.params["penalty"], 1.0)
    tolerance = max(MAX_RELATIVE_ERROR * answer.lower, MAX_ROUNDING * evidence.nothing)
    known = not evidence.nothing or answer.gap <= tolerance
    return Finding("the minimal objective is known up to rounding", None, None, known)


def best(evidence: BatchEvidence) -> Answer:
    """Return the best weights with at most the same norm."""
    penalty = evidence.params["penalty"]
    return evidence.no_longer(evidence.best_ridge(penalty, 1.0), penalty)


@register
class Ridge(Summed):
    """Least squares with a penalty on the squared norm of the weights.

    Parameters
    ----------
    penalty
        λ > 0, the factor of the squared norm.
    intercept
        Whether to add a constant feature of value 1. Its weight counts in the norm.

    Examples
    --------
    >>> method = Ridge(penalty=1.0).fit([[1.0], [1.0], [1.0]], [4.0, 4.0, 4.0])
    >>> method.weights
    array([3.])
    >>> method.predict_many([[2.0]])
    array([6.])

    References
    ----------
    A. E. Hoerl and R. W. Kennard, "Ridge regression: biased estimation for nonorthogonal
    problems", 1970.
    """

    name = "ridge"
    theorems = (
        Theorem(
            name="ridge",
            quantity="objective",
            formula=r"L_w + \lambda \|w\|^2 \le \min_u \left[ L_u + \lambda \|u\|^2 \right]",
            plain="loss + λ‖w‖² <= min over u of  L(u) + λ‖u‖²",
            where=r"$L_u$ is the loss of weights $u$, $w$ are those found, $\lambda$ the penalty",
            assumptions=(
                Structural(r"$\lambda > 0$, so that the minimum is attained at a unique $u$"),
                Shown(
                    r"the minimum is known up to $10^{-6}$ of it, or $10^{-9} \sum_t y_t^2$",
                    is_known,
                ),
            ),
            best=best,
            measured=objective,
            bound=least,
            source="the gradient of a convex function is zero at its minimum",
        ),
    )

    def __init__(self, penalty: float = 1.0, intercept: bool = False) -> None:
        self.penalty = positive("penalty", penalty)
        self.intercept = truth("intercept", intercept)
        super().__init__()

    def _solve(self, examples: BatchEvidence) -> Solution:
        """Solve the normal equations."""
        return Solution(examples.best_ridge(self.penalty, 1.0).witness)
