"""Convert raw Python values and data frames into columns of known types."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.base.calendar_features import seconds_in, seconds_of
from noregret.errors import BadExample
from noregret.streams.block import Floats
from noregret.streams.columns import (
    BOOLEAN,
    DATE,
    NUMBER,
    TIMES,
    Category,
    Roles,
    Table,
    calendar_columns,
    combined,
    kind_of,
)
from noregret.streams.csv_dialect import MISSING_WORDS, POINT
from noregret.streams.csv_numerals import as_floats, plain
from noregret.streams.local_dates import moment_in, order_of

if TYPE_CHECKING:
    from noregret.streams.free_text import Bag

# The cure for a value that is not a time.
TIME_WRITTEN = "write it as 2024-12-31"
BOOLEANS = {"true": 1.0, "false": 0.0}


def table_of(x: Mapping[str, Any], roles: Roles, columns: Mapping[str, Any]) -> Table:
    """Return one raw row as a table; absent columns are treated as missing values.

    ``columns`` holds what was detected about the columns of the files, such as decimal marks.
    """
    decimals = columns.get("decimals", {})
    numbers: dict[str, Floats] = {
        name: np.array([number_in(x.get(name), name, decimals)]) for name in roles.numbers
    }
    parts: list[Category] = []
    for name in roles.times:
        dates = roles.kinds[name] == DATE
        seconds = time_in(x.get(name), name, order_of(roles.options.dates, name))
        made, found = calendar_columns(name, np.array([seconds]), dates)
        numbers |= made
        parts += found
    for name in roles.categories:
        text = text_in(x.get(name))
        codes = np.array([-1 if text == "" else 0], dtype=np.int32)
        parts.append(Category(name, codes, [text]))
    bags: tuple[Bag, ...] = ()
    if roles.words:
        import pyarrow as pa

        from noregret.streams.free_text import bag_of

        texts = {name: pa.array([text_in(x.get(name))], pa.string()) for name in roles.words}
        bags = tuple(bag_of(texts[name], name) for name in roles.words)
    return combined(numbers, parts, bags, roles, 1)


def is_gap(value: Any) -> bool:
    """Return whether a value is missing: None, NaN, NaT, or the missing value of pandas."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.floating) and math.isnan(value)


def number_in(value: Any, name: str, decimals: Mapping[str, str]) -> float:
    """Return a raw value as a number; NaN if it is missing."""
    if isinstance(value, float | int) and not isinstance(value, bool):
        return as_float(value, name)
    if is_gap(value):
        return math.nan
    if isinstance(value, str):
        text = value.strip()
        if text in MISSING_WORDS:
            return math.nan
        if text.lower() in BOOLEANS:
            return BOOLEANS[text.lower()]
        written = plain(text, decimals.get(name, POINT))
        return as_float(text if written is None else written, name)
    return as_float(value, name)


def as_float(value: Any, name: str) -> float:
    """Return a value as a number, or raise BadExample."""
    try:
        if isinstance(value, date | bytes | np.datetime64):
            raise TypeError
        return float(value)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        what = f"{name!r} is {str(value)[:40]!r}, a {type(value).__name__}, not a number"
        raise BadExample(what, feature=name) from None


def time_in(value: Any, name: str, order: str | None = None) -> float:
    """Return a raw value as seconds since 1970; NaN if it is missing.

    ``order`` is that of dates which are not written as 2024-12-31.
    """
    import pyarrow as pa

    if is_gap(value) or (isinstance(value, str) and value.strip() in MISSING_WORDS):
        return math.nan
    if isinstance(value, str):
        try:
            local = None if order is None else moment_in(value, order)
            value = local or datetime.fromisoformat(value.strip())
        except ValueError:
            what = f"{name!r} is {value[:40]!r}, not a date or time"
            raise BadExample(what, TIME_WRITTEN, feature=name) from None
    if isinstance(value, date | np.datetime64):
        found = seconds_in(value)
        return math.nan if found is None else found[0]
    if isinstance(value, bool | np.bool_):
        what = f"{name!r} is {bool(value)}, not a date or time"
        raise BadExample(what, TIME_WRITTEN, feature=name)
    number = np.array([as_float(value, name)])
    if np.isinf(number[0]):
        raise BadExample(f"{name!r} is {number[0]:g}: every value must be finite", feature=name)
    return float(seconds_of(pa.array(number), number)[0])


def text_in(value: Any) -> str:
    """Return a raw value as the name of a category; empty if it is missing."""
    if isinstance(value, str):
        return value
    if is_gap(value):
        return ""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value) if isinstance(value, bool) else str(value)


def arrow_table(X: Any, roles: Roles, columns: Mapping[str, Any]) -> Any:
    """Return the used columns of a data frame, with the types that they have in files."""
    import narwhals as nw
    import pyarrow as pa

    frame = nw.from_native(X, eager_only=True)
    found = {}
    for name in roles.columns:
        if name in frame.columns:
            found[name] = arrow_column(frame[name], roles, columns)
        elif name in roles.categories or name in roles.words:
            found[name] = pa.nulls(len(frame), pa.string())
        else:
            found[name] = pa.nulls(len(frame), pa.float64())
    return pa.table(found)


def arrow_column(series: Any, roles: Roles, columns: Mapping[str, Any]) -> Any:
    """Return a column of a data frame as an Arrow column, with the type that it has in files."""
    import pyarrow as pa

    name, kind = series.name, roles.kinds[series.name]
    try:
        raw = series.to_arrow()
    except (pa.ArrowException, OverflowError, TypeError):  # values of several types
        raw = pa.nulls(0)
    if name in roles.categories or name in roles.words:
        return pa.array([text_in(value) for value in series.to_list()], pa.string())
    there = None if pa.types.is_null(raw.type) else kind_of(raw.type)
    if kind in TIMES and there in TIMES:
        return raw
    if name in roles.times:
        order = order_of(roles.options.dates, name)
        seconds = [time_in(value, name, order) for value in series.to_list()]
        ticks = [None if math.isnan(each) else round(each * 1e6) for each in seconds]
        return pa.array(ticks, pa.int64()).cast(pa.timestamp("us"))
    if there in (NUMBER, BOOLEAN):
        return raw
    decimals = columns.get("decimals", {})
    if pa.types.is_string(raw.type) or pa.types.is_large_string(raw.type):
        try:
            return as_floats(raw, decimals.get(name, POINT), MISSING_WORDS)
        except pa.ArrowInvalid:
            pass  # the value is named below
    values = [number_in(value, name, decimals) for value in series.to_list()]
    return pa.array(values, pa.float64(), from_pandas=True)
