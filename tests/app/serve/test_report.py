"""The page about the certificate of a served model."""

from __future__ import annotations

import html
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret
from noregret.app.cli.app import run
from noregret.app.report.served import helped_by, page
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


def served(place: Path, x: Any, y: Any, learner: Any) -> tuple[str, str, str]:
    """Serve rows of one feature; return the lead's headline and words, and the page."""
    service = noregret.Service(learner, place / f"{len(list(place.iterdir()))}.db")
    try:
        for k, (one, label) in enumerate(zip(x, y, strict=True)):
            service.learn({"x": float(one)}, label, id=str(k))
        certificate = service.certificate()
        losses = [loss for _, loss in service.outcomes()]
        assert sum(losses) == pytest.approx(certificate.loss.total)
        lead = helped_by(certificate, service.outcomes())
        assert lead is not None
        return lead.headline, lead.words, page(certificate, "shop", [], lead)
    finally:
        service.close()


def test_the_report_leads_with_whether_it_helped(tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    x = draw.normal(size=100) / 4
    line, noise, jumps = 2 * x, draw.normal(size=100), np.repeat(draw.normal(size=10), 10)
    helping, words, good = served(tmp_path, x, line, noregret.Vaw())
    assert helping == "HELPED"
    assert "the best constant" in words
    assert "repeating the previous value" in words
    assert "PROMISE KEPT" in good
    assert good.index("HELPED") < good.index("PROMISE KEPT")
    for y in (noise, jumps):
        headline, _, poor = served(tmp_path, x, y, noregret.Vaw())
        assert headline == "DID NOT HELP"
        assert "PROMISE KEPT" not in poor
        assert "badge good" not in poor
    labels = [bool(one > 0) for one in x]
    headline, words, _ = served(tmp_path, x, labels, noregret.Perceptron())
    assert headline == "HELPED"
    assert "with the most frequent one" in words
    assert (
        served(tmp_path, x, (draw.random(100) < 0.5).tolist(), noregret.Perceptron())[0] != "HELPED"
    )
    for y in (np.ones(20), line[:1]):
        headline, _, page_of_it = served(tmp_path, x[: len(y)], y, noregret.Vaw())
        assert headline == "NOTHING TO COMPARE"
        assert "badge good" not in page_of_it


def test_a_report_of_nothing_is_a_problem(tmp_path: Path) -> None:
    server = Server(tmp_path, "--learner", "widrow-hoff", "--store", "shop.db")
    try:
        status, found = server.get("/models/default/report")
        assert status == server.get("/models/default/certificate")[0] != 200
        assert found["title"]
    finally:
        server.end()
