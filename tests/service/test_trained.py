"""A model that was trained before is served: it goes on, and its certificate names the start."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.app.cli.app import run as command
from noregret.base.model_file import described, digest_of, dumps, load, loads, write
from noregret.errors import CertificateError, NoRegretError
from noregret.service import Service, ServiceError
from noregret.streams import prepared

LEARNERS: dict[str, Any] = {
    "nlms": nr.Nlms,
    "auto": nr.Auto,
    "logistic": lambda: nr.Auto("logistic"),
    "classes": nr.AutoClasses,
    "softmax": nr.Softmax,
    "gradient-descent": lambda: nr.GradientDescent(rate=0.01),
    "averaged": lambda: nr.averaged(nr.GradientDescent(rate=0.01)),
    "forest": nr.MondrianForest,
    "raw": lambda: prepared(nr.Auto(), text="remark"),
    "hashed": lambda: prepared(nr.Nlms(), hash=6),
}


def example(k: int, raw: bool) -> dict[str, Any]:
    """Return a row."""
    x: dict[str, Any] = {"a": k % 7 / 7, "b": k % 3 / 3, f"c{k % 2 + k // 40}": 1.0}
    return x | {"remark": "warm and late" if k % 2 else "cold", "day": "2024-01-02"} if raw else x


def outcome(learner: Any, k: int) -> Any:
    """Return its outcome; a class of its own comes late."""
    if learner._of_classes:
        return ("low", "high", "late")[k % 2 if k < 60 else k % 3]
    return k % 2 if learner.engine.loss.labels else k % 5 / 5


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("name", LEARNERS)
def test_a_trained_model_goes_on(name: str, late: bool, tmp_path: Path) -> None:
    """Bit for bit as alone; ``verify`` confirms the certificate with the model it started from."""
    learner, raw = LEARNERS[name](), name in ("raw", "hashed")
    for k in range(40):
        learner.learn_one(example(k, raw), outcome(learner, k))
    learner.save(tmp_path / "start.model")
    start, before = load(tmp_path / "start.model"), dumps(learner)
    assert digest_of(start) == digest_of(learner)
    with Service(start, tmp_path / "s.db", snapshot_every=11) as service:
        for k in range(40, 100):
            service.predict(example(k, raw), id=str(k))
            if not late:
                service.label(str(k), outcome(learner, k))
                learner.learn_one(example(k, raw), outcome(learner, k))
            elif k >= 43:
                service.label(str(k - 3), outcome(learner, k - 3))
        if not late:
            assert dumps(service.learner) == dumps(learner)
        assert dumps(start) == before
        assert service.start is not None
        assert dumps(service.start) == before
        certificate = service.certificate()
        service.export(tmp_path / "rows.jsonl")
        service.journal.close()  # as if it was killed
    assert certificate.data.rounds == (57 if late else 60)
    assert certificate.start is not None
    assert (certificate.start.rounds, certificate.start.digest) == (40, digest_of(start))
    assert certificate.theorem is None or certificate.theorem.bound is None
    assert all(each.bound is None for each in certificate.further)
    certificate.save(tmp_path / "c.json")
    rows, model = tmp_path / "rows.jsonl", tmp_path / "start.model"
    found = nr.verify(tmp_path / "c.json", rows, start=model)
    assert found.confirmed, str(found)
    assert not nr.verify(tmp_path / "c.json", rows).confirmed
    with Service(start, tmp_path / "s.db") as service:  # the same start as before
        assert service.labels == certificate.data.rounds
        assert service.certificate().to_json() == certificate.to_json()


def test_the_field_of_ids_is_not_free_text(tmp_path: Path) -> None:
    """Where all outcomes came at once, no line has it: only the usual name is confirmed."""
    start = nr.Nlms()
    start.learn_one({"a": 1.0}, 2.0)
    with Service(start, tmp_path / "s.db") as service:
        service.learn({"a": 0.5}, 1.0)
        stated = service.certificate()
        service.export(tmp_path / "rows.jsonl", "y")
    assert "labels-by=id" in stated.data.transforms
    assert nr.verify(stated, tmp_path / "rows.jsonl", target="y", start=start).confirmed
    claims = tuple(t.replace("=id", "=audited by X") for t in stated.data.transforms)
    odd = replace(stated, data=replace(stated.data, transforms=claims))
    with pytest.raises(CertificateError, match="no line has the field 'audited by X'"):
        nr.verify(odd, tmp_path / "rows.jsonl", target="y", start=start)


def test_another_start_is_found(tmp_path: Path) -> None:
    """By ``verify``, and when a store is opened again."""
    ones = [trained(nr.Nlms(), k) for k in (10, 11)]
    with Service(ones[0], tmp_path / "s.db") as service:
        for k in range(5):
            service.learn({"a": k / 5}, k % 2)
        certificate = service.certificate()
        service.export(tmp_path / "rows.jsonl")
    rows = tmp_path / "rows.jsonl"
    assert nr.verify(certificate, rows, start=ones[0]).confirmed
    assert not nr.verify(certificate, rows, start=ones[1]).confirmed
    with pytest.raises(CertificateError, match="it is about Nlms"):
        nr.verify(certificate, rows, start=trained(nr.WidrowHoff(), 10))
    for other in (ones[1], nr.Nlms()):
        with pytest.raises(ServiceError, match="trained before, for 10 rounds"):
            Service(other, tmp_path / "s.db")
    with Service(nr.Nlms(), tmp_path / "plain.db"):
        pass
    with pytest.raises(ServiceError, match="it began with an untrained model"):
        Service(ones[0], tmp_path / "plain.db")


def test_a_start_may_not_be_hidden_where_no_theorem_tells_of_it(tmp_path: Path) -> None:
    start = nr.PassiveAggressive("pa-ii")
    for k in range(20):
        start.learn_one({"a": k / 5}, k % 2)
    with Service(start, tmp_path / "s.db") as service:
        for k in range(20):
            service.learn({"a": k / 5}, k % 2)
        certificate = service.certificate()
        service.export(tmp_path / "rows.jsonl")
    assert certificate.theorem is None
    assert nr.verify(certificate, tmp_path / "rows.jsonl", start=start).confirmed
    hidden = nr.verify(replace(certificate, start=None), tmp_path / "rows.jsonl", start=start)
    assert [line.name for line in hidden.failed] == ["learner.start"]


def test_a_start_that_hides_the_loss_after_it_is_refused(tmp_path: Path) -> None:
    """A model that says it learned nothing, or has a loss that swallows what is added to it."""
    rows = [({"a": k % 3}, k % 2) for k in range(20)]
    header, arrays = described(trained(nr.WidrowHoff(), 20))
    numbers = header["numbers"]
    odds: list[tuple[dict[str, Any], str]] = [
        ({"rounds": 0}, "has learned nothing"),
        ({"loss_sum": (1e18).hex(), "loss_rest": (0.0).hex()}, "cannot be told"),
        ({"loss_sum": (1e18).hex(), "loss_rest": (-1e18).hex()}, "cannot be told"),
        ({"loss_sum": (1e12).hex(), "loss_rest": (-1e12).hex()}, "cannot be told"),
    ]
    for odd, why in odds:
        rounds = odd if "rounds" in odd else {}
        write(tmp_path / "odd", header | rounds | {"numbers": numbers | odd}, arrays)
        start = load(tmp_path / "odd")
        certificate = nr.play(start.copy(), rows).certificate()
        with pytest.raises(CertificateError, match=why):
            nr.verify(certificate, rows, start=start)
    start = trained(nr.WidrowHoff(), 20)
    certificate = nr.play(start.copy(), rows).certificate()
    assert nr.verify(certificate, rows, start=start).confirmed


def test_keys_start_from_the_model_and_are_evicted(tmp_path: Path) -> None:
    """A model per key is that of a service of its own; eviction changes nothing."""
    start = trained(nr.Nlms(), 20)
    alone = {key: start.copy() for key in "abc"}
    with Service(start, tmp_path / "s.db", resident=1) as service:
        assert service.predict({"a": 0.5}, key="a").prediction == start.predict_one({"a": 0.5})
        for k in range(60):
            key = "abc"[k % 3]
            service.learn({"a": k % 7 / 7}, k % 2, key=key)
            alone[key].learn_one({"a": k % 7 / 7}, k % 2)
        for key, learner in alone.items():
            assert dumps(service.models.get(key)) == dumps(learner)
        certificate = service.certificate(key="b")
        service.export(tmp_path / "rows.jsonl", key="b")
    assert certificate.data.rounds == 20
    assert nr.verify(certificate, tmp_path / "rows.jsonl", start=start).confirmed


def test_a_trained_challenger_plays_on(tmp_path: Path) -> None:
    """Also after a crash, and once it serves."""
    better, path = trained(nr.Nlms(), 20), tmp_path / "s.db"
    alone = better.copy()
    service = Service(nr.WidrowHoff(rate=0.01), path, snapshot_every=7)
    service.challengers.add("better", better)
    for k in range(30):
        service.learn({"a": k % 7 / 7}, k % 2)
        alone.learn_one({"a": k % 7 / 7}, k % 2)
        if k == 17:
            service.journal.close()
            service = Service(None, path, snapshot_every=7)
        if k == 24:
            service.challengers.promote("better")
    assert dumps(service.learner) == dumps(alone)
    service.close()


def test_labels_have_the_names_of_a_file(tmp_path: Path) -> None:
    """A model that a command has trained takes raw rows and labels as they are in its file."""
    rows = "".join(
        f"2024-01-{k % 28 + 1:02},{k % 9},{'no' if k % 3 else 'yes'}\n" for k in range(90)
    )
    (tmp_path / "f.csv").write_text("day,amount,fraud\n" + rows)
    model = str(tmp_path / "fraud.model")
    arguments = ["--target", "fraud", "--learner", "auto", "--model", model, "--quiet"]
    assert command(["run", str(tmp_path / "f.csv"), *arguments]) == 0
    start = load(model)
    with Service(start, tmp_path / "s.db") as service:
        service.challengers.add("plain", nr.Logistic())
        for k in range(30):
            x = {"day": f"2024-02-{k % 28 + 1:02}", "amount": k % 9}
            assert service.predict(x, id=str(k)).prediction in ("yes", "no")
            service.label(str(k), "no" if k % 3 else "yes")
            start.learn_one(x, "no" if k % 3 else "yes")
        with pytest.raises(NoRegretError, match="labels are 'no' and 'yes'"):
            service.learn(x, "maybe")
        assert dumps(service.learner) == dumps(start)
        assert service.challengers.comparison()["plain"]["rounds"] == 30
        certificate = service.certificate()
        service.export(tmp_path / "rows.jsonl", "fraud")
    certificate.save(tmp_path / "c.json")
    checked = [str(tmp_path / "c.json"), str(tmp_path / "rows.jsonl"), "--target", "fraud"]
    assert command(["verify", *checked, "--start", model]) == 0


def test_rows_that_only_the_model_understands_ask_for_it(tmp_path: Path) -> None:
    """A model of a file knows which of its columns hold numbers, and a new one does not."""
    rows = [f"{k % 9},{k % 3}" for k in range(60)]
    (tmp_path / "f.csv").write_text("\n".join(["amount,fee", *rows]) + "\n")
    model = str(tmp_path / "f.model")
    assert command(["run", str(tmp_path / "f.csv"), "--target", "fee", "--model", model, "-q"]) == 0
    with Service(load(model), tmp_path / "s.db") as service:
        for k, amount in enumerate(("3", 4, "5")):
            service.learn({"amount": amount}, k)
        certificate = service.certificate()
        service.export(tmp_path / "rows.jsonl", "fee")
    assert nr.verify(certificate, tmp_path / "rows.jsonl", target="fee", start=model).confirmed
    with pytest.raises(CertificateError, match=r"trained model at the start.*\(start=…\)"):
        nr.verify(certificate, tmp_path / "rows.jsonl", target="fee")


@pytest.mark.parametrize("name", LEARNERS)
def test_files_keep_their_digest(name: str) -> None:
    """A model that was written and read has the same digest."""
    learner, raw = LEARNERS[name](), name in ("raw", "hashed")
    for k in range(30):
        learner.learn_one(example(k, raw), outcome(learner, k))
    again = loads(dumps(learner), "again")
    assert digest_of(again) == digest_of(learner) == digest_of(again.copy())


def trained(learner: Any, rounds: int) -> Any:
    """Return a learner after some rounds."""
    for k in range(rounds):
        learner.learn_one({"a": k % 5 / 5}, k % 3)
    return learner
