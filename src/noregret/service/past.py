"""A journal up to some entry, read while the service goes on."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from noregret.service.database import Database, Row
from noregret.service.journal import Journal

# Blocks that are read at a time: the service waits that long.
BLOCKS_AT_ONCE = 64


class SharedReads:
    """A database of which few rows are read at a time, under a lock.

    Parameters
    ----------
    database
        The database.
    lock
        Held by whoever uses the database.
    last
        The number of the last entry to read.
    """

    def __init__(self, database: Database, lock: AbstractContextManager[Any], last: int) -> None:
        self.database, self.lock, self.last = database, lock, last

    def row(self, statement: str, values: Sequence[Any] = ()) -> Row | None:
        """Return the first row of a query, or None."""
        with self.lock:
            return self.database.row(statement, values)

    def fetch(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        """Return the rows of a query, which are few."""
        with self.lock:
            return self.database.fetch(statement, values)

    def stream(self, statement: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """Yield the rows of a query for blocks after an entry, in their order."""
        (after,) = values
        while True:
            with self.lock:
                query = f"{statement} LIMIT {BLOCKS_AT_ONCE}"
                rows = list(self.database.stream(query, [after]))
            for row in rows:
                if row[0] > self.last:
                    return
                yield row
            if len(rows) < BLOCKS_AT_ONCE:
                return
            after = rows[-1][0]


class Past(Journal):
    """The entries of a journal so far. Entries never change, so that more may be added meanwhile.

    Parameters
    ----------
    journal
        The journal, of which all entries are written.
    lock
        Held by whoever uses the journal; free now and then.
    """

    def __init__(self, journal: Journal, lock: AbstractContextManager[Any]) -> None:
        self.path, self.failures = journal.path, journal.failures
        self.written, self.blocks = journal.written, OrderedDict()
        self.database = SharedReads(journal.database, lock, journal.written)  # type: ignore[assignment]
