"""Tables of SQLite databases, read as CSV with a header would be.

The driver is Python's own, which needs no package.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import IO, Any, ClassVar
from urllib.parse import quote

from noregret.errors import NoRegretError, Use, tell
from noregret.streams.converted_text import csv_of
from noregret.streams.file_formats.csv import CsvStream
from noregret.streams.open_file import Opened
from noregret.streams.stream import reader_of

TABLES = (
    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
    " ORDER BY rowid"
)


def table_text(file: IO[bytes], path: str, name: str | None) -> IO[bytes]:
    """Return a table of a database as CSV text, the only one if it is not named."""
    try:
        base = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, check_same_thread=False)
        there = [found for (found,) in base.execute(TABLES)]
    except sqlite3.Error as error:
        raise NoRegretError(f"damaged, or not a database: {error}", file=path) from None
    if name is None and there:
        name = there[0]
        if len(there) > 1:
            tell(
                f"reading table {name!r}, the first of {len(there)}",
                Use("sheet", there[1], "{} reads another"),
                file=path,
            )
    if name is None or name not in there:
        listed = ", ".join(map(repr, there)) or "none"
        raise NoRegretError(f"there is no table {name!r}: there are {listed}", file=path)
    try:
        escaped = name.replace('"', '""')
        cursor = base.execute(f'SELECT * FROM "{escaped}"')
    except sqlite3.Error as error:
        raise NoRegretError(f"table {name!r} cannot be read: {error}", file=path) from None
    names = [column[0] for column in cursor.description]
    return csv_of(chain([names], rows_of(cursor, name, path)))


def rows_of(cursor: sqlite3.Cursor, table: str, path: str) -> Iterator[list[str]]:
    """Yield the rows as text."""
    try:
        for number, row in enumerate(cursor, 1):
            yield [text_of(cell, table, number, path) for cell in row]
    except sqlite3.Error as error:
        raise NoRegretError(f"table {table!r} cannot be read: {error}", file=path) from None


def text_of(cell: Any, table: str, row: int, path: str) -> str:
    """Return a cell as CSV text that reads as the same value."""
    if cell is None:
        return ""
    if isinstance(cell, bytes):
        what = f"table {table!r} holds binary values, which are no features"
        raise NoRegretError(what, "read a view without that column", file=path, row=row)
    return cell if isinstance(cell, str) else repr(cell)


class SqliteStream(CsvStream):
    """Tables of SQLite databases, in the order of their rows."""

    name = "sqlite"
    extensions: ClassVar[tuple[str, ...]] = (".db", ".sqlite", ".sqlite3")
    meaningless = ("header", "quotes", "delimiter", "encoding", "follow")
    sniffed: ClassVar[bool] = False

    def open(self, path: str) -> Opened:
        """Open a file as CSV text."""
        return Opened(path, partial(table_text, name=self.options.sheet))


read_sqlite = reader_of(SqliteStream)
