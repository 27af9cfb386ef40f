"""The forest of ``auto``: what it sees, when it begins and ends, and its laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.base.model_file import dumps, loads
from noregret.linear.learn_many import play_columns
from noregret.linear.pooled import Pooled
from tests.auto.streams import LOSSES, auto, labels, played
from tests.auto.test_late import late_notes

ROWS = 260
BEGINS, SPEAKS = 64, 128


def products(seed: int, columns: int = 3, loss: str = "square", rows: int = ROWS) -> Any:
    """Return a stream whose outcomes are the sign of a product, and some noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    y = np.sign(X[:, 0] * X[:, -1])
    return X, y if loss == "logistic" else y + 0.1 * rng.normal(size=rows)


def nodes(learner: Any) -> int:
    """Return the number of nodes of the forest."""
    return int(learner.engine.get_state()[0].get("trees.counts", np.zeros(1)).sum())


@pytest.mark.parametrize("loss", LOSSES)
def test_it_sees_the_sign_of_a_product(loss: str) -> None:
    X, y = products(0, loss=loss, rows=1500)
    one, lines = auto(loss), auto(loss, members="linear")
    scores = [played(learner, X, y)[1000:] for learner in (one, lines)]
    wrong = [np.mean(labels(found) != labels(y[1000:])) for found in scores]
    assert wrong[0] < 0.2
    assert wrong[1] > 0.4
    assert one.total_loss < 0.9 * lines.total_loss
    assert next(each for each in one.members if each.name == "forest").weight > 0


def test_it_begins_after_some_rounds_and_speaks_after_more() -> None:
    X, y = products(1)
    learner = auto()
    for t in range(SPEAKS + 2):
        assert (nodes(learner) > 0) == (t > BEGINS), t
        learner.learn_one(X[t], y[t])
    # Before it speaks, its member is a copy of others: the bank plays as if it were not there.
    short = [played(auto(members=kind), X, y)[:SPEAKS] for kind in ("all", "linear")]
    assert np.abs(short[0] - short[1]).max() < 0.1


def test_it_does_not_begin_while_all_outcomes_are_equal() -> None:
    X, _ = products(2)
    learner = auto()
    learner.learn_many(X, np.full(ROWS, 3.0))
    assert nodes(learner) == 0
    assert learner.predict_one(X[0]) == pytest.approx(3)


@pytest.mark.parametrize("loss", LOSSES)
def test_rows_one_by_one_and_in_blocks_and_from_a_file_are_the_same(loss: str) -> None:
    X, y = products(3, 4, loss)
    one, many = auto(loss), auto(loss)
    many.learn_many(X, y)
    for t in range(ROWS):
        one.predict_one(X[t])
        one.learn_one(X[t], y[t])
        if t in (BEGINS - 1, BEGINS, BEGINS + 1, SPEAKS, 200):
            one = loads(dumps(one), "a copy")
    assert dumps(one) == dumps(many)


def test_more_features_than_it_takes_end_it_and_refused_ones_do_not() -> None:
    X, y = products(4, 5)
    learner, other = auto(), auto()
    named = [{f"x{k}": float(v) for k, v in enumerate(x)} for x in X]
    wide = {f"more{k}": 1.0 for k in range(70)}
    for t in range(200):
        learner.learn_one(named[t], y[t])
        other.learn_one(named[t], y[t])
        if t in (100, 150):
            for refused in ({"new": 1.0}, wide):
                with pytest.raises(nr.NoRegretError):
                    learner.learn_one(named[t] | refused, float("nan"))
    assert dumps(learner) == dumps(other)
    assert nodes(learner) > 0
    learner.learn_one(named[0] | wide, y[0])
    assert nodes(learner) == 0
    again = loads(dumps(learner), "a copy")
    for t in range(200, ROWS):
        learner.learn_one(named[t], y[t])
        again.learn_one(named[t], y[t])
    assert dumps(learner) == dumps(again)


@pytest.mark.parametrize("loss", LOSSES)
def test_units_and_signs_of_features_change_no_bit(loss: str) -> None:
    X, y = products(5, 4, loss)
    units = np.array([2.0**40, -1.0, 2.0**-30, -0.5])
    assert played(auto(loss), X * units, y).tobytes() == played(auto(loss), X, y).tobytes()


def test_units_and_signs_of_outcomes_are_those_of_predictions() -> None:
    X, y = products(6, 4)
    for unit in (2.0**40, -1.0):
        assert (played(auto(), X, y * unit) == unit * played(auto(), X, y)).all()
    other = played(auto(), X * [1, 3, 0.7, 1], 3 * y + 70)
    assert np.abs(other - 70 - 3 * played(auto(), X, y))[1:].max() < 1e-6


@pytest.mark.parametrize("loss", ["square", "logistic"])
def test_outcomes_that_come_late_are_those_of_a_delay(loss: str) -> None:
    X, y = products(7, 3, loss)
    told, late = auto(loss, delay=3), auto(loss)
    said = list[tuple[float, bytes]]()
    for t in range(ROWS):
        said.append(late._entry.decide_noting(X[t]))
        if t >= 3:
            late._entry.learn_late(X[t - 3], float(y[t - 3]), *said[t - 3])
    assert played(told, X, y).tolist() == [score for score, _ in said]
    copy = loads(dumps(told), "a copy")
    assert dumps(copy) == dumps(told)


def test_a_prediction_of_a_late_row_is_the_same_after_it_is_noted() -> None:
    X, y = products(8)
    learner = auto()
    for t, came, score, note in late_notes(learner, X, 3):
        if came:
            learner._entry.learn_late(X[t], float(y[t]), score, note)
    assert learner.rounds == ROWS
    assert nodes(learner) > 0


@pytest.mark.parametrize("spilled", [False, True])
def test_states_in_a_pool_are_learners_alone_to_the_bit(spilled: bool) -> None:
    X, y = products(9, rows=3 * ROWS)
    pooled, keys = Pooled(nr.Auto(), list("abc")), np.arange(3 * ROWS) % 3
    for start in range(0, 3 * ROWS, 156):
        new = [key for key in range(3) if key not in pooled.slots]
        pooled.add(new)
        rows = slice(start, start + 156)
        slots = np.array([pooled.slots[key] for key in keys[rows]], np.int64)
        pooled.play(slots, X[rows], y[rows], np.empty(156), pooled.order_of(slots), 0)
        pooled.state_of(1)  # a copy, which leaves the state as it is
        if spilled:
            pooled.spill([0, 2])
    assert pooled.size > 100_000
    for key in range(3):
        alone = nr.Auto()
        play_columns(alone._entry, X[keys == key], y[keys == key], list("abc"), None)
        assert nodes(alone) > 0
        arrays, numbers, names = pooled.state_of(key).get_state()
        expected = alone.get_state()
        assert (numbers, names) == expected[1:]
        assert {name: array.tobytes() for name, array in arrays.items()} == {
            name: array.tobytes() for name, array in expected[0].items()
        }


def test_a_certificate_with_it_is_verified(tmp_path: Any) -> None:
    X, y = products(10)
    rows = [(dict(zip("abc", X[t].tolist(), strict=True)), float(y[t])) for t in range(ROWS)]
    game = nr.play(nr.Auto(), rows)
    path = tmp_path / "certificate.json"
    game.certificate().save(path)
    assert nr.verify(path, rows).confirmed
