"""Buy and hold: start with the same share in every asset, and never trade.

    w_i ∝ Π x_{s,i}        (the shares drift with the prices)

Wealth is the mean of the assets' wealth.

Promise. A mean of n numbers is at least the largest divided by n: its log-wealth is below the best
asset's by at most ln n, for any relatives and any costs.
"""

from __future__ import annotations

import math

import numpy as np

from noregret.base.registry import register
from noregret.portfolios.strategy import Floats, Strategy
from noregret.proof.theorems.assumptions import Structural
from noregret.proof.theorems.theorem import Theorem


@register
class BuyAndHold(Strategy):
    """Buy the same amount of every asset, and hold them.

    Parameters
    ----------
    cost
        The transaction cost, which makes no difference, as nothing is traded.

    Examples
    --------
    >>> strategy = BuyAndHold()
    >>> strategy.learn_many([[3.0, 1.0]] * 2)
    >>> round(strategy.wealth, 6), strategy.weights().round(2).tolist()
    (5.0, [0.9, 0.1])
    """

    name = "buy-and-hold"
    theorems = (
        Theorem(
            name="buy-and-hold",
            quantity="log-wealth regret",
            formula=r"\max_i \ln S_T^{(i)} - \ln S_T \le \ln n",
            plain="log-wealth regret against the best asset <= ln(n)",
            where="$n$ is the number of assets",
            assumptions=(
                Structural(
                    "none on the data; the comparison is with single assets, and costs make no"
                    " difference as nothing is traded"
                ),
            ),
            bound=lambda e: math.log(e.width) + e.rounding,
            best=lambda e: e.best_asset(),
            source="a mean is at least its largest part",
        ),
    )

    def __init__(self, cost: float = 0.0) -> None:
        super().__init__(cost)
        self._logs = np.empty(0)  # log of each asset's wealth divided by the portfolio's

    def _begin(self, assets: int) -> None:
        """Start with equal wealth in all assets."""
        self._logs = np.zeros(assets)

    def _shapes(self, assets: int) -> dict[str, tuple[int, ...]]:
        """Return the name and shape of its array."""
        return {"logs": (assets,)}

    def _divide(self) -> Floats:
        """Return the shares after the price changes."""
        parts = np.exp(self._logs - self._logs.max())
        return np.asarray(parts / parts.sum())

    def _log_shares(self) -> Floats:
        """Return the logarithms of the shares."""
        top = self._logs.max()
        return np.asarray(self._logs - (top + np.log(np.exp(self._logs - top).sum())))

    def _update(self, relatives: Floats, ratios: Floats, log_gain: float) -> None:
        """Multiply the wealth of each asset by its relative."""
        self._logs = self._logs + (np.log(relatives) - log_gain)

    def _check_state(self) -> None:
        """Raise ValueError if no asset has wealth, or one has infinite wealth."""
        if not np.isfinite(self._logs.max()):
            raise ValueError("logs: the largest should be finite")

    def regret_so_far(self) -> float | None:
        """Return the regret against the best asset."""
        return float(self._logs.max()) if self.width else None

    def bound_so_far(self) -> float | None:
        """Return ln n."""
        return math.log(self.width) if self.width else None
