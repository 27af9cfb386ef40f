"""Connections to databases by ADBC drivers, which return Arrow batches."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from noregret.errors import NoRegretError, foreign
from noregret.streams.addresses import HIDDEN, POSTGRESQL, SQLITE, Address, Parts
from noregret.streams.columns import listed

# Approximate bytes of a batch, and rows where these are counted.
BATCH_BYTES, BATCH_ROWS = 1 << 22, 16_384


class Driver(NamedTuple):
    """The way in which a kind of database is read.

    ``tables`` is the query for its tables: their names, and how these are written in SQL.
    """

    module: str
    database: Callable[[str], str]  # the argument of connect
    start: tuple[str, ...]  # statements of a new connection
    batches: dict[str, str]  # options of statements
    tables: str


DRIVERS = {
    SQLITE: Driver(
        "adbc_driver_sqlite",
        lambda base: f"file:{quote(unquote(base.removeprefix('sqlite:///')))}?mode=ro",
        (),
        {"adbc.sqlite.query.batch_rows": str(BATCH_ROWS)},
        """SELECT name, '"' || replace(name, '"', '""') || '"' FROM sqlite_master
        WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY rowid""",
    ),
    POSTGRESQL: Driver(
        "adbc_driver_postgresql",
        lambda base: base,
        ("SET default_transaction_read_only = on",),
        {"adbc.postgresql.batch_size_hint_bytes": str(BATCH_BYTES)},
        """SELECT CASE WHEN s.nspname = ANY (current_schemas(false)) THEN c.relname::text
        ELSE s.nspname || '.' || c.relname END, format('%I.%I', s.nspname, c.relname)
        FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND s.nspname <> 'information_schema'
        AND s.nspname NOT LIKE 'pg\\_%' ORDER BY 1""",
    ),
}


@contextmanager
def batches_of(address: Address) -> Iterator[Any]:
    """Open a table or a query, as a reader of Arrow batches."""
    driver, parts = DRIVERS[address.parts.scheme], address.parts
    connect = loaded(driver, address)
    if parts.scheme == SQLITE and parts.query is not None:
        check_query(parts, address)
    failures = (importlib.import_module("adbc_driver_manager").Error, OSError)
    with told("no connection to the database", failures, address):
        connection = connect(driver.database(parts.base), autocommit=True)
    try:
        cursor = connection.cursor()
        with told("the database cannot be read", failures, address):
            for statement in driver.start:
                cursor.execute(statement)
            sql = parts.query or f"SELECT * FROM {written_table(cursor, driver, address)}"
            cursor.adbc_statement.set_options(**driver.batches)
            cursor.execute(sql)
            yield cursor.fetch_record_batch()
    finally:
        with suppress(*failures):
            connection.close()


def loaded(driver: Driver, address: Address) -> Callable[..., Any]:
    """Return how to connect, or say what to install."""
    try:
        found: Callable[..., Any] = importlib.import_module(f"{driver.module}.dbapi").connect
    except ImportError:
        name = driver.module.replace("_", "-")
        what = f"reading this address needs {name}"
        raise NoRegretError(what, 'pip install "noregret[adbc]"', file=address) from None
    return found


def check_query(parts: Parts, address: Address) -> None:
    """Refuse what is not one query of SQLite; a read-only file alone can still write others.

    SQLite compiles the statement here and does not run it.
    """
    import sqlite3

    actions: list[int] = []

    def note(action: int, *_: str | None) -> int:
        actions.append(action)
        return sqlite3.SQLITE_OK

    try:
        connection = sqlite3.connect(DRIVERS[SQLITE].database(parts.base), uri=True)
    except sqlite3.Error:
        return  # the driver cannot open it either, and says why
    with closing(connection):
        connection.set_authorizer(note)
        try:
            steps = connection.execute(f"EXPLAIN {parts.query}").fetchall()
        except sqlite3.ProgrammingError:
            what = "the query has several statements"
            raise NoRegretError(what, "write a single SELECT", file=address) from None
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            what = f"the database cannot be read: {worded(error, address)}"
            raise NoRegretError(what, file=address) from None
    writes = any(code == "Vacuum" or (code == "Transaction" and p2) for _, code, _, p2, *_ in steps)
    if actions[:1] != [sqlite3.SQLITE_SELECT] or writes:
        what = "the query does not only read"
        raise NoRegretError(what, "write a SELECT", file=address)


def written_table(cursor: Any, driver: Driver, address: Address) -> str:
    """Return the table to read as SQL writes it: the one that is named, or the only one."""
    cursor.execute(driver.tables)
    there = dict(cursor.fetchall())
    name = address.parts.table
    if name is None and len(there) == 1:
        return str(*there.values())
    names = listed(list(there)) if there else "none"
    if name is None:
        what = f"no table is named; the tables are {names}"
        raise NoRegretError(what, "choose one with ?table=…, or write a ?query=…", file=address)
    if name not in there:
        raise NoRegretError(f"there is no table {name!r}: there are {names}", file=address)
    return str(there[name])


@contextmanager
def told(what: str, failures: tuple[type[Exception], ...], address: Address) -> Iterator[None]:
    """Word the errors of a driver, without passwords."""
    try:
        yield
    except NoRegretError:
        raise
    except failures as error:
        raise NoRegretError(f"{what}: {worded(error, address)}", file=address) from None


def worded(error: object, address: Address) -> str:
    """Return the message of a driver without its codes and without passwords."""
    said = str(error).replace("[libpq] ", "").replace("[SQLite] ", "").partition("\nQuery was:")[0]
    for secret in address.secrets:
        said = said.replace(secret, HIDDEN)
    head, _, rest = said.partition(": ")
    return foreign(rest if head.isupper() else said).strip()
