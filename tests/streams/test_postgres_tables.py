"""Tables of PostgreSQL: the same rows as in a file; passwords are never shown."""

from __future__ import annotations

import csv
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from noregret import streams
from noregret.errors import NoRegretError
from noregret.streams import connections
from tests.app.run.commands import done, refused
from tests.app.run.test_interrupted import stopped
from tests.service.postgres_server import PostgresServer, started

pytest.importorskip("adbc_driver_postgresql.dbapi")

COLUMNS = "n, size, paid, town, day, since, gone, y"
TYPES = "n int, size float8, paid numeric(9,2), town text, day date, since timestamp"
SECRET = "hu%20sh%40"
TOLD: dict[str, Any] = {"target": "y", "missing": "indicator"}


def rows() -> Iterator[tuple[Any, ...]]:
    for k in range(700):
        town = None if k % 11 == 3 else ["Oslo", "Rö,me", 'a "b"'][k % 3]
        day = None if k % 13 == 5 else f"20{20 + k % 5}-0{1 + k % 9}-1{k % 9}"
        paid = None if k % 7 == 2 else f"{k / 4:.2f}"
        yield k, k / 8, paid, town, day, f"2024-01-0{1 + k % 9} 0{k % 10}:30:00", k % 4 == 1, k / 2


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    import psycopg

    found = started()
    with psycopg.connect(address(found), autocommit=True) as base:
        base.execute(f"CREATE TABLE sales ({TYPES}, gone bool, y float8)")
        with base.cursor().copy("COPY sales FROM STDIN") as copy:
            for row in rows():
                copy.write_row(row)
        base.execute('CREATE SCHEMA "Old"; CREATE VIEW "Old"."the ""sales""" AS TABLE sales')
        base.execute("CREATE TABLE odd (x int[], j jsonb, u uuid, y float8)")
        base.execute("INSERT INTO odd VALUES ('{1}', '{}', gen_random_uuid(), 1)")
    yield found
    found.close()


def address(server: PostgresServer, asked: str = "") -> str:
    return f"postgresql://postgres:{SECRET}@127.0.0.1:{server.port}/postgres{asked}"


def shown(server: PostgresServer, asked: str = "") -> str:
    return address(server, asked).replace(SECRET, "***")


