"""The dashboard: one page, live, which never keeps the model waiting."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.app.commands.serve.desk import Desk
from noregret.app.commands.serve.insight import members_of, standing_of
from noregret.app.commands.serve.watching import Watch, earlier
from tests.app.serve.running import Server
from tests.thorough import THOROUGH, sized

HERE = "/models/default"
OPEN: list[socket.socket] = []  # readers that stay to the end


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    arguments = ("--learner", "widrow-hoff", "--store", "shop.db")
    running = Server(tmp_path_factory.mktemp("serve"), *arguments)
    yield running
    before = time.monotonic()
    assert running.end() == 0
    assert time.monotonic() - before < 9  # it does not wait for dashboards
    for reader in OPEN:
        reader.close()


def events(server: Server, count: int) -> list[Any]:
    """Return the first events of the stream."""
    client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    client.request("GET", f"{HERE}/watch")
    answer = client.getresponse()
    assert answer.headers["content-type"].startswith("text/event-stream")
    found: list[Any] = []
    while len(found) < count:
        line = answer.readline()
        if line.strip():
            found.append(json.loads(line.removeprefix(b"data: ")))
    client.close()
    return found


def test_the_page_needs_nothing_else(server: Server) -> None:
    status, text, headers = server.call("GET", "/")
    assert status == 200
    assert "default-src 'none'" in headers["content-security-policy"]
    assert not re.search(r"https?://|src=|@import|url\(", text.decode())


def test_figures_are_streamed(server: Server) -> None:
    server.post(f"{HERE}/learn", {"x": {"a": 1.0}, "y": 2.0, "key": "Oslo"})
    server.post(f"{HERE}/predict", {"x": {"a": 1.0}})
    first, *others = events(server, 3)
    assert len(first["samples"]) >= 1
    for each in others:
        assert len(each["samples"]) == 1
    now = others[-1]["now"]
    assert (now["predictions"], now["labels"], now["pending"]) == (2, 1, 1)
    assert [key["key"] for key in now["keys"]] == ["Oslo"]
    assert server.call("GET", "/models/other/watch")[0] == 404


def test_the_first_key_is_shown_at_once(tmp_path: Path) -> None:
    async def main() -> None:
        desk = Desk(nr.Service(nr.Nlms(), tmp_path / "s.db"))
        watch = Watch(desk)
        watch.watchers = 1  # a dashboard is open
        await watch.sample()
        assert watch.now["keys"] == []
        await desk.do(lambda: desk.service.learn({"a": 1.0}, 2.0, key="Oslo"))
        await watch.sample()
        assert [(each["key"], each["labels"]) for each in watch.now["keys"]] == [("Oslo", 1)]
        desk.close()

    asyncio.run(main())


def test_samples_go_on_after_a_restart(tmp_path: Path) -> None:
    """The last of each second are those of the journal, up to twenty minutes before."""
    now = [1000.0]
    for k in range(40):  # started again for each
        now[0] = 1000.0 + k / 4
        learner = nr.WidrowHoff() if k == 0 else None
        with nr.Service(learner, tmp_path / "s.db", clock=lambda: now[0]) as service:
            service.learn({"a": 1.0}, k)
            loss = service.loss
    with nr.Service(None, tmp_path / "s.db", clock=lambda: now[0]) as service:
        found = earlier(service.recent(1200.0, 100))
        assert [each[:4] for each in found] == [
            [1000.75 + k, 4.0 * k + 4, 4.0 * k + 4, 0.0] for k in range(10)
        ]
        assert found[-1][4] == loss
        assert len(service.recent(1200.0, 7)) == 7
        now[0] += 1195.0
        assert [each.time for each in service.recent(1200.0, 100)] == [
            1004.75 + k / 4 for k in range(21)
        ]


def test_what_takes_its_time(tmp_path: Path) -> None:
    """Members of ``auto`` and of a mixture, regret so far, mistakes, and the age of what waits."""
    now = [0.0]
    with nr.Service(nr.Auto("logistic"), tmp_path / "s.db", clock=lambda: now[0]) as service:
        assert service.waiting() is None
        assert "no label came yet" in standing_of(service)["why"]
        wrong = 0
        for k in range(60):
            now[0] += 1
            served = service.predict({"a": k % 3}, id=str(k)).prediction
            if k % 4:
                service.label(str(k), k % 2 == 0)
                wrong += served is not (k % 2 == 0)
        assert service.waiting() == (59.0, 31.0)
        assert service.metrics()["mistakes"] == wrong
        found = members_of(service)
        assert "Most weight is on" in found["words"]
        assert 0 < sum(weight for _, weight, _ in found["members"]) <= 1 + 1e-9
        standing = standing_of(service)
        assert standing["regret"] == service.certificate().regret.upper
        assert standing["labels"] == 45
        service.challengers.add("other", nr.Logistic())
        service.challengers.mix("team")
        service.challengers.promote("team")
        service.learn({"a": 1}, True)
        names = [name for name, _, _ in members_of(service)["members"]]
        assert names == ["first", "other"]
        assert standing_of(service)["labels"] == 1


def test_readers_that_do_not_read_stall_nothing(server: Server) -> None:
    sockets = []
    for _ in range(5):
        reader = socket.create_connection(("127.0.0.1", server.port))
        reader.sendall(f"GET {HERE}/watch HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        sockets.append(reader)
    for k in range(sized(30, full=3000)):
        assert server.post(f"{HERE}/learn", {"x": {"a": 0.5}, "y": k % 3})[0] == 200
    OPEN.append(sockets[0])
    for reader in sockets[1:]:
        reader.close()


def test_it_works_in_a_browser(server: Server, tmp_path: Path) -> None:
    browser = shutil.which("chromium")
    if browser is None or not THOROUGH:
        pytest.skip("a thorough run opens the page in Chromium, if that is installed")
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         f"--user-data-dir={tmp_path}", "--timeout=6000", "--virtual-time-budget=3000",
         "--dump-dom", f"http://127.0.0.1:{server.port}/"],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert ">live<" in done.stdout
    assert "<polyline" in done.stdout
    assert "<b>0</b><span>labels came late</span>" in done.stdout
