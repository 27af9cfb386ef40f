"""Read examples through a learner with fixed weights.

So rows of every kind are read, checked, measured, digested and kept as in any other game. The
constant feature of a method with an intercept is the first column of the rows kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.hindsight import Rows
from noregret.hindsight.blocks import is_sparse
from noregret.linear.fixed_predictor import FixedPredictor
from noregret.proof.game.game import Game
from noregret.proof.record.ledger import Ledger
from noregret.proof.record.pages import Table

Floats = NDArray[np.float64]


class Record(Ledger):
    """The rows of a batch method, or sums over them, without points of a curve."""

    @property
    def intercept(self) -> bool:
        """True if rows begin with a constant."""
        return bool(self.params["intercept"])

    def due(self, rounds: int, features: int) -> bool:
        """Return False: hindsight is computed only at the end."""
        return False

    def product(self, table: Table, features: int) -> Floats | None:
        """Return Σ z zᵀ for rows z = (y, x), if they are summed as they arrive."""
        return None if self.intercept else super().product(table, features)

    def add_up(self, table: Table, features: int) -> None:
        """Add rows to the sums."""
        if self.intercept and self.sums is not None:
            self.sums.add(with_constant(table.X), table.y)
        else:
            super().add_up(table, features)

    def rows(self, features: int = 0) -> Rows | None:
        """Return the rows with their constant, if they were kept."""
        rows = super().rows(max(0, features - self.intercept))
        if rows is None or not self.intercept or self.held is not None:
            return rows

        def source() -> Iterator[tuple[Any, Floats]]:
            for X, y in rows.blocks():
                yield with_constant(X), y

        width = rows.shape[1] + 1
        if rows.source is not None:
            return Rows(source=source, features=width)
        made = Rows(features=width)
        for X, y in source():
            made.add(X, y)
        return made


class Intake(Game):
    """A game in which a fixed predictor reads examples."""

    ledger_kind = Record
    learner: FixedPredictor


def with_constant(X: Any) -> Any:
    """Return rows with a first column of ones."""
    ones = np.ones((X.shape[0], 1))
    if not is_sparse(X):
        return np.hstack([ones, X])
    from scipy import sparse

    return sparse.csr_array(sparse.hstack([ones, X], format="csr"))
