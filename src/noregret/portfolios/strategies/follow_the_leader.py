"""Follow the leader: hold the best constant rebalanced portfolio so far. A warning.

    w ← argmax over all portfolios of  Σ ln(w·x_s)

It starts with equal shares. If the past is short or one-sided, the leader holds a single asset,
and its loss there is unbounded: after the relatives (1, ½) it holds the first asset
alone, and (ε, 1) costs it ln(1/ε), while equal shares lose ln 2 at most.
"""

from __future__ import annotations

import numpy as np

from noregret.base.registry import register
from noregret.hindsight.portfolio import GAP_SHARE, searched
from noregret.hindsight.proofs.answer import Limits
from noregret.portfolios.strategy import Floats, Strategy
from noregret.proof.theorems.assumptions import Structural
from noregret.proof.theorems.theorem import Theorem

# A portfolio counts as the leader if its log-wealth is within a millionth of the largest.
LEADER_LIMITS = Limits(tolerance=2e-6 / GAP_SHARE, steps=100)
FIRST_CAPACITY = 64


@register
class FollowTheLeader(Strategy):
    """Hold the best constant rebalanced portfolio of the rounds so far.

    Parameters
    ----------
    cost
        The transaction cost as a fraction of all that is traded, from 0 to below 1.

    Examples
    --------
    Two rounds in which equal shares lose little:

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
                    " first asset alone when it falls, while equal shares lose little"
                ),
            ),
            source="immediate",
            warning=True,
        ),
    )

    def __init__(self, cost: float = 0.0) -> None:
        super().__init__(cost)
        self._rows = np.empty((0, 0))

    @property
    def _past(self) -> Floats:
        """The relatives of all rounds so far, divided by the largest of the round."""
        return self._rows[: self.rounds]

    @_past.setter
    def _past(self, rows: Floats) -> None:
        self._rows = rows

    def _begin(self, assets: int) -> None:
        """Allocate memory for the first rounds."""
        self._rows = np.empty((FIRST_CAPACITY, assets))
        self._shares = np.full(assets, 1.0 / assets)

    def _shapes(self, assets: int) -> dict[str, tuple[int, ...]]:
        """Return the name and shape of its array."""
        return {"past": (self.rounds, assets)}

    def _divide(self) -> Floats:
        """Return the best portfolio of the past; the search starts from the present shares."""
        if not self.rounds or self.width == 1:
            return np.full(self.width, 1.0 / self.width)
        rows = self._past
        return searched(lambda: [rows], LEADER_LIMITS, self._shares, scaled=True).found

    def _update(self, relatives: Floats, ratios: Floats, log_gain: float) -> None:
        """Append the round."""
        if self.rounds == len(self._rows):
            grown = np.empty((max(FIRST_CAPACITY, 2 * self.rounds), self.width))
            grown[: self.rounds] = self._rows
            self._rows = grown
        self._rows[self.rounds] = relatives / relatives.max()

    def _check_state(self) -> None:
        """Raise ValueError if the past is impossible."""
        if not (self._past >= 0).all() or not (self._past.max(axis=1) == 1).all():
            raise ValueError("past: relatives should be from 0 to 1, with a 1 in every round")
