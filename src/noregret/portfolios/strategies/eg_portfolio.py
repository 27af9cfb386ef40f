"""Exponentiated gradient for portfolios: shares grow with the relative gains of assets.

    w_i ← w_i · exp(η x_i / (w·x)) / Z

Multiplying all relatives of a round by the same number changes nothing.

Promise. If x_{t,i} ≥ r max_j x_{t,j} in every round, its log-wealth is below that of the best
constant rebalanced portfolio by at most ln n/η + ηT/(8r²); with η = r √(8 ln n / T) that is
√(T ln n / 2)/r. Without any assumption, it is at most a bound that is never larger, and mostly far
smaller, ln n/η + (η/8) Σ s_t², where s_t = (max_i x_{t,i} − min_i x_{t,i})/(w_t·x_t) is the spread.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from noregret.base.registry import register
from noregret.checks import positive, whole
from noregret.portfolios.evidence import ALL_POSITIVE, PortfolioEvidence
from noregret.portfolios.strategy import NO_COSTS, Floats, Strategy
from noregret.proof.theorems.assumptions import Structural
from noregret.proof.theorems.theorem import Theorem

# The smallest logarithm of a share; minus this is the largest bound.
MIN_LOG_SHARE = -1e300


def by_ratio(evidence: PortfolioEvidence) -> float:
    """Return the bound with r."""
    rate, rounds = float(evidence.params["rate"]), evidence.rounds
    ratio = evidence.smallest_ratio()
    return min(-MIN_LOG_SHARE, math.log(evidence.width) / rate + rate * rounds / 8 / ratio / ratio)


def by_spread(evidence: PortfolioEvidence) -> float:
    """Return the bound with the spreads."""
    rate, squares = float(evidence.params["rate"]), float(evidence.player._spread_squares)
    bound = math.log(evidence.width) / rate + rate / 8 * squares
    return min(-MIN_LOG_SHARE, bound + evidence.rounding)


def tuned(ratio: float, horizon: int, assets: int) -> dict[str, Any]:
    """Return the rate if no asset gains more than ``ratio`` times as much as another in a round."""
    if whole("assets", assets) < 2:
        raise ValueError("assets must be 2 at least: with one there is no choice")
    if positive("ratio", ratio) < 1:
        raise ValueError(f"ratio must be a number, 1 or above: got {ratio!r}")
    return {"rate": math.sqrt(8 * math.log(assets) / whole("horizon", horizon)) / ratio}


@register
class EgPortfolio(Strategy):
    """Divide wealth by exponentiated gradient.

    Parameters
    ----------
    rate
        η, above 0. With small rates the shares stay close to equal, which has paid off in practice.
    cost
        The transaction cost as a fraction of all that is traded, from 0 to below 1.

    Examples
    --------
    >>> strategy = EgPortfolio(rate=0.5)
    >>> strategy.learn({"shares": 1.2, "bonds": 1.0})
    >>> {name: round(share, 3) for name, share in strategy.allocation().items()}
    {'bonds': 0.477, 'shares': 0.523}

    References
    ----------
    D. Helmbold, R. Schapire, Y. Singer and M. Warmuth, "On-line portfolio selection using
    multiplicative updates", 1998.
    """

    name = "eg-portfolio"
    theorems = (
        Theorem(
            name="eg-portfolio-spread",
            quantity="log-wealth regret",
            formula=r"R_T \le \frac{\ln n}{\eta} + \frac{\eta}{8} \sum_t s_t^2",
            plain="log-wealth regret <= ln(n)/η + (η/8) Σ s², s the relative spread",
            where=(
                r"$n$ is the number of assets, $\eta$ the rate; $s$ is, in each round, the"
                " largest relative less the smallest, over that of the portfolio"
            ),
            assumptions=(
                Structural("none on the data: the spreads are measured, and may be of any size"),
                NO_COSTS,
            ),
            bound=by_spread,
            source="Helmbold, Schapire, Singer and Warmuth, 1998; Hoeffding's lemma round by round",
        ),
        Theorem(
            name="eg-portfolio",
            quantity="log-wealth regret",
            formula=r"R_T \le \frac{\ln n}{\eta} + \frac{\eta T}{8 r^2}",
            plain="log-wealth regret <= ln(n)/η + ηT/(8r²)",
            where=(
                r"$n$ is the number of assets, $T$ of rounds, $\eta$ the rate; $x_{t,i}$ is what"
                " asset $i$ is multiplied by in round $t$"
            ),
            assumptions=(ALL_POSITIVE, NO_COSTS),
            bound=by_ratio,
            tune=tuned,
            tuning=r"$\eta = r \sqrt{8 \ln n / T}$, where $1/r$ is the ratio",
            source="Helmbold, Schapire, Singer and Warmuth, 1998",
        ),
    )

    def __init__(self, rate: float = 0.05, cost: float = 0.0) -> None:
        self.rate = positive("rate", rate)
        super().__init__(cost)
        self._logs = np.empty(0)  # logs of the shares, shifted so that the largest is 0
        self._spread_squares = 0.0
        self._smallest = 1.0  # r so far

    def _begin(self, assets: int) -> None:
        """Start with equal shares."""
        self._logs = np.zeros(assets)

    def _shapes(self, assets: int) -> dict[str, tuple[int, ...]]:
        """Return the name and shape of its array."""
        return {"logs": (assets,)}

    def _divide(self) -> Floats:
        """Return the shares."""
        parts = np.exp(self._logs)
        return np.asarray(parts / parts.sum())

    def _update(self, relatives: Floats, ratios: Floats, log_gain: float) -> None:
        """Multiply the shares."""
        high, low = float(ratios.max()), float(ratios.min())
        self._spread_squares = min(
            self._spread_squares + (high - low) * (high - low), -MIN_LOG_SHARE
        )
        self._smallest = min(self._smallest, low / high)
        logs = self._logs + np.maximum(self.rate * (ratios - high), MIN_LOG_SHARE)
        self._logs = np.maximum(logs - logs.max(), MIN_LOG_SHARE)

    def _check_state(self) -> None:
        """Raise ValueError if the logarithms are not those of shares."""
        if self._logs.max() != 0 or self._logs.min() < MIN_LOG_SHARE:
            raise ValueError("logs should be at most 0, the largest 0")
        if self._smallest > 1:
            raise ValueError("smallest should be at most 1")

    def _numbers(self) -> dict[str, Any]:
        """Return the numbers of a model file."""
        return super()._numbers() | {
            "spread_squares": self._spread_squares,
            "smallest": self._smallest,
        }

    def _take_numbers(self, numbers: dict[str, Any]) -> None:
        """Restore the numbers of a model file."""
        super()._take_numbers(numbers)
        self._spread_squares, self._smallest = numbers["spread_squares"], numbers["smallest"]

    def bound_so_far(self) -> float | None:
        """Return the bound with the spreads, which is never above that with r."""
        if self.cost or not self.width:
            return None
        start = math.log(self.width) / self.rate
        return min(-MIN_LOG_SHARE, start + self.rate / 8 * self._spread_squares)
