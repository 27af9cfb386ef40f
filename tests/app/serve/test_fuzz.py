"""The server does what its OpenAPI document says, whatever clients send."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable

from tests.app.serve.running import Server
from tests.thorough import draw_count

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")

# Requests per operation in a thorough run.
REQUESTS = 60


@pytest.mark.parametrize("learner", ["nlms", "softmax"])
@pytest.mark.parametrize("mode", ["positive", "negative"])
def test_requests_are_answered_as_described(learner: str, mode: str, tmp_path: Path) -> None:
    """No status 5xx; answers and problems have their form; what is valid is not refused."""
    server = Server(tmp_path, "--learner", learner, "--store", "s.db")
    try:
        # Features by name: from here on, lists are refused.
        assert server.post("/models/default/learn", {"x": {"a": 1.0}, "y": 1})[0] == 200
        schema = schemathesis.openapi.from_url(f"http://127.0.0.1:{server.port}/openapi.json")
        kinds = schemathesis.GenerationMode
        for operation in schema.get_all_operations():
            try:
                requests = operation.ok().as_strategy(generation_mode=kinds(mode))
                settings(
                    max_examples=draw_count(REQUESTS), suppress_health_check=list(HealthCheck)
                )(given(case=requests)(answered))()
            except Unsatisfiable:  # nothing can be wrong with it
                assert mode == "negative"
    finally:
        assert server.end() == 0


@pytest.mark.parametrize("learner", ["nlms", "softmax"])
def test_challengers_are_taken_as_described(learner: str, tmp_path: Path) -> None:
    """Every combination of fields is accepted if and only if the document has it so."""
    server = Server(tmp_path, "--learner", learner, "--store", "s.db")
    values: dict[str, list[Any]] = {
        "learner": [learner, None],
        "mixture": ["blend", None],
        "params": [{}, None],
        "bound": [2.5, 0],
    }
    try:
        document = server.get("/openapi.json")[1]
        post = document["paths"]["/models/{model}/challengers"]["post"]
        schema = post["requestBody"]["content"]["application/json"]["schema"]
        taken = jsonschema.Draft202012Validator(schema)
        given = [[{}, *({name: value} for value in each)] for name, each in values.items()]
        for number, parts in enumerate(product(*given)):
            body = {"name": f"a{number}"} | {k: v for part in parts for k, v in part.items()}
            status = server.post("/models/default/challengers", body)[0]
            assert (status == 200) == taken.is_valid(body), (body, status)
    finally:
        assert server.end() == 0


def answered(case: Any) -> None:
    """Send a request, and check its answer."""
    body = case.body if isinstance(case.body, dict) else {}
    if case.meta.generation.mode == schemathesis.GenerationMode.POSITIVE:
        if isinstance(body.get("x"), list):
            body["x"] = {"a": len(body["x"])}
        body.pop("params", None)  # what is valid depends on the learner
        if "y" in body:  # classes of one kind, and numbers that let no weights diverge
            body["y"] = len(str(body["y"])) % 7
            if "x" in body:
                body["x"] = {name: small(value) for name, value in body["x"].items()}
    case.call_and_validate()


def small(value: Any) -> Any:
    """Return a number of size 1 or less; leave other values as they are."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return max(-1.0, min(1.0, value)) if is_number else value
