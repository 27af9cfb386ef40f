"""A service: nothing acknowledged is lost, nothing is learned twice, restarts are exact."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.base.model_file import dumps
from noregret.errors import BadExample, NoRegretError
from noregret.service import Conflict, Expired, Service, Stopped, UnknownId

LEARNERS = [nr.Auto(), nr.Auto("logistic"), nr.WidrowHoff(rate=0.1), nr.Vaw(), nr.Perceptron()]


def example(k: int) -> dict[str, Any]:
    return {"size": (k % 7) / 3, "city": "Oslo" if k % 2 else "Rome", f"rare{k % 5}": 0.5}


def outcome(learner: Any, k: int) -> Any:
    return bool(k % 3) if learner.engine.loss.labels else k % 3 - 0.25


class Clock:
    """A clock that shows what it is told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def relearn(plain: Any, x: Any, y: Any, made: int, score: float, note: bytes) -> None:
    """Learn as a service does: late outcomes by what was served."""
    late = plain.engine.weighs_late or getattr(plain.engine, "steps_late", False)
    if plain.rounds > made and late:
        plain._entry.learn_late(x, y, score, note)
    else:
        plain.learn_one(x, y)


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_restarts_are_exact(learner: Any, tmp_path: Path) -> None:
    """Labels come in any order, and the service is reopened in between, closed or not."""
    draw, plain, waiting = random.Random(3), learner.clone(), list[int]()
    paid, said = 0.0, dict[int, tuple[int, float, bytes]]()
    service = Service(learner, tmp_path / "s.db", snapshot_every=7)
    for k in range(60):
        x = example(k)
        said[k] = plain.rounds, *plain._entry.decide_noting(x)
        unknown = plain.engine.loss.labels and not plain.rounds
        expected = None if unknown else plain.predict_one(x)
        assert service.predict(x, id=f"e{k}").prediction == expected
        waiting.append(k)
        while waiting and draw.random() < 0.55:
            done = waiting.pop(draw.randrange(len(waiting)))
            service.label(f"e{done}", outcome(learner, done))
            relearn(plain, example(done), outcome(learner, done), *said[done])
        if k % 9 == 5:
            service.journal.close()  # as a crash would
            service = Service(learner, tmp_path / "s.db", snapshot_every=7)
        elif k % 9 == 8:
            paid = service.metrics()["loss"]
            service.close()
            service = Service(None, tmp_path / "s.db", snapshot_every=7)
            assert service.metrics()["loss"] == pytest.approx(paid, rel=1e-12)
        assert dumps(service.learner) == dumps(plain)
    found = service.metrics()
    assert (found["predictions"], found["pending"]) == (60, len(waiting))
    assert found["labels"] == plain.rounds
    assert found["late_labels"] > 0
    service.close()


def test_the_loss_is_that_of_the_served_predictions(tmp_path: Path) -> None:
    learner, served, delay = nr.WidrowHoff(rate=0.1), list[tuple[float, float]](), 0
    with Service(learner, tmp_path / "s.db") as service:
        for k in range(30):
            answer = service.predict(example(k), id=str(k))
            served.append((answer.prediction, outcome(learner, k)))
            if k >= 4:
                service.label(str(k - 4), outcome(learner, k - 4))
                delay += min(4, k - 4)
        found = service.metrics()
    assert found["loss"] == pytest.approx(sum((p - y) ** 2 for p, y in served[:26]), rel=1e-12)
    assert found["delay"] == delay
    assert found["late_labels"] == 25
    assert found["rmse"] == pytest.approx((found["loss"] / 26) ** 0.5)


def test_a_request_counts_once(tmp_path: Path) -> None:
    with Service(nr.Auto("logistic"), tmp_path / "s.db") as service:
        for _ in range(2):
            first = service.predict(example(1), id="a")
            assert service.predict(example(1), id="a") == first
            assert first.chances is not None
            assert service.label("a", True).prediction == first.prediction
            together = service.learn(example(2), False, id="b")
            assert service.learn(example(2), False, id="b") == together
        with pytest.raises(Conflict):
            service.predict(example(3), id="a")
        with pytest.raises(Conflict):
            service.label("a", False)
        with pytest.raises(Conflict):
            service.learn(example(2), True, id="b")
        with pytest.raises(Conflict):
            service.predict(example(2), id="b")
        with pytest.raises(Conflict):
            service.learn(example(1), True, id="a")
        found = service.metrics()
        assert (found["predictions"], found["labels"], found["pending"]) == (2, 2, 0)
        assert (found["repeated"], found["refused"]["conflict"]) == (7, 5)
        assert service.learner.rounds == 2


