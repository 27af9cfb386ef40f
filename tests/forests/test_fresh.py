"""Fresh trees take over where the stream changes, and the promise holds for all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.forests.trees import RATES, Floats, after_first, growth_of, unit_of
from tests.thorough import sized

ROWS = sized(1500, full=6000)


def sea(rng: np.random.Generator, after: bool) -> tuple[Floats, Any]:
    """Return labels by a threshold on a sum, one in ten wrong; swapped after the change."""
    X = rng.uniform(0, 10, size=(ROWS, 3))
    return X, (X[:, 0] + X[:, 1] < 8) ^ (rng.uniform(size=ROWS) < 0.1) ^ after


def plane(rng: np.random.Generator, after: bool) -> tuple[Floats, Any]:
    """Return numbers on a plane, with noise, which tilts the other way after the change."""
    X = rng.uniform(-1, 1, size=(ROWS, 3))
    return X, (X @ [1.0, 0.5, 0.2]) * (-1 if after else 1) + 0.1 * rng.normal(size=ROWS)


def forest(kind: Any, **params: Any) -> nr.MondrianForest:
    return nr.MondrianForest(loss="logistic" if kind is sea else "square", **params)


def lost_in_second_half(learner: nr.MondrianForest, X: Floats, y: Any) -> float:
    half = len(X) // 2
    learner.learn_many(X[:half], y[:half])
    before = learner.total_loss
    learner.learn_many(X[half:], y[half:])
    return float(learner.total_loss - before)


@pytest.mark.parametrize("kind", [sea, plane])
def test_a_forest_recovers_from_an_abrupt_change(kind: Any) -> None:
    """Soon after it, the old rows do little harm."""
    rng = np.random.default_rng(0)
    learner = forest(kind)
    first = kind(rng, False)
    learner.learn_many(*first)
    after = kind(rng, True)
    unaware = lost_in_second_half(forest(kind), *after)
    assert lost_in_second_half(learner, *after) < 1.25 * unaware
    found = learner.engine.accounts()
    assert after_first(learner, first[1]) <= (found["pruned"] + found["price"]).min() * (1 + 1e-9)
    started = learner.get_state()[0]["since"]
    assert (started[:10] > 0).sum() >= 5  # half of the old trees at least have been replaced


def test_no_old_tree_is_replaced_where_nothing_changes() -> None:
    X, y = plane(np.random.default_rng(1), after=False)
    learner = forest(plane)
    learner.learn_many(X, y)
    state = learner.get_state()[0]
    assert state["fresh"][1] > 3  # generations
    assert (state["since"][:10] > 0).sum() <= 2


@pytest.mark.parametrize("kind", [sea, plane])
def test_the_forest_loses_little_more_than_each_member_since_it_started(kind: Any) -> None:
    """Whatever started, by its prior probability; these add up to at most 1."""
    rng = np.random.default_rng(2)
    learner = forest(kind, trees=3, nodes=100)
    parts = kind(rng, False), kind(rng, True)
    for X, y in parts:
        for start in range(0, ROWS, 50):
            learner.learn_many(X[start : start + 50], y[start : start + 50])
            state = learner.get_state()[0]
            unit = float(unit_of(learner))
            assert state["fresh"][0] == pytest.approx(after_first(learner, parts[0][1]))
            bound = state["paid"] - unit * state["priors"] + growth_of(learner)
            assert state["fresh"][0] <= bound.min() * (1 + 1e-9)
    generations = np.arange(1, state["fresh"][1] + 1)
    per_generation = 0.5 / (generations * (generations + 1))
    assert 0.5 + per_generation.sum() <= 1
    fresh = np.exp(state["priors"])[[*range(RATES, 2 * RATES), *range(-RATES, 0)]]
    assert fresh.sum() == pytest.approx(per_generation[-1])


@pytest.mark.parametrize("kind", [sea, plane])
def test_a_saved_forest_continues_as_if_it_had_not_been(kind: Any, tmp_path: Path) -> None:
    """Also within a generation, and whether rows come one by one or together."""
    rng = np.random.default_rng(3)
    parts = [kind(rng, False), kind(rng, True)]
    X, y = (np.concatenate([part[k][:500] for part in parts]) for k in range(2))
    whole, stopped = (forest(kind, trees=3, nodes=60) for _ in range(2))
    guesses = whole.play_many(X, y)
    for start in range(0, len(X), 100):
        rows = slice(start, start + 100)
        if start:
            assert stopped.predict_one(X[start]) == guesses[start]
        for x, outcome in zip(X[rows], y[rows], strict=True):
            stopped.learn_one(x, outcome)
        stopped.save(tmp_path / "forest")
        stopped = nr.load(tmp_path / "forest")
    mine, theirs = (learner.get_state()[0] for learner in (whole, stopped))
    assert mine["fresh"][1] > 4
    for name, array in mine.items():
        np.testing.assert_array_equal(theirs[name], array)
