"""Sparse rows of a record, decoded while the game goes on into the arrays that a search reads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from noregret.hindsight.sparse import DENSE_RATIO, MAX_NUMBERS, SparseRows
from noregret.linear.engine.recorder import packed, unpack

Floats = NDArray[np.float64]


class DecodedRows:
    """Rows in three arrays with room for all numbers that a search holds in memory.

    Parts that are not filled yet take no memory.

    Parameters
    ----------
    most
        Numbers to allocate room for.
    """

    def __init__(self, most: int = MAX_NUMBERS) -> None:
        self.at, self.values = np.empty(most, np.int32), np.empty(most)
        self.starts, self.outcomes = [np.zeros(1, np.int64)], [np.empty(0)]
        self.filled = self.rows = self.features = 0

    def add(self, words: Floats, rows: int, features: int) -> bool:
        """Decode a page; return False, and leave it out, if it may not fit or is not sparse."""
        most = len(words) - 2 * rows
        ended = self.rows + rows
        if self.filled + most > len(self.at):
            return False
        starts, outcomes = np.empty(rows + 1, np.int64), np.empty(rows)
        starts[0] = self.filled
        at, values = self.at[self.filled :], self.values[self.filled :]
        filled = self.filled + unpack(words, starts, at, values, outcomes)
        if DENSE_RATIO * filled > ended * features:
            return False
        self.starts.append(starts[1:])
        self.outcomes.append(outcomes)
        self.filled, self.rows, self.features = filled, ended, features
        return True

    def table(self, features: int) -> SparseRows:
        """Return the rows, without a copy of their numbers."""
        self.starts, self.outcomes = [np.concatenate(self.starts)], [np.concatenate(self.outcomes)]
        numbers = self.at[: self.filled], self.values[: self.filled]
        return SparseRows(self.starts[0], *numbers, self.outcomes[0], features)

    def pages(self, length: int) -> Iterator[tuple[Floats, int]]:
        """Yield the rows as they were recorded, in pages of about this many words."""
        starts, at, values = self.table(self.features).parts
        first, outcomes = 0, self.outcomes[0]
        while first < self.rows:
            most = np.searchsorted(starts, starts[first] + length // 2, "right") - 1
            last = min(max(first + 1, int(most)), first + length // 2, self.rows)
            own = starts[first : last + 1]
            inner = slice(own[0], own[-1])
            yield packed(own, at[inner], values[inner], outcomes[first:last]), last - first
            first = last
