"""The rows of many series, kept for hindsight while they fit in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from noregret.app.commands.mix.noting import Rows

Floats = NDArray[np.float64]
# Bytes of rows that are kept.
MEMORY = 512 << 20


class Kept(NamedTuple):
    """The rows of one series, and their predictions."""

    X: Floats
    y: Floats
    predictions: Floats
    batches: NDArray[np.int64] | None = None

    def completed(self) -> Floats:
        """Return the forecasts; a missing one is that of the mixture."""
        return np.where(np.isnan(self.X), self.predictions[:, None], self.X)


class Store:
    """Rows of several series as they come, or none if there are too many."""

    def __init__(self) -> None:
        self.blocks: list[Rows] = []
        self.size = 0

    @property
    def is_full(self) -> bool:
        """True if there were too many rows to keep."""
        return self.size > MEMORY

    def add(self, rows: Rows) -> None:
        """Keep rows."""
        self.size += rows.X.nbytes
        if self.is_full:
            self.blocks.clear()
        else:
            self.blocks.append(rows._replace(weights=None))

    def series(self) -> Iterator[tuple[int, Kept]]:
        """Yield the series by their numbers, each with its rows in order."""
        if self.is_full or not self.blocks:
            return
        groups, X, y, predictions = (
            np.concatenate([getattr(block, name) for block in self.blocks])
            for name in ("groups", "X", "y", "predictions")
        )
        batches = [block.batches for block in self.blocks if block.batches is not None]
        joined = np.concatenate(batches) if batches else None
        order = np.argsort(groups, kind="stable")
        starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
        for rows in np.split(order, starts[1:]):
            own = None if joined is None else joined[rows]
            yield int(groups[rows[0]]), Kept(X[rows], y[rows], predictions[rows], own)
