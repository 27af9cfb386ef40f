"""Many examples at once are the same examples one by one, to the bit."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from tests.thorough import fewer, in_turn
from tests.variants import (
    ROUTINE,
    VARIANTS,
    Shape,
    Variant,
    as_dicts,
    examples,
    learned,
    shapes,
    state,
)


def parts(rows: int, cuts: list[int]) -> list[slice]:
    """Cut rows into blocks, some of them empty."""
    ends = [0, *sorted(cut % (rows + 1) for cut in cuts), rows]
    return [slice(a, b) for a, b in itertools.pairwise(ends)]


@in_turn("variant", VARIANTS)
@fewer(shape=shapes(), cuts=st.lists(st.integers(0, 100), max_size=4))
def test_learning_many_is_learning_each(variant: Variant, shape: Shape, cuts: list[int]) -> None:
    X, y = examples(variant, shape)
    one_by_one, in_blocks, in_sparse_blocks = variant.make(), variant.make(), variant.make()
    for x, outcome in zip(X, y, strict=True):
        one_by_one.learn_one(x, outcome)
    for part in parts(len(X), cuts):
        in_blocks.learn_many(X[part], y[part])
        in_sparse_blocks.learn_many(sp.csr_array(X)[part], y[part])
    whole = learned(variant, X, y)
    assert state(in_blocks) == state(one_by_one) == state(whole)
    assert state(in_sparse_blocks) == state(learned(variant, sp.csr_array(X), y))


def assert_like(found: Any, expected: list[Any]) -> None:
    """Check that predictions are the same: numbers but for rounding, classes as they are."""
    if expected and isinstance(expected[-1], float):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)
    else:
        assert list(found) == expected


@in_turn("variant", VARIANTS)
@fewer(shape=shapes())
def test_playing_predicts_before_it_learns(variant: Variant, shape: Shape) -> None:
    X, y = examples(variant, shape)
    two_steps, one_step, many = variant.make(), variant.make(), variant.make()
    guesses, scores = [], []
    for x, outcome in zip(X, y, strict=True):
        guesses.append(two_steps.predict_one(x))
        scores.append(two_steps.decision_one(x))
        two_steps.learn_one(x, outcome)
        assert_like([one_step.play_one(x, outcome)], guesses[-1:])
    played = many.play_many(X, y)
    # Before the first outcome nothing is known of the columns and sums may round otherwise.
    assert_like(played[:1], guesses[:1])
    np.testing.assert_array_equal(played[1:], guesses[1:])
    assert state(many) == state(one_step) == state(two_steps)


@in_turn("variant", VARIANTS)
@fewer(shape=shapes())
def test_playing_names_predicts_before_it_learns(variant: Variant, shape: Shape) -> None:
    X, y = examples(variant, shape)
    rows = as_dicts(X)
    one_step, many = variant.make(), variant.make()
    guesses = [one_step.play_one(x, outcome) for x, outcome in zip(rows, y, strict=True)]
    assert_like(many.play_many(rows, y), guesses)
    assert state(many) == state(one_step)


@in_turn("variant", VARIANTS)
@fewer(shape=shapes())
def test_predicting_many_is_predicting_each(variant: Variant, shape: Shape) -> None:
    X, y = examples(variant, shape)
    learner = learned(variant, X, y)
    scores: list[Any] = [learner.decision_one(x) for x in X]
    if variant.classes:  # one per class, by name
        assert all(list(each) == learner.classes for each in scores)  # type: ignore[attr-defined]
        scores = [list(each.values()) for each in scores]
    np.testing.assert_array_equal(learner.decision_many(X), scores)
    np.testing.assert_array_equal(learner.decision_many(sp.csr_array(X)), scores)
    np.testing.assert_array_equal(learner.predict_many(X), [learner.predict_one(x) for x in X])


# Not rules, which say that they predict by more than weights.
BY_WEIGHTS = [v for v in VARIANTS if not v.boolean and v.make().engine.linear]


@in_turn("variant", BY_WEIGHTS)
def test_predictions_use_the_weights(variant: Variant) -> None:
    X, y = examples(variant, ROUTINE)
    learner = learned(variant, X, y)
    np.testing.assert_allclose(learner.decision_many(X), X @ learner.weights, rtol=1e-9, atol=1e-12)


LABELS: list[tuple[Any, Any]] = [(-1, 1), (0, 1), (False, True), (np.False_, np.True_), (-1.0, 1.0)]


@in_turn("variant", [v for v in VARIANTS if v.labels])
def test_labels_are_answered_in_kind(variant: Variant) -> None:
    for negative, positive in LABELS:
        answers_in_kind(variant, negative, positive)


def answers_in_kind(variant: Variant, negative: Any, positive: Any) -> None:
    X, y = examples(variant, ROUTINE)
    given_labels = [positive if label > 0 else negative for label in y]
    one_by_one = variant.make()
    for x, label in zip(X, given_labels, strict=True):
        one_by_one.learn_one(x, label)
    many = learned(variant, X, given_labels)
    answers = many.predict_many(X).tolist()
    assert answers == [one_by_one.predict_one(x) for x in X]
    assert {type(answer) for answer in answers} <= {bool if positive is True else type(answers[0])}
    assert set(answers) <= {negative, positive}
    signs = learned(variant, X, y)
    assert many.decision_many(X).tobytes() == signs.decision_many(X).tobytes()
