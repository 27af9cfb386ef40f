"""Online Newton step for portfolios: follow the leader on quadratic approximations of the losses.

With d_t = x_t/(w_t·x_t) − 1, the gain of each asset relative to the portfolio,

    w ← argmin over the simplex of  ½ wᵀA w − b·w/γ,     A = εI + Σ d_t d_tᵀ,   b = Σ d_t

which is the point b/γ, multiplied by A⁻¹ and projected on the simplex in the norm of A. (The
usual form has d_t = x_t/(w_t·x_t). The portfolios are the same, as the shares sum to 1; the
bound is smaller this way.)

Promise. As long as no asset grows more than c times as much as the portfolio in a round, where
c = 1 + y solves γ = 2(y − ln(1+y))/y²,

    regret ≤ ln det(A/ε)/(2γ) + γε(1 − 1/n)/2

against the best constant rebalanced portfolio. It holds in particular if x_{t,i} ≥ r max_j x_{t,j}
with r = 1/c, and then grows at most as n ln(T)/(2γ).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from noregret.base.registry import register
from noregret.checks import positive, whole
from noregret.hindsight.solvers.active_set import least_quadratic
from noregret.limits import MAX_VALUE
from noregret.portfolios.evidence import PortfolioEvidence
from noregret.portfolios.strategy import NO_COSTS, Floats, Strategy
from noregret.proof.theorems.assumptions import ROUNDING, Finding, Shown
from noregret.proof.theorems.theorem import Theorem

# Larger gains relative to the portfolio are clipped to this; the theorem does not cover them.
MAX_GAIN = 1e6
# With parameters outside these limits the shares would be rounding errors.
MIN_RATE, RIDGE_LIMITS, DAMPING_LIMITS = 1e-12, (1e-12, 1e30), (1e-9, 1e9)


def rate_of(ratio: float) -> float:
    """Return the largest γ for a largest ratio of an asset's growth to the portfolio's.

    >>> round(rate_of(1.0), 6), round(rate_of(2.0), 6)
    (1.0, 0.613706)
    """
    y = ratio - 1.0
    if y < 1e-4:
        return 1.0 - y * 2 / 3
    return 2.0 * (y - math.log1p(y)) / y / y


def ratio_of(rate: float) -> float:
    """Return c, the largest ratio for which the rate is small enough."""
    low, high = 1.0, 2.0
    while rate_of(high) > rate and high < MAX_VALUE:
        low, high = high, 2 * high
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if rate_of(middle) >= rate else (low, middle)
    return low


def not_too_steep(evidence: PortfolioEvidence) -> Finding:
    """Check that no asset grew too much relative to the portfolio."""
    limit = ratio_of(evidence.params["rate"])
    player = evidence.player
    name = f"max x_i / (w·x) <= {limit:.6g}"
    holds = player._steepest <= limit * ROUNDING
    return Finding(name, limit, player._steepest, holds, player._first_steep or None)


def by_determinant(evidence: PortfolioEvidence) -> float:
    """Return the bound with the determinant of A."""
    return float(evidence.player._bound()) + evidence.rounding


def tuned(ratio: float, assets: int) -> dict[str, Any]:
    """Return γ and ε if no asset gains more than ``ratio`` times as much as another in a round."""
    if not 1 <= positive("ratio", ratio) <= 1 / MIN_RATE:
        raise ValueError(f"ratio must be a number from 1 to {1 / MIN_RATE:g}: got {ratio!r}")
    rate = rate_of(ratio)
    return {"rate": rate, "ridge": whole("assets", assets) / rate**2, "damping": 1.0}


def between(name: str, value: float, limits: tuple[float, float]) -> float:
    """Return a number within limits, or raise ValueError."""
    if limits[0] <= positive(name, value) <= limits[1]:
        return float(value)
    raise ValueError(f"{name} must be a number from {limits[0]:g} to {limits[1]:g}: got {value!r}")


@register
class OnsPortfolio(Strategy):
    """Divide wealth by the online Newton step.

    Parameters
    ----------
    rate
        γ, from 1e-12 to 1: the curvature that the losses are assumed to have.
    ridge
        ε, from 1e-12 to 1e30: how long the shares stay nearly equal.
    damping
        δ, from 1e-9 to 1e9: A⁻¹b is multiplied by it before the projection, in the usual form of
        the algorithm. The theorem requires 1. With 1/8, as in the published experiments and by
        default, the strategy is reversed: it prefers assets that have fallen. That has done better
        on all markets tried, but nothing is proven about it.
    cost
        The transaction cost as a fraction of all that is traded, from 0 to below 1.

    Examples
    --------
    >>> strategy = OnsPortfolio(rate=0.5, damping=1.0)
    >>> strategy.learn_many([[1.0, 1.1, 0.9]] * 50)
    >>> strategy.weights().round(3)
    array([0., 1., 0.])

    References
    ----------
    A. Agarwal, E. Hazan, S. Kale and R. Schapire, "Algorithms for portfolio management based on
    the Newton method", 2006.
    """

    name = "ons-portfolio"
    theorems = (
        Theorem(
            name="ons-portfolio",
            quantity="log-wealth regret",
            formula=r"R_T \le \frac{\ln \det (A_T/\varepsilon)}{2\gamma}"
            r" + \frac{\gamma \varepsilon}{2} (1 - \frac{1}{n})",
            plain="log-wealth regret <= ln det(A/ε)/(2γ) + γε(1 - 1/n)/2",
            where=(
                r"$n$ is the number of assets, $\gamma$ the rate, $\varepsilon$ is `ridge`; $A ="
                r" \varepsilon I + \sum d d^T$, where $d$ is the gain of each asset relative to"
                " the portfolio in a round"
            ),
            assumptions=(
                Shown(
                    r"$x_{t,i} \le c (w_t \cdot x_t)$ in every round, where $c = 1 + y$"
                    r" solves $\gamma = 2 (y - \ln(1+y))/y^2$; it is enough that"
                    r" $x_{t,i} \ge \max_j x_{t,j} / c$",
                    not_too_steep,
                ),
                NO_COSTS,
            ),
            bound=by_determinant,
            covers=lambda params: params["damping"] == 1.0,
            tune=tuned,
            tuning=r"$\gamma = 2 (y - \ln(1+y))/y^2$ with $y = c - 1$, $c$ the ratio,"
            r" $\varepsilon = n/\gamma^2$, `damping` 1",
            source="Agarwal, Hazan, Kale and Schapire, 2006; with the constants of the logarithm",
        ),
    )

    def __init__(
        self, rate: float = 1.0, ridge: float = 1.0, damping: float = 0.125, cost: float = 0.0
    ) -> None:
        self.rate = between("rate", rate, (MIN_RATE, 1.0))
        self.ridge = between("ridge", ridge, RIDGE_LIMITS)
        self.damping = between("damping", damping, DAMPING_LIMITS)
        super().__init__(cost)
        self._limit = ratio_of(self.rate)
        self._pull = self.damping * (1.0 + 1.0 / self.rate) - 1.0
        self._curvature = np.empty((0, 0))
        self._slope = np.empty(0)
        self._steepest, self._first_steep = 0.0, 0

    def _begin(self, assets: int) -> None:
        """Start with A = εI."""
        self._curvature, self._slope = self.ridge * np.eye(assets), np.zeros(assets)
        self._shares = np.full(assets, 1.0 / assets)

    def _shapes(self, assets: int) -> dict[str, tuple[int, ...]]:
        """Return the names and shapes of its arrays."""
        return {"curvature": (assets, assets), "slope": (assets,)}

    def _divide(self) -> Floats:
        """Return the minimum of the quadratic; the search starts from the present shares."""
        if not self._slope.any():
            return np.full(self.width, 1.0 / self.width)
        found = lowest(self._curvature, self._pull * self._slope, self._shares)
        return found if np.isfinite(found).all() else self._shares

    def _update(self, relatives: Floats, ratios: Floats, log_gain: float) -> None:
        """Add the round's quadratic."""
        largest = float(ratios.max())
        self._steepest = max(self._steepest, largest)
        if largest > self._limit * ROUNDING and not self._first_steep:
            self._first_steep = self.rounds + 1
        beyond = np.minimum(ratios - 1.0, MAX_GAIN)
        self._curvature = self._curvature + beyond[:, None] * beyond
        self._slope = self._slope + beyond

    def _bound(self) -> float:
        """Return the bound of the theorem."""
        _, determinant = np.linalg.slogdet(self._curvature / self.ridge)
        return float(
            max(0.0, determinant) / (2 * self.rate)
            + self.rate * self.ridge * (1 - 1 / self.width) / 2
        )

    def _check_state(self) -> None:
        """Raise ValueError if curvature or slope is impossible."""
        A = self._curvature
        if not (np.isfinite(A).all() and np.isfinite(self._slope).all() and (A == A.T).all()):
            raise ValueError("curvature and slope should be finite, and the former symmetric")
        if not (np.diag(A) >= self.ridge).all():
            raise ValueError("the diagonal of the curvature should be the ridge at least")
        limit = ROUNDING * (self.ridge + self.rounds * MAX_GAIN**2)
        if not (np.abs(A).max() <= limit and np.abs(self._slope).max() <= limit):
            raise ValueError("curvature and slope are too large for the number of rounds")

    def _numbers(self) -> dict[str, Any]:
        """Return the numbers of a model file."""
        return super()._numbers() | {"steepest": self._steepest, "first_steep": self._first_steep}

    def _take_numbers(self, numbers: dict[str, Any]) -> None:
        """Restore the numbers of a model file."""
        super()._take_numbers(numbers)
        self._steepest, self._first_steep = numbers["steepest"], numbers["first_steep"]

    def bound_so_far(self) -> float | None:
        """Return the bound of the theorem while its assumptions hold."""
        if self.cost or self.damping != 1.0 or self._first_steep or not self.width:
            return None
        return self._bound()


def lowest(A: Floats, c: Floats, start: Floats) -> Floats:
    """Return the portfolio with the smallest ½ wᵀA w − c·w, for c of any size.

    The entries of A w differ by 2 max |A| at most: an asset whose c is further than that below the
    largest gets nothing, and can be left out.

    >>> lowest(np.eye(3), np.array([1e30, 1.0, 1e30]), np.full(3, 1 / 3))
    array([0.5, 0. , 0.5])
    """
    below = c.max() - c
    near = below <= 2.0 * np.abs(A).max()
    if near.all():
        return least_quadratic(A, c, start)
    first = start[near] if start[near].any() else np.ones(int(near.sum()))
    w = np.zeros_like(c)
    w[near] = least_quadratic(A[np.ix_(near, near)], -below[near], first / first.sum())
    return w
