"""Rows that come together, such as the forecasts for many places on one date.

All rows of a batch are forecast with what was learned before the batch; then they are learned in
order. The first of them is thus forecast as if there were no batches.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


class InOrder:
    """Checks that the rows of each batch follow each other."""

    def __init__(self) -> None:
        self.seen: set[int] = set()
        self.last = -1

    def first_back(self, batches: Numbers) -> int | None:
        """Return the first row whose batch comes back after another; None if there is none."""
        row: int
        for row in starts_of(batches).tolist():
            batch = int(batches[row])
            if batch == self.last:
                continue
            if batch in self.seen:
                return row
            self.seen.add(batch)
            self.last = batch
        return None


def starts_of(batches: Numbers) -> Numbers:
    """Return the rows in which a batch begins, the first row included.

    >>> starts_of(np.array([0, 0, 1, 2, 2])).tolist()
    [0, 2, 3]
    """
    return np.flatnonzero(np.diff(batches, prepend=-1))


def stretches(batches: Numbers, current: int) -> Iterator[tuple[slice, bool]]:
    """Yield rows that are batches of one, and the rows of each larger batch, flagged True.

    The last row may be the first of a larger batch, so it is flagged too, as are rows that continue
    the ``current`` batch.

    >>> list(stretches(np.array([0, 1, 2, 2, 3]), -1))
    [(slice(0, 2, None), False), (slice(2, 4, None), True), (slice(4, 5, None), True)]
    """
    starts = starts_of(batches)
    if not len(starts):
        return
    stops = np.append(starts[1:], len(batches))
    large = stops - starts > 1
    large[-1] = True
    large[0] |= batches[0] == current
    alone = 0  # the first of the batches of one before a larger one
    for k in np.flatnonzero(large).tolist():
        if alone < k:
            yield slice(int(starts[alone]), int(starts[k])), False
        yield slice(int(starts[k]), int(stops[k])), True
        alone = k + 1
