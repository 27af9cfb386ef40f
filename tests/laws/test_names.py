"""The order of keys and columns does not matter, and features may appear late."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import strategies as st

import noregret as nr
from noregret.linear.engine import block_rows
from noregret.linear.learn_many import play
from tests.thorough import few, fewer, in_turn
from tests.variants import (
    PLAIN,
    ROUTINE,
    VARIANTS,
    Floats,
    Shape,
    Variant,
    as_dicts,
    class_loss,
    examples,
    is_foretold,
    learned,
    names,
    shapes,
    state,
)


@in_turn("variant", VARIANTS)
@fewer(shape=shapes(rows=6, columns=90), seed=st.integers(0, 1000))
def test_the_order_of_keys_does_not_matter(variant: Variant, shape: Shape, seed: int) -> None:
    X, y = examples(variant, shape)
    chance = random.Random(seed)
    rows = as_dicts(X, drop_zeros=True)
    shuffled = [dict(chance.sample(list(row.items()), len(row))) for row in rows]
    learner = learned(variant, rows, y)
    assert state(learned(variant, shuffled, y)) == state(learner)
    for row, other in zip(rows, shuffled, strict=True):
        assert learner.decision_one(row) == learner.decision_one(other)


@in_turn("variant", VARIANTS)
def test_the_order_of_columns_of_a_data_frame_does_not_matter(variant: Variant) -> None:
    X, y = examples(variant, ROUTINE)
    towns = ["Oslo", "Rome", "Bonn"]
    columns: dict[str, Any] = {"town": [towns[i % 3] for i in range(len(X))]}
    columns |= dict(zip(names(X.shape[1]), X.T.tolist(), strict=True))
    columns |= {"a": [i % 2 == 0 for i in range(len(X))]}
    reversed_columns = dict(reversed(columns.items()))
    rows = pd.DataFrame(columns).to_dict("records")
    expected = state(learned(variant, rows, y))
    for frame in (pd.DataFrame, pl.DataFrame, pa.table):
        assert state(learned(variant, frame(columns), y)) == expected
        assert state(learned(variant, frame(reversed_columns), y)) == expected


# Where filters of auto forget, each variance on the way is held to what it was at first. It is the
# variance of a weight given those of the features before it (D of U D Uᵀ), so that the numbering
# decides what is held back: by design, and for every loss. What all members say moves the mixture,
# and by its typical error the weights that auto shows. The filter that forgets nothing and is moved
# by plain errors is free of that.
AUTO = [variant for variant in VARIANTS if variant.name in ("auto", "auto-classes")]
INVARIANT = [variant for variant in VARIANTS if variant not in AUTO]


def renumbered(variant: Variant, shape: Shape, seed: int) -> tuple[nr.Learner, nr.Learner, Any]:
    """Return two learners of the same examples, and how the second numbers the features."""
    X, y = examples(variant, shape)
    order = np.random.default_rng(seed).permutation(X.shape[1])
    return learned(variant, X, y), learned(variant, X[:, order], y), order


@pytest.mark.parametrize("variant", INVARIANT, ids=str)
@fewer(shape=shapes(), seed=st.integers(0, 1000))
def test_the_numbering_of_features_hardly_matters(
    variant: Variant, shape: Shape, seed: int
) -> None:
    """Sums run in the order of features, so only rounding may differ."""
    learner, other, order = renumbered(variant, shape, seed)
    np.testing.assert_allclose(other.weights, learner.weights[order], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("variant", AUTO, ids=str)
@few(shape=shapes(), seed=st.integers(0, 1000))
def test_the_numbering_of_features_matters_to_filters_that_forget_and_little_to_the_loss(
    variant: Variant, shape: Shape, seed: int
) -> None:
    learner, other, order = renumbered(variant, shape, seed)
    plain, again = (unforgetting(each) for each in (learner, other))
    np.testing.assert_allclose(again, plain[order], rtol=1e-9, atol=1e-12)
    assert other.total_loss == pytest.approx(learner.total_loss, rel=0.05, abs=1e-12)


def unforgetting(auto: nr.Learner) -> Floats:
    """Return the weights of the first of four filters, by the first kind of errors."""
    arrays = auto.get_state()[0]
    weights: Floats = arrays["filters.w" if auto.name == "auto-classes" else "plain.w"]
    return weights.reshape(-1, len(auto.weights) + 1, 4)[0, 1:, 0]


def arriving(X: Floats) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return rows whose later features are first missing, and the same with zeros for them."""
    X = X.copy()
    arrival = np.sort(np.arange(X.shape[1]) * len(X) // X.shape[1])
    for column, row in enumerate(arrival):
        X[:row, column] = 0
    complete = as_dicts(X)
    late = [
        {key: x[key] for key, row in zip(x, arrival, strict=True) if row <= t}
        for t, x in enumerate(complete)
    ]
    return late, complete


SETTLED = [variant for variant in VARIANTS if not variant.counts_features]


@in_turn("variant", SETTLED)
@few(shape=shapes())
def test_a_late_feature_is_as_if_it_had_always_been_zero(variant: Variant, shape: Shape) -> None:
    X, y = examples(variant, shape)
    late, complete = arriving(X)
    learner, other = learned(variant, late, y), learned(variant, complete, y)
    assert learner.features == other.features
    if variant.params.get("dimension") is None:
        assert learner.weights.tobytes() == other.weights.tobytes()
        assert learner.decision_many(complete).tobytes() == other.decision_many(complete).tobytes()
        assert learner.total_loss == other.total_loss
    else:  # what is still to come enters its sums all at once, which rounds otherwise
        np.testing.assert_allclose(learner.weights, other.weights, rtol=1e-11, atol=1e-14)
        np.testing.assert_allclose(learner.total_loss, other.total_loss, rtol=1e-11, atol=1e-14)
    assert learner.mistakes == other.mistakes


@in_turn("variant", PLAIN)
def test_a_late_feature_weighs_as_much_as_one_that_was_never_present(variant: Variant) -> None:
    X, y = examples(variant, ROUTINE)
    learner = learned(variant, [x | {"idle": 0.0} for x in as_dicts(X)], y)
    learner.learn_one({"late": 0.0}, y[0])
    weights = dict(zip(learner.features, learner.weights.tolist(), strict=True))
    assert weights["late"] == weights["idle"]


# Features join a few at a time, past every number at which a learner works in another way: the
# filters of auto take 64 features, and 256; rows of more than 64 entries are sorted otherwise.
MANY = Shape(seed=5, rows=30, columns=290, density=0.6)


@in_turn("variant", VARIANTS)
@few({"shape": MANY}, shape=shapes())
def test_unseen_names_count_in_a_prediction_as_they_will_in_the_round(
    variant: Variant, shape: Shape
) -> None:
    X, y = examples(variant, shape)
    learner = variant.make()
    late, _ = arriving(X)
    for row, outcome in zip(late, y.tolist(), strict=True):
        guess, score, paid = learner.predict_one(row), learner.decision_one(row), learner.total_loss
        if variant.classes:
            foretold = is_foretold(variant, learner, outcome)
            assert learner.play_one(row, outcome) == guess
            scores: Any = score
            if not foretold:
                continue
            loss = class_loss(learner.engine.loss.name, scores, outcome)
            assert learner.total_loss - paid == pytest.approx(loss, rel=1e-9, abs=1e-12)
            continue
        if variant.labels and abs(score) < 1e-12:
            guess = learner._entry.negative_label
        assert learner.play_one(row, outcome) == pytest.approx(guess, rel=1e-12, abs=1e-15)
        if not learner.engine.mean_kept:  # the loss is then that of the very score
            loss = learner.engine.loss.value(score, outcome)
            assert learner.total_loss - paid == pytest.approx(loss, rel=1e-9, abs=1e-12)


@in_turn("variant", VARIANTS)
def test_categories_that_appear_in_a_block_are_those_that_appear_one_by_one(
    variant: Variant,
) -> None:
    """In data frames, dicts, and rows of a stream; past 64 features, and past 256."""
    rng = np.random.default_rng(11)
    rows = [
        {f"c{j}": f"v{rng.integers(1 + 3 * t)}" for j in range(6)} | {"age": float(t % 2)}
        for t in range(60)
    ]
    y = np.where(rng.random(60) < 0.4, 1.0, -1.0)
    single, framed, listed = variant.make(), variant.make(), variant.make()
    said = []
    for x, outcome in zip(rows, y.tolist(), strict=True):
        said.append(single._entry.decide(x))
        single.learn_one(x, outcome)
    assert len(single.features) > 256
    scores = np.empty((2, 60))
    play(framed._entry, pd.DataFrame(rows), y, scores[0])
    play(listed._entry, rows, y, scores[1])
    assert state(framed) == state(listed) == state(single)
    np.testing.assert_allclose(scores, [said, said], rtol=1e-12, atol=1e-15)


@in_turn("variant", VARIANTS)
def test_columns_that_join_a_stream_count_in_a_prediction_as_they_will_in_the_round(
    variant: Variant,
) -> None:
    """Positions of a sparse stream grow in leaps: columns in between join with the last."""
    rng = np.random.default_rng(12)
    learner = variant.make()
    for t in range(40):
        at = np.unique(rng.integers(1 + 8 * t, size=5)).astype(np.int32)
        values = np.ones(len(at)) if variant.boolean else rng.normal(size=len(at)) / 3
        starts, outcome = np.array([0, len(at)]), np.array([rng.choice([-1.0, 1.0])])
        if variant.classes:  # a stream has their numbers
            entry: Any = learner._entry
            outcome[0] = entry.code_of(rng.integers(3))
        guess, played = np.empty(1), np.empty(1)
        if t and variant.classes:
            scores = np.empty(learner._entry.outputs)
            block_rows.score_rows(learner._entry, starts, at, values, scores)
            guess[0] = scores.argmax()
        elif t:
            block_rows.score_rows(learner._entry, starts, at, values, guess)
        block_rows.play_rows(learner._entry, starts, at, values, outcome, None, played)
        if t:
            np.testing.assert_allclose(played, guess, rtol=1e-12, atol=1e-15)
    assert learner.engine.size > 256
