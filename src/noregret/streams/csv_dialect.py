"""The delimiter and the encoding of a CSV file, detected from its first lines."""

from __future__ import annotations

import codecs
import csv
import io
import re
from itertools import islice

from noregret.streams.options import LINE, NONE

POINT, COMMA = ".", ","
MARKS = (COMMA, ";", "\t", "|")
# Missing values in a numeric column. In a text column only an empty cell is missing.
MISSING_WORDS = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "#N/A")
# Bytes and records inspected to find the delimiter.
SAMPLE_BYTES, SAMPLE_RECORDS = 1 << 16, 20
FIGURES = re.compile(r"\s*[-+.]?\d[\d.,]*(?:e[-+]?\d+)?\s*", re.IGNORECASE | re.ASCII)


def delimiter_of(text: bytes, quotes: str, target: str | None) -> str:
    """Return the delimiter of CSV text, a mark in its first line.

    Of several it is one that splits off the target, then one that splits all of the first lines
    into the same number of values, then the one that leaves the largest share of numbers.
    """
    cut = text.find(b"\n", SAMPLE_BYTES) + 1 if len(text) > SAMPLE_BYTES else 0
    sample = text[: cut or len(text)].decode("utf-8", "replace").lstrip("\ufeff\r\n")
    found: dict[str, tuple[bool, bool, float]] = {}
    for mark in MARKS:
        rows = records_of(sample, mark, quotes)
        if rows and len(rows[0]) > 1:
            cells = [cell for row in rows for cell in row]
            numbers = sum(FIGURES.fullmatch(cell) is not None for cell in cells)
            even = all(len(row) == len(rows[0]) for row in rows)
            found[mark] = target in [name.strip() for name in rows[0]], even, numbers / len(cells)
    return max(found, key=found.__getitem__, default=",")


def records_of(sample: str, mark: str, quotes: str) -> list[list[str]]:
    """Return the first records of a sample, split by a mark; none if that is not possible."""
    lines = sample.split("\n", SAMPLE_RECORDS)[:SAMPLE_RECORDS]
    source = lines if quotes in (LINE, NONE) else io.StringIO(sample, newline="")
    try:
        if quotes == NONE:
            rows = csv.reader(source, delimiter=mark, quoting=csv.QUOTE_NONE)
        else:
            rows = csv.reader(source, delimiter=mark)
        return [row for row in islice(rows, SAMPLE_RECORDS) if row]
    except csv.Error:
        return []


def _as_windows_does(error: UnicodeError) -> tuple[str, int]:
    """Return what Windows leaves undefined as the control characters of Latin-1."""
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("noregret.latin-1", _as_windows_does)


def from_latin_1(text: bytes) -> bytes:
    """Return Latin-1 text as UTF-8.

    Its control characters from 0x80 on are read as Windows writes them (``€``, ``–``, ``“``): text
    that claims to be Latin-1 has them from there alone.
    """
    return text.decode("cp1252", "noregret.latin-1").encode("utf-8")


def is_latin_1(text: bytes) -> bool:
    """Return whether text is Latin-1 rather than UTF-8, perhaps with a few damaged letters."""
    if text.isascii():
        return False
    letters = [letter for letter in text.decode("utf-8", "surrogateescape") if letter > "\x7f"]
    damaged = sum("\udc80" <= letter <= "\udcff" for letter in letters)
    return 2 * damaged > len(letters)