@pytest.fixture
def same(tmp_path: Path) -> Path:
    with (tmp_path / "sales.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS.split(", "))
        for *cells, gone, y in rows():
            writer.writerow([*("" if c is None else c for c in cells), str(gone).lower(), y])
    return tmp_path / "sales.csv"


def test_tables_and_queries_are_the_same_rows_as_in_csv(server: PostgresServer, same: Path) -> None:
    expected = [*streams.read(same, **TOLD)]
    assert len(expected) == 700
    for asked in (
        "?table=sales",
        "?application_name=x&table=Old.the%20%22sales%22",
        "?query=SELECT * FROM sales WHERE town IS NULL OR town <> 'a & b' ORDER BY n",
    ):
        assert [*streams.read(address(server, asked), **TOLD)] == expected
    assert [*streams.read_database(address(server, "?table=sales"), **TOLD)] == expected


def test_batches_of_any_size_give_the_same_rows(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = address(server, "?table=sales")
    expected = [*streams.read(where, **TOLD)]
    blocks = len([*streams.read(where, **TOLD).blocks()])
    small_batches(monkeypatch)
    assert [*streams.read(where, **TOLD)] == expected
    assert len([*streams.read(where, **TOLD).blocks()]) > blocks


def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = connections.DRIVERS["postgresql"]
    few = dict.fromkeys(driver.batches, "2000")
    monkeypatch.setitem(connections.DRIVERS, "postgresql", driver._replace(batches=few))


def test_no_output_of_a_run_has_the_password(server: PostgresServer, tmp_path: Path) -> None:
    where, files = address(server, "?table=sales"), {}
    for name in ("model", "certificate", "report", "predictions"):
        ending = {"report": "html", "predictions": "csv", "certificate": "json"}.get(name, name)
        files[name] = tmp_path / f"it.{ending}"
    outputs = [part for name, file in files.items() for part in (f"--{name}", file)]
    out = done("run", where, "--target", "y", *outputs)
    out += done("run", where, "--target", "y", "--json", "--quiet")
    out += done("verify", files["certificate"], where)
    assert "CONFIRMED" in out
    out += done("predict", files["model"], where)
    found = [out.encode(), *(file.read_bytes() for file in files.values())]
    assert shown(server).encode() in b"".join(found)
    for text in found:
        for secret in (SECRET, "hu sh@", "hu sh%40"):
            assert secret.encode() not in text


def test_a_run_resumes_if_its_rows_are_unchanged(
    server: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    small_batches(monkeypatch)
    point, proof = tmp_path / "point", tmp_path / "c.json"
    sql = "?query=SELECT * FROM resumed ORDER BY n"
    common = ["run", address(server, sql), "--target", "y", "--certificate", proof]
    with psycopg.connect(address(server), autocommit=True) as base:
        base.execute("CREATE TABLE resumed AS SELECT n, size, y FROM sales")
        ended = stopped(monkeypatch, 3, signal.SIGINT, *common, "--checkpoint", point)
        assert SECRET not in ended.err
        before = {file: file.read_bytes() for file in tmp_path.glob("point*")}
        assert SECRET.encode() not in b"".join(before.values())
        done(*common, "--resume", point, "--quiet")
        resumed = json.loads(proof.read_text())
        done(*common, "--quiet")
        assert json.loads(proof.read_text()) == resumed
        for change in (
            "UPDATE resumed SET size = 7 WHERE n = 4",
            "DELETE FROM resumed WHERE n > 3",
        ):
            base.execute(change)
            for file, contents in before.items():
                file.write_bytes(contents)
            words = refused(*common, "--resume", point)
            assert "not the data that the checkpoint was made from" in words
            assert "ORDER BY" in words
        base.execute("DROP TABLE resumed")


def test_what_cannot_be_read_is_named_without_the_password(server: PostgresServer) -> None:
    for asked, words in (
        ("?table=nothing", "there is no table 'nothing': there are 'Old.the \"sales\"', 'odd',"),
        ("", "no table is named; the tables are 'Old."),
        ("?query=DELETE FROM sales", "cannot execute DELETE in a read-only transaction"),
        ("?query=SELECT * FROM nope", 'relation "nope" does not exist'),
        ("?query=SELECT 1 AS y; SELECT 2", "cannot insert multiple commands"),
        ("?query=SELECT 1 AS y, 2 AS y", "two columns are called 'y'"),
        ("?table=odd", "column 'x' holds list"),
        ("?table=sales&sslmode=none", "invalid sslmode value"),
    ):
        found = refused("run", address(server, asked), "--target", "y")
        assert words in found, found
        assert "hu" not in found.replace("hundred", "")
        assert shown(server) in found
    wrong = address(server, "?table=t").replace("postgres:", "post gres:", 1)
    assert SECRET not in refused("run", wrong, "--target", "y")
    closed = address(server, "?table=sales").replace(str(server.port), "1")
    assert "no connection to the database" in refused("run", closed, "--target", "y")
    many = ["--group", "town", "--workers", "2"]
    found = refused("run", address(server, "?table=sales"), "--target", "y", *many, code=2)
    assert "leave the workers out" in found


def test_a_lost_connection_is_told_with_the_row(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    # More rows than the buffers of both sides hold.
    many = "?query=SELECT n, repeat('x', 10000) AS t, y FROM sales, generate_series(1, 20)"
    small_batches(monkeypatch)
    stream = streams.read(address(server, many), target="y", drop=["t"])
    blocks = iter(stream.blocks())
    next(blocks)
    with psycopg.connect(address(server), autocommit=True) as base:
        base.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND datname = 'postgres'"
        )
    with pytest.raises(
        NoRegretError, match=r"the rest cannot be read: .*(closed|terminating) +(the +)?conn"
    ) as caught:
        for _ in blocks:
            pass
    assert caught.value.row is not None
    assert caught.value.row > 1
    assert SECRET not in str(caught.value)
