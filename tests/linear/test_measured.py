"""Measurements of the core equal those that NumPy makes afterwards."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import noregret as nr
from tests.thorough import fewer, in_turn
from tests.variants import (
    VARIANTS,
    Floats,
    Shape,
    Variant,
    as_dicts,
    class_loss,
    examples,
    learned,
    shapes,
    state,
)

MEASURES = ("norm", "peak", "outcome", "gradient", "gradient_peak")


def readings(variant: Variant, X: Floats, y: Any) -> dict[str, Floats]:
    """Return every measurement of every round."""
    plain = nr.make(variant.name, **variant.params)
    slopes: list[float] = []
    norms, peaks = np.linalg.norm(X, axis=1), np.abs(X).max(axis=1)
    if variant.classes:
        found = {"norm": norms, "peak": peaks, "outcome": np.zeros(len(X))}
        if variant.name in (
            "auto-classes",
            "mondrian-forest-classes",
        ):  # scores do not tell the gradient by that of a new class
            return found
        pulls = class_slopes(plain, X, y)
        return found | {
            "gradient": np.array([np.linalg.norm(pull) for pull in pulls]) * norms,
            "gradient_peak": np.array([np.abs(pull).max() for pull in pulls]) * peaks,
        }
    for x, outcome in zip(X, y, strict=True):
        # The slope where the weights were, which are the plain ones also when averaging.
        score = plain.decision_one(x) if not plain.engine.mean_kept else math.nan
        slopes.append(plain.engine.loss.slope(score, outcome))
        plain.learn_one(x, outcome)
    size = np.abs(slopes)
    return {
        "norm": norms,
        "peak": peaks,
        "outcome": np.abs(y),
        "gradient": size * norms,
        "gradient_peak": size * peaks,
    }


def class_slopes(learner: nr.Learner, X: Floats, y: Any) -> list[Floats]:
    """Return the gradient by the scores of the classes, in every round, and learn."""
    found = []
    for x, label in zip(X, y.tolist(), strict=True):
        scores: dict[Any, float] = {label: 0.0} | learner.decision_one(x)  # type: ignore[operator]
        s, own = np.array(list(scores.values())), list(scores).index(label)
        pull = np.zeros(len(s))
        if learner.engine.loss.name == "softmax":
            pull = np.exp(s - np.logaddexp.reduce(s))
            pull[own] -= 1
        elif class_loss(learner.engine.loss.name, scores, label) > 0:
            rivals = np.where(np.arange(len(s)) == own, -np.inf, s)
            pull[own], pull[rivals.argmax()] = -1, 1
        found.append(pull)
        learner.learn_one(x, label)
    return found


MEASURED = [v for v in VARIANTS if not nr.make(v.name, **v.params).engine.mean_kept]


@in_turn("variant", MEASURED)
@fewer(shape=shapes())
def test_measurements_and_first_rounds_over_a_limit(variant: Variant, shape: Shape) -> None:
    X, y = examples(variant, shape)
    expected = readings(variant, X, y)
    limits = {name: float(np.median(values)) for name, values in expected.items()}
    learner, sparse, named = variant.make(), variant.make(), variant.make()
    for other in (learner, sparse, named):
        for name, limit in limits.items():
            other.watch(name, limit)
    learner.learn_many(X, y)
    sparse.learn_many(sp.csr_array(X), y)
    named.learn_many(as_dicts(X), y)
    for name, values in expected.items():
        found = learner.measured[name]
        assert found.largest == pytest.approx(float(values.max()), rel=1e-12, abs=1e-300)
        assert found.limit == limits[name]
        clear = values > limits[name] * (1 + 1e-12) + 1e-300
        near = values > limits[name] * (1 - 1e-12)
        first = int(np.argmax(clear)) + 1 if clear.any() else None
        nearest = int(np.argmax(near)) + 1 if near.any() else None
        assert found.first_over in (first, nearest)
    assert learner.measured == sparse.measured == named.measured


def test_spread_is_that_of_the_whole_example() -> None:
    """Features that are announced or known but absent from an example are 0 in it."""
    learner = nr.make("exponentiated-gradient")
    learner.learn_many([[1.0, 2.0], [3.0, 3.0]], [1.0, 1.0])
    assert learner.measured["spread"].largest == 1.0
    announced = nr.make("exponentiated-gradient", dimension=3)
    announced.learn_one({"a": 1.0, "b": 2.0}, 1.0)
    assert announced.measured["spread"].largest == 2.0
    known = nr.make("exponentiated-gradient")
    known.learn_one({"a": 0.0, "b": 0.0}, 1.0)
    known.learn_one({"a": 5.0}, 1.0)
    assert known.measured["spread"].largest == 5.0
    known.learn_one({"a": 9.0, "b": -2.0}, 1.0)
    assert known.measured["spread"].largest == 11.0
    signed = nr.make("exponentiated-gradient", weight=3.0)
    signed.learn_one([1.0, -2.0], 1.0)
    assert signed.measured["spread"].largest == 12.0  # of (U x, −U x)


def test_nothing_is_measured_before_the_first_round() -> None:
    for name in nr.all_learners():
        for measure, found in nr.make(name).measured.items():
            assert found == (0.0, math.inf, None), measure


@pytest.mark.parametrize("measure", MEASURES)
def test_a_limit_is_watched_from_its_first_excess(measure: str) -> None:
    learner = nr.make("widrow-hoff", rate=0.01)
    learner.watch(measure, 0.5)
    for size in (0.1, 0.2, 3.0, 0.1, 4.0):
        learner.learn_one([size], 0.1 if measure not in ("outcome", "gradient") else size)
    assert learner.measured[measure].first_over == 3


def test_exactly_the_limit_is_not_over_it() -> None:
    learner = nr.make("widrow-hoff")
    learner.watch("norm", 5.0)
    learner.learn_one([3.0, 4.0], 1.0)
    found = learner.measured["norm"]
    assert found == (5.0, 5.0, None)
    learner.learn_one([3.0, math.nextafter(4.0, 5.0)], 1.0)
    learner.learn_one([4.0, 4.0], 1.0)
    found = learner.measured["norm"]
    assert found.first_over in (2, 3)


def test_refused_rounds_are_not_measured() -> None:
    learner = nr.make("widrow-hoff")
    learner.watch("norm", 1.0)
    before = state(learner)
    for x, y in (([100.0, math.nan], 1.0), ([100.0], math.nan), ([100.0], None)):
        with pytest.raises(nr.BadExample):
            learner.learn_one(x, y)
    assert state(learner) == before


def test_a_limit_set_anew_is_not_exceeded_by_the_past() -> None:
    learner = nr.make("widrow-hoff")
    learner.watch("norm", 1.0)
    learner.learn_one([3.0], 1.0)
    learner.watch("norm", 10.0)
    found = learner.measured["norm"]
    assert found == (3.0, 10.0, None)
    learner.learn_one([20.0], 1.0)
    found = learner.measured["norm"]
    assert found.first_over == 2


def test_a_limit_that_was_exceeded_already_is_refused() -> None:
    learner = nr.make("widrow-hoff")
    learner.learn_one([3.0], 1.0)
    with pytest.raises(ValueError, match="already exceeded"):
        learner.watch("norm", 1.0)
    learner.watch("norm", 3.0)
    assert learner.measured["norm"] == (3.0, 3.0, None)


@pytest.mark.parametrize("limit", [math.nan, -1.0, "1", None])
def test_a_limit_is_a_number(limit: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        nr.make("widrow-hoff").watch("norm", limit)


def test_an_unknown_measurement_lists_the_known() -> None:
    with pytest.raises(ValueError, match="unknown measurement 'nrom': choose one of norm"):
        nr.make("widrow-hoff").watch("nrom", 1.0)


@in_turn("variant", VARIANTS)
def test_rounds_and_mistakes_are_counted(variant: Variant) -> None:
    X, y = examples(variant, Shape(seed=1, rows=50, columns=3, density=0.5))
    learner = learned(variant, X, y)
    assert learner.rounds == 50
    assert (learner.mistakes > 0) == (variant.labels or variant.classes)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("name", ["widrow-hoff", "adagrad", "coin-betting", "scale-invariant"])
def test_columns_that_never_occur_take_no_memory(name: str) -> None:
    columns = 2**22
    rows = sp.csr_array(([1.0, 1.0], ([0, 1], [columns - 1, 5])), shape=(2, columns))
    learner = nr.make(name)
    before = resident()
    learner.learn_many(rows, [1.0, -1.0])
    assert resident() - before < 2 * columns  # one number for each takes eight bytes a column


def resident() -> int:
    """Return the bytes of memory in use."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
