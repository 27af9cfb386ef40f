"""CSV record by record: slow, and only where a block holds something that Arrow stumbles over."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from noregret.errors import BadExample
from noregret.streams.block import Fault
from noregret.streams.columns import BOOLEAN, NO_HEADER, NUMBER, TEXT, headless, is_number
from noregret.streams.csv_quotes import Quotes

NUMERAL = re.compile(
    r"\s*[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|infinity|nan)\s*", re.IGNORECASE | re.ASCII
)
TRUTH = {"true": "true", "false": "false", "1": "true", "0": "false"}


class Mended(NamedTuple):
    """The records of a text that can be used, the lines they came from, and the others."""

    text: bytes
    kept: list[int]
    faults: tuple[Fault, ...]


def split_names(text: bytes, path: str, delimiter: str, header: bool) -> tuple[list[str], bytes]:
    """Return the names of the columns, and the text after the line that holds them."""
    start = end = len(text) - len(text.lstrip(b"\r\n"))
    quotes = Quotes(delimiter.encode())
    while end < len(text) and (end == start or quotes.inside):
        line = text[end : text.find(b"\n", end) + 1 or len(text)]
        quotes.last_cut(line)
        end += len(line)
    number = 1 + text.count(b"\n", 0, start)
    where = f"{path}, line {number}"
    try:
        first = text[start:end].decode("utf-8")
        cells = next(csv.reader(io.StringIO(first, newline=""), delimiter=delimiter), [])
    except UnicodeDecodeError:
        raise BadExample(f"{where}: not UTF-8 text") from None
    except csv.Error as error:
        raise BadExample(f"{where}: {error}") from None
    if "\r" in first.strip("\r\n") and '"' not in first:
        raise BadExample(f"{where}: lines end in carriage returns alone: end them with newlines")
    if not header:
        return [str(k + 1) for k in range(len(cells))], text
    if "\0" in first:
        raise BadExample(f"{where}: the names hold NUL characters: this is not CSV")
    names = [name.strip() or str(k + 1) for k, name in enumerate(cells)]
    check_header(names, where)
    check_names(names, where)
    return names, text[end:]


def check_header(names: Sequence[str], where: str) -> None:
    """Refuse names that are all numbers, not all whole: such a line is the first row of data."""
    if len(names) < 2 or not all(map(is_number, names)):
        return
    if not all(name.lstrip("-").isdecimal() for name in names):
        raise BadExample(
            f"{where}: the file seems to have no header, as its first line holds numbers alone:"
            f" {NO_HEADER}, and columns are called 1 to {len(names)}; or rename a column"
        )


def check_names(names: Sequence[str], where: str) -> None:
    """Refuse a name that two columns have."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise BadExample(
                f"{where}: two columns are called {name!r}: rename one{headless(names)}"
            )
        seen.add(name)


def records(text: bytes, delimiter: str) -> Iterator[tuple[int, list[str] | str]]:
    """Yield the records, each with the line it begins in, or what is wrong with it.

    Bytes that are not UTF-8 stay visible.
    """
    lines = io.StringIO(text.decode("utf-8", "surrogateescape"), newline="")
    reader = csv.reader(lines, delimiter=delimiter)
    line = 0
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield line + 1, str(error)
        else:
            if cells:
                yield line + 1, cells
        line = reader.line_num


def row_lines(text: bytes, delimiter: str) -> list[int]:
    """Return the lines in which records begin."""
    if b'"' in text:
        return [line for line, _ in records(text, delimiter)]
    return [n for n, line in enumerate(text.split(b"\n"), 1) if line.strip(b"\r")]


def repaired(
    text: bytes,
    header: Sequence[str],
    kinds: dict[str, str],
    delimiter: str,
    nothing: Sequence[str],
    cure: str = "",
) -> Mended:
    """Tell the records that can be read from those that cannot, and what to do about a word."""
    good = io.StringIO()
    writer = csv.writer(good, delimiter=delimiter, lineterminator="\n")
    kept: list[int] = []
    faults: list[Fault] = []
    for line, cells in records(text, delimiter):
        wrong = cells if isinstance(cells, str) else fault_in(cells, header, kinds, nothing, cure)
        if wrong is None:
            writer.writerow(
                [usual(cell, kinds.get(n), nothing) for n, cell in zip(header, cells, strict=True)]
            )
            kept.append(line)
        else:
            faults.append(Fault(len(kept), str(line), wrong))
    return Mended(good.getvalue().encode("utf-8", "replace"), kept, tuple(faults))


def usual(cell: str, kind: str | None, nothing: Sequence[str]) -> str:
    """Return a cell as Arrow can read it."""
    if kind == NUMBER and cell.strip() in nothing:
        return ""
    if kind == NUMBER and NUMERAL.fullmatch(cell):
        return repr(float(cell))
    if kind == BOOLEAN:
        return TRUTH.get(cell.strip().lower(), cell)
    return cell


def fault_in(
    cells: Sequence[str],
    header: Sequence[str],
    kinds: dict[str, str],
    nothing: Sequence[str],
    cure: str = "",
) -> str | None:
    """Say what is wrong with a record, if anything is."""
    if len(cells) != len(header):
        values = f"{len(cells)} value{'' if len(cells) == 1 else 's'}"
        return f"{values}, but there are {len(header)} columns"
    for name, cell in zip(header, cells, strict=True):
        kind = kinds.get(name)
        shown = repr(cell if len(cell) <= 40 else cell[:40] + "…")
        if kind is not None and any("\udc80" <= letter <= "\udcff" for letter in cell):
            return f"column {name!r}: not UTF-8 text"
        if kind == NUMBER and cell.strip() not in nothing and not NUMERAL.fullmatch(cell):
            cure = cure or f"read the column as names (--categories {name})"
            return (
                f"column {name!r}: {shown} is not a number, as most of the column are: correct it,"
                f" or {cure}"
            )
        if kind == BOOLEAN and cell not in nothing and cell.strip().lower() not in TRUTH:
            return f"column {name!r}: {shown} is not true or false, as most of the column are"
    return None


def kind_of_most(values: Sequence[str | bytes], share: float, nothing: Sequence[str]) -> str:
    """Return what most of a column's values are, those aside that are missing."""
    texts = [v if isinstance(v, str) else v.decode("utf-8", "replace") for v in values]
    there = [text for text in texts if text.strip() not in nothing]
    needed = share * max(1, len(there))
    if sum(NUMERAL.fullmatch(text) is not None for text in there) >= needed:
        return NUMBER
    if sum(text.strip().lower() in TRUTH for text in there) >= needed:
        return BOOLEAN
    return TEXT
