"""``noregret serve``, called by real clients."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.app.cli.app import run
from noregret.app.cli.commands.serve import learned_by
from noregret.app.commands.serve.desk import Desk
from noregret.app.commands.serve.interface import described
from noregret.app.commands.serve.keys import Keys, new_key, stanza
from noregret.app.commands.serve.server import Server as Application
from noregret.service import Request, Service
from tests.app.serve.running import Server

JSON, NDJSON = "application/json", "application/x-ndjson"
HERE = "/models/default"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    arguments = ("--learner", "widrow-hoff", "-p", "rate=0.5", "--store", "shop.db")
    running = Server(tmp_path_factory.mktemp("serve"), *arguments)
    yield running
    assert running.end() == 0


def test_a_prediction_waits_for_its_label(server: Server) -> None:
    x = {"first": 1.0}
    assert server.post(f"{HERE}/predict", {"id": "one", "x": x})[1]["prediction"] == 0.0
    before = server.get(HERE)[1]
    assert server.post(f"{HERE}/label", {"id": "one", "y": 3.0})[1]["prediction"] == 0.0
    after = server.get(HERE)[1]
    assert (after["rounds"], after["pending"]) == (before["rounds"] + 1, before["pending"] - 1)
    assert server.post(f"{HERE}/learn", {"x": x, "y": 1.5})[1]["prediction"] == 1.5


def test_a_repeated_request_is_answered_as_before_and_another_is_refused(server: Server) -> None:
    body = {"id": "twice", "x": {"second": 2.0}, "y": 1.0}
    first = server.post(f"{HERE}/learn", body)
    rounds = server.get(HERE)[1]["rounds"]
    assert server.post(f"{HERE}/learn", body) == first
    assert server.get(HERE)[1]["rounds"] == rounds
    status, found = server.post(f"{HERE}/learn", body | {"y": 2.0})
    assert (status, found["title"], found["status"]) == (409, "Conflict", 409)


BAD: list[tuple[str, str, bytes, str, int]] = [
    ("POST", f"{HERE}/predict", b"", JSON, 400),
    ("POST", f"{HERE}/predict", b"{", JSON, 400),
    ("POST", f"{HERE}/predict", b"[1]", JSON, 400),
    ("POST", f"{HERE}/predict", b"\xff\xfe", JSON, 400),
    ("POST", f"{HERE}/predict", b'{"x": null}', JSON, 400),
    ("POST", f"{HERE}/predict", b'{"x": {}, "y": 1}', JSON, 400),
    ("POST", f"{HERE}/predict", b'{"x": {}, "more": 1}', JSON, 400),
    ("POST", f"{HERE}/predict", b'{"id": 7, "x": {}}', JSON, 400),
    ("POST", f"{HERE}/predict", b'{"id": "", "x": {}}', JSON, 422),
    ("POST", f"{HERE}/predict", b'{"x": {"a": NaN}}', JSON, 400),
    ("POST", f"{HERE}/predict", b'{"x": {"a": 1e999}}', JSON, 400),
    ("POST", f"{HERE}/predict", b'{"x": {"a": {"b": 1}}}', JSON, 422),
    ("POST", f"{HERE}/predict", b'{"x": {"a": [1]}}', JSON, 422),
    ("POST", f"{HERE}/predict", b'{"x": {"a": 1e200}}', JSON, 422),
    ("POST", f"{HERE}/predict", b'{"x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", JSON, 400),
    ("POST", f"{HERE}/predict", b'{"x": {"a": "' + b"z" * (1 << 20) + b'"}}', JSON, 413),
    ("POST", f"{HERE}/predict", b'{"x": {"a": 1, "a": 1}}', JSON, 400),
    ("POST", f"{HERE}/predict", b'{"x": {"a": 1}, "x" :{"a": 1}}', JSON, 400),
    ("POST", f"{HERE}/learn", b'{"x": {"\\u0061": 1, "a": 2}, "y": 1}', JSON, 400),
    ("POST", f"{HERE}/learn", b'{"id": null, "x": {"a:b": ":"}, "y": 1, "y": 1}', JSON, 400),
    ("POST", f"{HERE}/challengers", b'{"name": "a", "name": "b", "learner": "nlms"}', JSON, 400),
    ("POST", f"{HERE}/label", b'{"id": "nobody", "y": 1}', JSON, 404),
    ("POST", f"{HERE}/label", b'{"y": 1}', JSON, 400),
    ("POST", f"{HERE}/learn", b'{"x": {"a": 1}, "y": "much"}', JSON, 422),
    ("POST", f"{HERE}/learn", b'{"x": {"a": 1}, "y": 1e300}', JSON, 422),
    ("POST", f"{HERE}/learn", b'{"x": {"y": 1}, "y": 1}', JSON, 422),
    ("POST", f"{HERE}/learn", b"x=1", "application/x-www-form-urlencoded", 415),
    ("POST", f"{HERE}/forget", b"{}", JSON, 404),
    ("POST", "/models/other/predict", b'{"x": {}}', JSON, 404),
    ("POST", f"{HERE}/predict", b"{}\n" * 10_001, NDJSON, 413),
    ("GET", f"{HERE}/predict", b"", JSON, 405),
    ("DELETE", HERE, b"", JSON, 405),
    ("GET", "/nowhere", b"", JSON, 404),
]


@pytest.mark.parametrize(("method", "path", "body", "kind", "status"), BAD)
def test_what_is_wrong_is_a_problem_in_words(
    server: Server, method: str, path: str, body: bytes, kind: str, status: int
) -> None:
    rounds = server.get(HERE)[1]["rounds"]
    found, text, headers = server.call(method, path, body, Content_Type=kind)
    told = json.loads(text)
    assert (found, told["status"]) == (status, status), told
    assert headers["content-type"] == "application/problem+json"
    assert told["title"]
    assert told["detail"]
    assert server.get(HERE)[1]["rounds"] == rounds


def test_a_batch_is_answered_line_by_line(server: Server) -> None:
    lines = [{"id": f"b{k}", "x": {"batch": float(k)}} for k in range(50)]
    lines[7], lines[8] = {"id": "b7"}, {"id": "b8", "x": {"y": 1.0}}
    body = b"\n".join(json.dumps(line).encode() for line in lines) + b"\n\n"
    status, text, _ = server.call("POST", f"{HERE}/predict", body, Content_Type=NDJSON)
    found = [json.loads(line) for line in text.splitlines()]
    assert status == 200
    given = [None if k in (7, 8) else f"b{k}" for k in range(50)]
    assert [each.get("id") for each in found] == given
    assert (found[7]["status"], found[8]["status"]) == (400, 422)


@pytest.mark.parametrize("action", ["learn", "predict"])
def test_names_that_come_twice_are_refused_in_batches(server: Server, action: str) -> None:
    good = '{"id": "%s", "x": {"at": "10:30", "a": 1}' + (', "y": 1}' if action == "learn" else "}")
    bad = good.replace('"a": 1', '"a": 1, "at": 2')
    names = [f"{action} {k}" for k in range(3)]
    body = "\n".join(line % name for line, name in zip((good, bad, good), names, strict=True))
    text = server.call("POST", f"{HERE}/{action}", body.encode(), Content_Type=NDJSON)[1]
    first, second, third = map(json.loads, text.splitlines())
    assert (first["id"], second["status"], third["id"]) == (names[0], 400, names[2])
    assert "'at' comes twice" in second["detail"]


def test_a_client_that_breaks_off_is_no_error_of_the_server(tmp_path: Path) -> None:
    """An error that leaves the application is logged with its traceback."""
    begun = {"type": "http.request", "body": b'{"x": {"a"', "more_body": True}
    left: list[dict[str, Any]] = [{"type": "http.disconnect"}, begun]

    async def receive() -> dict[str, Any]:
        return left.pop()

    async def send(message: Any) -> None:
        """The client is gone."""

    scope = {"type": "http", "method": "POST", "path": f"{HERE}/learn", "headers": []}
    with nr.Service(nr.Nlms(), tmp_path / "s.db") as service:
        app = Application({"default": service}, Keys({})).app
        asyncio.run(app(scope, receive, send))
        assert service.metrics()["predictions"] == 0


def test_facts_metrics_and_pages(server: Server) -> None:
    assert server.get("/models")[1]["default"]["parameters"]["rate"] == 0.5
    text = server.call("GET", "/metrics")[1].decode()
    rounds = server.get(HERE)[1]["rounds"]
    assert f'noregret_labels_total{{model="default"}} {rounds}\n' in text
    assert server.call("GET", "/healthz")[:2] == (200, b"alive\n")
    assert server.call("GET", "/readyz")[:2] == (200, b"ready\n")
    described = server.get("/openapi.json")[1]
    page = server.call("GET", "/api")[1].decode()
    for path in described["paths"]:
        assert path in page
        method = "POST" if "post" in described["paths"][path] else "GET"
        status = server.call(method, path.replace("{model}", "default"))[0]
        assert status not in (404, 405, 500), path


def refusals(server: Server) -> dict[str, int]:
    text = server.call("GET", "/metrics")[1].decode()
    found = re.findall(r'requests_total{action="predict",status="(4..)"} (\d+)', text)
    return {status: int(number) for status, number in found}


def test_requests_that_are_refused_are_counted(server: Server) -> None:
    before = refusals(server)
    path = f"{HERE}/predict"
    assert server.call("POST", path, b"{not json")[0] == 400
    assert server.call("POST", path, b"x,y", content_type="text/csv")[0] == 415
    after = refusals(server)
    assert {status: after[status] - before.get(status, 0) for status in ("400", "415")} == {
        "400": 1,
        "415": 1,
    }


def served_game(server: Server, path: str = HERE) -> list[tuple[dict[str, float], float]]:
    """Return the rows that a server has learned."""
    rows = [json.loads(line) for line in server.call("GET", f"{path}/rows")[1].splitlines()]
    return [({k: v for k, v in row.items() if k != "sold"}, row["sold"]) for row in rows]


def test_after_a_kill_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    arguments = ("--learner", "auto", "--store", "shop.db", "--target", "sold")
    draw = np.random.default_rng(1)
    X, y = draw.normal(size=(120, 3)).round(3), draw.normal(size=120).round(3)
    bodies: list[dict[str, Any]] = [
        {"id": f"r{k}", "x": dict(zip("abc", map(float, row), strict=True)), "y": float(v)}
        for k, (row, v) in enumerate(zip(X, y, strict=True))
    ]
    acknowledged: dict[str, Any] = {}

    def ask(running: Server, asked: list[dict[str, Any]]) -> None:
        def one(body: dict[str, Any]) -> None:
            status, acknowledged[body["id"]] = running.post(f"{HERE}/learn", body)
            assert status == 200

        with ThreadPoolExecutor(8) as clients:
            list(clients.map(one, asked))

    running = Server(tmp_path, *arguments)
    ask(running, bodies[:80])
    running.kill()
    running = Server(tmp_path, *arguments)
    assert "80 labels learned" in running.said
    for body in bodies[:80:9]:  # a client that has not heard tries again
        assert running.post(f"{HERE}/learn", body) == (200, acknowledged[body["id"]])
    ask(running, bodies[80:])
    rows = served_game(running)
    certificate = running.get(f"{HERE}/certificate")[1]
    assert running.end() == 0
    assert len(rows) == 120
    assert nr.verify(certificate, rows).confirmed
    with nr.Service(None, tmp_path / "shop.db") as service:
        learner = nr.Auto()
        for x, outcome in rows:
            learner.learn_one(x, outcome)
        assert service.learner.get_state()[1] == learner.get_state()[1]


def test_keys_allow_what_they_say(tmp_path: Path) -> None:
    key, digest = new_key()
    (tmp_path / "serve.toml").write_text(
        '[models.default]\nlearner = "logistic"\nstore = "a.db"\n'
        '[models.other]\nlearner = "nlms"\nstore = "b.db"\n' + stanza("shop", digest, ["default"])
    )
    server = Server(tmp_path, "--config", "serve.toml")
    body, bearer = {"x": {"a": 1.0}}, f"Bearer {key}"
    assert server.post(f"{HERE}/predict", body)[0] == 401
    assert server.post(f"{HERE}/predict", body, Authorization="Bearer x")[0] == 401
    assert server.post(f"{HERE}/predict", body, Authorization=f"Basic {key}")[0] == 401
    status, found = server.post(f"{HERE}/predict", body, Authorization=bearer)
    assert status == 200
    assert (found["prediction"], found["chances"]) == (None, {})  # no class is known yet
    assert server.post("/models/other/predict", body, Authorization=bearer)[0] == 403
    assert server.get(f"{HERE}/certificate", Authorization=bearer)[0] == 403
    assert server.call("GET", "/metrics", Authorization=bearer)[0] == 403
    assert server.call("GET", "/healthz")[0] == 200
    assert server.get("/models")[0] == 401
    assert [*server.get("/models", Authorization=bearer)[1]] == ["default"]
    for page in ("/", "/api", "/openapi.json"):  # these name no model without a key
        status, text, _ = server.call("GET", page)
        assert status == 200
        assert b'["default"]' not in text
        assert b"models/default" not in text
        text = server.call("GET", page, Authorization=bearer)[1]
        assert b'"other"' not in text
        assert b"models/other" not in text
    assert b'["default"]' in server.call("GET", "/openapi.json", Authorization=bearer)[1]
    assert server.end() == 0


def test_a_trained_model_says_how_many_rows_it_has_learned(tmp_path: Path) -> None:
    learner = nr.Nlms()
    for k in range(1200):
        learner.learn_one({"a": k % 3}, k % 5)
    learner.save(tmp_path / "old.model")
    server = Server(tmp_path, "--model", "old.model", "--store", "s.db")
    assert "Nlms(), trained on 1,200 rows in old.model, 0 labels learned since, " in server.said
    assert server.post(f"{HERE}/learn", {"x": {"a": 1.0}, "y": 1.0})[0] == 200
    assert server.end() == 0
    with nr.Service(None, tmp_path / "s.db") as service:
        assert learned_by(service, None) == "trained on 1,200 rows before, 1 label learned since"
    with nr.Service(nr.Nlms(), tmp_path / "new.db") as service:
        assert learned_by(service, None) == "0 labels learned"


def test_a_key_for_metrics_reads_them_and_changes_nothing(tmp_path: Path) -> None:
    key, digest = new_key()
    (tmp_path / "serve.toml").write_text(
        '[models.default]\nlearner = "nlms"\nstore = "a.db"\n'
        f'[[keys]]\nname = "prometheus"\ndigest = "{digest}"\nmay = ["metrics"]\n'
    )
    server = Server(tmp_path, "--config", "serve.toml")
    bearer = f"Bearer {key}"
    assert server.call("GET", "/metrics")[0] == 401
    status, text, _ = server.call("GET", "/metrics", Authorization=bearer)
    assert status == 200
    assert b'noregret_predictions_total{model="default"} 0' in text
    example = {"id": "a", "x": {"a": 1.0}, "y": 1.0}
    for action, names in (("predict", "x"), ("label", "y"), ("learn", "xy")):
        body = {"id": "a"} | {name: example[name] for name in names}
        assert server.post(f"{HERE}/{action}", body, Authorization=bearer)[0] == 403
    for page in ("certificate", "rows", "watch", "report"):
        assert server.call("GET", f"{HERE}/{page}", Authorization=bearer)[0] == 403
    assert server.end() == 0


WRONG = [
    ([], "--store is missing"),
    (["--store", "a.db", "--host", "0.0.0.0"], "no API key"),
    (["--store", "a.db"], "there is no journal yet"),
    (["--store", "a.db", "--learner", "nobody"], "nobody"),
    (["--store", "a.db", "--learner", "nlms", "-p", "speed=1"], "speed"),
    (["--store", "postgresql://127.0.0.1:1/none", "--learner", "nlms"], "no connection"),
    (["--store", "a.db", "-p", "rate=1"], "without a learner"),
    (["--store", "no/where.db", "--learner", "nlms"], "there is no folder"),
    (["--store", "a.db", "--learner", "nlms", "--tls-key", "k.pem"], "go together"),
    (["--config", "c.toml", "--store", "a.db"], "--config already defines"),
]


@pytest.mark.parametrize(("arguments", "words"), WRONG)
def test_wrong_usage_is_refused_before_anything_begins(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["serve", *arguments]) != 0
    said = capsys.readouterr().err
    assert words in said
    assert "Traceback" not in said


CONFIGURED = [
    ("models = 3", "models is 3"),
    ("", "there is no model"),
    ("[models.a]\nlearner = 'nlms'", "models.a has no store"),
    ("[models.a]\nstore = 1", "models.a.store is 1"),
    ("[models.a]\nstore = 'x.db'\nspeed = 1", "there is no field models.a.speed"),
    ("[models.a]\nstore = 'x.db'\n[models.b]\nstore = './x.db'", "same store"),
    ("[models.a]\nstore = 'x.db'\n[[keys]]\nname = 'k'", "has no digest"),
    ("[[[", "not TOML"),
]


@pytest.mark.parametrize(("text", "words"), CONFIGURED)
def test_a_configuration_is_checked_field_by_field(
    text: str,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "serve.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert run(["serve", "--config", "serve.toml"]) == 1
    said = capsys.readouterr().err
    assert words in said
    assert "serve.toml" in said


def test_challengers_over_http(tmp_path: Path) -> None:
    arguments = ("--learner", "widrow-hoff", "-p", "rate=0.01", "--store", "s.db")
    running = Server(tmp_path, *arguments)
    try:
        body = {"name": "nlms", "learner": "nlms", "bound": 4}
        assert running.post(f"{HERE}/challengers", body)[0] == 200
        for k in range(30):
            x = {"a": 1.0, "key": "no"}
            running.post(f"{HERE}/learn", {"x": x, "y": 2.0, "key": f"shop {k % 2}"})
        status, found = running.get(f"{HERE}/challengers")
        assert (status, found["serving"]) == (200, "first")
        mine = found["challengers"]["nlms"]
        assert mine["rounds"] == 30
        assert mine["challenger"] < mine["champion"]
        assert running.post(f"{HERE}/promote", {"name": "nlms"})[1]["serving"] == "nlms"
        assert running.post(f"{HERE}/rollback", {})[1]["serving"] == "first"
        for path, wrong, status in (
            ("challengers", {"name": "x"}, 400),
            ("challengers", {"name": "x", "learner": "none"}, 422),
            ("challengers", {"name": "x", "learner": "nlms", "params": {"speed": 1}}, 422),
            ("challengers", {"more": 1}, 400),
            ("promote", {"name": "nobody"}, 404),
            ("promote", {"name": "first"}, 409),
            ("retire", {"name": "nlms"}, 409),
        ):
            answer = running.post(f"{HERE}/{path}", wrong)
            assert (answer[0], answer[1]["status"]) == (status, status)
        assert running.get(f"{HERE}/certificate?key=shop%201")[0] == 409
    finally:
        assert running.end() == 0


def test_the_api_lists_every_change_of_challengers() -> None:
    paths = described()["paths"]
    for action in ("challengers", "promote", "retire", "rollback"):
        assert "post" in paths[f"/models/{{model}}/{action}"]
    assert "get" in paths["/models/{model}/challengers"]


def test_questions_and_requests_at_the_same_time_never_wait_for_each_other(tmp_path: Path) -> None:
    """A question begins just before a transaction does, and asks for metrics just after."""
    begun = threading.Event()

    async def main() -> None:
        desk = Desk(Service(nr.Nlms(), tmp_path / "s.db"))

        def question() -> Any:
            begun.wait(20)
            return desk.service.metrics()

        asked = asyncio.ensure_future(desk.do(question))
        await asyncio.sleep(0)
        learned = desk.ask([Request("learn", "a", {"a": 1.0}, 1.0)])
        await asyncio.sleep(0.01)
        begun.set()
        found, _ = await asyncio.wait_for(asyncio.gather(asked, learned), 20)
        assert found["labels"] == 1
        desk.close()

    asyncio.run(main())
