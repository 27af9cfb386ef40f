"""Labels of ``auto`` that come late: members are weighted by what they said."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from river import base, evaluate, linear_model, metrics, optim
from river.stream import simulate_qa

import noregret as nr
from noregret.base.model_file import dumps
from noregret.service import Service
from tests.auto.streams import Floats, auto, played, stream
from tests.service.offline import offline
from tests.service.test_postgres import server  # noqa: F401

FIXTURES = Path(__file__).parents[1] / "fixtures" / "journals"
CLASSES = ["low", "middle", "high"]


def rows_of(X: Floats) -> list[dict[str, float]]:
    return [{f"f{j}": float(value) for j, value in enumerate(x)} for x in X]


@pytest.mark.parametrize("loss", ["square", "logistic"])
@pytest.mark.parametrize("delay", [1, 6])
def test_a_constant_delay_is_that_of_the_parameter(loss: str, delay: int, tmp_path: Path) -> None:
    """A service whose labels come ``delay`` rounds late serves what ``Auto(delay)`` counts."""
    X, y = stream(7, 90, 3, loss)
    rows, outcomes = rows_of(X), y.tolist()
    told = auto(loss, delay=delay)
    expected = played(told, X, y)
    service = Service(auto(loss), tmp_path / "s.db", snapshot_every=20)
    for t, row in enumerate(rows):
        service.predict(row, id=str(t))
        event = service.journal.find(str(t))
        assert event is not None
        assert event.score == expected[t]
        if t >= delay:
            service.label(str(t - delay), outcomes[t - delay])
        if t % 30 == 29:
            service.journal.close()  # as a crash would
            service = Service(None, tmp_path / "s.db", snapshot_every=20)
    for t in range(90 - delay, 90):
        service.label(str(t), outcomes[t])
    assert service.loss == pytest.approx(told.total_loss, rel=1e-12)
    assert service.learner.total_loss == told.total_loss
    service.close()


def happenings(rounds: int, seed: int) -> Iterator[tuple[str, int]]:
    """Yield predictions, labels in any order, and some rows with their label at once."""
    draw, waiting, k = random.Random(seed), list[int](), 0
    while k < rounds or waiting:
        if k < rounds and (not waiting or draw.random() < 0.55):
            at_once = draw.random() < 0.15
            yield "learn" if at_once else "predict", k
            waiting += [] if at_once else [k]
            k += 1
        else:
            yield "label", waiting.pop(draw.randrange(len(waiting)))


def outcome(learner: Any, k: int) -> Any:
    if learner._of_classes:
        return CLASSES[(k * k) % 7 % 3]
    return bool((k * k) % 3) if learner.engine.loss.labels else (k * k) % 7 / 3


def example(k: int) -> dict[str, Any]:
    return {"size": (k % 7) / 3, "city": "Oslo" if k % 2 else "Rome", f"rare{k % 11}": 0.5}


def serve(service: Service, what: str, k: int, key: str | None = None) -> None:
    y = outcome(service.models.fresh, k)
    if what == "predict":
        service.predict(example(k), id=f"{key}-{k}", key=key)
    elif what == "label":
        service.label(f"{key}-{k}", y)
    else:
        service.learn(example(k), y, id=f"{key}-{k}", key=key)


LEARNERS = [nr.Auto(), nr.Auto("logistic"), nr.Auto("absolute", recent=False), nr.AutoClasses()]


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_any_delay_after_any_crash_is_an_offline_run_and_is_verified(
    learner: Any, tmp_path: Path
) -> None:
    """Also for models of keys, and a challenger in shadow."""
    store = tmp_path / "s.db"
    options: dict[str, Any] = {"snapshot_every": 25}
    service = Service(learner, store, **options)
    shadow = learner.clone() if learner._of_classes else nr.Auto(learner.loss, recent=False)
    for n, (what, k) in enumerate(happenings(45, 5)):
        if n == 20:
            service.challengers.add("shadow", shadow)
        serve(service, what, k)
        serve(service, what, k, "shop")
        if n % 30 == 29:
            service.journal.close()  # as a crash would
            service = Service(None, store, **options)
    assert service.late > 40
    for key in (None, "shop"):
        model = service.models.get(key)
        assert dumps(model) == dumps(offline(learner.clone(), service.journal, key))
    live = {name: dumps(each.get("shop")) for name, each in service.contenders.models.items()}
    certificate = service.certificate()
    assert certificate.loss.total == pytest.approx(service.learner.total_loss, rel=1e-9)
    assert "weighed-as-served-after=0" in certificate.data.transforms
    service.export(tmp_path / "rows.jsonl")
    service.journal.close()
    with Service(None, store, **options) as again:
        for name, each in again.contenders.models.items():
            assert dumps(each.get("shop")) == live[name]
    assert nr.verify(certificate, tmp_path / "rows.jsonl").confirmed
    check_changes(certificate, tmp_path)


def check_changes(certificate: Any, folder: Path) -> None:
    """Check that a changed value, label or order is found, and a claim of another way to learn."""
    lines = (folder / "rows.jsonl").read_text().splitlines(keepends=True)
    waits = [k for k, line in enumerate(lines) if "y" not in json.loads(line)]
    labels = [k for k, line in enumerate(lines) if "y" in json.loads(line)]
    at = next(k for k in waits[20:] if k + 1 in labels and '"id"' in lines[k + 1])
    for change in ("value", "label", "order"):
        other = list(lines)
        if change == "value":
            other[at] = json.dumps(json.loads(lines[at]) | {"size": 1.5}) + "\n"
        elif change == "label":
            one, two = (json.loads(lines[k]) for k in labels[20:40:19])
            same = one["y"] == two["y"]
            one["y"] = json.loads(lines[labels[21]])["y"] if same else two["y"]
            other[labels[20]] = json.dumps(one) + "\n"
        else:  # predicted after a label that it did not know
            other[at : at + 2] = [lines[at + 1], lines[at]]
        if other == lines:
            continue
        (folder / "other.jsonl").write_text("".join(other))
        try:
            assert not nr.verify(certificate, folder / "other.jsonl").confirmed, change
        except nr.NoRegretError:
            assert change == "order"  # a label before its prediction
    contents = certificate.to_dict()
    told = contents["data"]["transforms"]
    contents["data"]["transforms"] = [t for t in told if not t.startswith("weighed")]
    assert not nr.verify(contents, folder / "rows.jsonl").confirmed
    contents["data"]["transforms"] = [*told[:-1], "weighed-as-served-after=-1"]
    if told[-1].startswith("weighed"):
        with pytest.raises(nr.CertificateError, match="no number of predictions"):
            nr.verify(contents, folder / "rows.jsonl")


def test_both_databases_keep_the_same_notes(server: Any, tmp_path: Path) -> None:  # noqa: F811
    stores = [tmp_path / "s.db", server.address("late_members")]
    found = list[Any]()
    for store in stores:
        service = Service(nr.Auto(), store, snapshot_every=15, clock=lambda: 1.0)
        service.challengers.add("shadow", nr.Auto(recent=False))
        for n, (what, k) in enumerate(happenings(40, 6)):
            serve(service, what, k)
            if n == 33:
                service.journal.close()
                service = Service(None, store, snapshot_every=15, clock=lambda: 1.0)
        models = [dumps(each.get(None)) for each in service.contenders.models.values()]
        notes = [event.note for event in service.journal.learned()]
        found.append((models, notes, b"".join(service.exported())))
        service.close()
    assert found[0] == found[1]
    assert any(found[0][1])


def test_journals_without_notes_continue(tmp_path: Path) -> None:
    """Members learned late labels as if they had come in time; later predictions have notes."""
    store = tmp_path / "s.db"
    store.write_bytes(gzip.decompress((FIXTURES / "version_3.db.gz").read_bytes()))
    known = json.loads((FIXTURES / "version_3.json").read_text())

    def digests(service: Service) -> dict[str, str]:
        models = {n: dumps(each.get(None)) for n, each in service.contenders.models.items()}
        return {n: hashlib.blake2b(m, digest_size=16).hexdigest() for n, m in models.items()}

    rows = [{"a": a / 4, "b": b / 2} for a in range(-3, 4) for b in range(3)]
    for _ in range(2):
        with Service(None, store) as service:
            for name, each in service.contenders.models.items():
                says = [each.get(None).predict_one(row) for row in rows]
                # Replayed on another processor, they differ in the last digits.
                assert says == pytest.approx(known["models"][name], rel=1e-9)
            assert (service.late, service.delay, service.loss) == (
                known["late"], known["delay"], known["loss"],
            )  # fmt: skip
            events = [[e.id, e.learned, e.made, e.loss, e.round] for e in service.journal.learned()]
            assert events == known["learned"]
            assert b"".join(service.exported()).decode() == known["rows"]
            service.journal.close()  # as a crash would
    (tmp_path / "rows.jsonl").write_text(known["rows"])
    # Certificates of then are still confirmed,
    assert nr.verify(known["certificate"], tmp_path / "rows.jsonl").confirmed
    with Service(None, store, snapshot_every=1000) as service:
        for k in range(30):
            service.predict({"a": (k % 5) / 5, "b": k % 3 / 2}, id=f"n{k}")
            if k >= 4:
                service.label(f"n{k - 4}", (k % 4) / 2)
            if k % 7 == 2:
                service.label(known["waiting"][k // 7], 0.5)
        live = digests(service)
        certificate = service.certificate()
        service.export(tmp_path / "rows.jsonl")
        total = service.loss
        service.journal.close()
    with Service(None, store) as again:
        assert digests(again) == live
    # and those of now say from which late prediction on members are weighted by notes.
    assert certificate.data.transforms[-1] == f"weighed-as-served-after={known['late'] + 4}"
    assert certificate.loss.total == pytest.approx(total, rel=1e-9)
    assert nr.verify(certificate, tmp_path / "rows.jsonl").confirmed


# River's delayed progressive validation reveals row i before it asks for row i + delay.


class Behind(base.Regressor):  # type: ignore[misc]
    """A service with River's methods: the field ``round`` is the id."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.asked: list[tuple[str, int]] = []
        self.said: list[float] = []

    def predict_one(self, x: dict[str, Any]) -> float:
        rest = {name: value for name, value in x.items() if name != "round"}
        self.asked.append(("predict", x["round"]))
        self.said.append(self.service.predict(rest, id=str(x["round"])).prediction)
        return self.said[-1]

    def learn_one(self, x: dict[str, Any], y: float) -> None:
        self.asked.append(("label", x["round"]))
        self.service.label(str(x["round"]), y)


