"""CSV record by record: slow, and only for blocks that Arrow cannot parse."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from json.encoder import encode_basestring_ascii as quoted
from typing import NamedTuple

from noregret.errors import BadExample, Cure, Place, Use
from noregret.streams.block import Fault
from noregret.streams.columns import (
    BOOLEAN,
    DATE,
    NUMBER,
    TEXT,
    TIME,
    TIMES,
    headless,
    is_number,
    no_header,
)
from noregret.streams.csv_dialect import COMMA, POINT
from noregret.streams.csv_quotes import Quotes
from noregret.streams.source import Piece

NUMERAL = re.compile(
    r"\s*[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|infinity|nan)\s*", re.IGNORECASE | re.ASCII
)
# The cure for rows that span several lines.
JOIN = Use("quotes", "multiline", "where a value in quotes goes on over several lines, use {}")
# A carriage return inside a line, and a quoted value.
BARE_RETURN, QUOTED = re.compile(rb"\r(?!\n|\Z)"), re.compile(rb'"[^"]*"')
TRUTH = {"true": "true", "false": "false", "1": "true", "0": "false"}
# The cure for an outcome that is no number.
LEAVE_OUT = Use("on_error", "skip", "leave such rows out ({})")


class Mended(NamedTuple):
    """The usable records of a text with their lines, and the errors of the others."""

    text: bytes
    kept: list[int]
    faults: tuple[Fault, ...]
    written: frozenset[str] = frozenset()  # columns of plain numbers with others among them


def split_names(text: bytes, path: str, delimiter: str, header: bool) -> tuple[list[str], bytes]:
    """Return the names of the columns, and the text after the line that holds them."""
    start, end = first_record(text, delimiter)
    number = 1 + text.count(b"\n", 0, start)
    where = Place(path, number)
    try:
        first = text[start:end].decode("utf-8")
        cells = next(csv.reader(io.StringIO(first, newline=""), delimiter=delimiter), [])
    except UnicodeDecodeError:
        raise BadExample("not UTF-8 text").at(where) from None
    except csv.Error as error:
        raise BadExample(str(error)).at(where) from None
    if "\r" in first.strip("\r\n") and '"' not in first:
        what = "lines end in carriage returns alone"
        raise BadExample(what, "end them with newlines").at(where)
    if not header:
        return [str(k + 1) for k in range(len(cells))], text
    if "\0" in first:
        raise BadExample("the names hold NUL characters: this is not CSV").at(where)
    names = [name.strip() or str(k + 1) for k, name in enumerate(cells)]
    check_header(names, where)
    check_names(names, where)
    return names, text[end:]


def first_record(text: bytes, delimiter: str) -> tuple[int, int]:
    """Return where the first record begins and ends, after empty lines."""
    start = end = len(text) - len(text.lstrip(b"\r\n"))
    quotes = Quotes(delimiter.encode())
    while end < len(text) and (end == start or quotes.inside):
        line = text[end : text.find(b"\n", end) + 1 or len(text)]
        quotes.last_cut(line)
        end += len(line)
    return start, end


def check_header(names: Sequence[str], where: Place) -> None:
    """Raise an error if all names are numbers, not all integers: then there is no header."""
    if len(names) < 2 or not all(map(is_number, names)):
        return
    if not all(name.lstrip("-").isdecimal() for name in names):
        raise BadExample(
            "the file seems to have no header, as its first line holds numbers alone",
            (no_header(names), "rename a column"),
        ).at(where)


def difference(header: Sequence[str], first: Sequence[str]) -> str:
    """Return how a header differs from that of the first file; empty if it does not."""
    if list(header) == list(first):
        return ""
    odd = next((name for name in header if name not in first), None)
    lost = next((name for name in first if name not in header), None)
    said = "they are in another order" if lost is None else f"there is no {lost!r}"
    return said if odd is None else f"{odd!r} is new"


def check_names(names: Sequence[str], where: Place) -> None:
    """Raise an error if two columns have the same name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            what = f"two columns are called {name!r}"
            raise BadExample(what, ("rename one", *headless(names))).at(where)
        seen.add(name)


