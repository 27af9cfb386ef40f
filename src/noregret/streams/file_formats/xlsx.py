"""Excel workbooks: their first sheet, read as CSV with a header would be."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from typing import IO, Any, ClassVar

from noregret.errors import NoRegretError, tell
from noregret.streams.converted_text import csv_of
from noregret.streams.file_formats.csv import CsvStream
from noregret.streams.open_file import Opened
from noregret.streams.stream import reader_of


def sheet_text(file: IO[bytes], path: str) -> IO[bytes]:
    """Return the first sheet of a workbook as CSV text."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise NoRegretError(
            "reading Excel files needs python-calamine",
            "pip install 'noregret[excel]', or save the sheet as CSV",
            file=path,
        ) from None
    try:
        book = CalamineWorkbook.from_filelike(file)
        sheet = book.get_sheet_by_index(0)
    except (CalamineError, ValueError, OSError) as error:
        raise NoRegretError(f"damaged, or not an Excel workbook: {error}", file=path) from None
    if len(book.sheet_names) > 1:
        tell(f"reading sheet {sheet.name!r}, the first of {len(book.sheet_names)}", file=path)
    return csv_of(rows_of(sheet))


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
    meaningless = ("quotes", "delimiter", "encoding")
    sniffed: ClassVar[bool] = False

    def open(self, path: str) -> Opened:
        """Open a file as CSV text."""
        return Opened(path, sheet_text)


read_xlsx = reader_of(XlsxStream)
