"""The kinds of the columns of CSV text, inferred from its first rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from noregret.streams.columns import BINARY, BOOLEAN, NUMBER, TEXT, kind_of
from noregret.streams.csv_arrow import parsed
from noregret.streams.csv_dialect import COMMA, MISSING_WORDS
from noregret.streams.csv_numerals import are_thousands, decimal_of, tell_thousands
from noregret.streams.csv_repair import kind_of_most, repaired
from noregret.streams.options import ASLEEP, Options

# Values inspected in a text column.
SAMPLE_VALUES = 10_000
# The share of numbers from which a column is numeric: for features, and for outcomes and forecasts.
MIN_NUMBER_SHARE, MIN_OUTCOME_SHARE = 0.9, 0.5


class Columns(NamedTuple):
    """The kinds of columns, the decimal marks of those of other than plain numbers, and texts."""

    kinds: dict[str, str]
    decimals: dict[str, str]
    texts: dict[str, list[Any]]


def columns_in(
    sample: bytes,
    header: list[str],
    delimiter: str,
    options: Options,
    may_be_written: Callable[[str], bool],
    path: str,
) -> Columns:
    """Return the kind of each column; ``may_be_written`` tells which may hold written numbers."""
    kinds, decimals = dict.fromkeys(header, NUMBER), dict[str, str]()
    form = header, delimiter, MISSING_WORDS
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
            kinds[name], decimals[name] = NUMBER, mark
    texts = {name: table.column(name).to_pylist() for name in kinds if kinds[name] == TEXT}
    apart = {*decimals, *options.drop, *options.categories, *options.text, *options.labels}
    plain = [name for name in table.column_names if kinds[name] == NUMBER and name not in apart]
    plain = [n for n in plain if may_be_written(n) and (not options.keep or n in options.keep)]
    if COMMA in decimals.values() and plain:
        # Numbers with points between thousands, and no other mark, are plain numbers to Arrow.
        strings = parsed(text, *form, dict.fromkeys(plain, pa.string()), plain)
        for name in plain:
            values = there(strings.column(name).slice(0, SAMPLE_VALUES).to_pylist())
            if grouped := are_thousands(values):
                decimals[name] = COMMA
                if options.sniff:
                    tell_thousands(name, grouped, path)
    return Columns(kinds, decimals, texts)


def there(values: Sequence[str | bytes]) -> list[str]:
    """Return the values that are not missing, as text."""
    texts = [v if isinstance(v, str) else v.decode("utf-8", "replace") for v in values]
    return [text for text in texts if text.strip() not in MISSING_WORDS]
