"""Dates and times as features: position in time, hour, weekday and month.

The column itself becomes the position in time, in years since 2000. Hours, weekdays and months are
circles (``day.month.sin``, ``day.month.cos``) and categories (``day.month=3``).
"""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
SECONDS_PER_DAY, SECONDS_PER_YEAR, SECONDS_TO_2000 = 86_400, 31_556_952, 946_684_800
MINUTES_PER_DAY = 1440
# Larger numbers of seconds, some 30,000 years, are not times.
MAX_SECONDS = 1e12
# Epochs from here on are milliseconds, microseconds and nanoseconds: seconds would be in 5138.
SMALLEST_OF_UNIT = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
HOUR, WEEKDAY, MONTH = "hour", "weekday", "month"
VALUES = {
    HOUR: [str(k) for k in range(24)],
    WEEKDAY: WEEKDAYS,
    MONTH: [str(k + 1) for k in range(12)],
}
Codes = NDArray[np.int32]
EPOCH, MICROSECOND = datetime(1970, 1, 1), timedelta(microseconds=1)
DAYS_TO_EPOCH = date(1970, 1, 1).toordinal()
# Units of NumPy's times that are dates.
DATE_UNITS = ("Y", "M", "W", "D")

# A complete date, perhaps with a time and a zone, as JSON writes them.
ISO_DATE = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?"
)
DATE_LENGTH = len("2024-12-31")


def is_written_time(value: Any) -> bool:
    """Return whether a value is text that looks like 2024-12-31 or 2024-12-31T23:59:59Z."""
    return isinstance(value, str) and ISO_DATE.fullmatch(value.strip()) is not None


def circle(size: int) -> Floats:
    """Return sines and cosines of the parts of a circle, rounded to be the same everywhere."""
    angles = [2 * math.pi * k / size for k in range(size)]
    return np.array([[round(math.sin(a), 12), round(math.cos(a), 12)] for a in angles])


CIRCLES = {HOUR: circle(MINUTES_PER_DAY), WEEKDAY: circle(7), MONTH: circle(12)}


def parts_of(dates: bool) -> list[str]:
    """Return the parts of a calendar that a column has; dates have no hours."""
    return [WEEKDAY, MONTH] if dates else [HOUR, WEEKDAY, MONTH]


def circle_names(name: str, dates: bool) -> list[str]:
    """Return the names of the numbers that a column becomes, besides its own."""
    return [f"{name}.{part}.{wave}" for part in parts_of(dates) for wave in ("sin", "cos")]


def seconds_of(column: Any, numbers: Floats) -> Floats:
    """Return a column as seconds since 1970; NaN if missing, or too far away to be a time.

    Infinities stay, so that they are refused as everywhere.

    ``numbers`` are its values as floats, in the unit of its type.
    """
    from pyarrow import types

    kind = column.type
    if types.is_date32(kind):
        seconds = numbers * SECONDS_PER_DAY
    elif types.is_date64(kind):
        seconds = numbers / 1e3
    elif types.is_timestamp(kind):
        seconds = numbers / {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[kind.unit]
    else:
        size, units = np.abs(numbers), np.ones(len(numbers))
        for smallest, unit in reversed(SMALLEST_OF_UNIT):
            units[size >= smallest] = unit
        seconds = numbers / units
    known = (np.abs(seconds) <= MAX_SECONDS) | np.isinf(numbers)
    return np.where(known, seconds, np.nan)


def calendar(name: str, seconds: Floats, dates: bool) -> tuple[dict[str, Floats], dict[str, Codes]]:
    """Return the numbers by feature, and the categories by part; 0 and −1 if missing."""
    gone = ~np.isfinite(seconds)
    whole = np.floor(np.where(gone, 0.0, seconds)).astype(np.int64)
    days, rest = np.divmod(whole, SECONDS_PER_DAY)
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12
    at = {HOUR: rest // 60, WEEKDAY: (days + 3) % 7, MONTH: months}
    codes = {HOUR: rest // 3600, WEEKDAY: at[WEEKDAY], MONTH: months}
    numbers = {name: (seconds - SECONDS_TO_2000) / SECONDS_PER_YEAR}
    for part in parts_of(dates):
        waves = np.where(gone[:, None], 0.0, CIRCLES[part][at[part]])
        numbers |= {f"{name}.{part}.sin": waves[:, 0], f"{name}.{part}.cos": waves[:, 1]}
    return numbers, {p: np.where(gone, -1, codes[p]).astype(np.int32) for p in parts_of(dates)}


def time_features(name: str, value: Any) -> dict[str, float] | None:
    """Return the features of one date or time, the same as in a column; None if it is missing."""
    found = seconds_in(value)
    return None if found is None else features_at(name, *found)


def features_at(name: str, seconds: float, dates: bool) -> dict[str, float]:
    """Return the features of a number of seconds since 1970."""
    days, rest = divmod(math.floor(seconds), SECONDS_PER_DAY)
    month = int(np.datetime64(days, "D").astype("datetime64[M]").astype(np.int64)) % 12
    at = {HOUR: rest // 60, WEEKDAY: (days + 3) % 7, MONTH: month}
    codes = at | {HOUR: rest // 3600}
    made = {name: (seconds - SECONDS_TO_2000) / SECONDS_PER_YEAR}
    for part in parts_of(dates):
        sine, cosine = CIRCLES[part][at[part]].tolist()
        made |= {f"{name}.{part}.sin": sine, f"{name}.{part}.cos": cosine}
        made[f"{name}.{part}={VALUES[part][codes[part]]}"] = 1.0
    return made


def seconds_in(value: date | np.datetime64) -> tuple[float, bool] | None:
    """Return the seconds since 1970 of a date or a time, and whether it is a date.

    Times with a zone are those of UTC, others are taken as they are. None if it is missing, or too
    far away.
    """
    if type(value).__name__ == "NaTType":  # that of pandas
        return None
    if isinstance(value, np.datetime64):
        if np.isnat(value):
            return None
        unit = np.datetime_data(value.dtype)[0]
        fine = value.astype("datetime64[s]" if unit in DATE_UNITS else value.dtype)
        whole = fine.astype("datetime64[s]")
        rest = float((fine - whole) / np.timedelta64(1, "s"))
        seconds, dates = float(whole.astype(np.int64)) + rest, unit in DATE_UNITS
        return (seconds, dates) if abs(seconds) <= MAX_SECONDS else None
    if not isinstance(value, datetime):
        return float((value.toordinal() - DAYS_TO_EPOCH) * SECONDS_PER_DAY), True
    if value.tzinfo is not None:
        try:
            value = value.astimezone(UTC).replace(tzinfo=None)
        except OverflowError:  # it is of the year 0 or 10,000 there
            return None
    return ((value - EPOCH) // MICROSECOND) / 1e6, False
