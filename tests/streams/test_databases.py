"""Tables of SQLite databases are read as the same rows in a CSV file."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from noregret import streams
from tests.app.run.commands import done, refused

ROWS = [
    (k, None if k % 5 == 2 else k / 4, ["Oslo", "Rö,me", 'a "b"'][k % 3], 0.5 * k)
    for k in range(40)
]


@pytest.fixture
def base(tmp_path: Path) -> Path:
    file = tmp_path / "shop %.db"
    with sqlite3.connect(file) as connection:
        connection.execute('CREATE TABLE "the sales" (n INTEGER, size REAL, town TEXT, y REAL)')
        connection.executemany('INSERT INTO "the sales" VALUES (?, ?, ?, ?)', ROWS)
        connection.execute("CREATE TABLE blobs (x BLOB, y REAL)")
        connection.execute("INSERT INTO blobs VALUES (x'00ff', 1)")
        connection.execute('CREATE VIEW dear AS SELECT size, y FROM "the sales" WHERE y > 3')
    connection.close()
    return file


def address(file: Path, table: str) -> str:
    from urllib.parse import quote

    return f"sqlite:///{quote(str(file))}?table={quote(table)}"


def test_a_table_is_read_as_the_same_rows_in_csv(base: Path, tmp_path: Path) -> None:
    import csv

    with (tmp_path / "sales.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["n", "size", "town", "y"])
        writer.writerows(["" if cell is None else cell for cell in row] for row in ROWS)
    told = {"target": "y", "missing": "indicator"}
    expected = [*streams.read(tmp_path / "sales.csv", **told)]
    assert [*streams.read(address(base, "the sales"), **told)] == expected
    assert [*streams.read(base, **told, sheet="the sales")] == expected
    assert len([*streams.read(address(base, "dear"), **told)]) == sum(row[3] > 3 for row in ROWS)


def test_a_run_from_a_database_is_predicted_and_verified(base: Path, tmp_path: Path) -> None:
    where, model, proof = address(base, "the sales"), tmp_path / "model", tmp_path / "c.json"
    done("run", where, "--target", "y", "--model", model, "--certificate", proof, "--quiet")
    assert "CONFIRMED" in done("verify", proof, where)
    assert done("predict", model, where).count("\n") >= len(ROWS)


def test_tables_that_cannot_be_read_are_refused_by_name(base: Path, tmp_path: Path) -> None:
    for where, words in (
        (address(base, "nothing"), "there is no table 'nothing': there are 'the sales', 'blobs'"),
        (address(base, "blobs"), "binary values"),
    ):
        assert words in refused("run", where, "--target", "y")
    assert "sqlite:///folder" in refused("run", "sqlite:x.db", "--target", "y", code=2)
    (tmp_path / "text.db").write_text("a,y\n1,2\n" * 300)
    assert "not a database" in refused("run", tmp_path / "text.db", "--target", "y")


def test_a_query_reads_sqlite_through_arrow(base: Path) -> None:
    pytest.importorskip("adbc_driver_sqlite.dbapi")
    told = {"target": "y", "missing": "indicator"}
    expected = [*streams.read(base, **told, sheet="the sales")]
    where = address(base, "the sales").partition("?")[0]
    asked = (
        f"{where}?query=SELECT town, size, n, y FROM \"the sales\" WHERE town <> '%26' ORDER BY n"
    )
    assert [*streams.read(asked, **told)] == expected
    assert [*streams.read(address(base, "the sales"), **told, format="database")] == expected
    words = refused("run", f"{where}?query=SELECT 1 FROM nope", "--target", "y")
    assert "no such table: nope" in words
    words = refused("run", address(base, "nothing"), "--target", "y", "--format", "database")
    assert "there is no table 'nothing': there are 'the sales', 'blobs', 'dear'" in words
    assert "no table is named" in refused("run", where, "--target", "y", "--format", "database")
    assert "binary" in refused(
        "run", address(base, "blobs"), "--target", "y", "--format", "database"
    )
    gone = "sqlite:///gone.db?query=SELECT 1"
    assert "no connection to the database" in refused("run", gone, "--target", "y")


def test_a_query_of_sqlite_only_reads(base: Path, tmp_path: Path) -> None:
    pytest.importorskip("adbc_driver_sqlite.dbapi")
    where, before = address(base, "").partition("?")[0], base.read_bytes()
    made = tmp_path / "made.db"
    for sql, words in (
        (f"VACUUM INTO '{made}'", "does not only read"),
        (f"VACUUM INTO (SELECT '{made}')", "does not only read"),
        (f"/* SELECT */ ATTACH DATABASE '{made}' AS other", "does not only read"),
        ("WITH a AS (SELECT 1) DELETE FROM blobs", "does not only read"),
        ("CREATE TEMP TABLE t AS SELECT 1 AS y", "does not only read"),
        ("PRAGMA journal_mode", "does not only read"),
        ("SELECT 1 AS y; DROP TABLE blobs", "several statements"),
        (f"SELECT 1 AS y; VACUUM INTO '{made}'", "several statements"),
        (f"; VACUUM INTO '{made}'", "syntax error"),
        ("EXPLAIN SELECT 1", "syntax error"),
    ):
        assert words in refused("run", f"{where}?query={sql}", "--target", "y")
    assert {each.name for each in tmp_path.iterdir()} == {base.name}
    assert base.read_bytes() == before
    sql = "WITH a AS (SELECT size, y FROM dear, json_each('[1]')) SELECT * FROM a; -- all"
    assert [*streams.read(f"{where}?query={sql}", target="y", missing="zero")]


def test_without_its_driver_an_address_names_the_package(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    for name in ("adbc_driver_sqlite", "adbc_driver_postgresql"):
        monkeypatch.setitem(sys.modules, f"{name}.dbapi", None)
    words = refused("run", "postgresql://me:hush@localhost/shop?table=t", "--target", "y")
    assert 'needs adbc-driver-postgresql: pip install "noregret[adbc]"' in words
    assert "postgresql://me:***@localhost/shop?table=t" in words
    assert [*streams.read(address(base, "the sales"), "y", missing="zero")]  # needs none


@pytest.mark.parametrize(
    "odd",
    [
        "postgresql://me:hush",
        "postgresql://me:hush/y@host/base?table=t",
        "postgresql://me:hush?y@host/base?table=t",
        "postgresql://me:hush@host/base?table=t&query=SELECT 1",
        "postgresql://me:hush@host/base?query=",
        "postgresql:///base/x/hush",
        "mysql://me:hush@host/base?table=t",
    ],
)
def test_addresses_that_are_none_are_refused_without_their_password(odd: str) -> None:
    for words in (
        refused("run", odd, "--target", "y", code=2),
        refused("mix", odd, "--target", "y", code=2),
    ):
        assert "hush" not in words
        assert "postgresql://" in words


SECRET = "S3cr3t"
LEAKS = [
    f"postgresql://u:{SECRET}@Pw@127.0.0.1:1/db?table=t",
    f"postgresql://u:{SECRET}/Pw@127.0.0.1:1/db?table=t",
    f"postgresql://u:{SECRET}?Pw@127.0.0.1:1/db?table=t",
    f"postgresql://u:12?{SECRET}Pw@127.0.0.1:1/db",
    f"postgresql://u:{SECRET}%ZZPw@127.0.0.1:1/db",
    f"mysql://u:{SECRET}Pw@h/db",
    f"mysql://{SECRET}Pw@h/db",
    f"mysql:/u:{SECRET}/Pw@h/db",
    f"postgresql+psycopg://u:{SECRET}Pw@h/db",
    f"POSTGRESQL://u:{SECRET}Pw@127.0.0.1:1/db",
    f"postgresql://127.0.0.1:1/db?PASSWORD={SECRET}Pw",
    f"postgresql://127.0.0.1:1/db?passw%6Frd={SECRET}Pw",
    f"postgresql://127.0.0.1:1/db?password={SECRET}@Pw",
    f"postgresql://127.0.0.1:1/db?password={SECRET}&Pw",
    f"postgresql://127.0.0.1:1/db?query=SELECT 1&password={SECRET}Pw",
    f"postgresql:/u:{SECRET}Pw@127.0.0.1:1/db",
    f"postgresql:u:{SECRET}Pw@127.0.0.1:1/db",
    f"  postgresql://u:{SECRET}Pw@127.0.0.1:1/db",
    f"postgresql://u:{SECRET}#Pw@127.0.0.1:1/db",
]


@pytest.mark.parametrize("given", LEAKS)
def test_no_command_shows_a_password(
    given: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from noregret.app.cli.app import run
    from noregret.streams.addresses import shown, without_secrets

    proof, rows = tmp_path / "c.json", tmp_path / "rows.csv"
    rows.write_text("a,y\n1,2\n2,3\n")
    done("run", rows, "--target", "y", "--certificate", proof, "--quiet")
    capsys.readouterr()
    for words in (
        ["run", given, "--target", "y"],
        ["verify", str(proof), given],
        ["serve", "--learner", "nlms", "--store", given],
        ["serve", "--learner", "nlms", f"--store={given}"],
    ):
        assert run(words) in (1, 2)
        said = "".join(capsys.readouterr())
        assert said.startswith("noregret: ")
        assert SECRET not in said
        assert "Pw" not in said
    for said in (shown(given), without_secrets(f"cannot open {given}!", given)):
        assert SECRET not in said
        assert "Pw" not in said


def test_long_names_are_shortened_in_messages() -> None:
    from noregret.streams.columns import listed

    assert len(listed(["a", "x" * 900_000])) < 100
    assert listed(["a", "b"]) == "'a', 'b'"


def test_names_of_files_are_shown_as_they_are() -> None:
    from noregret.streams.addresses import shown

    for name in ("a.csv", "C:/me@home/a.csv", "me@home.csv", "data/x:1.csv", "s3://bucket/a.csv"):
        assert shown(name) == name
