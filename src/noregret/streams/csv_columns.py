"""The kinds of the columns of CSV text, inferred from its first rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from noregret.streams.columns import BINARY, BOOLEAN, NUMBER, TEXT, kind_of
from noregret.streams.csv_dialect import COMMA
from noregret.streams.csv_numerals import are_thousands, decimal_of
from noregret.streams.csv_repair import kind_of_most, repaired
from noregret.streams.options import ASLEEP, Options
from noregret.streams.parsing.text import parse_csv

# Missing values in a numeric column. In a text column only an empty cell is missing.
MISSING_WORDS = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "#N/A")
# Values inspected in a text column.
SAMPLE_VALUES = 10_000
# The share of numbers from which a column is numeric: for features, and for outcomes and forecasts.
MIN_NUMBER_SHARE, MIN_OUTCOME_SHARE = 0.9, 0.5


class Columns(NamedTuple):
    """The kinds of columns, the decimal marks of those of other than plain numbers, and texts.

    ``thousands`` has a value of each column that is read with points between thousands, though it
    could be read with decimal points.
    """

    kinds: dict[str, str]
    decimals: dict[str, str]
    texts: dict[str, list[Any]]
    thousands: dict[str, str]


def columns_in(
    sample: bytes,
    header: list[str],
    delimiter: str,
    options: Options,
    may_be_written: Callable[[str], bool],
) -> Columns:
    """Return the kind of each column; ``may_be_written`` tells which may hold written numbers."""
    found = Columns(dict.fromkeys(header, NUMBER), {}, {}, {})
    if not sample.strip() or looks_plain(sample, len(header), delimiter):
        return found
    import pyarrow as pa

    from noregret.streams.csv_arrow import parsed

    kinds, form = found.kinds, (header, delimiter, MISSING_WORDS)
    try:
        text, table = sample, parsed(sample, *form)
    except pa.ArrowInvalid:  # a bad row among the first
        whole = repaired(sample, header, {}, delimiter, MISSING_WORDS)
        text, table = whole.text, parsed(whole.text, *form) if whole.kept else pa.table({})
    kinds |= {field.name: kind_of(field.type) for field in table.schema}
    for name in [name for name, kind in kinds.items() if kind in (TEXT, BINARY)]:
        values = table.column(name).slice(0, SAMPLE_VALUES).to_pylist()
        is_target = name == options.target and options.positive is None
        half = is_target or options.missing == ASLEEP
        share = MIN_OUTCOME_SHARE if half else MIN_NUMBER_SHARE
        kinds[name] = kind_of_most(values, share, MISSING_WORDS)
        if kinds[name] == BOOLEAN or not may_be_written(name):
            continue
        if mark := decimal_of(there(values), delimiter, share):
            kinds[name], found.decimals[name] = NUMBER, mark
    found.texts.update(
        {name: table.column(name).to_pylist() for name in kinds if kinds[name] == TEXT}
    )
    plain = [name for name in table.column_names if kinds[name] == NUMBER]
    plain = [name for name in plain if name not in found.decimals and may_be_written(name)]
    if COMMA in found.decimals.values() and plain:
        # Columns of numbers that all have points between thousands are plain numbers to Arrow.
        strings = parsed(text, *form, dict.fromkeys(plain, pa.string()), plain)
        for name in plain:
            values = there(strings.column(name).slice(0, SAMPLE_VALUES).to_pylist())
            if grouped := are_thousands(values):
                found.decimals[name], found.thousands[name] = COMMA, grouped
    return found


def there(values: Sequence[str | bytes]) -> list[str]:
    """Return the values that are not missing, as text."""
    texts = [v if isinstance(v, str) else v.decode("utf-8", "replace") for v in values]
    return [text for text in texts if text.strip() not in MISSING_WORDS]


def looks_plain(sample: bytes, count: int, delimiter: str) -> bool:
    """Return whether a sample holds only numbers, as most files do, so Arrow is not needed."""
    places = np.arange(count, dtype=np.int32)
    found = parse_csv(sample, count, places, count, delimiter.encode(), "zero")
    return bool(found.plain and len(found.X))
