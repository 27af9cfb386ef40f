"""Messages about input that a new user gets wrong: each names the reason and the cure."""

from __future__ import annotations

import json
import socket
import sqlite3
from pathlib import Path

import pytest

from noregret.service.sources.messages import request_of
from noregret.service.sources.redis import Redis
from noregret.service.sources.source import address_of
from noregret.service.wire import Malformed
from tests.app.run.commands import command, done, refused


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"x": 1, "y":}', "not valid JSON (Expecting value): leave such lines out (--on-error"),
        ("[1, 2]", "got a list: write one object per line"),
        ("null", "got null"),
        ("true", "got a boolean"),
    ],
)
def test_a_line_that_is_no_object(tmp_path: Path, line: str, why: str) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(f'{{"x": 1, "y": 2}}\n{line}\n{{"x": 2, "y": 2.5}}\n')
    said = refused("run", file, "--target", "y")
    assert f"{file}, line 2" in said
    assert why in said
    found = json.loads(done("run", file, "--target", "y", "--on-error", "skip", "--json"))
    assert "leave such lines out" not in json.dumps(found)


def test_marks_of_missing_numbers(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    rows = [f"{k},{'k.A.' if k == 30 else k / 2},{k % 7}" for k in range(60)]
    file.write_text("\n".join(["a,b,y", *rows]) + "\n")
    said = refused("run", file, "--target", "y")
    assert "'k.A.' is not a number" in said
    assert "or leave such rows out (--on-error skip)" in said
    told = done("run", file, "--target", "y", "--on-error", "skip")
    assert "1 row skipped" in told
    assert "--on-error" not in told


def test_json_lines_in_a_file_called_json(tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    file.write_text('{"x": 1, "y": 2}\n')
    assert "--format jsonl" in refused("run", file, "--target", "y", code=2)


def test_an_empty_table_is_named(tmp_path: Path) -> None:
    file = tmp_path / "shop.db"
    with sqlite3.connect(file) as base:
        base.execute("CREATE TABLE full (x, y)")
        base.execute("INSERT INTO full VALUES (1, 2)")
        base.execute("CREATE TABLE other (x, y)")
    said = refused("run", file, "--target", "y", "--sheet", "other")
    assert "no examples in the table 'other'" in said


def test_a_file_of_groups_is_not_a_model_for_predict(tmp_path: Path) -> None:
    file, models = tmp_path / "shops.csv", tmp_path / "shops.models"
    file.write_text("shop,x,y\n" + "".join(f"{'ab'[k % 2]},{k},{k % 3}.5\n" for k in range(20)))
    done("run", file, "--target", "y", "--group", "shop", "--learner", "vaw", "--model", models)
    said = refused("predict", models, file)
    assert "one model per group, which ‘noregret run --group’ writes" in said
    assert "Groups.load reads it and predicts" in said


def test_a_busy_port(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        ended = command(
            "serve", "--learner", "vaw", "--store", tmp_path / "journal.db", "--port", port
        )
    assert ended.code == 1
    assert "Errno" not in ended.err
    assert f"127.0.0.1:{port}: cannot listen there (" in ended.err
    assert "--port" in ended.err
    assert not list(tmp_path.iterdir())  # no journal was begun


@pytest.mark.parametrize(("host", "port"), [("192.0.2.1", "0"), ("127.0.0.1", "70000")])
def test_an_address_of_another_machine(host: str, port: str, tmp_path: Path) -> None:
    key = command("serve", "--new-key", "shop").out
    config = tmp_path / "serve.toml"
    stanza = key[key.index("[[keys]]") :]
    config.write_text(f'[models.default]\nlearner = "vaw"\nstore = "{tmp_path}/s.db"\n{stanza}')
    ended = command("serve", "--config", config, "--host", host, "--port", port)
    assert ended.code == 1
    assert f"{host}:{port}: cannot listen there (" in ended.err
    assert not (tmp_path / "s.db").exists()


def test_an_entry_of_redis_without_the_field() -> None:
    source = Redis(address_of("redis://localhost/orders"))
    entries = [("orders", [(b"1-0", {b"x": b"1"}), (b"2-0", {b"data": b'{"x": {"a": 1}}'})])]
    bare, whole = source._messages(entries)
    with pytest.raises(Malformed, match="the entry has no field 'data': put JSON there"):
        request_of(bare, "y")
    assert request_of(whole, "y").x == {"a": 1}
