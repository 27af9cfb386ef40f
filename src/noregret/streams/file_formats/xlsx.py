"""Excel workbooks: one sheet, read as CSV with a header would be."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from datetime import date, datetime
from functools import partial
from itertools import chain, islice
from typing import IO, Any, ClassVar

from noregret.errors import NoRegretError, Use, tell
from noregret.streams.converted_text import csv_of
from noregret.streams.file_formats.csv import CsvStream
from noregret.streams.open_file import Opened
from noregret.streams.stream import reader_of

# Rows among which the row of names may be.
MAX_TITLE_ROWS = 20
# Cells of the rectangle that a sheet fills, empty ones included: the reader holds all, at 32 bytes.
MAX_CELLS = 100_000_000
CELL = re.compile(rb"""\sr=["']([A-Z]{1,3})([0-9]{1,7})["']""")
# Bytes of XML searched at a time, and those of which a part may be in the next.
PIECE, LONGEST_CELL = 1 << 20, 16


def sheet_text(file: IO[bytes], path: str, name: str | None, header: bool) -> IO[bytes]:
    """Return a sheet of a workbook as CSV text, by default the first."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise NoRegretError(
            "reading Excel files needs python-calamine",
            "pip install 'noregret[excel]', or save the sheet as CSV",
            file=path,
        ) from None
    check_size(file, path)
    try:
        book = CalamineWorkbook.from_filelike(file)
        if name is not None and name not in book.sheet_names:
            there = ", ".join(map(repr, book.sheet_names))
            raise NoRegretError(f"there is no sheet {name!r}: there are {there}", file=path)
        sheet = book.get_sheet_by_name(book.sheet_names[0] if name is None else name)
    except (CalamineError, ValueError, OSError) as error:
        raise NoRegretError(f"damaged, or not an Excel workbook: {error}", file=path) from None
    if name is None and len(book.sheet_names) > 1:
        tell(
            f"reading sheet {sheet.name!r}, the first of {len(book.sheet_names)}",
            Use("sheet", book.sheet_names[1], "{} reads another"),
            file=path,
        )
    rows = rows_of(sheet)
    first = list(islice(rows, MAX_TITLE_ROWS))
    if header:
        check_names(first, sheet.name, path)
    return csv_of(chain(first, rows))


def check_size(file: IO[bytes], path: str) -> None:
    """Refuse a workbook with a sheet that reaches to a far cell, before memory is allocated."""
    try:
        with zipfile.ZipFile(file) as parts:
            sheets = [name for name in parts.namelist() if "worksheets/" in name]
            for name in sheets:
                with parts.open(name) as text:
                    columns, rows = extent(text)
                if columns * rows > MAX_CELLS:
                    raise NoRegretError(
                        f"a sheet reaches to row {rows:,} and column {columns:,}",
                        "delete the cells far from the table, or save the sheet as CSV",
                        file=path,
                    )
    except (zipfile.BadZipFile, zlib.error, OSError, NotImplementedError, RuntimeError):
        pass  # the reader says what is wrong
    file.seek(0)


def extent(text: IO[bytes]) -> tuple[int, int]:
    """Return the last column and the last row that the cells of a sheet name."""
    columns, rows, rest = 0, 0, b""
    while piece := text.read(PIECE):
        for letters, digits in set(CELL.findall(rest + piece)):
            at = 0
            for letter in letters:
                at = 26 * at + letter - 64
            columns, rows = max(columns, at), max(rows, int(digits))
        rest = piece[-LONGEST_CELL:]
    return columns, rows


def check_names(rows: list[list[str]], sheet: str, path: str) -> None:
    """Refuse a sheet whose first row is a title, not the names of the columns."""
    filled = [sum(map(bool, row)) for row in rows]
    if filled and 2 * filled[0] <= max(filled):
        title = next(filter(None, rows[0]))
        raise NoRegretError(
            f"sheet {sheet!r} begins with {title!r}, which does not name its columns",
            "delete the rows above the names",
            file=path,
        )


def rows_of(sheet: Any) -> Iterator[list[str]]:
    """Yield the rows as text; empty ones are left out, as CSV has none."""
    for row in sheet.iter_rows():
        cells = [text_of(cell) for cell in row]
        if any(cells):
            yield cells


def text_of(cell: Any) -> str:
    """Return a cell as CSV text that reads as the same value."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return repr(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, datetime):
        return cell.isoformat(" ")
    if isinstance(cell, date):
        return cell.isoformat()
    return str(cell)


class XlsxStream(CsvStream):
    """Excel workbooks."""

    name = "xlsx"
    extensions: ClassVar[tuple[str, ...]] = (".xlsx",)
    meaningless = ("quotes", "delimiter", "encoding", "follow")
    sniffed: ClassVar[bool] = False

    def open(self, path: str) -> Opened:
        """Open a file as CSV text."""
        options = self.options
        return Opened(path, partial(sheet_text, name=options.sheet, header=options.header))


read_xlsx = reader_of(XlsxStream)
