"""A server that is killed at random moments under clients that try again."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.base.model_file import dumps
from noregret.experts import Blend
from noregret.service import Service
from noregret.service.contenders import FIRST
from tests.app.serve.running import Server
from tests.thorough import sized

KILLS, CLIENTS = sized(2, full=200), sized(8, full=32)
LINES = 12
JSON, NDJSON = "application/json", "application/x-ndjson"


class Clients:
    """Threads that predict and label, and repeat each request until it is acknowledged.

    Parameters
    ----------
    batches
        Whether they send predictions with labels in batches of plain lines instead.
    """

    def __init__(self, batches: bool) -> None:
        self.port, self.ended = 0, False
        self.answers: dict[str, Any] = {}  # of predictions that were acknowledged
        self.labelled: set[str] = set()  # and those whose label was
        self.failures: list[str] = []
        work = self.send_batches if batches else self.work
        self.threads = [threading.Thread(target=work, args=[k]) for k in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def example(self, client: int, k: int) -> dict[str, float]:
        return {"a": (k % 11) / 11, "b": client / CLIENTS}

    def work(self, client: int) -> None:
        k = 0
        while not self.ended:
            name, k = f"{client}-{k}", k + 1
            answer = self.insist("predict", {"id": name, "x": self.example(client, k)})
            if answer is None:
                return
            self.answers[name] = answer["prediction"]
            answer = self.insist("label", {"id": name, "y": (k % 5) / 5})
            if answer is None:
                return
            self.labelled.add(name)
            if answer["prediction"] != self.answers[name]:
                self.failures.append(f"{name}: another answer")

    def send_batches(self, client: int) -> None:
        """Send batches of which every fifth repeats lines of the one before."""
        k = 0
        while not self.ended:
            first, k = k - (LINES // 2 if k // LINES % 5 == 4 else 0), k + LINES
            lines = [
                {"id": f"{client}-{j}", "x": self.example(client, j), "y": (j % 5) / 5}
                for j in range(first, k)
            ]
            text = self.insist_on("learn", "\n".join(map(json.dumps, lines)), NDJSON)
            if text is None:
                return
            for line, answer in zip(lines, map(json.loads, text.splitlines()), strict=True):
                name = str(line["id"])
                if answer.get("id") != name:
                    self.failures.append(f"{name}: {answer}")
                elif self.answers.setdefault(name, answer["prediction"]) != answer["prediction"]:
                    self.failures.append(f"{name}: another answer")
                self.labelled.add(name)

    def insist(self, action: str, body: Any) -> Any:
        """Return the answer to a request, however often it takes; None at the end."""
        text = self.insist_on(action, json.dumps(body), JSON)
        return None if text is None else json.loads(text)

    def insist_on(self, action: str, body: str, kind: str) -> bytes | None:
        """Return the text of the answer to a request; None at the end."""
        while not self.ended:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
            try:
                path = f"/models/default/{action}"
                connection.request("POST", path, body, {"Content-Type": kind})
                answer = connection.getresponse()
                text = answer.read()
                if answer.status == 200:
                    return text
                if answer.status != 503:
                    self.failures.append(f"{answer.status} {text!r}")
                    return None
            except (OSError, http.client.HTTPException):
                time.sleep(0.02)
            finally:
                connection.close()
        return None


def begin(store: Path, mixture: bool) -> None:
    """Begin a journal, if wanted with a mixture of two models that serves.

    Their rates are so small that they do not diverge, with labels as late as there are clients.
    """
    with Service(nr.WidrowHoff(rate=0.01), store, snapshot_every=200) as service:
        if mixture:
            service.challengers.add("other", nr.GradientDescent(rate=0.02))
            service.challengers.mix("team")
            service.challengers.promote("team")


def offline(service: Service) -> dict[str, Any]:
    """Return the models of all labels in the journal, learned one after the other."""
    contenders = service.contenders
    found: dict[str, Any] = {
        name: models.fresh.clone() for name, models in contenders.models.items()
    }
    for event in service.journal.learned():
        x, y = json.loads(event.x), json.loads(event.y or "")
        views = dict(contenders._views(event))
        assert views.keys() == found.keys()
        for name, view in views.items():
            model = found[name]
            if isinstance(model, Blend):
                model.learn_one({each: views[each].score for each in (FIRST, "other")}, y)
            elif view.delay:
                model._entry.learn_late(x, y, view.score)
            else:
                model.learn_one(x, y)
            assert model.rounds == view.round
    return found


@pytest.mark.parametrize("how", ["requests", "batches", "mixture", "mixture in batches"])
def test_every_acknowledged_event_is_learned_once(how: str, tmp_path: Path) -> None:
    draw, clients, store = random.Random(how), None, tmp_path / "s.db"
    begin(store, "mixture" in how)
    kills = KILLS if how == "requests" else max(1, KILLS // 2)
    for kill in range(kills + 1):
        server = Server(tmp_path, "--store", "s.db")
        if clients is None:
            clients = Clients("batches" in how)
        clients.port, before = server.port, len(clients.labelled)
        until = time.monotonic() + 30
        while len(clients.labelled) < before + 5 and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(draw.uniform(0, 0.3))
        if kill < kills:
            server.kill()
    assert clients is not None
    clients.ended = True
    for thread in clients.threads:
        thread.join(60)
    server.kill()
    assert clients.failures == []
    with Service(None, store) as service:
        learned = [event.id for event in service.journal.learned()]
        assert len(set(learned)) == len(learned) == service.labels
        assert clients.labelled <= set(learned)
        assert len(clients.labelled) >= 5 * kills
        for name, model in offline(service).items():
            assert dumps(model) == dumps(service.contenders.models[name].get(None))
        for name, prediction in clients.answers.items():
            known = service.journal.find(name)
            assert known is not None
            assert known.prediction == prediction
