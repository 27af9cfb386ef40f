"""The rows of many series, kept for hindsight while they fit in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# Bytes of rows that are kept.
MEMORY = 512 << 20


class Kept(NamedTuple):
    """The rows of one series, and their predictions."""

    X: Floats
    y: Floats
    predictions: Floats

    def completed(self) -> Floats:
        """Return the forecasts; a missing one is that of the mixture."""
        return np.where(np.isnan(self.X), self.predictions[:, None], self.X)


class Store:
    """Rows of several series as they come, or none if there are too many."""

    def __init__(self) -> None:
        self.blocks: list[tuple[NDArray[np.int64], Floats, Floats, Floats]] = []
        self.size = 0

    @property
    def is_full(self) -> bool:
        """True if there were too many rows to keep."""
        return self.size > MEMORY

    def add(self, groups: NDArray[np.int64], X: Floats, y: Floats, predictions: Floats) -> None:
        """Keep rows."""
        self.size += X.nbytes
        if self.is_full:
            self.blocks.clear()
        else:
            self.blocks.append((groups, X, y, predictions))

    def series(self) -> Iterator[tuple[int, Kept]]:
        """Yield the series by their numbers, each with its rows in order."""
        if self.is_full or not self.blocks:
            return
        groups, X, y, predictions = map(np.concatenate, zip(*self.blocks, strict=True))
        order = np.argsort(groups, kind="stable")
        starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
        for rows in np.split(order, starts[1:]):
            yield int(groups[rows[0]]), Kept(X[rows], y[rows], predictions[rows])
