"""Buy and hold: the same share in every asset at first, and never a trade again.

    w_i ∝ Π x_{s,i}        (the shares drift as prices do)

Wealth is the mean of the assets' wealth.

Promise. A mean of n numbers is at least the largest divided by n: its log-wealth is below the best
asset's by at most ln n, whatever happens and whatever trades cost.
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
        The share of all that is traded that is paid for it. Nothing is.

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
                    "none of the data; the comparison is with single assets, and costs make no"
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
        self.logs = np.empty(0)  # of every asset's wealth divided by the portfolio's

    def begin(self, assets: int) -> None:
        """Start with equal wealth in all."""
        self.logs = np.zeros(assets)

    def shapes(self, assets: int) -> dict[str, tuple[int, ...]]:
        """Return the array it keeps."""
        return {"logs": (assets,)}

    def divide(self) -> Floats:
        """Return the shares as prices have left them."""
        parts = np.exp(self.logs - self.logs.max())
        return np.asarray(parts / parts.sum())

    def log_shares(self) -> Floats:
        """Return the logarithms of the shares."""
        most = self.logs.max()
        return np.asarray(self.logs - (most + np.log(np.exp(self.logs - most).sum())))

    def update(self, relatives: Floats, ratios: Floats, log_gain: float) -> None:
        """Let wealth drift."""
        self.logs = self.logs + (np.log(relatives) - log_gain)

    def check_state(self) -> None:
        """Raise ValueError where no asset has any wealth."""
        if not np.isfinite(self.logs.max()):
            raise ValueError("logs: no asset has any wealth, or one has it without limit")

    def regret_so_far(self) -> float | None:
        """Return the regret against the best asset."""
        return float(self.logs.max()) if self.width else None

    def bound_so_far(self) -> float | None:
        """Return ln n."""
        return math.log(self.width) if self.width else None
