"""Classes as outcomes: what they may be, what is refused, and what certificates say of them."""

from __future__ import annotations

import threading
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import noregret as nr
from noregret.limits import MAX_CLASSES
from noregret.linear.engine import block_rows
from noregret.linear.engine.class_engine import ClassEngine
from noregret.linear.engine.class_entry import ClassEntry
from noregret.proof.certificates.certificate import seal
from tests.variants import state

LEARNERS = ["softmax", "multiclass-hinge", "multiclass-perceptron"]
X = np.random.default_rng(0).normal(size=(60, 3))
Y = np.array(["sun", "rain", "snow"])[(X @ np.random.default_rng(1).normal(size=(3, 3))).argmax(1)]


def fresh(name: str) -> Any:
    return nr.make(name)


@pytest.mark.parametrize("name", LEARNERS)
def test_classes_are_in_order_of_appearance_and_answered_in_kind(name: str) -> None:
    for labels in (["b", "a", "c"], [7, -1, 2**40], [True, False]):
        learner = fresh(name)
        for label in labels * 3:
            learner.learn_one({f"is {label}": 1.0}, label)
        assert learner.classes == labels
        for label in labels:
            answer = learner.predict_one({f"is {label}": 1.0})
            assert answer == label
            assert type(answer) is type(label)
            assert list(learner.decision_one({})) == labels
    assert fresh(name).predict_one({"a": 1.0}) is None


@pytest.mark.parametrize("name", LEARNERS)
def test_a_column_of_a_data_frame_is_the_target(name: str) -> None:
    table = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "sky": Y}
    by_array = nr.play(fresh(name), X, Y).certificate()
    for frame in (pd.DataFrame(table), pl.DataFrame(table)):
        game = nr.play(fresh(name), frame, target="sky", predictions=True)
        assert game.certificate().loss.total == by_array.loss.total
        assert game.mistakes == by_array.loss.mistakes
        assert set(game.predictions[1:]) <= set(Y)
        assert nr.verify(game.certificate(), frame).confirmed
        scores = game.learner.decision_many(frame.drop(columns="sky") if isinstance(
            frame, pd.DataFrame) else frame.drop("sky"))  # fmt: skip
        assert list(scores.columns) == game.learner.classes


# What is refused.


@pytest.mark.parametrize("bad", [None, np.nan, 0.5, date(2026, 1, 1), ("a",), b"a", pd.NA, 2**70])
@pytest.mark.parametrize("name", LEARNERS)
def test_what_is_no_class_is_refused_and_not_learned(name: str, bad: Any) -> None:
    learner = fresh(name)
    with pytest.raises(nr.BadExample, match="classes are strings, integers or booleans"):
        learner.learn_one({"a": 1.0}, bad)
    assert learner.classes == []
    learner.learn_many(X[:9], Y[:9])
    before = state(learner)
    with pytest.raises(nr.BadExample) as caught:
        learner.learn_many(X[9:12], ["hail", bad, "fog"])
    assert caught.value.round == 11
    assert learner.classes[-1] == "hail"
    other = fresh(name)
    other.learn_many(X[:10], [*Y[:9], "hail"])
    assert state(learner) == state(other) != before


@pytest.mark.parametrize("name", LEARNERS)
def test_classes_of_two_types_are_refused(name: str) -> None:
    learner = fresh(name)
    for mixed in (["a", 1], [1, "a"], [True, 1], [0, False]):
        with pytest.raises(nr.BadExample, match="was seen before: write all classes as") as caught:
            learner.clone().learn_many(X[:2], mixed)
        assert caught.value.round == 2
    with pytest.raises(nr.BadExample, match="one class per row"):
        learner.learn_many(X[:2], [["a", "b"]][0][0])
    with pytest.raises(nr.BadExample, match="one class per row"):
        learner.learn_many(X[:2], np.array([["a"], ["b"]]))
    with pytest.raises(nr.BadExample, match="2 rows, but 3 outcomes"):
        learner.learn_many(X[:2], ["a", "b", "c"])
    assert state(learner) == state(fresh(name))


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("labels", [range(10**6, 10**6 + 5000), [f"id{k}" for k in range(5000)]])
def test_a_class_per_row_is_refused_at_the_limit(name: str, labels: Any) -> None:
    learner = fresh(name)
    with pytest.raises(nr.BadExample, match="more than 4,096 classes: is the target a") as caught:
        learner.learn_many(np.ones((5000, 1)), list(labels))
    assert caught.value.round == MAX_CLASSES + 1
    assert len(learner.classes) == learner.rounds == MAX_CLASSES
    before = state(learner)
    with pytest.raises(nr.BadExample, match="classes"):
        learner.learn_one([1.0], labels[-1])
    assert state(learner) == before
    learner.learn_one([1.0], labels[0])


def test_too_many_weights_are_refused_before_they_are_made() -> None:
    learner = nr.Softmax()
    learner.learn_one({"a": 1.0}, 0)
    for label in range(1, 4096):
        learner.learn_one({}, label)
    with pytest.raises(nr.BadExample, match="features times"):
        learner.learn_one({f"x{j}": 1.0 for j in range(40_000)}, 0)
    assert learner.features == ["a"]


