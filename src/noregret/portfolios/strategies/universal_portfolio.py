"""The universal portfolio: every constant rebalanced portfolio gets the same part of the wealth.

    w = ∫ u S(u) du / ∫ S(u) du        S(u) = Π u·x_s, over all portfolios u alike

Its wealth is the mean of theirs. For two assets S is a polynomial in the first share; its
coefficients in Bernstein's form are never negative and give both integrals exactly, but for
rounding, in a time that grows with the rounds so far. For more assets some thousand portfolios
drawn evenly stand for all of them: the wealth is the mean of theirs, and what it may be off by is
known (``error``).

Promise. Its log-wealth is below that of the best constant rebalanced portfolio by at most
(n−1) ln(T+1), for two assets on any data at all. With N portfolios drawn, it is below the best of
these by at most ln N, whatever happens.
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

# The largest relative standard error of the wealth at which it can stand for the integral's, and
# how many of them the bound makes room for.
MAX_RELATIVE_ERROR, ERRORS = 0.1, 4
# How far a witness may be from a portfolio that was drawn.
WITNESS_TOLERANCE = 1e-9
# What rounding may do to the running sums, as a share: well below what verdicts make room for.
ROUNDED = 1e-10
# Portfolios that may be drawn, and numbers that they may be made of.
MAX_PORTFOLIOS, MAX_NUMBERS = 10**6, 2**25
# Fewer portfolios, or fewer than assets, say nothing of how far their mean is off.
MIN_PORTFOLIOS = 100


def least_points(assets: int) -> int:
    """Return how many portfolios must be drawn for their error to be known."""
    return max(MIN_PORTFOLIOS, assets + 1) if assets > 2 else 1


def is_accurate(evidence: PortfolioEvidence) -> Finding:
    """Check that the portfolios drawn give the integral well enough."""
    points, least = evidence.params["points"], least_points(evidence.width)
    if points < least:
        return Finding(f"points >= {least}", least, points, False)
    error = evidence.player.error
    name = f"relative standard error of the wealth <= {MAX_RELATIVE_ERROR:g}"
    return Finding(name, MAX_RELATIVE_ERROR, error, error <= MAX_RELATIVE_ERROR)


class Sampled(Assumption):
    """That the mean of the portfolios drawn is as near to that of all as its error says."""

    def check(self, evidence: Any) -> Finding | None:
        """Say that it is taken on trust, unless the integral is exact."""
        if evidence.width <= 2:
            return None
        name = f"the wealth is within {ERRORS} standard errors of the exact one"
        return Finding(name, None, None, None)


def universal(evidence: PortfolioEvidence) -> float:
    """Return (n−1) ln(T+1), and what errors of the integral may add."""
    exact = (evidence.width - 1) * math.log(evidence.rounds + 1)
    return float(exact - math.log1p(-ERRORS * evidence.player.error)) + evidence.rounding


def best_drawn(evidence: PortfolioEvidence) -> Answer:
    """Return the best of the portfolios that were drawn."""
    player = evidence.player
    if evidence.width == 2:  # none were
        return evidence.usual()
    best = player.points_at[int(np.argmax(player.logs))]
    loss, off = loss_of(evidence.blocks, best)
    hidden = off + ROUNDED * abs(loss)  # another may be the best, were it not for rounding
    return Answer(player.drawn_words(), loss + off, loss - off - hidden, best, True)


@register
class UniversalPortfolio(Strategy):
    """Divide wealth as all constant rebalanced portfolios together do.

    Parameters
    ----------
    points
        N, how many portfolios stand for all of them where there are more than two assets: 2 to a
        million. With fewer than 100, or no more than assets, nothing is promised but to be near
        the best of them.
    seed
        Of the random numbers by which they are drawn.
    cost
        The share of all that is traded that is paid for it, from 0 to below 1.

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
                    "for more than two assets: the wealth is not off by more than"
                    f" {ERRORS} standard errors, for which the bound makes room"
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
            raise ValueError(f"points must be 2 at least, better some thousand: got {points!r}")
        if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**63:
            raise ValueError(f"seed must be a whole number, 0 or above: got {seed!r}")
        self.seed = seed
        super().__init__(cost)
        self.points_at = np.empty((0, 0))
        # Of the wealths of the portfolios drawn, or of Bernstein's coefficients; the largest 0.
        self.logs = np.empty(0)

    def begin(self, assets: int) -> None:
        """Draw the portfolios; for two assets, begin with the constant 1."""
        if assets == 2:
            self.logs = np.zeros(1)
            return
        most = min(MAX_PORTFOLIOS, MAX_NUMBERS // assets)
        if self.points > most:
            raise NoRegretError(
                f"{self.points} points for {assets} assets do not fit",
                f"choose fewer points, {most} at most",
            )
        drawn = np.random.Generator(np.random.PCG64(self.seed)).exponential(
            size=(self.points, assets)
        )
        drawn /= drawn.sum(axis=1, keepdims=True)
        self.points_at = drawn
        self.logs = np.zeros(self.points)

    def shapes(self, assets: int) -> dict[str, tuple[int, ...]]:
        """Return the array it keeps."""
        return {"logs": (self.rounds + 1 if assets == 2 else self.points,)}

    def divide(self) -> Floats:
        """Return the mean of all portfolios, by their wealth."""
        parts = np.exp(self.logs - self.logs.max())
        parts /= parts.sum()
        if self.width == 2:
            degree = len(parts) - 1
            first = float(parts @ np.arange(1.0, degree + 2.0)) / (degree + 2.0)
            return np.array([first, 1.0 - first])
        shares = parts @ self.points_at
        return np.asarray(shares / shares.sum())

    def update(self, relatives: Floats, ratios: Floats, log_gain: float) -> None:
        """Multiply every portfolio's wealth."""
        if self.width == 2:
            self.logs = raised(self.logs, np.log(relatives))
        else:
            most = float(relatives.max())
            self.logs = self.logs + np.log(self.points_at @ (relatives / most))
        self.logs = self.logs - self.logs.max()

    @property
    def error(self) -> float:
        """The relative standard error of the wealth: 0 for two assets, infinite if unknown."""
        if self.width <= 2 or not self.rounds:
            return 0.0
        if self.points < least_points(self.width):
            return math.inf
        parts = np.exp(self.logs - self.logs.max())
        mean = float(parts.mean())
        return float(parts.std(ddof=1)) / mean / math.sqrt(len(parts))

    def drawn_words(self) -> str:
        """Name the portfolios that were drawn."""
        return f"{self.points} constant rebalanced portfolios drawn by seed {self.seed}"

    def points_near(self, u: Floats, comparator: str) -> bool:
        """Return whether a portfolio belongs to a class, or is one of those drawn."""
        if comparator != self.drawn_words():
            return True
        near = np.ones(len(self.points_at), dtype=bool)
        for column, share in zip(self.points_at.T, u, strict=True):
            near &= np.abs(column - share) <= WITNESS_TOLERANCE
        return bool(near.any())

    def check_state(self) -> None:
        """Raise ValueError where no portfolio has any wealth."""
        if self.logs.max() != 0:
            raise ValueError("logs should be at most 0, the largest 0")

    def bound_so_far(self) -> float | None:
        """Return (n−1) ln(T+1), where the integral is near enough."""
        if self.cost or not self.width or self.error > MAX_RELATIVE_ERROR:
            return None
        exact = (self.width - 1) * math.log(self.rounds + 1)
        return exact - math.log1p(-ERRORS * self.error)


def raised(logs: NDArray[np.float64], x: Floats) -> Floats:
    """Return Bernstein's coefficients of a polynomial times u x_1 + (1−u) x_2, by logarithms."""
    degree = len(logs)
    at = np.arange(degree + 1.0)
    higher, same = np.full(degree + 1, -np.inf), np.full(degree + 1, -np.inf)
    higher[1:] = logs + np.log(at[1:] / degree) + x[0]
    same[:-1] = logs + np.log(1.0 - at[:-1] / degree) + x[1]
    return np.asarray(np.logaddexp(higher, same))