def test_a_plain_learner_serves_what_river_predicts(tmp_path: Path) -> None:
    """Linear regression by AdaGrad, in the order of River's own validation."""
    X, y = stream(9, 150, 4)
    rows = [row | {"round": t} for t, row in enumerate(rows_of(X))]
    theirs = linear_model.LinearRegression(optim.AdaGrad(0.3, eps=0.0), intercept_lr=0.0)
    said = list[float]()
    for _, x, came in simulate_qa(zip(rows_of(X), y.tolist(), strict=True), None, 8):
        if came is None:
            said.append(theirs.predict_one(x))
        else:
            theirs.learn_one(x, came)
    with Service(nr.Adagrad(rate=0.3), tmp_path / "s.db", snapshot_every=20) as service:
        ours, metric = Behind(service), metrics.MSE()
        evaluate.progressive_val_score(zip(rows, y.tolist(), strict=True), ours, metric, delay=8)
    np.testing.assert_allclose(ours.said, said, rtol=1e-9, atol=1e-9)
    assert metric.get() == pytest.approx(np.mean((np.array(said) - y) ** 2), rel=1e-9)


def test_auto_is_played_in_the_order_of_rivers_validation(tmp_path: Path) -> None:
    """Of River's delay, one round is the usual one: the rest are unknown outcomes."""
    X, y = stream(9, 120, 3)
    rows = [row | {"round": t} for t, row in enumerate(rows_of(X))]
    told = auto(delay=6)
    expected = played(told, X, y)
    with Service(nr.Auto(), tmp_path / "s.db", snapshot_every=20) as service:
        ours, metric = Behind(service), metrics.MSE()
        evaluate.progressive_val_score(zip(rows, y.tolist(), strict=True), ours, metric, delay=7)
        asked = [
            ("predict" if starts else "label", int(event.id))
            for event, starts, _ in service.journal.played()
        ]
    assert ours.said == expected.tolist()
    assert ours.asked == asked
    assert asked[:9] == [*(("predict", t) for t in range(7)), ("label", 0), ("predict", 7)]
    assert metric.get() == pytest.approx(told.total_loss / 120, rel=1e-12)