def test_labels_without_prediction_and_too_late(tmp_path: Path) -> None:
    clock = Clock()
    with Service(nr.Nlms(), tmp_path / "s.db", ttl=60, clock=clock) as service:
        with pytest.raises(UnknownId, match="predict with this id first"):
            service.label("a", 1.0)
        service.predict(example(1), id="a")
        service.predict(example(1), id="b")
        clock.now += 60
        service.label("a", 1.0)
        clock.now += 1
        with pytest.raises(Expired, match="61 s after"):
            service.label("b", 1.0)
        clock.now = 0.0  # backwards: time stands still
        service.predict(example(1), id="c")
        service.label("c", 1.0)
        with pytest.raises(Expired):
            service.label("b", 1.0)
        assert service.metrics()["refused"] == {
            "invalid": 0, "conflict": 0, "unknown": 1, "expired": 2,
        }  # fmt: skip
        assert service.learner.rounds == 2


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ({"a": float("inf")}, 1.0),
        ({"a": [1]}, 1.0),
        ({1: 1.0}, 1.0),
        ("text", 1.0),
        ({"a": 1.0}, float("inf")),
        ({"a": 1.0}, "yes"),
        ({"a": 1.0}, None),
        ({"a": object()}, 1.0),
        ({"a": b"bytes"}, 1.0),
        ({"a": "\ud800"}, 1.0),
    ],
)
def test_bad_requests_change_nothing(x: Any, y: Any, tmp_path: Path) -> None:
    with Service(nr.WidrowHoff(rate=0.1), tmp_path / "s.db") as service:
        service.learn({"a": 1.0}, 1.0)
        before = dumps(service.learner)
        with pytest.raises((NoRegretError, TypeError, ValueError)) as refused:
            service.learn(x, y, id="x")
        assert "JSON" not in str(refused.value)
        with pytest.raises((BadExample, UnknownId, TypeError, ValueError)):
            service.label("x", y)
        assert dumps(service.learner) == before
        assert service.metrics()["predictions"] == 1


def grow(service: Service) -> None:
    for k in range(40):
        service.learn({"a": 1e5}, (-1.0) ** k, id=str(k))


def test_a_step_that_diverges_is_refused_and_not_in_the_journal(tmp_path: Path) -> None:
    with Service(nr.WidrowHoff(rate=0.9), tmp_path / "s.db") as service:
        with pytest.raises(NoRegretError):
            grow(service)
        before = dumps(service.learner)
    with Service(None, tmp_path / "s.db") as service:
        assert dumps(service.learner) == before


def test_a_failed_commit_stops_the_service(tmp_path: Path, monkeypatch: Any) -> None:
    service = Service(nr.Nlms(), tmp_path / "s.db")
    service.learn({"a": 1.0}, 2.0, id="kept")
    before = dumps(service.learner)

    def fail() -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(service.journal, "commit", fail)
    with pytest.raises(Stopped, match="disk I/O error"):
        service.learn({"a": 1.0}, 3.0, id="lost")
    with pytest.raises(Stopped):
        service.predict({"a": 1.0})
    with pytest.raises(Stopped):
        service.certificate()
    service.close()
    with Service(None, tmp_path / "s.db") as again:
        assert dumps(again.learner) == before
        assert again.learn({"a": 1.0}, 3.0, id="lost").seq == 2


