"""``noregret serve --source``, with a real broker."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from noregret.app.commands.serve.configuration import read
from noregret.errors import NoRegretError
from tests.app.serve.running import Server
from tests.service.sources.brokers import address_of, running


def test_a_server_learns_from_a_broker_and_over_http(tmp_path: Path) -> None:
    with running("redis", tmp_path / "broker") as broker:
        bodies = [{"id": f"e{k}", "x": {"a": k % 3}, "y": k} for k in range(20)]
        broker.publish("orders", [json.dumps(each).encode() for each in bodies] + [b"{"])
        address = address_of(broker, "orders")
        config = f'[models.default]\nlearner = "nlms"\nstore = "s.db"\nsource = ["{address}"]\n'
        (tmp_path / "serve.toml").write_text(config)
        server = Server(tmp_path, "--config", "serve.toml")
        until = time.monotonic() + 30
        while server.get("/models/default")[1]["rounds"] < 20:
            assert time.monotonic() < until
            time.sleep(0.05)
        status, found = server.post("/models/default/label", {"id": "e3", "y": 3})
        assert (status, found["id"]) == (200, "e3")
        while (
            "noregret_source_refused_total" not in (text := metrics(server)) or "} 20" not in text
        ):
            assert time.monotonic() < until
            time.sleep(0.05)
        assert f'source="redis://127.0.0.1:{broker.port}/orders"}} 1' in text
        assert server.end() == 0
        assert len(broker.read("predictions")) == 20
        assert len(broker.read("refused")) == 1


def metrics(server: Server) -> str:
    return server.call("GET", "/metrics")[1].decode()


def test_sources_of_a_configuration_are_addresses(tmp_path: Path) -> None:
    path = tmp_path / "serve.toml"
    path.write_text('[models.a]\nstore = "a.db"\nsource = [7]\n')
    with pytest.raises(NoRegretError, match=r"models\.a\.source lists addresses"):
        read(str(path))
    path.write_text('[models.a]\nstore = "a.db"\nsource = "redis://h/s"\n')
    assert read(str(path)).models["a"].sources == ["redis://h/s"]