def records(text: bytes, delimiter: str) -> Iterator[tuple[int, list[str] | BadExample]]:
    """Yield the records, or the errors in them, with the line where each begins.

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
            yield line + 1, BadExample(str(error))
        else:
            if cells:
                yield line + 1, cells
        line = reader.line_num


def check_returns(body: bytes | None, piece: Piece) -> None:
    """Refuse carriage returns within lines; those in quotes of ``body``, if it is given, may be."""
    text = piece.text() if body is None else QUOTED.sub(b"", body)
    if BARE_RETURN.search(text):
        raise BadExample(
            "a carriage return stands within a line: lines end in \\n or \\r\\n",
            "convert the file, or quote the value",
            file=piece.path,
        )


def cells_as_json(text: bytes, delimiter: str, at: Sequence[int]) -> dict[int, str]:
    """Return some cells of each record, as they are written, as JSON by its first line."""
    lines = csv.reader(
        io.StringIO(text.decode("utf-8", "replace"), newline=""), delimiter=delimiter
    )
    found: dict[int, str] = {}
    first = 1
    for record in lines:
        said = [quoted(record[k]) if k < len(record) else "null" for k in at]
        found[first] = f"[{', '.join(said)}]"
        first = lines.line_num + 1
    return found


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
    *,
    asleep: bool = False,
    by_line: bool = False,
    marks: dict[str, str] | None = None,
    orders: dict[str, str] | None = None,
    may_be_written: Callable[[str], bool] = lambda name: True,
    target: str | None = None,
) -> Mended:
    """Separate the records that can be used from those that cannot.

    With ``asleep`` numbers may be missing; with ``by_line`` quoted values end with the line.
    ``marks`` are the decimal marks of columns of other than plain numbers, and ``may_be_written``
    tells in which others there may be such numbers. ``orders`` are those of day, month and year in
    columns of dates that are not written as 2024-12-31.
    """
    marks, orders = marks or {}, orders or {}
    written: set[str] = set()

    def as_number(name: str, cell: str) -> str | None:
        if marks.get(name) != COMMA and NUMERAL.fullmatch(cell):
            return cell
        allowed = name in marks or may_be_written(name)
        return as_plain(cell, marks.get(name), delimiter) if allowed else None

    good = io.StringIO()
    writer = csv.writer(good, delimiter=delimiter, lineterminator="\n")
    kept: list[int] = []
    faults: list[Fault] = []
    for line, cells in records(text, delimiter):
        try:
            if isinstance(cells, BadExample):
                raise cells
            if len(cells) != len(header):
                values = f"{len(cells)} value{'' if len(cells) == 1 else 's'}"
                what = f"{values}, but there are {len(header)} columns"
                raise BadExample(what, JOIN if by_line else ())
            named = [*zip(header, cells, strict=True)]
            for name, cell in named:
                number = as_number(name, cell)
                order = orders.get(name)
                check_cell(name, cell, kinds.get(name), nothing, asleep, number, order)
        except BadExample as error:
            if error.cures and error.feature is not None and error.feature == target:
                error.cures = ("correct it", LEAVE_OUT)  # an outcome is no category
            faults.append(Fault(len(kept), error.at(line=line).with_traceback(None)))
        else:
            numbers = [as_number(name, cell) for name, cell in named]
            for (name, cell), number in zip(named, numbers, strict=True):
                if number is not cell and number is not None and kinds.get(name) == NUMBER:
                    written.add(name)
            writer.writerow(
                cell if name in orders else usual(cell, kinds.get(name), nothing, number)
                for (name, cell), number in zip(named, numbers, strict=True)
            )
            kept.append(line)
    mended = good.getvalue().encode("utf-8", "replace")
    return Mended(mended, kept, tuple(faults), frozenset(written - marks.keys()))


def as_plain(cell: str, decimal: str | None, delimiter: str) -> str | None:
    """Return a written number as a plain one, or None; ``decimal`` is the mark of its column.

    Without one the column began with plain numbers. A comma in it then groups digits only if it is
    the delimiter, and cannot be a decimal mark.
    """
    from noregret.streams.csv_numerals import plain

    if decimal is None and delimiter != COMMA and COMMA in cell:
        return None
    return plain(cell, decimal or POINT)


def usual(cell: str, kind: str | None, nothing: Sequence[str], number: str | None) -> str:
    """Return a cell in a form that Arrow can parse; ``number`` is the plain one it stands for."""
    if kind == NUMBER and cell.strip() in nothing:
        return ""
    if kind == NUMBER and number is not None:
        return repr(float(number))
    if kind in TIMES:
        return moment(cell, kind) or ""
    if kind == BOOLEAN:
        return TRUTH.get(cell.strip().lower(), cell)
    return cell


def moment(cell: str, kind: str, order: str | None = None) -> str | None:
    """Return a date or time in the form that Arrow parses, or None if it is neither."""
    if order is not None:
        from noregret.streams.local_dates import has_time, moment_in

        at = moment_in(cell, order)
        return None if at is None or (kind == DATE and has_time(cell)) else at.isoformat()
    try:
        found = datetime.fromisoformat(cell.strip())
    except ValueError:
        return None
    if kind == DATE:
        return found.date().isoformat() if len(cell.strip()) <= 10 else None
    if (found.tzinfo is None) != (kind == TIME):
        return None
    return found.isoformat()


def check_cell(
    name: str,
    cell: str,
    kind: str | None,
    nothing: Sequence[str],
    asleep: bool,
    number: str | None,
    order: str | None = None,
) -> None:
    """Raise an error for a cell that is not of the kind of its column.

    ``number`` is the plain number that it stands for, or None; ``order`` that of dates which are
    not written as 2024-12-31.
    """
    what, cures = "", list[Cure]()
    shown = cell if len(cell) <= 40 else cell[:40] + "…"
    if kind is not None and any("\udc80" <= letter <= "\udcff" for letter in cell):
        what = "not UTF-8 text"
    elif kind == NUMBER and cell.strip() not in nothing and number is None:
        what = f"{shown!r} is not a number, but most values of the column are"
        names = Use("categories", [name], "read the column as names ({})")
        cures = ["correct it", "leave it empty", *([] if asleep else [names]), LEAVE_OUT]
    elif kind in TIMES and cell.strip() not in nothing and moment(cell, kind, order) is None:
        what = f"{shown!r} is not among the {kind}, but most values of the column are"
        names = Use("categories", [name], "read the column as names ({})")
        cures = ["correct it", names, LEAVE_OUT]
    elif kind == BOOLEAN and cell not in nothing and cell.strip().lower() not in TRUTH:
        what = f"{shown!r} is not true or false, but most values of the column are"
    if what:
        raise BadExample(f"column {name!r}: {what}", cures, feature=name)


def kind_of_most(values: Sequence[str | bytes], share: float, nothing: Sequence[str]) -> str:
    """Return the kind of most values of a column, ignoring missing ones."""
    texts = [v if isinstance(v, str) else v.decode("utf-8", "replace") for v in values]
    there = [text for text in texts if text.strip() not in nothing]
    needed = share * max(1, len(there))
    if sum(NUMERAL.fullmatch(text) is not None for text in there) >= needed:
        return NUMBER
    if sum(text.strip().lower() in TRUTH for text in there) >= needed:
        return BOOLEAN
    return TEXT
