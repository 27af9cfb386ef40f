"""Exponentiated gradient for portfolios: shares grow with what each asset gained beside the whole.

    w_i ← w_i · exp(η x_i / (w·x)) / Z

Multiplying all relatives of a round by the same number changes nothing.

Promise. If x_{t,i} ≥ r max_j x_{t,j} in every round, its log-wealth is below that of the best
constant rebalanced portfolio by at most ln n/η + ηT/(8r²); with η = r √(8 ln n / T) that is
√(T ln n / 2)/r. Without any assumption, and mostly far smaller, it is at most
ln n/η + (η/8) Σ s_t², where s_t = (max_i x_{t,i} − min_i x_{t,i})/(w_t·x_t) is the spread.
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

# No logarithm of a share falls below this, and no bound is told beyond its opposite.
MIN_LOG_SHARE = -1e300


def by_ratio(evidence: PortfolioEvidence) -> float:
    """Return the bound by r."""
    rate, rounds = float(evidence.params["rate"]), evidence.rounds
    ratio = evidence.smallest_ratio()
    return min(-MIN_LOG_SHARE, math.log(evidence.width) / rate + rate * rounds / 8 / ratio / ratio)


def by_spread(evidence: PortfolioEvidence) -> float:
    """Return the bound by the spreads."""
    rate, squares = float(evidence.params["rate"]), float(evidence.player.spread_squares)
    most = math.log(evidence.width) / rate + rate / 8 * squares
    return min(-MIN_LOG_SHARE, most + evidence.rounding)


def tuned(ratio: float, horizon: int, assets: int) -> dict[str, Any]:
    """Return the rate; in no round does an asset gain over ``ratio`` times as much as another."""
    if whole("assets", assets) < 2:
        raise ValueError("assets must be 2 at least: of one there is nothing to choose")
    if positive("ratio", ratio) < 1:
        raise ValueError(f"ratio must be a number that is 1 or above: got {ratio!r}")
    return {"rate": math.sqrt(8 * math.log(assets) / whole("horizon", horizon)) / ratio}


@register
class EgPortfolio(Strategy):
    """Divide wealth by exponentiated gradient.

    Parameters
    ----------
    rate
        η, above 0. Small rates stay close to equal shares, which markets have rewarded.
    cost
        The share of all that is traded that is paid for it, from 0 to below 1.

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
        Theorem(
            name="eg-portfolio-spread",
            quantity="log-wealth regret",
            formula=r"R_T \le \frac{\ln n}{\eta} + \frac{\eta}{8} \sum_t s_t^2",
            plain="log-wealth regret <= ln(n)/η + (η/8) Σ s², s the spread beside the portfolio",
            where=(
                r"$n$ is the number of assets, $\eta$ the rate; $s$ is, in each round, the"
                " largest relative less the smallest, over that of the portfolio"
            ),
            assumptions=(
                Structural("none of the data: the spreads are measured, and may be of any size"),
                NO_COSTS,
            ),
            bound=by_spread,
            source="Helmbold, Schapire, Singer and Warmuth, 1998; Hoeffding's lemma round by round",
        ),
    )

    def __init__(self, rate: float = 0.05, cost: float = 0.0) -> None:
        self.rate = positive("rate", rate)
        super().__init__(cost)
        self.logs = np.empty(0)  # of the shares, the largest 0
        self.spread_squares = 0.0
        self.smallest = 1.0  # r so far

    def begin(self, assets: int) -> None:
        """Start with equal shares."""
        self.logs = np.zeros(assets)

    def shapes(self, assets: int) -> dict[str, tuple[int, ...]]:
        """Return the array it keeps."""
        return {"logs": (assets,)}

    def divide(self) -> Floats:
        """Return the shares."""
        parts = np.exp(self.logs)
        return np.asarray(parts / parts.sum())

    def update(self, relatives: Floats, ratios: Floats, log_gain: float) -> None:
        """Multiply the shares."""
        most, least = float(ratios.max()), float(ratios.min())
        self.spread_squares = min(
            self.spread_squares + (most - least) * (most - least), -MIN_LOG_SHARE
        )
        self.smallest = min(self.smallest, least / most)
        logs = self.logs + np.maximum(self.rate * (ratios - most), MIN_LOG_SHARE)
        self.logs = np.maximum(logs - logs.max(), MIN_LOG_SHARE)

    def check_state(self) -> None:
        """Raise ValueError where the logarithms are not those of shares."""
        if self.logs.max() != 0 or self.logs.min() < MIN_LOG_SHARE:
            raise ValueError("logs should be at most 0, the largest 0")
        if self.smallest > 1:
            raise ValueError("smallest should be at most 1")

    def numbers(self) -> dict[str, Any]:
        """Return the numbers that files hold."""
        return super().numbers() | {
            "spread_squares": self.spread_squares,
            "smallest": self.smallest,
        }

    def take_numbers(self, numbers: dict[str, Any]) -> None:
        """Go on from the numbers of a file."""
        super().take_numbers(numbers)
        self.spread_squares, self.smallest = numbers["spread_squares"], numbers["smallest"]

    def bound_so_far(self) -> float | None:
        """Return the bound by r, or by the spreads where r is 0."""
        if self.cost or not self.width:
            return None
        start = math.log(self.width) / self.rate
        if self.smallest * self.smallest > 0:
            more = self.rate * self.rounds / 8 / self.smallest / self.smallest
        else:
            more = self.rate / 8 * self.spread_squares
        return min(-MIN_LOG_SHARE, start + more)
