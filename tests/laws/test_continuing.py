"""A copy, a pickle and a file go on exactly as the learner itself would."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from tests.thorough import fewer, in_turn
from tests.variants import (
    ROUTINE,
    VARIANTS,
    WITHOUT_LOSS_OBJECT,
    Shape,
    Variant,
    as_dicts,
    examples,
    learned,
    shapes,
    state,
)


def ways(variant: Variant, folder: Path) -> dict[str, Callable[[nr.Learner], nr.Learner]]:
    def through_a_file(learner: nr.Learner) -> nr.Learner:
        learner.save(folder / "model")
        found: nr.Learner = nr.load(folder / "model", loss=variant.python_loss)
        return found

    return {
        "copy()": lambda learner: learner.copy(),
        "copy.copy": copy.copy,
        "copy.deepcopy": copy.deepcopy,
        "pickle": lambda learner: pickle.loads(pickle.dumps(learner)),
        "oldest pickle": lambda learner: pickle.loads(pickle.dumps(learner, protocol=2)),
        "file": through_a_file,
    }


def shown(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters as they compare: a loss that was pickled is another, equal one."""
    return {k: v.name if isinstance(v, nr.Loss) else v for k, v in params.items()}


@in_turn("variant", VARIANTS)
@fewer(shape=shapes())
def test_columns_go_on_identically(variant: Variant, shape: Shape, tmp_path: Path) -> None:
    X, y = examples(variant, shape)
    half = len(X) // 2
    whole = learned(variant, X, y)
    learner = learned(variant, X[:half], y[:half])
    before = state(learner)
    for way, remake in ways(variant, tmp_path).items():
        other = remake(learner)
        assert type(other) is type(learner), way
        assert shown(other.params) == shown(learner.params), way
        assert state(other) == before, way
        other.learn_many(X[half:], y[half:])
        assert state(other) == state(whole), way
        assert state(learner) == before, way
        assert other.predict_many(X).tolist() == whole.predict_many(X).tolist(), way


@in_turn("variant", VARIANTS)
@fewer(shape=shapes())
def test_names_that_come_late_go_on_identically(
    variant: Variant, shape: Shape, tmp_path: Path
) -> None:
    X, y = examples(variant, shape)
    half = len(X) // 2
    rows = as_dicts(X)
    for t, row in enumerate(rows):
        row |= {f"town={t % 3}": 1.0, "era": "late" if t > half else "early", f"é{t}": 0.0}
    whole = learned(variant, rows, y)
    learner = learned(variant, rows[:half], y[:half])
    for way, remake in ways(variant, tmp_path).items():
        other = remake(learner)
        assert state(other) == state(learner), way
        other.learn_many(rows[half:], y[half:])
        assert other.features == whole.features, way
        assert other.decision_many(rows).tobytes() == whole.decision_many(rows).tobytes(), way
        assert other.total_loss == whole.total_loss, way


@in_turn("variant", VARIANTS)
def test_labels_and_limits_travel_along(variant: Variant, tmp_path: Path) -> None:
    learner = variant.make()
    learner.watch("norm", 0.9)
    learner.watch("outcome", 0.5)
    learner.learn_one({"a": 1.0, "b": 1.0}, True)
    learner.learn_one({"a": 1.0}, False)
    for way, remake in ways(variant, tmp_path).items():
        other = remake(learner)
        assert other.measured == learner.measured, way
        assert other.measured["norm"].first_over == 1
        assert other.predict_one({"a": 1.0}) == learner.predict_one({"a": 1.0}), way
        assert type(other.predict_one({"a": 1.0})) is type(learner.predict_one({"a": 1.0})), way
        if variant.labels or variant.classes:
            seen = "True" if variant.classes else "0"
            with pytest.raises(nr.BadExample, match=f"{seen} was seen before"):
                other.learn_one({"a": 1.0}, -1)


@in_turn("variant", VARIANTS)
def test_a_clone_is_fresh(variant: Variant) -> None:
    X, y = examples(variant, ROUTINE)
    learner = learned(variant, X, y)
    fresh = learner.clone()
    assert fresh.rounds == 0
    assert repr(fresh) == repr(learner)
    assert state(fresh) == state(variant.make())
    fresh.learn_many(X, y)
    assert state(fresh) == state(learner)


@in_turn("variant", WITHOUT_LOSS_OBJECT)
def test_a_learner_shows_how_to_make_it(variant: Variant) -> None:
    learner = variant.make()
    known = {name: getattr(nr, name) for name in nr.__all__}
    again = eval(repr(learner), known)
    assert again.params == learner.params
    assert again.engine.mean_kept == learner.engine.mean_kept
