"""Evidence for theorems about strategies: the record of a finished game."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from noregret.hindsight.portfolio import (
    ASSETS,
    LOG_ROUNDINGS,
    REBALANCED,
    best_asset,
    best_rebalanced,
    log_wealth_of_assets,
    loss_of,
)
from noregret.hindsight.proofs.answer import Answer
from noregret.hindsight.proofs.rounding import growth
from noregret.proof.theorems.assumptions import Finding, Shown
from noregret.proof.theorems.table_evidence import TableEvidence

Floats = NDArray[np.float64]
# Tolerance for the weights of a witness, which should be a portfolio.
SUM_TOLERANCE = 1e-9


class PortfolioEvidence(TableEvidence):
    """A game of a strategy: its rows are relatives, and hindsight is about portfolios."""

    told = ()

    def blocks(self) -> Iterator[Floats]:
        """Yield the relatives again, block by block."""
        for X, _ in self.table.blocks():
            yield X

    def usual(self) -> Answer:
        """Return the best constant rebalanced portfolio; with one asset, that asset."""
        if self.width == 1:
            return replace(self.best_asset(), comparator=REBALANCED)
        return self.once("rebalanced", lambda: best_rebalanced(self.blocks, limits=self.limits))

    @property
    def rounding(self) -> float:
        """Rounding error of the regret to one asset, if the strategy is that asset."""
        return self.usual().gap if self.width == 1 else 0.0

    @property
    def loss_rounding(self) -> float:
        """The error of the log-wealth: of a sum, a division and a logarithm per round.

        Where prices hardly move, it is larger than any share of the log-wealth.
        """
        return self.rounds * growth(4 * self.width + LOG_ROUNDINGS)

    def best_asset(self) -> Answer:
        """Return the best single asset."""
        return self.once("asset", lambda: best_asset(self.blocks))

    def log_wealth_of_assets(self) -> Floats:
        """Return the log-wealth of each asset."""
        return self.once("assets", lambda: log_wealth_of_assets(self.blocks))

    def smallest_ratio(self) -> float:
        """Return r: the smallest ratio of a relative to the largest of its round."""
        return self.once(
            "ratio",
            lambda: min(float((X.min(axis=1) / X.max(axis=1)).min()) for X in self.blocks()),
        )

    def first_zero(self) -> int | None:
        """Return the first round in which a relative is 0."""
        before = 0
        for X in self.blocks():
            zero = (X.min(axis=1) / X.max(axis=1)) <= 0
            if zero.any():
                return before + int(np.argmax(zero)) + 1
            before += len(X)
        return None

    def paid_by(self, witness: Mapping[str, float], comparator: str) -> tuple[float, float] | None:
        """Return the loss of a constant rebalanced portfolio, and a bound on its rounding error."""
        if set(witness) != set(self.names):
            return None
        u = np.array([witness[name] for name in self.names])
        return loss_of(self.blocks, u)

    def is_within(self, witness: Mapping[str, float], comparator: str) -> bool:
        """Return whether a witness is a portfolio of the stated class."""
        u = np.array([witness.get(name, math.nan) for name in self.names])
        if (
            len(witness) != len(u)
            or not (u >= -SUM_TOLERANCE).all()
            or abs(math.fsum(u) - 1) > SUM_TOLERANCE * len(u)
        ):
            return False
        if comparator == ASSETS:
            return float(u.max()) >= 1 - SUM_TOLERANCE
        if points := getattr(self.player, "_points_near", None):
            return bool(points(u, comparator))
        return True


def all_positive(evidence: PortfolioEvidence) -> Finding:
    """Check that every relative is positive relative to the largest of its round."""
    ratio = evidence.smallest_ratio()
    first = None if ratio > 0 else evidence.first_zero()
    return Finding("smallest relative / largest of its round > 0", 0.0, ratio, ratio > 0, first)


ALL_POSITIVE = Shown(
    r"$x_{t,i} \ge r \max_j x_{t,j}$ in every round, for some $r > 0$; the largest such $r$ is"
    " computed in hindsight",
    all_positive,
)