def test_threads_share_commits_and_every_event_counts_once(tmp_path: Path) -> None:
    service = Service(nr.Nlms(), tmp_path / "s.db", snapshot_every=10)
    answers: list[Any] = []

    def work(name: int) -> None:
        for k in range(15):
            x = {"a": name / 10, "b": float(k)}
            for _ in range(2):  # every request is sent twice
                answers.append(service.predict(x, id=f"{name}-{k}").seq)
                service.label(f"{name}-{k}", float(k))

    threads = [threading.Thread(target=work, args=[name]) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    plain = nr.Nlms()
    for event in service.journal.learned():
        plain.learn_one(json.loads(event.x), json.loads(event.y or ""))
    assert sorted(set(answers)) == list(range(1, 121))
    assert dumps(plain) == dumps(service.learner)
    assert plain.rounds == 120
    service.close()


def test_certificate_of_what_was_served(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    with Service(nr.WidrowHoff(rate=0.1), tmp_path / "s.db") as service:
        for k in range(50):
            x = {"a": rng.uniform(-0.7, 0.7), "b": rng.uniform(-0.7, 0.7)}
            service.predict(x, id=str(k))
            service.label(str(k), x["a"] - x["b"])
        certificate = service.certificate()
        assert certificate.loss.total == pytest.approx(service.metrics()["loss"], rel=1e-12)
        assert certificate.theorem is not None
        assert certificate.theorem.holds
        service.export(tmp_path / "rows.jsonl")
        assert nr.verify(certificate, tmp_path / "rows.jsonl", target="y").confirmed
        lines = (tmp_path / "rows.jsonl").read_text().splitlines()
        changed = json.loads(lines[7])
        changed["a"] += 1e-6
        lines[7] = json.dumps(changed)
        (tmp_path / "rows.jsonl").write_text("\n".join(lines))
        assert not nr.verify(certificate, tmp_path / "rows.jsonl", target="y").confirmed
        with pytest.raises(NoRegretError, match="feature called 'a'"):
            service.export(tmp_path / "rows.jsonl", target="a")
        service.predict({"a": 0.1}, id="slow")
        service.learn({"a": 0.1}, 0.1)
        service.label("slow", 0.2)
        late = service.certificate()
        assert late.data.rounds == 52
        assert late.theorem is not None
        assert late.theorem.name == "delayed-gradient"


@pytest.mark.parametrize(
    "examples",
    [
        [{"city": "Oslo"}, {"city": ""}, {"city": "Rome"}],
        [{"n": 1.0}, {"n": "12"}, {"n": True}, {"n": "12"}],
        [{"a": "x"}, {"a": 1.0}, {"a=x": "y"}, {"a=x=y": 2.0}],
        [[1.0, 2.0, 0.5], [0.0, 1.0, 3.0]],
    ],
)
def test_all_that_is_accepted_can_be_verified(examples: list[Any], tmp_path: Path) -> None:
    """One odd client does not spoil the certificate of all."""
    with Service(nr.Nlms(), tmp_path / "s.db") as service:
        for k, x in enumerate(examples):
            service.learn(x, float(k))
        service.export(tmp_path / "rows.jsonl")
        certificate = service.certificate()
        assert certificate.loss.total == pytest.approx(service.metrics()["loss"], rel=1e-12)
        assert nr.verify(certificate, tmp_path / "rows.jsonl", target="y").confirmed


def test_lists_of_numbers_are_examples(tmp_path: Path) -> None:
    plain = nr.Nlms()
    with Service(nr.Nlms(), tmp_path / "s.db") as service:
        for k in range(5):
            row = np.array([k, 1.0, k / 3])
            service.learn(row if k % 2 else row.tolist(), np.float64(k))
            plain.learn_one(row, float(k))
        service.journal.close()
    with Service(None, tmp_path / "s.db") as service:
        assert dumps(service.learner) == dumps(plain)


def test_what_cannot_be_served_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="such as Auto"):
        Service(nr.Nlms, tmp_path / "s.db")
    with pytest.raises(NoRegretError, match="there is no journal"):
        Service(None, tmp_path / "s.db")
    with Service(nr.Nlms(), tmp_path / "s.db") as service:
        with pytest.raises(NoRegretError, match="in use by another service"):
            Service(nr.Nlms(), tmp_path / "s.db")
        with pytest.raises(TypeError, match="256 characters"):
            service.predict({"a": 1.0}, id="x" * 257)
    with pytest.raises(NoRegretError, match="use another store"):
        Service(nr.WidrowHoff(), tmp_path / "s.db")
    with pytest.raises(Stopped, match="closed"):
        service.predict({"a": 1.0})
    (tmp_path / "text.db").write_text("no database " * 1000)
    with pytest.raises(NoRegretError, match="not a journal"):
        Service(nr.Nlms(), tmp_path / "text.db")
    with pytest.raises(NoRegretError, match="a folder, not"):
        Service(nr.Nlms(), tmp_path)
    assert not (tmp_path / "typo.db").exists()
    with pytest.raises(NoRegretError, match="no folder"):
        Service(nr.Nlms(), tmp_path / "nowhere" / "s.db")
    nr.Groups(nr.Nlms()).save(tmp_path / "groups")
    with pytest.raises(NoRegretError, match="not a journal"):
        Service(nr.Nlms(), tmp_path / "groups")


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE blocks SET data = replace(data, x'34', x'35') WHERE last = 3",
        "UPDATE blocks SET data = x'00' WHERE last = 3",
        "UPDATE blocks SET seal = x'00' WHERE last = 3",
        "UPDATE blocks SET data = (SELECT data FROM blocks WHERE last = 2),"
        " seal = (SELECT seal FROM blocks WHERE last = 2) WHERE last = 3",
        "DELETE FROM blocks WHERE last = 3",
        "DELETE FROM blocks WHERE last = 5",
        "UPDATE blocks SET last = 90 WHERE last = 5",
        "UPDATE models SET model = x'00'",
        "UPDATE models SET learned = learned + 1",
        "DROP TABLE blocks",
    ],
)
def test_changed_labels_are_found(change: str, tmp_path: Path) -> None:
    service = Service(nr.Nlms(), tmp_path / "s.db")
    for k in range(5):
        service.learn({"a": float(k + 40)}, 1.0, id=str(k))
    service.journal.close()
    with sqlite3.connect(tmp_path / "s.db") as rows:
        rows.execute(change)
    rows.close()
    if change == "DELETE FROM blocks WHERE last = 5":  # a journal as it was one event earlier
        with Service(None, tmp_path / "s.db") as service:
            assert service.labels == 4
        return
    with pytest.raises(NoRegretError, match="damaged"):
        Service(None, tmp_path / "s.db")


