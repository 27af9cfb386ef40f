"""The previous outcome of each row's group, as a baseline."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class LastOutcomes:
    """The last outcome of each group, by the numbers of groups."""

    def __init__(self) -> None:
        self.last = np.zeros(0)

    def before(self, groups: NDArray[np.int64], y: Floats) -> Floats:
        """Return the outcome before each row in its group, NaN if there is none; take these."""
        if not len(y):
            return np.zeros(0)
        size, largest = len(self.last), int(groups.max())
        if largest >= size:
            more = max(largest + 1, 2 * size) - size
            self.last = np.concatenate([self.last, np.full(more, np.nan)])
        order = np.argsort(groups, kind="stable")
        of, outcomes, found = groups[order], y[order], np.empty(len(y))
        ends = np.flatnonzero(np.append(of[1:] != of[:-1], True))
        starts = np.append(0, ends[:-1] + 1)
        found[order[1:]] = outcomes[:-1]
        found[order[starts]] = self.last[of[starts]]
        self.last[of[ends]] = outcomes[ends]
        return found
