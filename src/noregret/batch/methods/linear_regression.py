"""Linear regression: least squares.

With the examples as the rows of a matrix M and the outcomes in b, the weights are those of the
normal equations; if MᵀM has no inverse, its pseudoinverse gives the solution of minimal norm:

    w = (MᵀM)⁺ Mᵀ b

Gradient descent from zero converges to the same weights, as all iterates stay in the span of the
rows:

    w ← w − η_k Mᵀ(M w − b) + β_k (w − previous w)

with η_k and β_k chosen from the spectrum of MᵀM for fast convergence.

Promise. The loss is minimal up to rounding. After k steps of gradient descent, the relative error
of w is at most τ = 2qᵏ/(1 + q²ᵏ), and the loss exceeds the minimum by at most τ² times the loss of
zero weights, where q = (√κ − 1)/(√κ + 1) and κ is the ratio of the largest to the smallest nonzero
eigenvalue of MᵀM.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from noregret.base.registry import register
from noregret.batch.least_squares import by_iteration, descended, few_of
from noregret.batch.method import Solution
from noregret.batch.summed import Summed
from noregret.checks import one_of, truth, whole
from noregret.hindsight.solvers.curvature import MAX_DENSE
from noregret.proof.theorems.assumptions import Assumption, Finding, Shown, Structural
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.batch.evidence import BatchEvidence
    from noregret.hindsight import Answer

METHODS = ("pseudoinverse", "gradient-descent")
# Bound on the rounding error of the loss relative to that of zero weights, also if columns are
# dependent.
MAX_ROUNDING = 1e-6


def best(evidence: BatchEvidence) -> Answer:
    """Return the minimal loss, with the weights found as its witness."""
    return evidence.standing_by(evidence.best_linear())


def rounding(evidence: BatchEvidence) -> float:
    """Return a bound on the rounding error of the loss."""
    return MAX_ROUNDING * evidence.nothing


def still_missing(evidence: BatchEvidence) -> float:
    """Return a bound on the excess loss due to rounding and to the finite number of steps."""
    return (float(evidence.found["left"]) ** 2 + MAX_ROUNDING) * evidence.nothing


def dependent(evidence: BatchEvidence) -> Finding:
    """Return the number of columns that depend on others."""
    rank = evidence.found["rank"]
    count = None if rank is None else evidence.features - rank
    if (
        count and evidence.rows_at_hand is None
    ):  # sums cannot distinguish dependent from nearly dependent
        count = None
    return Finding("columns that depend on others", None, count, True)


def enough_steps(evidence: BatchEvidence) -> Finding:
    """Check that gradient descent took as many steps as it needs."""
    taken, needed = evidence.found["steps"], evidence.found["needed"]
    return Finding(f"steps >= {needed}", needed, taken, taken >= needed)


RANK: Assumption = Shown(
    r"columns may depend on others: $w$ is then the best solution of minimal norm",
    dependent,
)


@register
class LinearRegression(Summed):
    """Least squares: the best linear predictor; if there are several, the one of minimal norm.

    Parameters
    ----------
    method
        The way to find the weights: ``pseudoinverse``, or ``gradient-descent`` from zero.
    steps
        The largest number of steps of gradient descent.
    intercept
        Whether to add a constant feature of value 1. Its weight counts in the norm if several
        weights fit equally well.

    Examples
    --------
    >>> method = LinearRegression().fit([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [1.0, 2.0, 3.0])
    >>> method.weights.round(9)
    array([1., 1.])
    >>> twice = LinearRegression().fit([[1.0, 1.0], [2.0, 2.0]], [2.0, 4.0])  # a column twice
    >>> twice.weights.round(9), twice.rank
    (array([1., 1.]), 1)

    References
    ----------
    A.-M. Legendre, 1805; C. F. Gauss, 1809; R. Penrose, "On best approximate solutions of linear
    matrix equations", 1956. Steps: D. M. Young, "On Richardson's method", 1953.
    """

    name = "linear-regression"
    theorems = (
        Theorem(
            name="least-squares",
            quantity="regret",
            formula=r"L_w - \min_u L_u \le \varepsilon L_0",
            plain="loss - min over u of L(u) <= ε L(0), a rounding error",
            where="$L_u$ is the loss of weights $u$, and $w$ are those found",
            assumptions=(
                RANK,
                Structural(r"$\varepsilon = 10^{-6}$; $L_0 = \sum_t y_t^2$ is the loss of $u = 0$"),
            ),
            covers=lambda params: params["method"] == "pseudoinverse",
            best=best,
            bound=rounding,
            source="Penrose, 1956",
        ),
        Theorem(
            name="least-squares-by-gradient-descent",
            quantity="regret",
            formula=r"L_w - \min_u L_u \le (\tau^2 + \varepsilon) L_0, \quad"
            r" \tau = \frac{2 q^k}{1 + q^{2k}}, \quad q = \frac{\sqrt\kappa - 1}{\sqrt\kappa + 1}",
            plain="loss - min over u of L(u) <= (τ² + ε) L(0) after k steps",
            where="$L_u$ is the loss of weights $u$, and $w$ are those found in $k$ steps",
            assumptions=(
                RANK,
                Shown(r"$k$ is so large that $\tau \le 10^{-12}$", enough_steps),
                Structural(
                    r"$\kappa$ is the ratio of the largest to the smallest eigenvalue of"
                    r" $\sum_t x_t x_t^\top$ that is not zero; $\varepsilon = 10^{-6}$ is for"
                    r" rounding, $L_0 = \sum_t y_t^2$"
                ),
            ),
            covers=lambda params: params["method"] == "gradient-descent",
            best=best,
            bound=still_missing,
            source="Young, 1953",
        ),
    )

    def __init__(
        self, method: str = "pseudoinverse", steps: int = 100_000, intercept: bool = False
    ) -> None:
        self.method = one_of("method", method, METHODS)
        self.steps = whole("steps", steps)
        self.intercept = truth("intercept", intercept)
        # Each step depends on the smallest eigenvalue, which sums lose digits of.
        self._keep = "auto" if method == "pseudoinverse" else "rows"
        super().__init__()

    def _solve(self, examples: BatchEvidence) -> Solution:
        """Use the pseudoinverse or gradient descent."""
        if examples.features > MAX_DENSE and self.method == "pseudoinverse":
            return Solution(by_iteration(examples.rows), found(None))
        few = few_of(examples.rows_at_hand, examples.ledger.sums)
        if self.method == "pseudoinverse":
            return Solution(few.shortest(), found(few.rank))
        descent = descended(few, self.steps)
        if descent.taken < descent.needed:
            warnings.warn(
                f"gradient descent has not converged: the relative error of the weights may be"
                f" {descent.left:.2g} after {descent.taken} steps; {descent.needed} are needed:"
                " allow more steps, scale the features alike, or use method='pseudoinverse'",
                RuntimeWarning,
                stacklevel=2,
            )
        return Solution(
            descent.weights, found(few.rank, descent.taken, descent.needed, descent.left)
        )

    @property
    def rank(self) -> int | None:
        """The number of linearly independent features; None if there are too many to compute it."""
        rank = self.solution.numbers["rank"]
        return None if rank is None else int(rank)

    def _stands_by(self, found: Solution) -> bool:
        """Return whether the certificate depends on the weights only: true if descent converged."""
        return bool(found.numbers["steps"] >= found.numbers["needed"])

    @property
    def steps_taken(self) -> int:
        """The number of steps of gradient descent."""
        return int(self.solution.numbers["steps"])

    @property
    def converged(self) -> bool:
        """True if gradient descent has converged."""
        return bool(self.solution.numbers["steps"] >= self.solution.numbers["needed"])


def found(rank: int | None, steps: int = 0, needed: int = 0, left: float = 0.0) -> dict[str, Any]:
    """Return the results besides the weights."""
    return {"rank": rank, "steps": steps, "needed": needed, "left": left}
