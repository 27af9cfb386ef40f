"""Uniform rebalanced: the same share in every asset, restored before every round.

    w_i = 1/n

It sells what has risen and buys what has fallen. With two assets, one constant and one that doubles
and halves in turn, neither of which gains in the long run, it grows by 9/8 every two rounds.

Promise. Its wealth is at least the geometric mean of the assets' wealth, since in each round the
arithmetic mean is at least the geometric mean.
"""

from __future__ import annotations

import math

import numpy as np

from noregret.base.registry import register
from noregret.portfolios.evidence import ALL_POSITIVE, PortfolioEvidence
from noregret.portfolios.strategy import NO_COSTS, Floats, Strategy
from noregret.proof.theorems.theorem import Theorem


def below_the_mean(evidence: PortfolioEvidence) -> float | None:
    """Return how far its log-wealth is below the mean of the assets'; None if that is infinite."""
    mean = float(evidence.log_wealth_of_assets().mean())
    return mean + evidence.loss if math.isfinite(mean) else None


@register
class UniformRebalanced(Strategy):
    """Hold the same share of every asset, always.

    Parameters
    ----------
    cost
        The transaction cost as a fraction of all that is traded, from 0 to below 1.

    Examples
    --------
    >>> strategy = UniformRebalanced()
    >>> strategy.learn_many([[1.0, 2.0], [1.0, 0.5]] * 10)
    >>> round(strategy.wealth, 4), round((9 / 8) ** 10, 4)
    (3.2473, 3.2473)

    References
    ----------
    T. Cover, "Universal portfolios", 1991.
    """

    name = "uniform-rebalanced"
    theorems = (
        Theorem(
            name="uniform-rebalanced",
            quantity="loss",
            formula=r"\ln S_T \ge \frac{1}{n} \sum_i \ln S_T^{(i)}",
            plain="log-wealth >= the mean of the assets' log-wealths",
            assumptions=(ALL_POSITIVE, NO_COSTS),
            bound=lambda e: 0.0,
            measured=below_the_mean,
            about="how far its log-wealth is below the mean of the assets'",
            source="the inequality of arithmetic and geometric means",
        ),
        Theorem(
            name="uniform-rebalanced-regret",
            quantity="log-wealth regret",
            formula=r"R_T \le T \ln n",
            plain="log-wealth regret <= T ln(n): a round's mean is at least its largest / n",
            where="$n$ is the number of assets, $T$ of rounds",
            assumptions=(NO_COSTS,),
            bound=lambda e: e.rounds * math.log(e.width),
            source="immediate",
        ),
    )

    def __init__(self, cost: float = 0.0) -> None:
        super().__init__(cost)

    def _divide(self) -> Floats:
        """Return equal shares."""
        return np.full(self.width, 1.0 / self.width)
