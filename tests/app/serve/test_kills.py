"""A server that is killed at random moments under clients that try again."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from pathlib import Path
from typing import Any

import noregret as nr
from noregret.base.model_file import dumps
from noregret.service import Service
from tests.app.serve.running import Server
from tests.thorough import sized

KILLS, CLIENTS = sized(2, full=200), sized(8, full=32)
ARGUMENTS = ("--learner", "widrow-hoff", "-p", "rate=0.1", "--store", "s.db")


class Clients:
    """Threads that predict and label, and repeat each request until it is acknowledged."""

    def __init__(self) -> None:
        self.port, self.ended = 0, False
        self.answers: dict[str, Any] = {}  # of predictions that were acknowledged
        self.labelled: set[str] = set()  # and those whose label was
        self.failures: list[str] = []
        self.threads = [threading.Thread(target=self.work, args=[k]) for k in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def work(self, client: int) -> None:
        k = 0
        while not self.ended:
            name, k = f"{client}-{k}", k + 1
            x = {"a": (k % 11) / 11, "b": client / CLIENTS}
            answer = self.insist("predict", {"id": name, "x": x})
            if answer is None:
                return
            self.answers[name] = answer["prediction"]
            answer = self.insist("label", {"id": name, "y": (k % 5) / 5})
            if answer is None:
                return
            self.labelled.add(name)
            if answer["prediction"] != self.answers[name]:
                self.failures.append(f"{name}: another answer")

    def insist(self, action: str, body: Any) -> Any:
        """Return the answer to a request, however often it takes; None at the end."""
        while not self.ended:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
            try:
                headers = {"Content-Type": "application/json"}
                path = f"/models/default/{action}"
                connection.request("POST", path, json.dumps(body), headers)
                answer = connection.getresponse()
                text = answer.read()
                if answer.status == 200:
                    return json.loads(text)
                if answer.status != 503:
                    self.failures.append(f"{answer.status} {text!r}")
                    return None
            except (OSError, http.client.HTTPException):
                time.sleep(0.02)
            finally:
                connection.close()
        return None


def test_every_acknowledged_event_is_learned_once(tmp_path: Path) -> None:
    draw, clients = random.Random(7), None
    for kill in range(KILLS + 1):
        server = Server(tmp_path, *ARGUMENTS)
        if clients is None:
            clients = Clients()
        clients.port, before = server.port, len(clients.labelled)
        until = time.monotonic() + 30
        while len(clients.labelled) < before + 5 and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(draw.uniform(0, 0.3))
        if kill < KILLS:
            server.kill()
    assert clients is not None
    clients.ended = True
    for thread in clients.threads:
        thread.join(60)
    server.kill()
    assert clients.failures == []
    with Service(None, tmp_path / "s.db") as service:
        plain, seen = nr.WidrowHoff(rate=0.1), set[str]()
        for event in service.journal.learned():
            x, y = json.loads(event.x), json.loads(event.y or "")
            if event.delay:
                plain._entry.learn_late(x, y, event.score)
            else:
                plain.learn_one(x, y)
            seen.add(event.id)
        assert len(seen) == plain.rounds == service.labels
        assert clients.labelled <= seen
        assert len(clients.labelled) >= 5 * KILLS
        assert dumps(plain) == dumps(service.learner)
        for name, prediction in clients.answers.items():
            known = service.journal.find(name)
            assert known is not None
            assert known.prediction == prediction
