"""Ridge regression.

Of all weights, those that pay least for the examples and for their own length together:

    w = argmin over u of  Σ (u·x_t − y_t)² + λ‖u‖²  =  (λI + Σ x_t x_tᵀ)⁻¹ Σ y_t x_t

Promise. No weights have an objective below that of w, which is as low as rounding lets it be. So
no weights that are as short as w pay less for the examples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.base.registry import register
from noregret.batch.method import Solution
from noregret.batch.summed import Summed
from noregret.checks import positive, truth
from noregret.proof.theorems.assumptions import Finding, Shown, Structural
from noregret.proof.theorems.theorem import Theorem

# What rounding may add to the objective: as a share of what no weights at all pay, and of itself.
ROUNDING, KNOWN = 1e-9, 1e-6

if TYPE_CHECKING:
    from noregret.batch.evidence import BatchEvidence
    from noregret.hindsight import Answer


def objective(evidence: BatchEvidence) -> float:
    """Return what the weights pay for the examples and for their length."""
    return float(evidence.loss + evidence.params["penalty"] * evidence.length**2)


def least(evidence: BatchEvidence) -> float:
    """Return the least objective that there can be, and what rounding may add."""
    answer, nothing = evidence.best_ridge(evidence.params["penalty"], 1.0), evidence.nothing
    return answer.lower + max(answer.gap, ROUNDING * nothing) if nothing else 0.0


def is_known(evidence: BatchEvidence) -> Finding:
    """Check that rounding leaves the least objective known."""
    answer = evidence.best_ridge(evidence.params["penalty"], 1.0)
    room = max(KNOWN * answer.lower, ROUNDING * evidence.nothing)
    known = not evidence.nothing or answer.gap <= room
    return Finding("the least objective is known but for rounding", None, None, known)


def best(evidence: BatchEvidence) -> Answer:
    """Return the best weights that are no longer."""
    penalty = evidence.params["penalty"]
    return evidence.no_longer(evidence.best_ridge(penalty, 1.0), penalty)


@register
class Ridge(Summed):
    """Least squares with a price on the length of the weights.

    Parameters
    ----------
    penalty
        λ > 0: what a unit of squared length costs, where a unit of squared error costs 1.
    intercept
        Whether to add a constant feature of value 1. Its weight counts in the length.

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
                Structural(r"$\lambda > 0$, so that the minimum is attained, and by one $u$ alone"),
                Shown(
                    r"the minimum is known but for $10^{-6}$ of it, or $10^{-9} \sum_t y_t^2$",
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

    def solve(self, examples: BatchEvidence) -> Solution:
        """Solve the normal equations."""
        return Solution(examples.best_ridge(self.penalty, 1.0).witness)
