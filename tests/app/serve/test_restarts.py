"""What a server keeps for its next start, and what its log says when the journal fails."""

from __future__ import annotations

import json
import signal
from pathlib import Path

from noregret.app.commands.serve.configuration import Model
from tests.app.serve.running import Server

HERE = "/models/default"


def test_the_target_is_kept_in_the_store(tmp_path: Path) -> None:
    for more in (("--target", "sold"), ()):
        server = Server(tmp_path, "--learner", "vaw", "--store", "s.db", *more)
        assert server.post(f"{HERE}/learn", {"id": "a", "x": {"a": 1.0}, "y": 2.0})[0] == 200
        rows = server.call("GET", f"{HERE}/rows")[1]
        server.kill()
        assert json.loads(rows) == {"a": 1.0, "sold": 2.0}


def test_the_last_target_that_was_given_holds(tmp_path: Path) -> None:
    store = str(tmp_path / "s.db")
    for given, expected in [(None, "y"), ("sold", "sold"), (None, "sold"), ("y", "y"), (None, "y")]:
        model = Model(store, "vaw", target=given)
        with model.open() as service:
            assert model.target_in(service) == expected


def test_the_log_says_nothing_at_an_ordinary_end(tmp_path: Path) -> None:
    server = Server(tmp_path, "--learner", "vaw", "--store", "s.db")
    assert server.post(f"{HERE}/learn", {"x": {"a": 1.0}, "y": 2.0})[0] == 200
    server.process.send_signal(signal.SIGTERM)
    assert server.process.communicate(timeout=60)[1] == ""
