"""Follow the leader: hold what would have been the best constant rebalanced portfolio. A warning.

    w ← argmax over all portfolios of  Σ ln(w·x_s)

It starts with equal shares. Where the past is short or one-sided the leader holds a single asset,
and nothing limits what it can lose there: after the relatives (1, ½) it holds the first asset
alone, and (ε, 1) costs it ln(1/ε), where half and half loses ln 2 at most.
"""

from __future__ import annotations

import numpy as np

from noregret.base.registry import register
from noregret.hindsight.portfolio import GAP_SHARE, searched
from noregret.hindsight.proofs.answer import Limits
from noregret.portfolios.strategy import Floats, Strategy
from noregret.proof.theorems.assumptions import Structural
from noregret.proof.theorems.theorem import Theorem

# A log-wealth as near to the leader's as a millionth is the leader's.
LEADER_LIMITS = Limits(tolerance=2e-6 / GAP_SHARE, steps=100)
ROOM = 64


@register
class FollowTheLeader(Strategy):
    """Hold the best constant rebalanced portfolio of the rounds so far.

    Parameters
    ----------
    cost
        The share of all that is traded that is paid for it, from 0 to below 1.

    Examples
    --------
    Two rounds in which nobody else loses much:

    >>> strategy = FollowTheLeader()
    >>> strategy.learn([1.0, 0.5])
    >>> strategy.weights()
    array([1., 0.])
    >>> strategy.learn([1e-9, 1.0])
    >>> round(strategy.wealth, 13)
    7.5e-10

    References
    ----------
    A. Gaivoronski and F. Stella, "Stochastic nonstationary optimization for finding universal
    portfolios", 2000, where it is called the successive constant rebalanced portfolio.
    """

    name = "follow-the-leader"
    theorems = (
        Theorem(
            name="best-past-portfolio-fails",
            quantity="log-wealth regret",
            formula=r"R_2 \ge \ln \frac{1}{\varepsilon} - \ln 2",
            plain="log-wealth regret >= ln(1/ε) - ln(2) after two rounds, for any ε: no promise",
            where=r"$\varepsilon$ is any number above 0",
            assumptions=(
                Structural(
                    r"the relatives $(1, 1/2)$ and then $(\varepsilon, 1)$: the leader holds the"
                    " first asset alone when it falls, where half and half loses little"
                ),
            ),
            source="immediate",
            warning=True,
        ),
    )

    def __init__(self, cost: float = 0.0) -> None:
        super().__init__(cost)
        self._room = np.empty((0, 0))

    @property
    def past(self) -> Floats:
        """The relatives of all rounds so far, divided by the largest of the round."""
        return self._room[: self.rounds]

    @past.setter
    def past(self, rows: Floats) -> None:
        self._room = rows

    def begin(self, assets: int) -> None:
        """Allocate memory for the first rounds."""
        self._room = np.empty((ROOM, assets))
        self.shares = np.full(assets, 1.0 / assets)

    def shapes(self, assets: int) -> dict[str, tuple[int, ...]]:
        """Return the array it keeps."""
        return {"past": (self.rounds, assets)}

    def divide(self) -> Floats:
        """Return the best portfolio of the past, looked for from the shares at hand."""
        if not self.rounds or self.width == 1:
            return np.full(self.width, 1.0 / self.width)
        rows = self.past
        return searched(lambda: [rows], LEADER_LIMITS, self.shares, scaled=True).found

    def update(self, relatives: Floats, ratios: Floats, log_gain: float) -> None:
        """Remember the round."""
        if self.rounds == len(self._room):
            grown = np.empty((max(ROOM, 2 * self.rounds), self.width))
            grown[: self.rounds] = self._room
            self._room = grown
        self._room[self.rounds] = relatives / relatives.max()

    def check_state(self) -> None:
        """Raise ValueError where the past cannot have been."""
        if not (self.past >= 0).all() or not (self.past.max(axis=1) == 1).all():
            raise ValueError("past: every relative should be from 0 to 1, one of a round 1")