def test_labels_before_a_snapshot_are_checked_for_certificates(
    tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr("noregret.service.ids.MAX_RECENT", 1)  # so that opening reads none of them
    with Service(nr.Nlms(), tmp_path / "s.db") as service:
        for k in range(5):
            service.learn({"a": float(k)}, 1.0, id=str(k))
    with sqlite3.connect(tmp_path / "s.db") as rows:
        rows.execute("UPDATE blocks SET data = x'00' WHERE last = 3")
    rows.close()
    with Service(None, tmp_path / "s.db") as service:
        with pytest.raises(NoRegretError, match="entries up to 3"):
            service.certificate()
        with pytest.raises(NoRegretError, match="entries up to 3"):
            service.export(tmp_path / "rows.jsonl")
    assert not (tmp_path / "rows.jsonl").exists()


def test_ids_are_found_wherever_they_are(tmp_path: Path, monkeypatch: Any) -> None:
    """Of many runs, merged ones among them, after restarts, and when digests collide."""
    monkeypatch.setattr("noregret.service.ids.MAX_RECENT", 16)
    monkeypatch.setattr("noregret.service.ids.MERGED", 3)
    monkeypatch.setattr("noregret.service.ids.PAGE", 4)
    monkeypatch.setattr("noregret.service.ids.MAX_LOADED", 2)
    monkeypatch.setattr("noregret.service.journal.MAX_WAITING", 5)
    plain = nr.Nlms()
    service = Service(nr.Nlms(), tmp_path / "s.db", snapshot_every=50)
    for k in range(200):
        if k == 150:
            monkeypatch.setattr("noregret.service.ids.digest_of", len)
            service.close()
            service = Service(None, tmp_path / "s.db", snapshot_every=50)
        name = f"{'x' * (k > 149)}{k}"
        first = service.predict(example(k), id=name)
        assert service.predict(example(k), id=name) == first
        if k >= 60 and k < 140:  # later than it is in memory
            assert (
                service.label(str(k - 60), k % 3).prediction
                == service.predict(example(k - 60), id=str(k - 60)).prediction
            )
            plain.learn_one(example(k - 60), k % 3)
        if k % 40 == 39:
            service.journal.close()
            service = Service(None, tmp_path / "s.db", snapshot_every=50)
    assert dumps(service.learner) == dumps(plain)
    assert len({level for _, level in service.journal.ids.runs}) > 1
    for k in range(150, 200):
        with pytest.raises(Conflict):
            service.predict({"a": 9.0}, id=f"x{k}")
    assert (service.metrics()["predictions"], service.metrics()["labels"]) == (200, 80)
    service.close()


def test_a_fork_is_refused(tmp_path: Path) -> None:
    with Service(nr.Nlms(), tmp_path / "s.db") as service:
        child = os.fork()
        if not child:
            try:
                service.predict({"a": 1.0})
            except Stopped:
                os._exit(7)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert service.learn({"a": 1.0}, 1.0).seq == 1
