"""The page about the certificate of a served model."""

from __future__ import annotations

import html
import re
import shlex
from pathlib import Path

import pytest

from noregret.app.cli.app import run
from tests.app.serve.running import Server


def test_the_report_states_the_figures_and_how_to_confirm_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("--learner", "widrow-hoff", "-p", "rate=0.1", "--store", "shop.db")
    server = Server(tmp_path, *arguments, "--target", "sold here")
    try:
        squares = 0.0
        for day in range(30):
            y = day % 5 / 4
            body = {"id": f"{day}", "x": {"sun": day % 3 / 2}, "y": y}
            squares += (server.post("/models/default/learn", body)[1]["prediction"] - y) ** 2
        status, page, headers = server.call("GET", "/models/default/report")
        assert status == 200
        assert headers["content-type"].startswith("text/html")
        text = html.unescape(re.sub("<[^>]+>", " ", page.decode()))
        assert f"{(squares / 30) ** 0.5:.4g}" in text
        monkeypatch.chdir(tmp_path)
        for url, path in re.findall(r"curl (\S+) > (\S+)", text):
            where = url.split(f":{server.port}", 1)[1]
            Path(path).write_bytes(server.call("GET", where)[1])
        command = re.search(r"noregret (verify .+)", text)
        assert command is not None
        assert run(shlex.split(command[1])) == 0
    finally:
        server.end()


def test_a_report_of_nothing_is_a_problem(tmp_path: Path) -> None:
    server = Server(tmp_path, "--learner", "widrow-hoff", "--store", "shop.db")
    try:
        status, found = server.get("/models/default/report")
        assert status == server.get("/models/default/certificate")[0] != 200
        assert found["title"]
    finally:
        server.end()
