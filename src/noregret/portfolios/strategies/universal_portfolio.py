"""The universal portfolio: divide wealth equally among all constant rebalanced portfolios.

    w = ∫ u S(u) du / ∫ S(u) du        S(u) = Π u·x_s, over all portfolios u

Its wealth is the mean of theirs. For two assets S is a polynomial in the first share; its
coefficients in Bernstein's form are never negative and give both integrals exactly up to rounding,
in a time that grows with the rounds so far. For more assets, the integrals are means over several
thousand portfolios drawn uniformly, with a known standard error (``error``).

Promise. Its log-wealth is below that of the best constant rebalanced portfolio by at most
(n−1) ln(T+1), for two assets on any data. With N portfolios drawn, it is below the best of these by
at most ln N, on any data.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.registry import register
from noregret.checks import whole
from noregret.errors import NoRegretError
from noregret.hindsight.portfolio import loss_of
from noregret.hindsight.proofs.answer import Answer
from noregret.portfolios.evidence import PortfolioEvidence
from noregret.portfolios.strategy import NO_COSTS, Floats, Strategy
from noregret.proof.theorems.assumptions import Assumption, Finding, Shown
from noregret.proof.theorems.theorem import Theorem

# The largest relative standard error of the wealth for which the theorem is stated, and the number
# of standard errors that the bound allows for.
MAX_RELATIVE_ERROR, STANDARD_ERRORS = 0.1, 4
# Largest difference of a witness from a portfolio that was drawn.
WITNESS_TOLERANCE = 1e-9
# Relative rounding error of the running sums: well below the tolerance of verdicts.
SUM_ROUNDING = 1e-10
# The largest number of portfolios drawn, and of their shares in total.
MAX_PORTFOLIOS, MAX_NUMBERS = 10**6, 2**25
# The error of the mean is unknown with fewer portfolios, or not more than there are assets.
MIN_PORTFOLIOS = 100


def least_points(assets: int) -> int:
    """Return the number of portfolios from which on the error of their mean is known."""
    return max(MIN_PORTFOLIOS, assets + 1) if assets > 2 else 1


def is_accurate(evidence: PortfolioEvidence) -> Finding:
    """Check that the portfolios drawn approximate the integral well enough."""
    points, least = evidence.params["points"], least_points(evidence.width)
    if points < least:
        return Finding(f"points >= {least}", least, points, False)
    error = evidence.player.error
    name = f"relative standard error of the wealth <= {MAX_RELATIVE_ERROR:g}"
    return Finding(name, MAX_RELATIVE_ERROR, error, error <= MAX_RELATIVE_ERROR)


class Sampled(Assumption):
    """The assumption that the mean over the portfolios drawn is within its error bounds."""

    def check(self, evidence: Any) -> Finding | None:
        """Return that it is taken on trust, unless the integral is exact."""
        if evidence.width <= 2:
            return None
        name = f"the wealth is within {STANDARD_ERRORS} standard errors of the exact one"
        return Finding(name, None, None, None)


def universal(evidence: PortfolioEvidence) -> float:
    """Return (n−1) ln(T+1) plus an allowance for the error of the integral."""
    exact = (evidence.width - 1) * math.log(evidence.rounds + 1)
    return float(exact - math.log1p(-STANDARD_ERRORS * evidence.player.error)) + evidence.rounding


def best_drawn(evidence: PortfolioEvidence) -> Answer:
    """Return the best of the portfolios drawn."""
    player = evidence.player
    if evidence.width == 2:  # none were drawn
        return evidence.usual()
    best = player._points_at[int(np.argmax(player._logs))]
    loss, off = loss_of(evidence.blocks, best)
    hidden = off + SUM_ROUNDING * abs(loss)  # due to rounding, another may be the best
    return Answer(player._drawn_words(), loss + off, loss - off - hidden, best, True)


@register
class UniversalPortfolio(Strategy):
    """Divide wealth as the wealth-weighted mean of all constant rebalanced portfolios.

    Parameters
    ----------
    points
        N, the number of portfolios drawn if there are more than two assets: 2 to a million. With
        fewer than 100, or not more than there are assets, only the bound against the best of the
        portfolios drawn holds.
    seed
        The seed of the random numbers that draw them.
    cost
        The transaction cost as a fraction of all that is traded, from 0 to below 1.

    Examples
    --------
    >>> strategy = UniversalPortfolio()
    >>> strategy.learn([1.0, 2.0])
    >>> strategy.weights().round(4)  # 4/9 and 5/9
    array([0.4444, 0.5556])

    References
    ----------
    T. Cover, "Universal portfolios", 1991. T. Cover and E. Ordentlich, "Universal portfolios with
    side information", 1996.
    """

    name = "universal-portfolio"
    theorems = (
        Theorem(
            name="universal-portfolio",
            quantity="log-wealth regret",
            formula=r"R_T \le (n-1) \ln (T+1)",
            plain="log-wealth regret <= (n-1) ln(T+1)",
            where="$n$ is the number of assets, $T$ of rounds",
            assumptions=(
                Shown(
                    "the integral over all portfolios is exact, as it is for two assets, or has"
                    f" a relative standard error of at most {MAX_RELATIVE_ERROR:g}",
                    is_accurate,
                ),
                Sampled(
                    "for more than two assets: the error of the wealth is at most"
                    f" {STANDARD_ERRORS} standard errors, which the bound allows for"
                ),
                NO_COSTS,
            ),
            bound=universal,
            source="Cover, 1991; Cover and Ordentlich, 1996",
        ),
        Theorem(
            name="universal-portfolio-drawn",
            quantity="log-wealth regret",
            formula=r"\max_k \ln S_T(u_k) - \ln S_T \le \ln N",
            plain="log-wealth regret against the best of the N portfolios drawn <= ln(N)",
            where="$N$ is the number of portfolios drawn",
            assumptions=(
                Shown(
                    "there are more than two assets, so that portfolios were drawn",
                    lambda e: Finding("assets > 2", 2, e.width, e.width > 2),
                ),
                NO_COSTS,
            ),
            bound=lambda e: math.log(e.params["points"]),
            best=best_drawn,
            source="a mean is at least its largest part",
        ),
    )

    def __init__(self, points: int = 4096, seed: int = 0, cost: float = 0.0) -> None:
        self.points = whole("points", points, below=10**8)
        if self.points < 2:
            raise ValueError(f"points must be 2 at least, better several thousand: got {points!r}")
        if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**63:
            raise ValueError(f"seed must be a whole number, 0 or above: got {seed!r}")
        self.seed = seed
        super().__init__(cost)
        self._points_at = np.empty((0, 0))
        # Logarithms of the wealth of each portfolio drawn, or of Bernstein's coefficients, shifted
        # so that the largest is 0.
        self._logs = np.empty(0)

    def _begin(self, assets: int) -> None:
        """Draw the portfolios; for two assets, start with the constant polynomial 1."""
        if assets == 2:
            self._logs = np.zeros(1)
            return
        limit = min(MAX_PORTFOLIOS, MAX_NUMBERS // assets)
        if self.points > limit:
            raise NoRegretError(
                f"{self.points} points for {assets} assets do not fit",
                f"choose fewer points, {limit} at most",
            )
        drawn = np.random.Generator(np.random.PCG64(self.seed)).exponential(
            size=(self.points, assets)
        )
        drawn /= drawn.sum(axis=1, keepdims=True)
        self._points_at = drawn
        self._logs = np.zeros(self.points)

    def _shapes(self, assets: int) -> dict[str, tuple[int, ...]]:
        """Return the name and shape of its array."""
        return {"logs": (self.rounds + 1 if assets == 2 else self.points,)}

    def _divide(self) -> Floats:
        """Return the mean of all portfolios, weighted by their wealth."""
        parts = np.exp(self._logs - self._logs.max())
        parts /= parts.sum()
        if self.width == 2:
            degree = len(parts) - 1
            first = float(parts @ np.arange(1.0, degree + 2.0)) / (degree + 2.0)
            return np.array([first, 1.0 - first])
        shares = parts @ self._points_at
        return np.asarray(shares / shares.sum())

    def _update(self, relatives: Floats, ratios: Floats, log_gain: float) -> None:
        """Multiply the wealth of each portfolio."""
        if self.width == 2:
            self._logs = raised(self._logs, np.log(relatives))
        else:
            largest = float(relatives.max())
            self._logs = self._logs + np.log(self._points_at @ (relatives / largest))
        self._logs = self._logs - self._logs.max()

    @property
    def error(self) -> float:
        """The relative standard error of the wealth: 0 for two assets, infinite if unknown."""
        if self.width <= 2 or not self.rounds:
            return 0.0
        if self.points < least_points(self.width):
            return math.inf
        parts = np.exp(self._logs - self._logs.max())
        mean = float(parts.mean())
        return float(parts.std(ddof=1)) / mean / math.sqrt(len(parts))

    def _drawn_words(self) -> str:
        """Return the description of the portfolios drawn."""
        return f"{self.points} constant rebalanced portfolios drawn by seed {self.seed}"

    def _points_near(self, u: Floats, comparator: str) -> bool:
        """Return whether a portfolio is one of those drawn, if the class consists of these."""
        if comparator != self._drawn_words():
            return True
        near = np.ones(len(self._points_at), dtype=bool)
        for column, share in zip(self._points_at.T, u, strict=True):
            near &= np.abs(column - share) <= WITNESS_TOLERANCE
        return bool(near.any())

    def _check_state(self) -> None:
        """Raise ValueError unless the largest logarithm is 0."""
        if self._logs.max() != 0:
            raise ValueError("logs should be at most 0, the largest 0")

    def bound_so_far(self) -> float | None:
        """Return (n−1) ln(T+1), if the integral is accurate enough."""
        if self.cost or not self.width or self.error > MAX_RELATIVE_ERROR:
            return None
        exact = (self.width - 1) * math.log(self.rounds + 1)
        return exact - math.log1p(-STANDARD_ERRORS * self.error)


def raised(logs: NDArray[np.float64], x: Floats) -> Floats:
    """Return Bernstein's coefficients of a polynomial times u x_1 + (1−u) x_2, by logarithms."""
    degree = len(logs)
    at = np.arange(degree + 1.0)
    higher, same = np.full(degree + 1, -np.inf), np.full(degree + 1, -np.inf)
    higher[1:] = logs + np.log(at[1:] / degree) + x[0]
    same[:-1] = logs + np.log(1.0 - at[:-1] / degree) + x[1]
    return np.asarray(np.logaddexp(higher, same))
