"""Limits on the rate of examples, per API key or for all."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from noregret.app.commands.serve.configuration import read
from noregret.app.commands.serve.keys import Bucket, Key, Keys, TooMany, new_key, stanza
from noregret.errors import NoRegretError
from tests.app.serve.running import Server

PREDICT = "/models/default/predict"


def test_a_server_refuses_what_is_above_its_rate(tmp_path: Path) -> None:
    server = Server(tmp_path, "--learner", "nlms", "--store", "s.db", "--max-rate", "2")
    try:
        lines = b'{"x": {"a": 1}}\n' * 500
        batch = server.call("POST", PREDICT, lines, Content_Type="application/x-ndjson")
        assert batch[0] == 200
        assert batch[1].count(b"prediction") == 500
        status, body, headers = server.call("POST", PREDICT, b'{"x": {}}')
        assert (status, headers["content-type"]) == (429, "application/problem+json")
        assert 200 < int(headers["retry-after"]) <= 250
        assert b"more than 2 examples per second" in body
        assert server.call("GET", "/healthz")[0] == 200
    finally:
        assert server.end() == 0


def test_each_key_has_a_rate_of_its_own() -> None:
    (one, first), (two, second) = new_key(), new_key()
    may = ("predict",)
    keys = Keys({first: Key("one", (), may, 1.0), second: Key("two", (), may)}, 3.0)
    for key, rate in ((one, 1), (two, 3)):
        for _ in range(rate):
            keys.check(f"Bearer {key}", "default", "predict")
        with pytest.raises(TooMany, match=f"more than {rate} examples"):
            keys.check(f"Bearer {key}", "default", "predict")


def test_a_bucket_never_gives_more_than_its_rate() -> None:
    now, taken = [0.0], 0
    bucket = Bucket(5.0, lambda: now[0])
    for step in range(1000):
        now[0] = step / 64
        with suppress(TooMany):
            bucket.take()
            taken += 1
    assert 5 * now[0] <= taken <= 5 * now[0] + 5


def test_rates_in_a_configuration(tmp_path: Path) -> None:
    path, digest = tmp_path / "serve.toml", new_key()[1]
    rest = '[models.default]\nstore = "s.db"\n' + stanza("shop", digest, [])
    path.write_text("rate = 5\n" + rest + "\nrate = 2.5\n")
    found = read(str(path))
    assert (found.rate, found.keys[digest].rate) == (5.0, 2.5)
    for wrong in ("0", "-1", "inf", "nan", "true", '"fast"'):
        path.write_text(f"{rest}\nrate = {wrong}\n")
        with pytest.raises(NoRegretError, match="rate"):
            read(str(path))
