"""Positions in time of rows whose date is missing: that of the last date before them.

Zero would be the year 2000, far away from all other rows. Only rows that are learned count, as
with all that is known about columns. Before the first date, positions are 0.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from noregret.streams.columns import Table


class LastPositions:
    """The position in time of the last date, by column."""

    def __init__(self) -> None:
        self.last: dict[str, float] = {}
        self.own: set[str] = set()  # columns with a date in this pass
        self.borrowed: set[str] = set()  # columns with a gap before

    def fill(self, table: Table, times: Iterable[str], learned: NDArray[np.bool_]) -> None:
        """Fill in the positions of missing dates, and remember the last of those learned."""
        rows = np.arange(len(table.y))
        for name in times:
            if name not in table.names:
                continue
            column = table.names.index(name)
            values = table.numbers[:, column]
            gone = np.zeros(len(rows), bool) if table.missing is None else table.missing[:, column]
            there = np.where(learned & ~gone, rows, -1)
            if gone.any() and len(rows):
                before = np.maximum.accumulate(there)
                if name not in self.own and (gone & (before < 0)).any():
                    self.borrowed.add(name)
                known = np.where(before >= 0, values[before], self.last.get(name, 0.0))
                values[gone] = known[gone]
            if len(rows) and there.max() >= 0:
                self.last[name] = float(values[there.max()])
                self.own.add(name)

    def of_gap(self, name: str) -> dict[str, float]:
        """Return the feature of a missing date in one row."""
        if name not in self.own:
            self.borrowed.add(name)
        return {name: self.last[name]} if name in self.last else {}

    def note(self, features: dict[str, float], times: Iterable[str]) -> None:
        """Remember the dates of a row that is learned."""
        for name in times:
            if name in features and f"{name}.month.sin" in features:
                self.last[name] = features[name]
                self.own.add(name)
