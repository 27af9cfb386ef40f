"""Outliers, columns that are constant, doubled, late or many: nothing much happens."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from tests.auto.streams import LOSSES, NUMBERS, Floats, auto, played, stream


def squared(X: Floats, y: Floats) -> Floats:
    """Return the square loss of every round."""
    return np.asarray((played(auto(), X, y) - y) ** 2)


@pytest.mark.parametrize("loss", NUMBERS)
def test_outcomes_near_a_million_are_foreseen_from_the_second_on(loss: str) -> None:
    X, y = stream(0, 200, 3)
    said = played(auto(loss), X, y + 1e6)
    assert np.abs(said[1:] - 1e6).max() < 5 * np.ptp(y)


def test_outliers_among_outcomes_cost_little_afterwards() -> None:
    """One outcome in two hundred is 1000 times as large; the others are predicted half as well."""
    X, y = stream(0, 4000, 4)
    strange = np.random.default_rng(1).random(4000) < 0.005
    spoilt = np.where(strange, 1000 * y, y)
    said = played(auto("absolute"), X, spoilt)
    clean = played(auto("absolute"), X, y)
    late = np.arange(4000) > 500
    usual = late & ~strange
    assert np.abs(said - y)[usual].mean() < 2 * np.abs(clean - y)[usual].mean()


def test_constant_columns_and_doubled_columns_change_little() -> None:
    X, y = stream(0, 1500, 4)
    plain = squared(X, y).sum()
    constant = np.column_stack([X, np.full(1500, 1e9), np.full(1500, -3.0)])
    assert squared(constant, y).sum() < 1.1 * plain
    assert squared(np.column_stack([X, X]), y).sum() < 1.1 * plain


def test_a_column_that_comes_late_is_learned_as_soon_as_it_comes() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    X[:1500, 1] = 0
    y = X @ [1.0, 5.0] + 0.1 * rng.normal(size=3000)
    assert squared(X, y)[1600:].mean() < 0.05


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("rows", [1, 2, 5])
@pytest.mark.parametrize("columns", [0, 1])
def test_few_rows_and_columns_are_enough(loss: str, rows: int, columns: int) -> None:
    X, y = stream(0, rows, max(columns, 1), loss)
    learner = auto(loss)
    assert learner.predict_one(X[0, :columns]) in (0, 1, -1)
    played(learner, X[:, :columns], y)
    assert math.isfinite(learner.decision_one(X[0, :columns]))


@pytest.mark.parametrize("loss", LOSSES)
def test_rows_of_zeros_and_rows_of_nothing_are_rows_too(loss: str) -> None:
    _, y = stream(0, 100, 2, loss)
    zeros, nothing = auto(loss), auto(loss)
    for outcome in y:
        zeros.learn_one({"a": 0.0}, outcome)
        nothing.learn_one({}, outcome)
    assert zeros.decision_one({"a": 0.0}) == pytest.approx(nothing.decision_one({}), rel=1e-9)
    assert zeros.total_loss == pytest.approx(nothing.total_loss, rel=1e-12)


def test_a_million_features_are_no_trouble() -> None:
    rng = np.random.default_rng(0)
    rows, columns, each = 3000, 1_000_000, 20
    places = np.minimum(rng.zipf(1.3, size=(rows, each)), columns - 1)
    X = csr_array(
        (np.ones(rows * each), places.ravel(), np.arange(rows + 1) * each), (rows, columns)
    )
    X.sum_duplicates()
    good = rng.normal(size=columns)
    y = np.where(X @ good > 0, 1.0, -1.0)
    learner = auto("logistic")
    played(learner, X, y)
    assert learner.mistakes < 0.35 * rows
    assert len(learner.weights) == columns


@pytest.mark.parametrize("value", [float("inf"), 1e200])
def test_what_is_no_number_is_refused_by_name(value: float) -> None:
    learner = auto()
    learner.learn_one({"height": 1.0, "weight": 2.0}, 3.0)
    with pytest.raises(nr.BadExample, match="weight"):
        learner.learn_one({"height": 1.0, "weight": value}, 3.0)
    with pytest.raises(nr.BadExample, match="weight"):
        learner.predict_one({"height": 1.0, "weight": value})
    with pytest.raises(nr.BadExample, match="outcome"):
        learner.learn_one({"height": 1.0, "weight": 1.0}, value)


def test_outcomes_too_large_are_refused_with_advice() -> None:
    learner = auto()
    learner.learn_one({"a": 1.0}, 1.0)
    with pytest.raises(nr.Diverged, match="scale the outcomes"):
        learner.learn_one({"a": 1.0}, 1e147)
    assert learner.rounds == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"loss": "hinge"}, "loss"),
        ({"loss": "quantile", "loss_parameter": 1.5}, "quantile|between"),
        ({"recent": 1}, "recent"),
        ({"delay": -1}, "delay"),
        ({"delay": 1.5}, "delay"),
        ({"delay": 10**9}, "delay"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(options: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        nr.make("auto", **options)
