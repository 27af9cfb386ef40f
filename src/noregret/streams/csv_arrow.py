"""CSV text parsed by Arrow."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from noregret.streams.columns import BOOLEAN, DATE, NUMBER, TEXT, TIME, ZONED


def types_of(
    kinds: dict[str, str], used: Sequence[str], days: Collection[str] = ()
) -> dict[str, Any]:
    """Return the Arrow type of each used column; ``days`` are dates that Arrow does not parse."""
    import pyarrow as pa

    types = {
        NUMBER: pa.float64(),
        BOOLEAN: pa.bool_(),
        TEXT: pa.dictionary(pa.int32(), pa.string()),
        DATE: pa.date32(),
        TIME: pa.timestamp("us"),
        ZONED: pa.timestamp("us", "UTC"),
    }
    return {name: types[TEXT if name in days else kinds[name]] for name in used}


def parsed(
    body: bytes,
    header: list[str],
    delimiter: str,
    nothing: Sequence[str],
    types: dict[str, Any] | None = None,
    used: list[str] | None = None,
    marks: dict[str, str] | None = None,
) -> Any:
    """Return a table of the used columns, by default of all; without types, Arrow infers them.

    ``nothing`` are the words for missing values, ``marks`` the decimal marks of columns that hold
    other than plain numbers.
    """
    import pyarrow as pa
    from pyarrow import csv

    if types is not None and marks:
        types = types | dict.fromkeys(marks, pa.string())
    table = csv.read_csv(
        pa.py_buffer(body),
        read_options=csv.ReadOptions(
            column_names=header, use_threads=False, block_size=len(body) + 1
        ),
        parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=b'"' in body),
        convert_options=csv.ConvertOptions(
            column_types=types,
            include_columns=used or header,
            null_values=list(nothing),
            strings_can_be_null=False,
        ),
    )
    for name, mark in (marks or {}).items():
        from noregret.streams.csv_numerals import as_floats

        at = table.column_names.index(name)
        table = table.set_column(at, name, as_floats(table.column(name), mark, nothing))
    return table
