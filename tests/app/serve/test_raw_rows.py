"""Raw rows over HTTP give the same model as the same rows in a file."""

from __future__ import annotations

import json
import random
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.app.cli.app import run
from noregret.app.commands.serve.configuration import Model
from noregret.base.model_file import described
from noregret.service import Service
from noregret.service.errors import ServiceError
from noregret.streams import prepared
from tests.app.serve.running import Server
from tests.thorough import sized

HERE = "/models/default"
NDJSON = "application/x-ndjson"


def rows_of(count: int) -> list[dict[str, Any]]:
    """Return rows with dates, categories, free text, gaps, booleans and numbers."""
    draw = random.Random(5)
    return [
        {
            "day": f"2024-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}",
            "town": draw.choice(["Oslo", "Rome", "Rio de Janeiro", ""]),
            "remark": draw.choice(["warm, not late", "late", "cold and late", None]),
            "size": draw.choice([None, draw.random(), 3]),
            "open": draw.random() < 0.5,
            "y": round(draw.random(), 3),
        }
        for _ in range(count)
    ]


def same_model(learner: Any, other: Any) -> bool:
    """Return whether two models have the same features and numbers, to the last bit."""
    (arrays, numbers, names), (also, too, called) = learner.get_state(), other.get_state()
    same = all(np.array_equal(arrays[name], also[name]) for name in arrays)
    return bool(same and (numbers, names) == (too, called) and arrays.keys() == also.keys())


