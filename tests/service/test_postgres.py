"""A journal in PostgreSQL: the same answers and models, to the bit, as in SQLite."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.base.model_file import dumps
from noregret.errors import NoRegretError
from noregret.service import Conflict, Expired, Service, Stopped
from tests.app.serve.running import Server as Http
from tests.service.postgres_server import PostgresServer, started
from tests.thorough import sized


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    found = started()
    yield found
    found.close()


def example(k: int) -> dict[str, Any]:
    return {"a": (k % 7) / 3, "city": "Oslo" if k % 2 else "Rome"}


@pytest.mark.parametrize("learner", [nr.Auto(), nr.WidrowHoff(rate=0.1), nr.Softmax()], ids=repr)
def test_models_answers_and_exports_are_those_of_sqlite(
    learner: Any, server: PostgresServer, tmp_path: Path
) -> None:
    stores: list[Any] = [server.address(f"s_{learner.name.replace('-', '_')}"), tmp_path / "s.db"]
    found = []
    for store in stores:
        draw, waiting, answers, clock = random.Random(4), list[int](), [], iter(range(10**6))
        options: Any = {"snapshot_every": 7, "resident": 2, "clock": lambda c=clock: float(next(c))}
        service = Service(learner, store, **options)
        for k in range(50):
            key = None if k % 4 else f"shop {k % 3}"
            answers.append(service.predict(example(k), id=str(k), key=key))
            waiting.append(k)
            while waiting and draw.random() < 0.5:
                done = waiting.pop(draw.randrange(len(waiting)))
                y = "tea" if done % 3 else "milk"
                service.label(str(done), y if learner._of_classes else done % 5)
            if k % 20 == 11:
                service.journal.close()
                service = Service(None, store, **options)
        lines = b"".join(service.exported())
        models = [dumps(service.models.get(key)) for key in (None, "shop 0", "shop 1", "shop 2")]
        losses = [event.loss for event in service.journal.learned()]
        counts = [service.metrics()[name] for name in ("labels", "pending", "late_labels", "delay")]
        service.close()
        found.append((answers, lines, models, losses, counts))
    assert found[0] == found[1]


def test_a_store_has_one_service_at_a_time(server: PostgresServer) -> None:
    store = server.address("alone")
    with Service(nr.Nlms(), store, ttl=5, clock=iter([1.0, 2.0, 9.0, 9.0]).__next__) as service:
        with pytest.raises(NoRegretError, match="in use by another service"):
            Service(None, store)
        service.predict({"a": 1.0}, id="x")
        with pytest.raises(Conflict):
            service.predict({"a": 2.0}, id="x")
        service.label("x", 1.0)
        service.predict({"a": 1.0}, id="y")
        with Service(nr.Nlms(), server.address("another")) as other:
            assert other.metrics()["predictions"] == 0
    with Service(None, store, ttl=1e-9) as again:
        with pytest.raises(Expired):
            again.label("y", 1.0)
        assert again.metrics()["labels"] == 1


def test_bad_addresses_are_said(server: PostgresServer) -> None:
    with pytest.raises(NoRegretError, match="name of a schema"):
        Service(nr.Nlms(), server.address("x; DROP TABLE events"))
    with pytest.raises(NoRegretError, match="no connection") as refused:
        Service(nr.Nlms(), "postgresql://nobody:secret@127.0.0.1:1/none")
    assert "secret" not in str(refused.value)


def test_nothing_acknowledged_is_lost_if_postgresql_is_killed(server: PostgresServer) -> None:
    """It is killed at random moments under threads that repeat what was not acknowledged."""
    store, draw, kills, threads = server.address("killed"), random.Random(3), sized(2, full=40), 4
    told: list[dict[str, float]] = [{} for _ in range(threads)]
    service = Service(nr.Nlms(), store, snapshot_every=10)

    def learn(thread: int, service: Service) -> None:
        with suppress(Stopped):
            while True:  # the first was perhaps learned before the kill
                k = len(told[thread])
                reply = service.learn(example(k), k % 5, id=f"{thread}-{k}")
                told[thread][reply.id] = reply.prediction

    for _ in range(kills):
        workers = [threading.Thread(target=learn, args=[k, service]) for k in range(threads)]
        for each in workers:
            each.start()
        time.sleep(draw.uniform(0.02, 0.4))
        server.kill()
        for each in workers:
            each.join(60)
            assert not each.is_alive()
        service.close()
        server.start()
        service = Service(None, store, snapshot_every=10)
        plain, found = nr.Nlms(), dict[str, float]()
        for event in service.journal.learned():
            assert event.id not in found
            found[event.id] = event.prediction
            assert event.prediction == plain.predict_one(event.example)
            plain.learn_one(event.example, event.outcome)
        assert dumps(service.learner) == dumps(plain)
        known = {name: said for some in told for name, said in some.items()}
        assert known.items() <= found.items()
        assert len(found) <= len(known) + threads  # at most one each was not acknowledged
    assert len(known) > kills
    service.close()


def test_the_log_says_once_that_postgresql_is_gone(tmp_path: Path, server: PostgresServer) -> None:
    served = Http(tmp_path, "--learner", "vaw", "--store", server.address("gone"))
    body = {"x": {"a": 1.0}, "y": 2.0}
    assert served.post("/models/default/learn", body)[0] == 200
    server.kill()
    assert [served.post("/models/default/learn", body)[0] for _ in range(3)] == [503] * 3
    assert served.call("GET", "/readyz")[0] == 503
    served.process.send_signal(signal.SIGTERM)
    said = served.process.communicate(timeout=60)[1].splitlines()
    server.start()
    assert len(said) == 1
    assert "#gone" in said[0]
    assert "the journal could not be written (" in said[0]
    assert "status 503 until the server is started again" in said[0]
