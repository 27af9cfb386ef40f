"""A prediction that knows no class, or not the one that came, is paid for like a guess."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.service import Service

LEARNERS = ["auto-classes", "softmax", "multiclass-hinge", "multiclass-perceptron"]


def made(name: str) -> Any:
    return nr.make(name)


def paid_in(path: Path, learner: Any) -> tuple[float, int]:
    """Return loss and mistakes of an export whose predictions all came before the first label."""
    labels = [json.loads(line)["y"] for line in path.read_text().splitlines() if '"y"' in line]
    late, classes = labels[1:], set(labels)  # the first round of any game pays nothing
    guess = {"softmax": math.log(len(classes)), "multiclass-mistake": 1.0}
    return len(late) * guess.get(learner.engine.loss.name, float(len(classes) > 1)), len(late)


@pytest.mark.parametrize("key", [None, "oslo"])
@pytest.mark.parametrize("order", ["abc" * 13, "a" * 38 + "b", "c" * 20 + "b" * 10 + "a" * 9])
@pytest.mark.parametrize("name", LEARNERS)
def test_predictions_without_a_known_class_pay_for_the_uniform_guess(
    tmp_path: Path, name: str, order: str, key: str | None
) -> None:
    with Service(made(name), tmp_path / "s.db") as service:
        for k in range(len(order)):
            assert service.predict({"x": 1.0}, id=str(k), key=key).prediction is None
        for k, y in enumerate(order):
            service.label(str(k), y)
        found = service.certificate(key=key)
        service.export(tmp_path / "rows.jsonl", key=key)
    loss, mistakes = paid_in(tmp_path / "rows.jsonl", made(name))
    assert found.loss.total == pytest.approx(loss, rel=1e-12)
    assert found.loss.mistakes == mistakes
    # The first round alone may pay less than the best: that of one more guess.
    first = loss / mistakes if found.hindsight.loss else 0.0
    assert found.loss.total - found.hindsight.loss >= -first - 1e-6
    assert nr.verify(found, tmp_path / "rows.jsonl").confirmed
    old = replace(found, loss=replace(found.loss, total=0.0, mean=0.0, mistakes=0))
    assert not nr.verify(old, tmp_path / "rows.jsonl").confirmed


@pytest.mark.parametrize("name", LEARNERS)
def test_predictions_that_know_one_class_of_many_pay_at_least_for_a_guess(
    tmp_path: Path, name: str
) -> None:
    order = "bcdef" * 8
    with Service(made(name), tmp_path / "s.db") as service:
        service.learn({"x": 1.0}, "a", id="first")
        for k in range(len(order)):
            assert service.predict({"x": 1.0}, id=str(k)).prediction == "a"
        for k, y in enumerate(order):
            service.label(str(k), y)
        found = service.certificate()
        service.export(tmp_path / "rows.jsonl")
    loss = made(name).engine.loss.name
    if loss == "softmax":  # its scores are 0; a class that joins makes guesses dearer from then on
        least = sum(math.log(min(k + 2, 6)) for k in range(1, len(order)))
    else:
        least = len(order) - 1
    assert found.loss.total >= least - 1e-9
    assert nr.verify(found, tmp_path / "rows.jsonl").confirmed


def test_a_class_that_joins_while_a_prediction_waits_counts_with_the_score_0(
    tmp_path: Path,
) -> None:
    with Service(nr.Softmax(), tmp_path / "s.db") as service:
        service.learn({"x": 1.0}, "a")
        service.learn({"x": 1.0}, "b")
        chances = service.predict({"x": 1.0}, id="1").chances
        assert chances is not None
        service.learn({"x": 1.0}, "c")
        before = service.loss
        odds = math.log(chances["a"] / chances["b"])  # softmax scores of two classes sum to 0
        service.label("1", "a")
        total = math.exp(odds / 2) + math.exp(-odds / 2) + 1
        assert service.loss - before == pytest.approx(math.log(total) - odds / 2, rel=1e-9)
        assert service.certificate().loss.total == pytest.approx(service.loss, rel=1e-12)


def test_a_journal_of_earlier_losses_is_certified_by_what_was_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr("noregret.service.scoring.served_loss", lambda *given: 0.0)
        with Service(nr.Softmax(), tmp_path / "s.db") as service:
            for k in range(9):
                service.predict({"x": 1.0}, id=str(k))
            for k in range(9):
                service.label(str(k), "abc"[k % 3])
    with Service(None, tmp_path / "s.db") as service:
        assert service.loss == 0
        assert service.certificate().loss.total == pytest.approx(8 * math.log(3), rel=1e-12)


@pytest.mark.parametrize("name", ["logistic", "perceptron"])
def test_two_classes_pay_for_a_guess_too(tmp_path: Path, name: str) -> None:
    with Service(made(name), tmp_path / "s.db") as service:
        for k in range(20):
            assert service.predict({"x": 1.0}, id=str(k)).prediction is None
        for k in range(20):
            service.label(str(k), k % 2)
        found = service.certificate()
    each = math.log(2) if name == "logistic" else 1.0
    assert found.loss.total == pytest.approx(20 * each, rel=1e-12)
    assert found.loss.mistakes == 20


def test_a_challenger_that_knows_no_class_pays_for_a_guess(tmp_path: Path) -> None:
    with Service(nr.Softmax(), tmp_path / "s.db") as service:
        for k in range(4):
            service.learn({"x": 1.0}, "ab"[k % 2])
        service.challengers.add("newer", nr.AutoClasses())
        for k in range(10):
            service.predict({"x": 1.0}, id=str(k))
        for k in range(10):
            service.label(str(k), "ab"[k % 2])
        found = service.challengers.comparison()["newer"]
    assert found["challenger"] == pytest.approx(0.9 * math.log(2), rel=1e-12)
