"""Predicting changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

import noregret as nr
from tests.thorough import fewer, in_turn
from tests.variants import (
    VARIANTS,
    Floats,
    Shape,
    Variant,
    as_dicts,
    examples,
    shapes,
    state,
)


def ask_everything(learner: nr.Learner, one: Any, many: list[Any]) -> None:
    learner.predict_one(one)
    learner.decision_one(one)
    for rows in many:
        learner.predict_many(rows)
        learner.decision_many(rows)
    if learner.engine.loss.name in ("logistic", "softmax"):
        learner.predict_proba_one(one)
        for rows in many:
            learner.predict_proba_many(rows)
    assert learner.weights is not learner.weights
    assert learner.features is not None
    assert learner.measured
    assert learner.params is not None
    assert repr(learner)


def frames(X: Floats) -> list[Any]:
    rows = as_dicts(X)
    return [rows, pa.Table.from_pylist(rows)]


@in_turn("variant", VARIANTS)
@fewer(shape=shapes())
def test_predicting_from_columns_changes_nothing(variant: Variant, shape: Shape) -> None:
    X, y = examples(variant, shape)
    learner = variant.make()
    for _ in range(2):  # before anything was learned, and after
        before = state(learner)
        ask_everything(learner, X[0], [X, sp.csr_array(X), np.asfortranarray(X)])
        assert state(learner) == before
        learner.learn_many(X, y)


@in_turn("variant", VARIANTS)
@fewer(shape=shapes())
def test_predicting_from_names_changes_nothing(variant: Variant, shape: Shape) -> None:
    X, y = examples(variant, shape)
    learner = variant.make()
    for _ in range(2):
        before = state(learner)
        ask_everything(learner, as_dicts(X)[0], frames(X))
        ask_everything(learner, {"never seen": 1.0, "x00": 1.0, "city": "Paris"}, [])
        assert state(learner) == before
        learner.learn_many(as_dicts(X), y)


@in_turn("variant", VARIANTS)
def test_changing_the_returned_weights_changes_nothing(variant: Variant) -> None:
    learner = variant.make()
    learner.learn_one([1.0, 0.0], 1.0)
    before = state(learner)
    learner.weights[:] = 99.0
    arrays, numbers, features = learner.get_state()
    for array in arrays.values():
        array[:] = 99.0
    numbers["rounds"] = 99
    features.append("more")
    learner.features.append("more")
    learner.params["rate"] = 99.0
    assert state(learner) == before
