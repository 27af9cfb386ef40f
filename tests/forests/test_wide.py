"""Rows with more than 256 features: only what is not 0 counts, in time, memory and predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import noregret as nr
from noregret.errors import NoRegretError
from tests.forests.trees import (
    LEFT,
    RATES,
    STOP,
    Floats,
    after_first,
    below,
    growth_of,
    prunings,
    tables,
    unit_of,
)
from tests.thorough import sized

ROWS, WORDS, LENGTH = sized(300, full=2000), 400, 6
LAYOUT = (14, 16)  # numbers of a node besides its forecast and its box; slots of the box
KINDS = ("square", "logistic", "classes")


def texts(kind: str, seed: int = 0, rows: int = ROWS, apart: int = 1) -> tuple[Any, Any]:
    """Return rows of a few words, with the outcome by whether the first two come together.

    ``apart`` − 1 features that are always 0 come before each word.
    """
    rng = np.random.default_rng(seed)
    chances = 1 / np.arange(3, WORDS + 3)
    words = [
        np.sort(rng.choice(WORDS, LENGTH, replace=False, p=chances / chances.sum()))
        for _ in range(rows)
    ]
    at = np.concatenate(words)
    X = sparse.csr_matrix(
        (rng.integers(1, 4, len(at)) / 2, at * apart + apart - 1, np.arange(rows + 1) * LENGTH),
        shape=(rows, WORDS * apart),
    )
    both = np.array([(0 in row) == (1 in row) for row in words]) * 1.0
    if kind == "square":
        return X, both + 0.1 * rng.normal(size=rows)
    return X, np.array(["a", "b"])[both.astype(int)] if kind == "classes" else both > 0


def forest(kind: str, **params: Any) -> Any:
    if kind == "classes":
        return nr.MondrianForestClasses(**params)
    return nr.MondrianForest(loss="logistic" if kind == "logistic" else "square", **params)


def same_states(one: Any, other: Any, but: tuple[str, ...] = ()) -> None:
    mine, theirs = one.get_state()[0], other.get_state()[0]
    assert mine.keys() == theirs.keys()
    for name in mine.keys() - set(but):
        np.testing.assert_array_equal(mine[name], theirs[name], err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
def test_features_that_are_always_0_change_no_prediction_and_no_node(kind: str) -> None:
    X, y = texts(kind)
    spread, _ = texts(kind, apart=100)
    one, other = forest(kind), forest(kind)
    np.testing.assert_array_equal(one.play_many(X, y), other.play_many(spread, y))
    for mine, theirs in zip(tables(one), tables(other), strict=True):
        assert mine.shape == theirs.shape
        assert mine.shape[1] == LAYOUT[0] + (2 if kind != "square" else 1) + 3 * LAYOUT[1]
    assert len(other.get_state()[0]["seen"]) <= WORDS


@pytest.mark.parametrize("kind", KINDS)
def test_one_row_or_many_dense_or_sparse_are_the_same(kind: str) -> None:
    X, y = texts(kind)
    many, one, dense = forest(kind), forest(kind), forest(kind)
    many.learn_many(X, y)
    dense.learn_many(X.toarray(), y)
    for row, outcome in zip(X.toarray(), y, strict=True):
        one.learn_one(row, outcome)
    same_states(many, one)
    same_states(many, dense)
    np.testing.assert_array_equal(many.predict_many(X), many.predict_many(X.toarray()))


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_forest_goes_on_as_if_it_had_not_been(kind: str, tmp_path: Path) -> None:
    X, y = texts(kind)
    whole, stopped = forest(kind, nodes=60), forest(kind, nodes=60)
    whole.learn_many(X, y)
    for start in range(0, ROWS, 50):
        stopped.learn_many(X[start : start + 50], y[start : start + 50])
        stopped.save(tmp_path / "forest")
        stopped = nr.load(tmp_path / "forest")
    same_states(whole, stopped)


def test_rows_may_become_wide(tmp_path: Path) -> None:
    """Words of dicts join one by one; what the trees have learned stays."""
    X, y = texts("logistic")
    learner, read = forest("logistic"), forest("logistic")
    for start in range(ROWS):
        row = {f"w{j}": float(X[start, j]) for j in X[start].indices}
        learner.learn_one(row, y[start])
        assert 0 < learner.predict_proba_one(row)[True] < 1
        if learner.engine.size in range(240, 280):
            learner.save(tmp_path / "forest")
            read = nr.load(tmp_path / "forest")
            same_states(learner, read)
    assert learner.engine.size > 256
    assert "wide" in learner.get_state()[0]
    found = learner.engine.accounts()
    assert learner.total_loss <= (found["pruned"] + found["price"]).min() * (1 + 1e-9)


@pytest.mark.parametrize("before", [10, 200])
def test_refused_rows_leave_no_trace(before: int) -> None:
    X, y = texts("logistic")
    learner, other = forest("logistic"), forest("logistic")
    for k in range(before):
        row = {str(j): float(X[k, j]) for j in X[k].indices}
        learner.learn_one(row, y[k])
        other.learn_one(row, y[k])
    with pytest.raises(NoRegretError):
        learner.learn_one({f"new{k}": 1.0 for k in range(300)} | {"bad": 1e200}, True)
    same_states(learner, other)
    row = {str(j): 1.0 for j in X[before].indices}
    for each in (learner, other):
        each.learn_one(row, True)
    same_states(learner, other)


@pytest.mark.parametrize("rate", range(RATES))
@pytest.mark.parametrize("kind", KINDS)
def test_the_weights_and_the_promise_are_those_of_all_prunings(kind: str, rate: int) -> None:
    X, y = texts(kind, seed=1, rows=12)
    learner = forest(kind, trees=1)
    learner.learn_many(X, y)
    table, unit = tables(learner)[0], unit_of(learner)
    priced = [p.loss - unit * p.prior.ln() for p in prunings(table)]
    prior = learner.get_state()[0]["priors"][2 * RATES]
    most = float(min(priced)) - float(unit) * prior + growth_of(learner)
    assert after_first(learner, y) <= most * (1 + 1e-9)
    unit /= (1, 128 if kind == "square" else 2)[rate]
    found = [(p.leaves, p.prior * (-p.loss / unit).exp()) for p in prunings(table, rate=rate)]
    assert (table[:, LEFT] > 0).any()
    for k in range(len(table)):
        if table[k, LEFT]:
            here = sum(weight for leaves, weight in found if k in leaves)
            reached = sum(weight for leaves, weight in found if leaves & below(table, k))
            assert table[k, STOP + rate] == pytest.approx(float(here / reached), rel=1e-8)


def test_two_words_that_matter_together_are_found() -> None:
    X, y = texts("logistic", rows=3000)
    learner = forest("logistic")
    losses = [learner.total_loss]
    for start in (0, 2000):
        learner.learn_many(X[start : start + 1000], y[start : start + 1000])
        losses.append(learner.total_loss)
    chance = y.mean()
    plain = -(chance * np.log(chance) + (1 - chance) * np.log(1 - chance))
    assert losses[2] - losses[1] < 0.8 * 1000 * plain


def test_states_with_features_that_do_not_exist_are_refused() -> None:
    X, y = texts("logistic")
    learner = forest("logistic", trees=1)
    learner.learn_many(X, y)
    arrays, numbers = learner.engine.get_state()
    wide = LAYOUT[0] + 2 + 3 * LAYOUT[1]

    def changed(name: str, place: int, value: float) -> dict[str, Floats]:
        array = arrays[name].copy()
        array[place] = value
        return {**arrays, name: array}

    slot = wide + LAYOUT[0] + 2
    for bad in (
        changed("seen", 0, float(WORDS)),
        changed("seen", 0, arrays["seen"][1]),
        changed("rates", 0, -1.0),
        changed("nodes", slot, float(WORDS)),
        changed("nodes", slot, -1.0),
        changed("nodes", slot, 2.0**31),
        {name: array for name, array in arrays.items() if name != "seen"},
    ):
        with pytest.raises(ValueError, match=r"state|expected"):
            learner.engine.set_state(bad, numbers)
    learner.engine.set_state(arrays, numbers)
