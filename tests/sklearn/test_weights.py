"""Examples that count for several: the same however they come, and what it amounts to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import noregret
import noregret.sklearn as ns
from tests.thorough import draws

TAKING: dict[str, dict[str, Any]] = {
    "widrow-hoff": {},
    "nlms": {},
    "gradient-descent": {"loss": "huber", "radius": 0.7},
    "perceptron": {"averaged": True},
    "logistic": {"step": "implicit"},
    "hinge": {},
    "passive-aggressive": {},
    "auto": {},
}
COPYING = ("vaw", "arow", "adagrad", "ftrl", "winnow", "coin-betting", "online-newton")


def stream(seed: int, rows: int = 30, columns: int = 5) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) / 3 * (rng.random((rows, columns)) < 0.7)
    return X, np.where(X @ rng.normal(size=columns) > 0, 1.0, -1.0), rng.gamma(1.0, size=rows)


def learned(name: str, X: Any, y: Any, importance: Any, **params: Any) -> noregret.Learner:
    learner: noregret.Learner = noregret.make(name, **params)
    learner.learn_many(X, y, importance)
    return learner


@pytest.mark.parametrize("name", TAKING)
@draws(4)
@given(seed=st.integers(0, 2**32 - 1))
def test_an_importance_is_the_same_in_every_kind_of_rows(name: str, seed: int) -> None:
    X, y, k = stream(seed)
    params = TAKING[name]
    dense = learned(name, X, y, k, **params)
    one_by_one: noregret.Learner = noregret.make(name, **params)
    for row in range(len(X)):
        one_by_one.learn_many(X[row : row + 1], y[row : row + 1], k[row : row + 1])
    in_csr = learned(name, sparse.csr_array(X), y, k, **params)
    frame = pd.DataFrame(X, columns=list("abcde"))
    in_frame = learned(name, frame, y, k, **params)
    in_dicts = learned(name, frame.to_dict("records"), y, k, **params)
    for other in (one_by_one, in_csr, in_frame, in_dicts):
        assert other.weights.tobytes() == dense.weights.tobytes()
        assert other.total_loss == dense.total_loss


@pytest.mark.parametrize("name", COPYING)
@draws(4)
@given(seed=st.integers(0, 2**32 - 1))
def test_others_take_whole_numbers_for_copies(name: str, seed: int) -> None:
    X, y, _ = stream(seed)
    k = np.random.default_rng(seed).integers(0, 4, len(X))
    rows = np.repeat(np.arange(len(X)), k)
    copied = learned(name, X[rows], y[rows], None)
    frame = pd.DataFrame(X, columns=list("abcde"))
    for table in (X, X.tolist(), sparse.csr_array(X)):
        assert learned(name, table, y, k).weights.tobytes() == copied.weights.tobytes()
    named = learned(name, frame, y.tolist(), k).weights
    assert named.tobytes() == copied.weights.tobytes()
    assert learned(name, frame.to_dict("records"), y, k).weights.tobytes() == named.tobytes()
    with pytest.raises(noregret.BadExample, match=r"row 1: the importance is 0\.5"):
        learned(name, X[:2], y[:2], [1, 0.5])


@given(
    x=st.lists(st.floats(-3, 3), min_size=1, max_size=4),
    y=st.floats(-5, 5),
    k=st.floats(0.01, 50),
    rate=st.floats(0.01, 2),
)
def test_an_importance_is_the_exact_step_of_so_many_times_the_rate(
    x: list[float], y: float, k: float, rate: float
) -> None:
    learner = learned("gradient-descent", [x], [y], [k], rate=rate)
    row = np.array(x)
    # w minimises k·rate·(w·x − y)² + ‖w‖²/2.
    expected = np.linalg.solve(
        2 * k * rate * np.outer(row, row) + np.eye(len(x)), 2 * k * rate * y * row
    )
    np.testing.assert_allclose(learner.weights, expected, rtol=1e-9, atol=1e-12)


def test_a_mistake_is_corrected_as_often_as_it_counts() -> None:
    X = np.array([[1.0, 2.0], [1.0, -1.0], [3.0, 1.0]])
    learner = learned("perceptron", X, [1, -1, 1], [2.5, 0.0, 4.0])
    assert learner.weights.tolist() == [2.5, 5.0]  # the third is right already, the second nothing
    assert learner.rounds == 3


@pytest.mark.parametrize("bad", [[1.0], [[1.0], [2.0]], "ab", [1, -1], [1, np.nan], [1, np.inf]])
def test_bad_importances_are_refused(bad: Any) -> None:
    learner = noregret.Nlms()
    with pytest.raises(noregret.BadExample, match="importance"):
        learner.learn_many([[1.0], [2.0]], [1.0, 2.0], bad)


def test_recorded_games_know_of_importances() -> None:
    learner = noregret.Nlms()
    game = noregret.play(learner, np.ones((1, 1)), np.ones(1))
    with game.recorded():
        learner.learn_many([[1.0], [2.0]], [1.0, 2.0], [1.0, 2.0])
    with pytest.raises(noregret.NoRegretError, match="round 3 has an importance other than 1"):
        game.certificate()


def test_sample_weight_is_the_importance() -> None:
    X, y, k = stream(3)
    fitted = ns.WidrowHoffRegressor(max_iter=1, shuffle=False, fit_intercept=False)
    fitted.fit(X, y, sample_weight=k)
    other = learned("widrow-hoff", X, y, k, step="implicit")
    assert fitted.coef_.tobytes() == other.weights.tobytes()
    with_noughts = np.where(np.arange(len(y)) % 3, k, 0.0)
    left = with_noughts > 0
    fitted.fit(X, y, sample_weight=with_noughts)
    other = learned("widrow-hoff", X[left], y[left], k[left], step="implicit")
    assert fitted.coef_.tobytes() == other.weights.tobytes()


def test_weights_of_learners_that_copy_are_whole() -> None:
    X, y, k = stream(4)
    with pytest.raises(noregret.BadExample, match="sample_weight: row 0 has the weight"):
        ns.VawRegressor().fit(X, y, sample_weight=k)
    whole = np.arange(len(y)) % 3
    rows = np.repeat(np.arange(len(y)), whole)
    options = {"max_iter": 1, "shuffle": False}
    weighted = ns.ArowClassifier(**options).fit(X, y, sample_weight=whole)
    copied = ns.ArowClassifier(**options).fit(X[rows], y[rows])
    assert weighted.coef_.tobytes() == copied.coef_.tobytes()


def test_class_weight_multiplies_sample_weight() -> None:
    X, y, k = stream(5)
    by_class = ns.LogisticClassifier(class_weight={-1: 3.0, 1: 0.5}, random_state=1)
    by_row = ns.LogisticClassifier(random_state=1)
    by_class.fit(X, y, sample_weight=k)
    by_row.fit(X, y, sample_weight=k * np.where(y > 0, 0.5, 3.0))
    assert by_class.coef_.tobytes() == by_row.coef_.tobytes()
    with pytest.raises(ValueError, match="needs all examples at once"):
        ns.LogisticClassifier(class_weight="balanced").partial_fit(X, y, classes=[-1, 1])
