"""Columns of numbers that are no forecasts, such as dates, places and row numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from noregret.errors import NoRegretError
from noregret.streams.block import Sparse
from noregret.streams.table_reading import TableReading

if TYPE_CHECKING:
    from noregret.streams.stream import Stream

Floats = NDArray[np.float64]
# Rows to judge by, and the fewest that say anything.
MAX_ROWS, MIN_ROWS = 2000, 20
# A column is far from the outcomes if nearly all of it is so many of their ranges away from them.
FAR, NEARLY_ALL = 20.0, 0.9
# A column as closely related to the outcomes as this may be a biased forecast.
RELATED = 0.5
# Names of times, places and keys.
TELLING = (
    *("date", "day", "month", "year", "week", "weekday", "hour", "minute", "time", "timestamp"),
    *("season", "latitude", "lat", "longitude", "lon", "lng", "altitude", "elevation"),
    *("id", "index", "row", "station", "site", "location", "zip", "fold"),
)
# Different steps of a column of whole numbers that counts.
MAX_STEPS = 5


def no_forecasts(stream: Stream) -> dict[str, str]:
    """Return the columns at the head of a stream that are no forecasts, each with the reason."""
    whole = type(stream)(stream.paths, replace(stream.options, add=()))
    reading = whole.reading()
    if not isinstance(reading, TableReading):
        return {}
    reading.without_outcomes = True
    rows, outcomes, size = list[Floats](), list[Floats](), 0
    try:
        for block in reading:
            if isinstance(block.X, Sparse):
                return {}
            rows.append(np.array(block.X[:MAX_ROWS]))
            outcomes.append(np.array(block.y[:MAX_ROWS]))
            size += len(block)
            if size >= MAX_ROWS:
                break
    except NoRegretError:  # the mix itself will raise it
        return {}
    if not size:
        return {}
    X, y = np.concatenate(rows), np.concatenate(outcomes)
    names = list(reading.feature_names(reading.features))
    found = {name: reason_of(name, X[:, k], y) for k, name in enumerate(names)}
    left_out = {name: reason for name, reason in found.items() if reason}
    return left_out if len(left_out) < len(names) else {}


def reason_of(name: str, x: Floats, y: Floats) -> str:
    """Return why a column is no forecast; empty if it may be one.

    >>> y = np.sin(np.arange(50.0))
    >>> reason_of("day", np.arange(50.0), y), reason_of("a", y + 3, y)
    ('it counts up or down', '')
    """
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = x[both], y[both]
    if len(x) < MIN_ROWS or y.min() == y.max():
        return ""
    if x.min() == x.max():
        return "it is constant"
    if np.mean((x - y) ** 2) < y.var():
        return ""  # better than the best constant, whatever it is called
    steps = np.unique(np.diff(x))
    if (
        (x == np.round(x)).all()
        and len(steps) <= MAX_STEPS
        and (steps >= 0).all() != (steps <= 0).all()
    ):
        return "it counts up or down"
    away = np.maximum(y.min() - x, x - y.max())
    far = np.mean(away > FAR * (y.max() - y.min())) >= NEARLY_ALL
    told = not {*name.lower().replace("-", "_").replace(" ", "_").split("_")}.isdisjoint(TELLING)
    with np.errstate(all="ignore"):
        related = not abs(float(np.corrcoef(x, y)[0, 1])) < RELATED
    if far and (told or not related):
        return "it is very far from the outcomes"
    return "its name is that of a time, a place or a key" if told and not related else ""
