"""CSV record by record: slow, and only where a block holds something that Arrow stumbles over."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from noregret.errors import BadExample
from noregret.streams.block import Fault
from noregret.streams.columns import BOOLEAN, NUMBER, TEXT

NUMERAL = re.compile(
    r"\s*[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|infinity|nan)\s*", re.IGNORECASE
)
TRUTH = ("true", "false", "0", "1")


class Mended(NamedTuple):
    """The records of a text that can be used, the lines they came from, and the others."""

    text: bytes
    kept: list[int]
    faults: tuple[Fault, ...]


def records(text: bytes, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the records, each with the line it begins in; bytes that are not UTF-8 stay visible."""
    lines = io.StringIO(text.decode("utf-8", "surrogateescape"), newline="")
    reader = csv.reader(lines, delimiter=delimiter)
    line = 0
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise BadExample(f"line {line + 1}: {error}") from None
        if cells:
            yield line + 1, cells
        line = reader.line_num


def line_of(text: bytes, row: int, delimiter: str) -> int:
    """Return the line in which a record begins."""
    if b'"' not in text:
        for number, line in enumerate(text.split(b"\n"), 1):
            if line.strip(b"\r"):
                row -= 1
                if row < 0:
                    return number
        return 0
    return next((line for k, (line, _) in enumerate(records(text, delimiter)) if k == row), 0)


def repaired(
    text: bytes,
    header: Sequence[str],
    kinds: dict[str, str],
    delimiter: str,
    nothing: Sequence[str],
) -> Mended:
    """Tell the records that can be read from those that cannot."""
    good = io.StringIO()
    writer = csv.writer(good, delimiter=delimiter, lineterminator="\n")
    kept: list[int] = []
    faults: list[Fault] = []
    for line, cells in records(text, delimiter):
        wrong = fault_in(cells, header, kinds, nothing)
        if wrong is None:
            writer.writerow(cells)
            kept.append(line)
        else:
            faults.append(Fault(len(kept), str(line), wrong))
    return Mended(good.getvalue().encode("utf-8", "replace"), kept, tuple(faults))


def fault_in(
    cells: Sequence[str], header: Sequence[str], kinds: dict[str, str], nothing: Sequence[str]
) -> str | None:
    """Say what is wrong with a record, if anything is."""
    if len(cells) != len(header):
        return f"{len(cells)} values, but there are {len(header)} columns"
    for name, cell in zip(header, cells, strict=True):
        kind = kinds.get(name)
        shown = repr(cell if len(cell) <= 40 else cell[:40] + "…")
        if kind is not None and any("\udc80" <= letter <= "\udcff" for letter in cell):
            return f"column {name!r}: not UTF-8 text"
        if kind == NUMBER and cell not in nothing and not NUMERAL.fullmatch(cell):
            return (
                f"column {name!r}: {shown} is not a number, as in the rows before it: correct it, or"
                f" read the column as names (--categories {name})"
            )
        if kind == BOOLEAN and cell not in nothing and cell.lower() not in TRUTH:
            return f"column {name!r}: {shown} is not true or false, as in the rows before it"
    return None


def numeral_share(values: Sequence[str], nothing: Sequence[str]) -> float:
    """Return how many of some values are numbers, those aside that are missing."""
    there = [value for value in values if value not in nothing]
    return sum(NUMERAL.fullmatch(value) is not None for value in there) / max(1, len(there))


def kinds_by_rows(
    text: bytes, header: Sequence[str], delimiter: str, nothing: Sequence[str]
) -> dict[str, str]:
    """Return what most rows hold, where some are broken."""
    numbers, rows = dict.fromkeys(header, 0), 0
    for _, cells in records(text, delimiter):
        if len(cells) == len(header):
            rows += 1
            for name, cell in zip(header, cells, strict=True):
                numbers[name] += cell in nothing or NUMERAL.fullmatch(cell) is not None
    return {name: NUMBER if 2 * count >= rows else TEXT for name, count in numbers.items()}
