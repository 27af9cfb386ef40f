"""Dates as people write them: 31/12/2024, 12/31/2024, 31.12.2024 17:30, 2024/12/31.

Which part is the day is decided for a column as a whole: one day after the 12th tells. The option
``dates`` decides for columns that could be read in two ways: ``dmy``, or ``due=mdy`` for one of
them. What was detected is named in the same form.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from noregret.base.calendar_features import is_written_time
from noregret.checks import one_of
from noregret.streams.columns import TIMES

DMY, MDY, YMD = ORDERS = ("dmy", "mdy", "ymd")
# Values of a column that are inspected.
SAMPLE_VALUES = 10_000
LOCAL = re.compile(
    r"\s*(\d{4}|\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})"
    r"(?:(?:[ T]|,\s*)\s*(\d{1,2}):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:\s*([ap])\.?m\.?)?)?\s*",
    re.ASCII | re.IGNORECASE,
)
# Years of two digits below this are those of 2000 and after, as in POSIX.
FIRST_OLD_YEAR = 69


def check_order(given: str) -> None:
    """Raise ValueError unless an item of the option ``dates`` ends in an order."""
    one_of("dates", given.rpartition("=")[2], ORDERS)


def order_of(given: Iterable[str], name: str) -> str | None:
    """Return the order that the option ``dates`` states for a column by name."""
    found = [text.rpartition("=") for text in given]
    return next((order for column, _, order in found if column == name and column), None)


def usual_order(given: Iterable[str]) -> str | None:
    """Return the order that the option ``dates`` states for all columns."""
    return next((text for text in given if text in ORDERS), None)


def moment_in(text: str, order: str) -> datetime | None:
    """Return the date or time that a text stands for; None if it is neither."""
    found = LOCAL.fullmatch(text)
    if found is None:
        return None
    first, _, second, third, hour, minute, second_of, fraction, half = found.groups()
    if (len(first) == 4) != (order == YMD):
        return None
    year, month, day = (
        (first, second, third) if order == YMD else (third, *in_order(first, second, order))
    )
    if order == YMD and len(day) == 4:
        return None
    at = int(hour or 0)
    if half is not None:
        if not 1 <= at <= 12:
            return None
        at = at % 12 + (12 if half.lower() == "p" else 0)
    try:
        return datetime(
            full_year(year),
            int(month),
            int(day),
            at,
            int(minute or 0),
            int(second_of or 0),
            int((fraction or "0").ljust(6, "0")[:6]),
        )
    except ValueError:
        return None


def in_order(first: str, second: str, order: str) -> tuple[str, str]:
    """Return the month and the day."""
    return (second, first) if order == DMY else (first, second)


def full_year(digits: str) -> int:
    """Return a year of four digits."""
    year = int(digits)
    if len(digits) == 4:
        return year
    return year + (2000 if year < FIRST_OLD_YEAR else 1900)


def has_time(text: str) -> bool:
    """Return whether a text that is a date has a time too."""
    return ":" in text


def there(values: Sequence[Any]) -> list[str]:
    """Return the texts among the first of some values."""
    from noregret.streams.csv_dialect import MISSING_WORDS

    texts = [value for value in values[:SAMPLE_VALUES] if isinstance(value, str)]
    return [text for text in texts if text.strip() not in MISSING_WORDS]


def orders_in(texts: Sequence[str], share: float = 1.0) -> list[str]:
    """Return the orders in which the most of some texts are dates; dots go with the day first.

    At least a ``share`` of them must be dates in that order.
    """
    dates = most_of(texts, share, lambda text: LOCAL.fullmatch(text) is not None)
    counts = Counter(dates)
    held = {order: dates_in(counts, order) for order in ORDERS}
    best = max(held.values())
    if not dates or best < share * len(texts):
        return []
    found = [order for order in ORDERS if held[order] == best]
    return [DMY] if len(found) > 1 and all("." in text for text in counts) else found


def has_order(texts: Sequence[str], order: str, share: float) -> bool:
    """Return whether at least a share of some texts are dates in an order."""
    return dates_in(Counter(texts), order) >= share * len(texts)


def dates_in(counts: Mapping[str, int], order: str) -> int:
    """Return how many of some counted texts are dates in an order."""
    return sum(many for text, many in counts.items() if moment_in(text, order) is not None)


def iso_kind(texts: Sequence[str], share: float) -> str | None:
    """Return the kind of times, written as 2024-12-31, that at least a share of texts are."""
    from noregret.streams.csv_repair import moment

    counts = Counter(most_of(texts, share, is_written_time))
    held = {
        kind: sum(many for text, many in counts.items() if moment(text, kind) is not None)
        for kind in TIMES
    }
    best = max(TIMES, key=held.__getitem__)  # dates, if as many
    return best if counts and held[best] >= share * len(texts) else None


def most_of(texts: Sequence[str], share: float, wanted: Callable[[str], bool]) -> list[str]:
    """Return the wanted texts; none if they are less than a share of all."""
    found: list[str] = []
    allowed = (1 - share) * len(texts) + 1e-9
    for k, text in enumerate(texts):
        if wanted(text):
            found.append(text)
        elif k + 1 - len(found) > allowed:
            return []
    return found


def as_times(column: Any, order: str, dates: bool) -> Any:
    """Return an Arrow column of text as times; raise ArrowInvalid if one is not a date.

    Words for missing values are null, and so is nothing else.
    """
    import pyarrow as pa

    from noregret.streams.csv_dialect import MISSING_WORDS

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):  # without rows
            return pa.array([], pa.timestamp("us"))
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    found: list[datetime | None] = []
    used = set(column.indices.unique().to_pylist())
    for code, text in enumerate(column.dictionary.to_pylist()):
        if code not in used or text is None or text.strip() in MISSING_WORDS:
            found.append(None)
            continue
        at = moment_in(text, order)
        if at is None or (dates and has_time(text)):
            raise pa.ArrowInvalid(f"{text[:40]!r} is not a date in the order {order}")
        found.append(at)
    return pa.array(found, pa.timestamp("us")).take(column.indices)
