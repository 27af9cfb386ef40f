"""The database of a journal: a few calls, and SQLite, the default, behind them."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from noregret.errors import NoRegretError
from noregret.streams.addresses import POSTGRESQL, SCHEMES, SERVER, refuse_store

APPLICATION = 0x6E6F726A
Row = tuple[Any, ...]


class Database(Protocol):
    """A connection that no other process shares. Statements have ``?`` for values.

    Parameters
    ----------
    name
        Its name in messages.
    failures
        The exceptions that it raises.
    types
        The names of its types in the schema, where they differ from SQLite's.
    """

    name: str
    failures: tuple[type[Exception], ...]
    types: dict[str, str]

    def run(self, statement: str, values: Sequence[Any] = ()) -> None:
        """Execute a statement."""

    def row(self, statement: str, values: Sequence[Any] = ()) -> Row | None:
        """Return the first row of a query, or None."""

    def stream(self, statement: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """Yield the rows of a query."""

    def fetch(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        """Return the rows of a query, which are few."""

    def tables(self) -> list[str]:
        """Return the names of the tables."""

    def begin(self) -> None:
        """Begin a transaction."""

    def commit(self) -> None:
        """End a transaction: what was written is on disk."""

    def close(self) -> None:
        """Close the connection; a transaction that was not committed is undone."""


class Sqlite:
    """A file of SQLite's, in WAL mode, synchronised at each commit.

    Parameters
    ----------
    path
        The file, which is created if it does not exist.
    """

    failures: tuple[type[Exception], ...] = (sqlite3.Error, UnicodeDecodeError)
    types: dict[str, str] = {}  # noqa: RUF012

    def __init__(self, path: str | Path) -> None:
        self.name = os.fspath(path)
        folder = os.path.dirname(os.path.realpath(self.name))
        if not os.path.isdir(folder):
            raise NoRegretError(f"there is no folder {folder}", file=path)
        if os.path.isdir(self.name):
            raise NoRegretError("a folder, not a journal", file=path)
        try:
            self.rows = sqlite3.connect(
                self.name, timeout=0, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise self.refused(error) from None
        try:
            for pragma in ("locking_mode = EXCLUSIVE", "journal_mode = WAL", "synchronous = FULL"):
                self.run(f"PRAGMA {pragma}")
            self.run("BEGIN EXCLUSIVE")
            if not self.tables():
                self.run(f"PRAGMA application_id = {APPLICATION}")
            self.run("COMMIT")
        except (sqlite3.Error, UnicodeDecodeError) as error:
            self.rows.close()
            raise self.refused(error) from None

    def refused(self, error: Exception) -> NoRegretError:
        """Return the error of a file that SQLite does not open, or not as a journal."""
        code = getattr(error, "sqlite_errorcode", 0)
        what, cure = f"not a journal, or a damaged one ({error})", ""
        if code == sqlite3.SQLITE_BUSY:
            what, cure = "in use by another service", "stop that one first"
        elif code & 0xFF == sqlite3.SQLITE_CANTOPEN:  # it does not tell why
            what = f"it cannot be opened ({error})"
            cure = "see who may write it, and how many files may be open (ulimit -n)"
        return NoRegretError(what, cure or (), file=self.name)

    def run(self, statement: str, values: Sequence[Any] = ()) -> None:
        """Execute a statement."""
        self.rows.execute(statement, values)

    def row(self, statement: str, values: Sequence[Any] = ()) -> Row | None:
        """Return the first row of a query, or None."""
        found: Row | None = self.rows.execute(statement, values).fetchone()
        return found

    def stream(self, statement: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """Yield the rows of a query."""
        return iter(self.rows.execute(statement, values))

    def fetch(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        """Return the rows of a query, which are few."""
        return self.rows.execute(statement, values).fetchall()

    def tables(self) -> list[str]:
        """Return the names of the tables."""
        query = "SELECT name FROM sqlite_master WHERE type = 'table'"
        return [name for (name,) in self.rows.execute(query)]

    def begin(self) -> None:
        """Begin a transaction."""
        self.rows.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """End a transaction: what was written is on disk."""
        self.rows.execute("COMMIT")

    def close(self) -> None:
        """Close the file; a transaction that was not committed is undone."""
        self.rows.close()


def database(store: str | Path) -> Database:
    """Return the database of a store: a file, or the address of a PostgreSQL database."""
    if isinstance(store, str) and is_address(store):
        from noregret.service.postgres import Postgres

        return Postgres(store)
    return Sqlite(store)


def is_address(store: str | Path) -> bool:
    """Return whether a store is the address of a PostgreSQL database; refuse other addresses."""
    if not isinstance(store, str) or os.path.exists(store):
        return False
    base = store.partition("#")[0].partition("?")[0]
    scheme, _, rest = base.partition(":")
    known = SCHEMES.get(scheme.lower()) == POSTGRESQL and SERVER.fullmatch(f"{POSTGRESQL}:{rest}")
    # An @ elsewhere than in the value of a setting: the base ends within the password.
    if known and "@" not in re.sub("([?&][^=]*=)[^&#]*", r"\1", store[len(base) :]):
        return True
    refuse_store(store)
    return False
