"""Learners as states in a pool are the learners that they would be as objects, to the last bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import noregret
from noregret.linear import learn_many
from noregret.linear.engine.state_pool import StatePool
from noregret.linear.learner import Learner, all_learners
from noregret.linear.pooled import Pooled, is_poolable

NAMES = ["a", "b", "c", "d"]


def made(name: str) -> Learner:
    kind: Any = all_learners()[name]
    learner: Learner = kind()
    return learner


def rows_for(learner: Learner, count: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, (count, 4)).astype(float)  # some rules take only these
    labels = learner.engine.loss.labels
    y = X[:, 0] * 2 - 1 if labels else 0.5 * X[:, 1] - 0.25 * X[:, 2]
    return X, y


def poolable() -> list[str]:
    found = []
    for name in all_learners():
        try:
            found += [name] * is_poolable(made(name))
        except TypeError:  # it needs a parameter
            continue
    return found


def test_most_learners_can_be_pooled() -> None:
    assert {"auto", "widrow-hoff", "nlms", "logistic", "perceptron", "winnow"} <= set(poolable())
    assert len(poolable()) > len(all_learners()) / 2
    with pytest.raises(ValueError, match="more than the fields"):
        StatePool(noregret.Auto(delay=2)._entry)


@pytest.mark.parametrize("by_slot", [False, True])
@pytest.mark.parametrize("name", poolable())
def test_a_pool_plays_as_one_learner_per_key_does(name: str, by_slot: bool) -> None:
    first = made(name)
    X, y = rows_for(first, 120)
    keys = np.random.default_rng(6).integers(0, 3, 120)
    pooled = Pooled(first.clone(), NAMES)
    slots = np.array(pooled.add([0, 1, 2]), dtype=np.int64)[keys]
    out, learned, at = np.full(120, np.nan), 0, 0
    hidden = np.where(np.arange(120) % 13 == 7, np.nan, y)  # predicted only
    order = np.argsort(slots, kind="stable") if by_slot else np.arange(120)
    while at < 120:
        at, more, _, _ = pooled.play(slots, X, hidden, out, order, at)
        learned += more
        at += at < 120  # a refused row
    total = 0
    for key in range(3):
        alone = first.clone()
        for row in np.flatnonzero(keys == key):
            score = np.full(1, np.nan)
            try:
                if math.isnan(hidden[row]):
                    if alone.rounds:
                        score[:] = learn_many.scores_of(
                            alone._entry, [dict(zip(NAMES, X[row], strict=True))]
                        )
                else:
                    learn_many.play_columns(
                        alone._entry, X[row : row + 1], y[row : row + 1], NAMES, score
                    )
            except noregret.NoRegretError:
                continue
            if math.isfinite(score[0]):
                assert out[row] == score[0]
        arrays, numbers, names = pooled.loaded(pooled.slots[key]).get_state()
        expected = alone.get_state()
        assert (numbers, names) == expected[1:]
        for part, array in expected[0].items():
            np.testing.assert_array_equal(arrays[part], array)
        total += alone.rounds
        assert dict(zip(*pooled.figures()[:2], strict=True)).get(key, 0) == alone.rounds
    assert learned == total


def test_a_learner_that_leaves_the_pool_goes_on_as_it_was() -> None:
    X, y = rows_for(noregret.Nlms(), 60)
    groups, alone = noregret.Groups(noregret.Nlms()), noregret.Nlms()
    pooled = groups.pooled(NAMES)
    assert pooled is not None
    slots = np.array(groups.pool_slots(pooled, ["u"]) * 30, dtype=np.int64)
    pooled.play(slots, X[:30], y[:30], np.empty(30), np.arange(30), 0)
    learn_many.play_columns(alone._entry, X[:30], y[:30], NAMES, None)
    assert "u" in groups
    assert len(groups) == 1
    assert groups["u"].weights.tolist() == alone.weights.tolist()
    assert groups.pool_slots(pooled, ["u", "v"])[0] == -2  # it is an object now
    assert "v" not in groups
    for row in range(30, 60):
        x = dict(zip(NAMES, X[row], strict=True))
        assert groups.predict_one("u", x) == alone.predict_one(x)
        groups.learn_one("u", x, y[row])
        alone.learn_one(x, y[row])
    assert groups["u"].weights.tolist() == alone.weights.tolist()
    assert groups.pooled(["other"]) is None or not pooled.slots


def test_what_does_not_fit_the_pool_is_refused() -> None:
    pooled = Pooled(noregret.Nlms(), NAMES)
    pooled.add(["u"])
    x, y, first = np.zeros((1, 4)), np.zeros(1), np.zeros(1, np.int64)
    with pytest.raises(IndexError):
        pooled.pool.play(np.array([1]), x, y, y, first, 0)
    for wrong in (-1, 1):
        with pytest.raises(IndexError):
            pooled.pool.play(first, x, y, y, np.array([wrong]), 0)
    with pytest.raises(ValueError, match="4 numbers"):
        pooled.pool.play(first, np.zeros((1, 3)), y, y, first, 0)
    with pytest.raises(ValueError, match="every row"):
        pooled.pool.play(first, x, np.zeros(2), y, first, 0)
    with pytest.raises(ValueError, match="every row"):
        pooled.pool.play(first, x, y, y, np.zeros(2, np.int64), 0)
    for slot in (-1, 1):
        with pytest.raises(IndexError):
            pooled.pool.load(slot)
    pooled.learner.learn_one({"new": 1.0}, 1.0)
    for _ in range(20):
        pooled.learner.learn_one({f"new{_}": 1.0}, 1.0)
    with pytest.raises(ValueError, match="other features"):
        pooled.pool.load(0)
