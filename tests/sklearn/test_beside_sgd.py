"""Equal settings, equal answers: scikit-learn's own SGD beside ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor

import noregret.sklearn as ns
from tests.thorough import draws

OURS = {"max_iter": 3, "shuffle": False}
PEERS = {
    "penalty": None,
    "learning_rate": "constant",
    "eta0": 0.05,
    "max_iter": 3,
    "shuffle": False,
    "tol": None,
}
LOSSES = {"hinge": "hinge", "logistic": "log_loss", "mistake": "perceptron"}


def table(seed: int, classes: int = 2) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 7)) * (rng.random((80, 7)) < 0.6)
    scores = X @ rng.normal(size=(7, classes)) + rng.normal(size=(80, classes))
    labels = scores.argmax(axis=1)
    labels[:classes] = np.arange(classes)
    return X, scores[:, 0], np.array(["ant", "bee", "cat", "dog"])[labels]


def agree(ours: Any, peer: Any) -> None:
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, rtol=1e-9, atol=1e-11)


@draws(5)
@given(seed=st.integers(0, 2**32 - 1))
def test_regression_is_that_of_sgd(seed: int) -> None:
    X, y, _ = table(seed)
    peer = SGDRegressor(**PEERS).fit(X, y)
    # scikit-learn halves the square loss.
    agree(ns.GradientDescentRegressor(rate=0.025, step="explicit", **OURS).fit(X, y), peer)
    agree(ns.WidrowHoffRegressor(rate=0.05, step="explicit", **OURS).fit(X, y), peer)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("classes", [2, 4])
@draws(3)
@given(seed=st.integers(0, 2**32 - 1))
def test_classification_is_that_of_sgd(loss: str, classes: int, seed: int) -> None:
    X, _, y = table(seed, classes)
    ours = ns.GradientDescentClassifier(loss=loss, rate=0.05, **OURS).fit(X, y)
    peer = SGDClassifier(loss=LOSSES[loss], **PEERS).fit(X, y)
    agree(ours, peer)
    assert (ours.predict(X) == peer.predict(X)).all()
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), rtol=1e-9)
    if loss == "logistic":
        np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), rtol=1e-9)


@draws(5)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_perceptron_is_that_of_scikit_learn(seed: int) -> None:
    X, _, y = table(seed)
    agree(
        ns.PerceptronClassifier(**OURS).fit(X, y),
        Perceptron(max_iter=3, shuffle=False, tol=None).fit(X, y),
    )


@draws(5)
@given(seed=st.integers(0, 2**32 - 1))
def test_sparse_rows_are_those_of_sgd(seed: int) -> None:
    # There the intercept learns a hundred times as slowly, as with a column of a tenth.
    X, y, labels = table(seed)
    csr = sparse.csr_matrix(X)
    options = OURS | {"intercept_scaling": 0.1}
    peer = SGDRegressor(**PEERS).fit(csr, y)
    agree(ns.GradientDescentRegressor(rate=0.025, step="explicit", **options).fit(csr, y), peer)
    classes = SGDClassifier(**PEERS).fit(csr, labels)
    agree(
        ns.GradientDescentClassifier(loss="hinge", rate=0.05, **options).fit(csr, labels), classes
    )


@pytest.mark.parametrize("name", ns.__all__)
def test_a_table_is_the_same_in_every_form(name: str) -> None:
    X, y, labels = table(11)
    X, told = X.astype(np.float32), labels if name.endswith("Classifier") else y
    estimator = getattr(ns, name)
    one = {"random_state": 0, "max_iter": 2}
    first = estimator(**one).fit(X.astype(np.float64), told)
    wide = np.zeros((80, 14), np.float32)
    wide[:, ::2] = X
    for same in (X, np.asfortranarray(X), wide[:, ::2], X.tolist(), sparse.csc_array(X)):
        again = estimator(**one).fit(same, told)
        for mine, theirs in zip(first.learners_, again.learners_, strict=True):
            assert mine.weights.tobytes() == theirs.weights.tobytes()
            assert mine.total_loss == theirs.total_loss
        if told is y:
            np.testing.assert_allclose(again.predict(same), first.predict(X), rtol=1e-9, atol=1e-9)
        else:
            assert (again.predict(same) == first.predict(X)).all()


def test_many_blocks_are_one_table() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30_000, 20)) / 5, rng.normal(size=30_000)
    peer = SGDRegressor(**PEERS).fit(X, y)
    agree(ns.WidrowHoffRegressor(rate=0.05, step="explicit", **OURS).fit(X, y), peer)
    whole = ns.WidrowHoffRegressor(rate=0.05, max_iter=1, shuffle=False).fit(X, y)
    parts = ns.WidrowHoffRegressor(rate=0.05)
    for start in range(0, 30_000, 7_000):
        parts.partial_fit(X[start : start + 7_000], y[start : start + 7_000])
    assert whole.coef_.tobytes() == parts.coef_.tobytes()
    assert whole.intercept_.tobytes() == parts.intercept_.tobytes()
