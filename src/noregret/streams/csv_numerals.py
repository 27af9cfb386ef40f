"""Numbers as people write them: "1,234", "12%", "$5", and decimal commas as in "1.234,5"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from noregret.errors import Use, tell
from noregret.streams.csv_dialect import COMMA, POINT

# The mark that groups digits, by decimal mark.
GROUPING = {POINT: COMMA, COMMA: POINT}
SIGNS = "(?:[$€£¥]|EUR|USD|GBP|JPY|CHF|SEK|NOK|DKK|kr)"


@cache
def pattern(decimal: str) -> re.Pattern[str]:
    """Return a pattern for numbers, with the sign before or after that of a currency.

    Its groups are the two signs, digits, fraction, exponent and percent.
    """
    mark, group = re.escape(decimal), re.escape(GROUPING[decimal])
    digits = rf"(\d{{1,3}}(?:{group}\d{{3}})+|\d+|(?={mark}\d))((?:{mark}\d*)?)"
    return re.compile(
        rf"\s*(?:([-+]?)\s*{SIGNS}?|{SIGNS}\s*([-+]))\s*{digits}(e[-+]?\d{{1,4}})?\s*(?:(%)|{SIGNS})?\s*",
        re.ASCII | re.IGNORECASE,
    )


def plain(cell: str, decimal: str) -> str | None:
    """Return a number in the form that ``float`` reads, or None if it is not a number.

    A percentage is a hundredth: "12%" is 0.12.
    """
    found = pattern(decimal).fullmatch(cell)
    if found is None or (found[5] and found[6]):
        return None
    sign = found[1] or found[2] or ""
    digits, fraction = found[3].replace(GROUPING[decimal], ""), found[4]
    exponent = "e-2" if found[6] else found[5] or ""
    return f"{sign}{digits or '0'}.{fraction[1:] or '0'}{exponent}"


def decimal_of(values: Sequence[str], delimiter: str, share: float) -> str | None:
    """Return the decimal mark with which a column holds the most numbers; None if too few.

    A comma may be one if it is not the delimiter, and is preferred if as many are numbers.
    """
    counts = {
        decimal: sum(plain(value, decimal) is not None for value in values)
        for decimal in ((POINT,) if delimiter == COMMA else (COMMA, POINT))
    }
    best = max(counts, key=counts.__getitem__)
    return best if values and counts[best] >= share * len(values) else None


def are_thousands(values: Sequence[str]) -> str:
    """Return a value with points between thousands, if all may be such numbers; else nothing.

    Numbers such as 0.125 have a decimal point.
    """
    grouped = [value for value in values if "." in value]
    if any(value.strip().lstrip("+-").startswith("0") for value in grouped):
        return ""
    if any(plain(value, COMMA) is None for value in values):
        return ""
    return grouped[0].strip() if grouped else ""


def tell_thousands(column: str, value: str, file: str) -> None:
    """Warn that points of a column are taken for marks between thousands."""
    number = plain(value, COMMA) or ""
    tell(
        f"column {column!r}: {value!r} is read as {float(number):.15g}, with points between"
        " thousands, as other columns have decimal commas",
        (
            "if these are decimal points, write all numbers of the file with them",
            Use("drop", column, "{} to leave it out"),
        ),
        file=file,
    )


def as_floats(column: Any, decimal: str, nothing: Sequence[str]) -> Any:
    """Return an Arrow column of strings as floats; raise ArrowInvalid if one is not a number."""
    import pyarrow as pa
    from pyarrow import compute

    mark = re.escape(decimal)
    simple = compute.match_substring_regex(column, rf"^[-+]?\d+(?:{mark}\d+)?$")
    if compute.all(simple).as_py():
        return compute.replace_substring(column, decimal, ".").cast(pa.float64())
    numbers: list[float | None] = []
    for value in column.to_pylist():
        if value is None or value.strip() in nothing:
            numbers.append(None)
            continue
        text = plain(value, decimal)
        if text is None:
            raise pa.ArrowInvalid(f"{value!r} is not a number")
        numbers.append(float(text))
    return pa.chunked_array([pa.array(numbers, pa.float64())])
