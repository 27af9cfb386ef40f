"""Models by key and of several classes, snapshots and retention."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.base.model_file import dumps
from noregret.proof.game.served_loss import learn_late, noted
from noregret.service import Conflict, NotCertified, Request, Service, UnknownId
from tests.thorough import sized

CLASSES = ("tea", "coffee", "milk")


def example(k: int) -> dict[str, Any]:
    return {"a": (k % 7) / 7, "hour": str(k % 3)}


@pytest.mark.parametrize("resident", [1, 3, 1000])
def test_each_key_has_the_model_of_its_own_rows_whatever_is_in_memory(
    resident: int, tmp_path: Path
) -> None:
    draw, keys, count = random.Random(2), sized(12, full=10_000), sized(150, full=40_000)
    many = sized(2, full=200)  # predictions per transaction at most: the disk takes the most time
    plain: dict[str | None, Any] = {}
    options: Any = {"snapshot_every": 17 * max(1, keys // 100), "resident": resident}
    service = Service(nr.Nlms(), tmp_path / "s.db", **options)
    waiting: list[tuple[str, str | None, int]] = []
    names = [None, *(f"shop {n}" for n in range(keys))]
    requests, expected, size = list[Request](), list[float](), 1
    said: dict[str, float] = {}
    for k in range(count):
        key = draw.choice(names)
        learner = plain.setdefault(key, nr.Nlms())
        said[str(k)] = learner.predict_one(example(k))
        requests.append(Request("predict", str(k), example(k), key=key))
        expected.append(said[str(k)])
        waiting.append((str(k), key, k))
        if draw.random() < 0.8:
            name, key, n = waiting.pop(draw.randrange(len(waiting)))
            requests.append(Request("label", name, y=n % 5))
            expected.append(said[name])
            plain[key].learn_one(example(n), n % 5)
        if len(requests) >= size or k == count - 1:
            found = service.answer_many(requests)
            assert [reply.prediction for reply in found] == expected  # type: ignore[union-attr]
            assert len(service.models.live) <= resident
            requests, expected, size = [], [], draw.randint(1, many)
        if k % (count // 5) == 7:
            service.journal.close()  # as a crash would
            service = Service(None, tmp_path / "s.db", **options)
            assert len(service.models.live) <= max(resident, keys + 1)
    for key, learner in plain.items():
        assert dumps(service.models.get(key)) == dumps(learner)
    assert service.metrics()["labels"] == sum(each.rounds for each in plain.values())
    records = {each["key"]: each for each in service.keys(keys)}
    assert all(records[key]["labels"] == plain[key].rounds for key in plain if key is not None)
    service.close()


def test_a_certificate_of_one_key_is_of_its_rows_alone(tmp_path: Path) -> None:
    with Service(nr.WidrowHoff(rate=0.2), tmp_path / "s.db") as service:
        for k in range(40):
            service.learn({"a": (k % 5) / 5}, k % 3, key=f"shop {k % 2}")
        with pytest.raises(NotCertified, match="no label"):
            service.certificate()
        certificate = service.certificate(key="shop 1")
        service.export(tmp_path / "rows.jsonl", key="shop 1")
        assert certificate.data.rounds == 20
        assert certificate.theorem is not None
        assert certificate.theorem.holds  # interleaved labels of other keys are no delay
        assert nr.verify(certificate, tmp_path / "rows.jsonl", target="y").confirmed
        with pytest.raises(Conflict):
            service.predict({"a": 0.2}, id="x", key="shop 1") and service.predict(
                {"a": 0.2}, id="x", key="shop 2"
            )
        for bad in ("", "k" * 257, 7):
            with pytest.raises(TypeError, match="a key is a string"):
                service.predict({"a": 0.2}, key=bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "learner", [nr.Softmax(), nr.MulticlassPerceptron(), nr.MulticlassHinge(), nr.AutoClasses()],
    ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("delay", [0, 4])
def test_several_classes_are_served(learner: Any, delay: int, tmp_path: Path) -> None:
    plain, said = learner.clone(), list[Any]()
    service = Service(learner, tmp_path / "s.db", snapshot_every=7)
    for k in range(50):
        x = example(k)
        found = service.predict(x, id=str(k))
        said.append((*noted(plain, x), plain.rounds))
        assert found.prediction == plain.predict_one(x)
        if found.chances:
            assert sum(found.chances.values()) == pytest.approx(1.0)
            assert found.chances == pytest.approx(plain.predict_proba_one(x))
        if k >= delay:
            label = CLASSES[(k - delay) % 7 % 3]
            service.label(str(k - delay), label)
            score, note, made = said[k - delay]
            if plain.rounds > made:
                learn_late(plain, example(k - delay), label, score, note)
            else:
                plain.learn_one(example(k - delay), label)
    loss = service.metrics()["loss"]
    if not delay:
        assert loss == pytest.approx(plain.total_loss, rel=1e-9)
    service.journal.close()
    with Service(None, tmp_path / "s.db", snapshot_every=7) as again:
        assert dumps(again.learner) == dumps(plain)
        certificate = again.certificate()
        if delay and learner.engine.loss.name == "softmax":
            # The second prediction knew no class: it is a guess among three, and was among two.
            loss += math.log(3 / 2)
        assert certificate.loss.total == pytest.approx(loss, rel=1e-9)
        again.export(tmp_path / "rows.jsonl")
        assert nr.verify(certificate, tmp_path / "rows.jsonl", target="y").confirmed
        with pytest.raises(TypeError, match="a class is text"):
            again.learn(example(1), None)


def test_old_labels_are_removed_and_restarts_stay_exact(tmp_path: Path) -> None:
    now = [1000.0]
    options: Any = {"snapshot_every": 10, "retain": 15, "ttl": 60, "clock": lambda: now[0]}
    plain = nr.Nlms()
    service = Service(nr.Nlms(), tmp_path / "s.db", **options)
    for k in range(70):
        now[0] += 5
        service.predict(example(k), id=f"silent {k}")  # its label never comes
        service.learn(example(k), k % 4, id=str(k))
        plain.learn_one(example(k), k % 4)
        if k == 44:
            service.journal.close()
            service = Service(None, tmp_path / "s.db", **options)
    found = service.metrics()
    assert (found["predictions"], found["labels"]) == (140, 70)
    assert found["loss"] == pytest.approx(plain.total_loss, rel=1e-12)
    rows = [json.loads(event.y or "") for event in service.journal.learned()]
    assert 15 <= len(rows) < 15 + 10 + 1
    assert found["pending"] < 30
    with pytest.raises(NotCertified, match="were removed"):
        service.certificate()
    with pytest.raises(NotCertified, match="were removed"):
        service.export(tmp_path / "rows.jsonl")
    with pytest.raises(UnknownId):
        service.label("silent 0", 1.0)
    service.close()
    with Service(None, tmp_path / "s.db", **options) as again:
        assert dumps(again.learner) == dumps(plain)
        assert again.metrics()["loss"] == pytest.approx(plain.total_loss, rel=1e-12)


def test_predictions_before_the_first_label_that_is_kept_are_certified(tmp_path: Path) -> None:
    """No label is removed, so that nothing may be missing."""
    with Service(nr.Nlms(), tmp_path / "s.db", snapshot_every=3, retain=1) as service:
        for name in ("a", "b"):
            service.predict(example(1), id=name)
        service.answer_many([Request("learn", str(k), example(k), k) for k in range(3)])
        service.label("a", 2)
        found = service.certificate()
        service.export(tmp_path / "rows.jsonl")
    assert found.data.rounds == 4
    assert nr.verify(found, tmp_path / "rows.jsonl", target="y").confirmed


def test_old_predictions_with_a_recent_label_are_kept(tmp_path: Path) -> None:
    """The time to live of a prediction is over, but the journal retains its label."""
    now, store = [0.0], tmp_path / "s.db"
    options: Any = {"ttl": 10, "retain": 5, "snapshot_every": 2, "clock": lambda: now[0]}
    with Service(nr.Nlms(), store, **options) as service:
        service.challengers.add("other", nr.Auto())
        for k in range(12):
            service.predict(example(k), id=f"late {k}")
        for k in range(10):
            service.learn(example(k), 1.0, id=str(k))
        now[0] = 9
        for k in range(10):  # two never get theirs
            service.label(f"late {k}", 1.0)
        now[0] = 30
        for k in range(2):
            service.learn(example(k), 1.0, id=f"more {k}")
            service.predict(example(k), id=f"waits {k}")
        assert (service.pending, service.labels) == (2, 22)
        assert service.label("late 9", 1.0).id == "late 9"  # a retry
        assert len(list(service.journal.learned())) >= 5
        kept = service.journal.database.fetch("SELECT count(*) FROM shadows")
        assert kept[0][0] < 12  # what a challenger predicted is removed, too
        service.journal.close()
    with Service(None, store, **options) as again:
        assert (again.pending, again.labels) == (2, 22)
        again.label("waits 0", 2.0)
        assert again.pending == 1