@pytest.mark.parametrize("learner", ["nlms", "auto"])
def test_rows_over_http_are_those_of_a_file(
    learner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether they are learned one by one, in batches, or when their labels come; after a kill."""
    rows = rows_of(sized(60, full=2000))
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ("--learner", learner, "--store", "s.db", "--text", "remark")
    server = Server(tmp_path, *arguments)
    bodies = [
        {"id": f"r{k}", "x": {n: v for n, v in row.items() if n != "y"}, "y": row["y"]}
        for k, row in enumerate(rows)
    ]
    third = len(rows) // 3
    for body in bodies[:third]:
        assert server.post(f"{HERE}/learn", body)[0] == 200
    server.kill()
    server = Server(tmp_path, *arguments)
    for body in bodies[third : 2 * third]:
        asked = {"id": body["id"], "x": body["x"]}
        assert server.post(f"{HERE}/predict", asked)[0] == 200
        assert server.post(f"{HERE}/label", {"id": body["id"], "y": body["y"]})[0] == 200
    batch = "\n".join(json.dumps(body) for body in bodies[2 * third :]).encode()
    told = server.call("POST", f"{HERE}/learn", batch, Content_Type=NDJSON)[1]
    assert b"status" not in told
    certificate = server.get(f"{HERE}/certificate")[1]
    (tmp_path / "served.jsonl").write_bytes(server.call("GET", f"{HERE}/rows")[1])
    assert server.end() == 0
    monkeypatch.chdir(tmp_path)
    options = ["--target", "y", "--learner", learner, "--text", "remark"]
    assert run(["run", "rows.jsonl", *options, "--model", "m", "--certificate", "c.json"]) == 0
    with Service(None, "s.db") as service:
        assert same_model(service.learner, nr.load("m"))
    expected = json.loads(Path("c.json").read_text())
    assert certificate["data"]["digest"] == expected["data"]["digest"]
    assert certificate["loss"] == expected["loss"]
    Path("served.json").write_text(json.dumps(certificate))
    assert run(["verify", "served.json", "served.jsonl", "--target", "y"]) == 0


@pytest.mark.parametrize("how", ["ymd", "dmy", "mdy"])
def test_model_files_differ_in_what_they_say_of_the_file_alone(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also for dates that one row does not tell apart, if their order is given."""
    monkeypatch.chdir(tmp_path)
    rows = rows_of(40)
    for row in rows:
        year, month, day = row["day"].split("-")
        order = {"dmy": (day, month, year), "mdy": (month, day, year)}
        row["day"] = "/".join(order[how]) if how in order else row["day"]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = [] if how == "ymd" else ["--dates", how]
    options = ["--target", "y", "--learner", "nlms", "--text", "remark", *given]
    assert run(["run", "rows.jsonl", *options, "--model", "m", "--quiet"]) == 0
    asked = {"text": "remark", "intercept": True} | ({"dates": how} if given else {})
    with Service(prepared(nr.Nlms(), **asked), "s.db") as service:
        for row in rows:
            service.predict({"town": "1/2/2024"})  # leaves no trace in the model
            service.learn({n: v for n, v in row.items() if n != "y"}, row["y"])
        header, arrays = described(service.learner)
    saved, others = described(nr.load("m"))
    for each in (header, saved):
        each["stream"]["options"].pop("target")
        columns = each["stream"]["columns"]
        columns.pop("dates", None)
        columns.pop("days", None)
        columns["kinds"].pop("y", None)
    assert header == saved
    assert arrays.keys() == others.keys()
    assert all(arrays[name].tobytes() == others[name].tobytes() for name in arrays)
    assert any(name.startswith("day.month") for name in header["features"])


def test_a_store_keeps_how_its_rows_are_prepared(tmp_path: Path) -> None:
    first = prepared(nr.Nlms(), text="remark")
    with Service(first, tmp_path / "s.db") as service:
        service.learn({"remark": "warm, not late"}, 1.0)
        service.challengers.add("newer", nr.WidrowHoff())
        service.learn({"remark": "warm, not late"}, 1.0, key="Oslo")
        assert "remark:not late" in service.models.get("Oslo").features
        assert "remark:not late" in service.contenders.models["newer"].get("Oslo").features
    for other in (nr.Nlms(), prepared(nr.Nlms(), text="note")):
        with pytest.raises(ServiceError, match=r"takes raw rows.* text=remark missing=indicator"):
            Service(other, tmp_path / "s.db")
    with Service(prepared(nr.Nlms(), text="remark"), tmp_path / "s.db") as service:
        assert "remark:not late" in service.learner.features


@pytest.mark.parametrize(
    ("begun", "told"),
    [
        ({}, "give --raw (in the file: rows = {})"),
        (
            {"text": "remark", "drop": ["a b", "c"]},
            "give --raw --text remark --drop 'a b' --drop c"
            ' (in the file: rows = { text = "remark", drop = ["a b", "c"] })',
        ),
        ({"missing": "stop"}, 'give rows = { missing = "stop" } in a configuration file'),
        (None, "leave out --raw and other options of rows (in the file: rows)"),
    ],
)
def test_other_options_of_rows_are_told_those_of_the_store(
    begun: dict[str, Any] | None, told: str, tmp_path: Path
) -> None:
    """And what is told opens the store, as does no learner at all."""
    store = str(tmp_path / "s.db")
    Model(store, "nlms", rows=begun).open().close()
    for other in (None, {}, {"text": "remark"}, {"dates": "dmy"}):
        if other == begun:
            continue
        with pytest.raises(ServiceError) as error:
            Model(store, "nlms", rows=other).open()
        resume = f"{told}, or leave out the learner to resume: noregret serve --store {store}"
        assert str(error.value).endswith(resume)
    if found := re.search(r"rows = \{.*\}", told):
        assert tomllib.loads(found[0].removesuffix(")"))["rows"] == begun
    Model(store, "nlms", rows=begun).open().close()
    Model(store).open().close()


def test_a_refused_row_names_the_option_of_the_server(tmp_path: Path) -> None:
    server = Server(tmp_path, "--learner", "nlms", "--raw", "--store", "s.db")
    assert server.post(f"{HERE}/learn", {"x": {"temp": 3.5}, "y": 1.0})[0] == 200
    status, found = server.post(f"{HERE}/learn", {"x": {"temp": "warm"}, "y": 1.0})
    line = json.dumps({"x": {"temp": "warm"}, "y": 1.0}).encode()
    batch = server.call("POST", f"{HERE}/learn", line, Content_Type=NDJSON)[1]
    assert server.end() == 0
    assert status == 422
    assert json.loads(batch)["detail"] == found["detail"]
    assert found["detail"] == (
        "round 2: field 'temp' holds text, not numbers as in earlier rows: take its values as names"
        ' (a new store with --categories temp, or rows = { categories = "temp" } in the'
        " configuration file), or drop it (a new store with --drop temp, or"
        ' rows = { drop = "temp" } in the configuration file)'
    )
    server = Server(tmp_path, "--learner", "nlms", "--categories", "temp", "--store", "new.db")
    for value in (3.5, "warm"):
        assert server.post(f"{HERE}/learn", {"x": {"temp": value}, "y": 1.0})[0] == 200
    assert server.end() == 0


def test_a_clone_takes_raw_rows_too() -> None:
    learner = prepared(nr.Nlms(), text="remark")
    learner.learn_one({"remark": "warm, not late"}, 1.0)
    again = learner.clone()
    assert again.features == []
    again.learn_one({"remark": "warm, not late"}, 1.0)
    assert same_model(again, learner)


def test_rows_of_numbers_take_a_short_cut_to_the_same_features() -> None:
    draw = random.Random(2)
    names = ["b", "a", "c"]
    short, long = (prepared(nr.Auto(), intercept=True) for _ in range(2))
    long._entry.prepare.is_plain = False
    for k in range(50):
        x: dict[str, Any] = {name: draw.choice([0.0, draw.random()]) for name in names}
        if k % 7 == 3:
            x["a"] = draw.choice([None, float("nan"), 2, True])
        for learner in (short, long):
            assert learner.predict_one(x) == short.predict_one(x)
        short.learn_one(x, 1.0)
        long.learn_one(x, 1.0)
        draw.shuffle(names)
    assert short._entry.prepare.orders
    assert same_model(short, long)
