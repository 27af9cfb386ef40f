"""The hard-margin support vector machine: the separator with the largest margin.

Among all weights that give every example a margin of 1, those of minimal norm:

    w = argmin ‖u‖²   with all   y_t (u·x_t) ≥ 1

Its direction v = w/‖w‖ has the largest margin γ = min y_t (v·x_t) of all unit vectors, and
‖w‖ = 1/γ. The rows whose margin is 1 are the support vectors; the others could be left out.

Promise. The margin of v is within the tolerance of the largest. The proof is a weighting of the
rows: for p_t ≥ 0 with sum 1, no v has a margin above ‖Σ p_t y_t x_t‖. If some p makes this zero, no
weights separate the labels, and p is the proof.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from noregret.base.registry import register
from noregret.batch.machine import Machine, closer, resting_on, tolerance_of
from noregret.batch.method import Solution
from noregret.checks import truth
from noregret.errors import NoRegretError
from noregret.hindsight import Margin, largest_margin
from noregret.hindsight.proofs.rounding import norm_above, upward
from noregret.hindsight.rows import score_error
from noregret.limits import UNIT
from noregret.proof.theorems.assumptions import Finding, Shown, Structural, separable
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.batch.evidence import BatchEvidence
    from noregret.linear.fixed_predictor import FixedPredictor

Floats = NDArray[np.float64]
# Rows with less than this fraction of the largest weight are left out of a proof.
MIN_WEIGHT_SHARE = 1e-9
# With a smaller margin the squared norm of the weights overflows.
MIN_MARGIN = 1e-150


def largest(evidence: BatchEvidence) -> Margin:
    """Return the largest margin, as an interval."""
    return evidence.once(
        "largest margin", lambda: largest_margin(evidence.rows, limits=closer(evidence))
    )


def shortest(evidence: BatchEvidence) -> float:
    """Return the bound on the squared norm: the least for a margin of 1, with the tolerance."""
    return float(((1 + evidence.params["tolerance"]) / largest(evidence).upper) ** 2)


def squared_length(evidence: BatchEvidence) -> float | None:
    """Return ‖w‖² at the scale at which every margin is at least 1; None if labels are mixed."""
    weights = evidence.weights
    least = float((evidence.margins(weights) - score_error(evidence.rows, weights)).min())
    return upward((norm_above(weights) / least) ** 2) if least > 0 else None


def found_best(evidence: BatchEvidence) -> Finding:
    """Check that the search found the largest margin within the tolerance."""
    margin = largest(evidence)
    near = margin.gap <= evidence.params["tolerance"] * margin.upper
    return Finding("the search came within the tolerance", None, None, near)


@register
class HardMarginSvm(Machine):
    """The separator with the largest margin, or a proof that there is none.

    Parameters
    ----------
    intercept
        Whether to add a constant feature of value 1. Its weight counts in the norm, so the margin
        is that of the rows with the constant.
    tolerance
        The largest relative difference of the margin from the optimum, between 0 and 1.

    Examples
    --------
    >>> method = HardMarginSvm().fit([[3.0, 0.0], [0.0, 4.0]], [1, 1])
    >>> round(method.margin[0], 6), method.separable
    (2.4, True)
    >>> HardMarginSvm().fit([[1.0], [2.0]], [1, -1]).separable
    False

    References
    ----------
    B. E. Boser, I. M. Guyon and V. N. Vapnik, "A training algorithm for optimal margin
    classifiers", 1992.
    """

    name = "hard-margin-svm"
    loss_name = "mistake"
    theorems = (
        Theorem(
            name="hard-margin",
            quantity="objective",
            formula=r"\|w\|^2 \le \frac{(1 + \varepsilon)^2}{\gamma^2}"
            r" = (1 + \varepsilon)^2 \min \left\{ \|u\|^2 : y_t (u \cdot x_t) \ge 1 \right\}",
            plain="‖w‖² <= (1 + ε)²/γ², the minimum with a margin of 1 in every row",
            where="$w$ are the weights found, at the scale at which the least margin is 1",
            assumptions=(
                Shown(
                    r"some unit vector $v$ has $y_t (v \cdot x_t) \ge \gamma > 0$ in every row",
                    separable,
                ),
                Shown("the search for the largest margin came within the tolerance", found_best),
                Structural(
                    r"$\gamma$ is the largest margin of a unit vector, not above"
                    r" $\|\sum_t p_t y_t x_t\|$ for any weighting $p$ of the rows, and"
                    r" $\varepsilon$ the tolerance"
                ),
            ),
            measured=squared_length,
            bound=shortest,
            needs_rows=True,
            source="Boser, Guyon and Vapnik, 1992",
        ),
    )

    def __init__(self, intercept: bool = False, tolerance: float = 1e-6) -> None:
        self.intercept = truth("intercept", intercept)
        self.tolerance = tolerance_of(tolerance)
        super().__init__()

    def _solve(self, examples: BatchEvidence) -> Solution:
        """Find the largest margin."""
        margin = largest(examples)
        shares = np.where(
            margin.shares >= MIN_WEIGHT_SHARE * margin.shares.max(), margin.shares, 0.0
        )
        weights, support = margin.witness, np.zeros(0, dtype=np.int64)
        if margin.lower > 0:
            if margin.lower < MIN_MARGIN:
                raise NoRegretError(
                    f"the largest margin, {margin.lower:.3g}, is too small: weights with a margin"
                    " of 1 overflow",
                    "scale the features",
                )
            weights = weights / margin.lower
            # √(1/lower² − 1/upper²), with a rounded ratio.
            ratio = margin.lower / margin.upper
            off = math.sqrt(max(0.0, 1 - ratio * ratio) + 16 * UNIT) / margin.lower
            support = resting_on(examples.rows, weights, off)
        return Solution(
            weights,
            {"lower": margin.lower, "upper": margin.upper},
            {"support": support, "shares": shares},
        )

    def _stands_by(self, found: Solution) -> bool:
        """Return whether the certificate depends on the weights only: if they separate labels."""
        return bool(found.numbers["lower"] > 0)

    def _check_found(self, found: Solution) -> None:
        """Raise ValueError if the result in a file is invalid."""
        super()._check_found(found)
        if found.numbers.keys() != {"lower", "upper"}:
            raise ValueError("the results should be the two bounds of the margin")

    @property
    def margin(self) -> tuple[float, float]:
        """Proven lower and upper bounds of the largest margin of a unit vector."""
        numbers = self.solution.numbers
        return float(numbers["lower"]), float(numbers["upper"])

    @property
    def separable(self) -> bool | None:
        """True if the labels are linearly separable; None if neither is proven."""
        lower, upper = self.margin
        return True if lower > 0 else False if upper <= 0 else None

    @property
    def proof(self) -> dict[int, float]:
        """The weighting of rows, counted from 0, that proves that no margin is larger.

        If the labels cannot be separated, these rows contradict each other: with these weights, the
        sum of label times row is zero up to rounding.
        """
        shares = self.solution.arrays["shares"]
        return {int(row): float(shares[row]) for row in np.flatnonzero(shares)}

    @property
    def weights(self) -> Floats:
        """The weights in the order of ``features``, scaled so that the smallest margin is 1."""
        return self._ready().weights

    def _ready(self) -> FixedPredictor:
        """Return the predictor; raise an error if no weights separate the labels."""
        fixed = super()._ready()
        if self.separable:
            return fixed
        if self.separable is None:
            raise NoRegretError(
                "no separator was found, nor a proof that there is none",
                "scale the features, or use SoftMarginSvm",
            )
        rows = list(self.proof)
        shown = ", ".join(str(row + 1) for row in rows[:5]) + (", …" if len(rows) > 5 else "")
        raise NoRegretError(
            f"no linear predictor separates these labels: the rows {shown} contradict each other,"
            " as their sum, weighted by `proof`, is zero",
            "use SoftMarginSvm",
        )
