"""The columns of forecasts of quantiles, called ``forecaster@level``, and remarks on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.numbers import clean, count, name_of
from noregret.errors import NoRegretError

if TYPE_CHECKING:
    from noregret.streams.stream import Stream

Floats = NDArray[np.float64]
# Forecasters named in a remark.
MAX_NAMED = 20


class Columns:
    """The columns of every level in increasing order, and those left out.

    Parameters
    ----------
    stream
        The forecasts.
    """

    def __init__(self, stream: Stream) -> None:
        self.levels: dict[float, list[str]] = {}
        self.others: list[str] = []
        self.orders: dict[str, Order] = {}
        reading: Any = stream.reading()
        for _ in reading:
            break
        options, of = stream.options, ", ".join(stream.paths)
        known = (*options.drop, stream.target, options.batch)
        for name in (name for name in reading.kinds or () if name not in known):
            level = level_of(name)
            if level is None and "@" in name:
                raise NoRegretError(
                    f"{of}: column {name!r}: {name.rpartition('@')[2]!r} is no level of a quantile,"
                    " a number above 0 and below 1",
                    "rename the column, as in gfs@0.1, or leave it out with --drop",
                )
            if level is None:
                self.others.append(name)
                continue
            same = self.levels.setdefault(level, [])
            twin = next((one for one in same if forecaster(one) == forecaster(name)), None)
            if twin is not None:
                raise NoRegretError(
                    f"{of}: columns {twin!r} and {name!r} are the same quantile of one forecaster",
                    "leave one of them out with --drop",
                )
            same.append(name)
        self.levels = dict(sorted(self.levels.items()))
        if len(self.levels) < 2:
            raise NoRegretError(
                f"{of}: {len(self.levels)} levels of quantiles among the columns",
                "call the columns forecaster@level, as in gfs@0.1, gfs@0.5, gfs@0.9",
            )

    def compare(self, names: Sequence[str], numbers: Floats, X: Floats) -> None:
        """Compare the forecasts of a level with those of lower ones, by row number."""
        for name, column in zip(names, X.T, strict=True):
            self.orders.setdefault(forecaster(name), Order(numbers)).add(numbers, column)

    def notes(self) -> Iterator[tuple[str, str]]:
        """Yield remarks on the columns, each with its label."""
        if self.others:
            names = ", ".join(map(name_of, self.others))
            yield "left out", f"{names}: no level in the name, as in gfs@0.1"
        all_of: dict[str, list[float]] = {}
        for level, columns in self.levels.items():
            for name in columns:
                all_of.setdefault(forecaster(name), []).append(level)
        lacking = {
            name: ", ".join(f"{level:g}" for level in self.levels if level not in has)
            for name, has in all_of.items()
        }
        if told := listed({name: f"has no {levels}" for name, levels in lacking.items() if levels}):
            yield "incomplete", f"{told}. Each level mixes those that have it"
        crossing = {
            name: f"in {count(order.crossed, 'row')} of {len(order.numbers):,}"
            for name, order in self.orders.items()
            if order.crossed
        }
        if told := listed(crossing):
            yield "crossing", f"{told}: a quantile is below one of a lower level"


class Order:
    """Whether the quantiles of one forecaster are in order, in each row.

    Parameters
    ----------
    numbers
        The row numbers at the lowest level, in increasing order.
    """

    def __init__(self, numbers: Floats) -> None:
        self.numbers = numbers
        self.highest = np.full(len(numbers), -np.inf)
        self.crosses = np.zeros(len(numbers), bool)

    def add(self, numbers: Floats, quantiles: Floats) -> None:
        """Compare the next level with the highest quantile so far; NaN where it is missing."""
        _, at, here = np.intersect1d(self.numbers, numbers, True, return_indices=True)
        self.crosses[at] |= quantiles[here] < self.highest[at]
        self.highest[at] = np.fmax(self.highest[at], quantiles[here])

    @property
    def crossed(self) -> int:
        """The number of rows that are not in order."""
        return int(self.crosses.sum())


def level_of(name: str) -> float | None:
    """Return the level in the name of a column; None if there is none.

    >>> level_of("gfs@0.9"), level_of("gfs@90%"), level_of("gfs"), level_of("gfs@2")
    (0.9, 0.9, None, None)
    """
    who, at, text = name.rpartition("@")
    try:
        part = 100 if text.endswith("%") else 1
        level = float(text.removesuffix("%")) / part if who and at else 0.0
    except ValueError:
        return None
    return level if 0 < level < 1 else None


def forecaster(name: str) -> str:
    """Return the forecaster in the name of a column.

    >>> forecaster("gfs@0.9")
    'gfs'
    """
    return name.rpartition("@")[0]


def listed(told: dict[str, str]) -> str:
    """List forecasters with a remark each; the first of many.

    >>> listed({"a": "has no 0.1", "b": "has no 0.9"})
    'a has no 0.1; b has no 0.9'
    """
    shown = [f"{clean(name)} {words}" for name, words in list(told.items())[:MAX_NAMED]]
    more = len(told) - len(shown)
    return "; ".join(shown) + (f"; and {more:,} more" if more else "")
