"""A journal in PostgreSQL: a schema of its own in a database that others may use too."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import blake2b
from itertools import count
from typing import Any
from urllib.parse import urldefrag, urlsplit

from noregret.errors import NoRegretError
from noregret.service.database import Row
from noregret.streams.addresses import without_secrets

SCHEMA = "noregret"
# Seconds to wait for the lock of a schema.
LOCK_WAIT = 2.0
# Rows fetched at a time where all are read.
FETCHED = 1000


class Postgres:
    """A connection to PostgreSQL; commits wait for its disk.

    Parameters
    ----------
    address
        ``postgresql://user@host/database``; the name of the schema may follow, as in ``…#shop``
        (``noregret`` if not).
    """

    types = {"BLOB": "BYTEA", "REAL": "DOUBLE PRECISION", "INTEGER": "BIGINT"}  # noqa: RUF012

    def __init__(self, address: str) -> None:
        try:
            import psycopg
        except ImportError:
            what = "PostgreSQL needs psycopg"
            raise NoRegretError(what, 'pip install "noregret[postgres]"') from None
        self._numbers = count()
        self.failures: tuple[type[Exception], ...] = (psycopg.Error,)
        given, (address, schema) = address, urldefrag(address)
        schema = schema or SCHEMA
        if not re.fullmatch(r"[a-z_][a-z0-9_]{0,50}", schema):
            raise NoRegretError(f"{schema!r} is not the name of a schema", "as in …#shop_2")
        parts = urlsplit(address)
        self.name = f"postgresql://{parts.hostname or ''}{parts.path}#{schema}"
        try:
            # libpq takes the scheme in lower case alone.
            lower = f"postgresql:{address.partition(':')[2]}"
            self.rows = psycopg.connect(lower, autocommit=True)
        except psycopg.Error as error:
            what = f"no connection to PostgreSQL ({without_secrets(str(error), given)})"
            raise NoRegretError(what, file=self.name) from None
        number = int.from_bytes(blake2b(schema.encode(), digest_size=8).digest(), signed=True)
        try:
            if not self._locked(number):
                what = "in use by another service"
                raise NoRegretError(what, "stop that one first", file=self.name)
            self.run("SET synchronous_commit = on")
            self.run("SET client_min_messages = warning")
            self.run(f"CREATE SCHEMA IF NOT EXISTS {schema}")
            self.run(f"SET search_path = {schema}")
        except psycopg.Error as error:
            self.rows.close()
            what = f"the schema {schema} cannot be used ({error})"
            raise NoRegretError(what, file=self.name) from None
        except BaseException:
            self.rows.close()
            raise

    def _locked(self, number: int) -> bool:
        """Take the lock; that of a connection that just ended may be held for a moment."""
        until = time.monotonic() + LOCK_WAIT
        while True:
            taken = self.row("SELECT pg_try_advisory_lock(?)", [number])
            if (taken is not None and taken[0]) or time.monotonic() > until:
                return taken is not None and bool(taken[0])
            time.sleep(0.02)

    def run(self, statement: str, values: Sequence[Any] = ()) -> None:
        """Execute a statement."""
        self.rows.execute(placed(statement), values or None)

    def row(self, statement: str, values: Sequence[Any] = ()) -> Row | None:
        """Return the first row of a query, or None."""
        found = self.rows.execute(placed(statement), values or None).fetchone()
        return None if found is None else tuple(found)

    def fetch(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        """Return the rows of a query, which are few."""
        return [tuple(row) for row in self.rows.execute(placed(statement), values or None)]

    def stream(self, statement: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """Yield the rows of a query."""
        with self.rows.cursor(f"rows{next(self._numbers)}", withhold=True) as cursor:
            cursor.itersize = FETCHED
            cursor.execute(placed(statement), values or None)
            yield from cursor

    def tables(self) -> list[str]:
        """Return the names of the tables."""
        query = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
        return [name for (name,) in self.rows.execute(query)]

    def begin(self) -> None:
        """Begin a transaction."""
        self.rows.execute("BEGIN")

    def commit(self) -> None:
        """End a transaction: what was written is on disk."""
        self.rows.execute("COMMIT")

    def close(self) -> None:
        """Close the connection; a transaction that was not committed is undone."""
        self.rows.close()


@cache
def placed(statement: str) -> Any:
    """Return a statement with PostgreSQL's marks for values."""
    return statement.replace("?", "%s").encode()