@pytest.mark.parametrize("name", LEARNERS)
def test_the_number_of_a_class_without_a_name_is_refused(name: str) -> None:
    learner = fresh(name)
    learner.learn_one([1.0], "a")
    before = state(learner)
    row = np.array([0, 1]), np.zeros(1, np.int32), np.ones(1)
    for number in (1.0, -1.0, 0.5, 1e300):
        with pytest.raises(nr.BadExample, match="no class number"):
            block_rows.play_sparse(learner._entry, *row, np.array([number]))
        assert state(learner) == before


HOSTILE: list[dict[str, Any]] = [
    {"labels": None},
    {"labels": np.array([300.0])},
    {"labels": np.frombuffer(b'["a"]', np.uint8).astype(float)},
    {"labels": np.frombuffer(b'["a", "a"]', np.uint8).astype(float)},
    {"labels": np.frombuffer(b'["a", 1]', np.uint8).astype(float)},
    {"labels": np.frombuffer(b'[0.5, 1]', np.uint8).astype(float)},
    {"labels": np.frombuffer(b'{"a": 1}', np.uint8).astype(float)},
    {"labels": np.frombuffer(b"[" * 100_000, np.uint8).astype(float)},
    {"stored": np.zeros(5)},
    {"stored": np.full(6, np.nan)},
    {"classes": 3},
    {"classes": 5000},
    {"classes": -1},
    {"size": 2**40},
]  # fmt: skip


@pytest.mark.parametrize("change", HOSTILE, ids=str)
def test_a_state_that_does_not_fit_is_refused(change: dict[str, Any]) -> None:
    learner = nr.Softmax()
    learner.learn_many(X[:9], ["a", "b"] * 4 + ["a"])
    before = state(learner)
    arrays, numbers, names = learner.get_state()
    arrays |= {k: v for k, v in change.items() if k in arrays}
    numbers |= {k: v for k, v in change.items() if k in numbers}
    with pytest.raises(ValueError, match=r"\w"):
        learner.set_state(arrays, numbers, names)
    assert state(learner) == before
    learner.learn_many(X, ["c"] * len(X))


def test_threads_that_bring_new_classes_and_fail_keep_labels_and_weights_together() -> None:
    learner = nr.MulticlassPerceptron()
    learner.learn_many(X[:3], ["a", "b", "a"])
    faults: list[BaseException] = []

    def work(mine: int) -> None:
        rng = np.random.default_rng(mine)
        try:
            for k in range(60):
                labels = [f"{mine} {k} {j}" for j in range(2)]
                learner.learn_many(rng.normal(size=(2, 3)), labels)
                with pytest.raises(nr.BadExample):
                    learner.learn_many([[1.0, 1.0, 1.0], [np.nan, 0, 0]], ["a", f"{mine} {k} bad"])
                scores = learner.decision_many(X)
                assert scores.shape[0] == len(X)
                assert len(learner.decision_one(X[0])) >= scores.shape[1]
                learner.predict_many(X)
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert len(learner.classes) == len(set(learner.classes)) == 2 + 4 * 60 * 2
    assert learner.weights.shape == (3, len(learner.classes))
    assert not any("bad" in label for label in learner.classes)


# What certificates say.


@pytest.mark.parametrize("name", LEARNERS)
def test_renamed_classes_are_other_data(name: str) -> None:
    certificate = nr.play(fresh(name), X, Y).certificate()
    assert certificate.data.transforms == ('classes=["' + '", "'.join(dict.fromkeys(Y)) + '"]',)
    assert nr.verify(certificate, X, Y).confirmed
    renamed = np.array([{"sun": "rain", "rain": "sun"}.get(y, y) for y in Y])
    found = nr.verify(certificate, X, renamed)
    assert not found.confirmed
    assert "data.transforms" in {line.name for line in found.failed}
    contents = certificate.to_dict()
    del contents["seal"]
    contents["data"]["transforms"] = []
    assert not nr.verify(contents | {"seal": seal(contents)}, X, Y).confirmed


def test_tuned_parameters_are_covered_and_kept() -> None:
    norm = float(np.linalg.norm(X, axis=1).max())
    for kind in (nr.Softmax, nr.MulticlassHinge):
        for horizon in (None, len(X)):
            learner = kind.tuned(radius=3.0, norm=norm, horizon=horizon)
            promise = nr.play(learner, X, Y).certificate().theorem
            assert promise is not None
            assert promise.holds
    separable = nr.play(nr.MulticlassPerceptron(), X, Y).certificate().theorem
    assert separable is not None
    assert separable.holds


def test_other_uses_say_that_they_do_not_take_them() -> None:
    with pytest.raises(ValueError, match="mean"):
        nr.averaged(nr.Softmax())
    with pytest.raises(nr.NoRegretError, match="classes"):
        nr.Experts([nr.Softmax(), nr.Softmax(rate=0.1)])


def test_an_entry_of_classes_has_weights_of_classes_from_the_start() -> None:
    entry = ClassEntry()
    assert entry.code_of("a") == 0
    assert entry.outputs == 0
    with pytest.raises(TypeError, match="needs weights of classes: got Additive"):
        entry.begin(nr.WidrowHoff().engine)
    assert isinstance(entry.engine, ClassEngine)
