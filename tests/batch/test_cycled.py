"""A learner that cycles: (R/γ)² updates, and an end to them even where there is none."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

import noregret as nr
from noregret import MaxMargin, PassiveAggressive, Perceptron, WidrowHoff
from noregret.batch import Cycled, HardMarginSvm
from tests.thorough import draws

from .problems import labels

Floats = NDArray[np.float64]


def by_hand(X: Floats, y: Floats, passes: int) -> tuple[Floats, int]:
    w, updates = np.zeros(X.shape[1]), 0
    for _ in range(passes):
        before = updates
        for x, label in zip(X, y, strict=True):
            if label * float(w @ x) <= 0:
                w, updates = w + label * x, updates + 1
        if updates == before:
            break
    return w, updates


@given(
    arrays(np.float64, (6, 2), elements=st.integers(-5, 5).map(float)),
    arrays(np.float64, 6, elements=st.sampled_from([-1.0, 1.0])),
)
@draws(15)
def test_the_perceptron_comes_to_rest_or_is_told_why_not(X: Floats, y: Floats) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = Cycled("perceptron", passes=300).fit(X, y)
        certificate = found.certificate()
        assert nr.verify(certificate, X, y).confirmed
    theorem = certificate.theorem
    assert theorem is not None
    machine = HardMarginSvm().fit(X, y)
    assert found.separated == machine.separable
    assert found.converged == machine.separable
    if machine.separable:
        w, updates = by_hand(X, y, 300)
        assert np.array_equal(found.weights, w)
        assert found.updates == theorem.measured == updates
        ratio = np.linalg.norm(X, axis=1).max() / machine.margin[0]
        assert theorem.bound == pytest.approx(ratio**2, rel=1e-5)
        assert theorem.holds is True
        assert certificate.loss.mistakes == 0
    else:
        assert found.separable is False
        assert found.passes_made == 10
        assert theorem.bound is None
        assert theorem.failed is not None
        assert theorem.failed.name == "margin > 0"


def test_what_cannot_be_separated_is_said_to_be_so() -> None:
    X, y = labels(60, noise=3.0)
    with pytest.warns(RuntimeWarning, match="no weights separate these labels.*never converge"):
        found = Cycled(passes=10**9).fit(X, y)
    assert (found.separable, found.separated, found.converged) == (False, False, False)
    assert found.predict_many(X).shape == (60,)


def test_passes_that_are_too_few_are_said_to_be_so() -> None:
    X, y = labels(60)
    X[:, 0] += 3
    with pytest.warns(RuntimeWarning, match="has not converged: allow more passes"):
        found = Cycled(passes=1).fit(X, y)
    assert found.passes_made == 1
    assert found.converged is False


@pytest.mark.parametrize("accuracy", [0.1, 0.5])
def test_max_margin_comes_near_to_the_largest_margin(accuracy: float) -> None:
    X, y = labels(40)
    X /= np.linalg.norm(X, axis=1)[:, None]
    found = Cycled(MaxMargin(accuracy), passes=100_000).fit(X, y)
    assert found.converged
    largest = HardMarginSvm().fit(X, y).margin[1]
    margin = (y * (X @ found.weights)).min() / np.linalg.norm(found.weights)
    assert margin >= (1 - accuracy) * largest * (1 - 1e-9)
    certificate = found.certificate()
    assert certificate.theorem is not None
    assert certificate.theorem.name == "cycled-max-margin"
    assert certificate.theorem.holds is True
    assert certificate.theorem.measured == found.updates
    assert nr.verify(certificate, X, y).confirmed


def test_the_learner_is_part_of_files_and_certificates(tmp_path: Any) -> None:
    X, y = labels(40)
    found = Cycled(MaxMargin(0.3), passes=5000, intercept=True).fit(X, y)
    found.save(tmp_path / "model")
    loaded = nr.load(tmp_path / "model")
    assert repr(loaded) == repr(found)
    assert isinstance(loaded.learner, MaxMargin)
    assert (loaded.updates, loaded.passes_made) == (found.updates, found.passes_made)
    found.certificate().save(tmp_path / "c.json")
    assert nr.verify(tmp_path / "c.json", X, y).confirmed
    by_name = Cycled("max-margin").fit(X, y)
    assert np.array_equal(by_name.weights, Cycled(MaxMargin()).fit(X, y).weights)


def test_the_learner_given_learns_nothing_itself() -> None:
    learner = Perceptron()
    method = Cycled(learner)
    method.fit(*labels(30))
    assert learner.rounds == 0
    assert method.clone().fit(*labels(30)).updates == method.updates


def test_winnow_cycles_too_without_a_promise() -> None:
    X = np.abs(labels(40)[0])
    y = np.where(X[:, 0] + X[:, 3] > 2, 1.0, -1.0)
    rows = np.column_stack([X, -np.ones(40)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = Cycled("winnow", passes=50).fit(rows, y)
    assert found.certificate().theorem is None


@pytest.mark.parametrize(
    ("learner", "said"),
    [
        (WidrowHoff(), "learns from more than mistakes"),
        (PassiveAggressive(), "learns from more than mistakes"),
        (Perceptron(averaged=True), "does not predict with"),
        (nr.Conjunction(), "does not predict with"),
        ("no-such-learner", "unknown learner"),
    ],
)
def test_learners_that_never_rest_are_refused(learner: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Cycled(learner)
    trained = Perceptron()
    trained.learn_one([1.0], 1)
    with pytest.raises(ValueError, match="pass an untrained"):
        Cycled(trained)
    with pytest.raises(TypeError, match="learner must be a learner"):
        Cycled(3)


@pytest.mark.parametrize("pair", [(-1, 1), (0, 1), (False, True)], ids=str)
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_mistakes_are_compared_with_mistakes(pair: tuple[Any, Any], noise: float) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3))
    y = np.where(X @ [1.0, -2.0, 0.5] + noise * rng.normal(size=60) > 0, pair[1], pair[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        method = Cycled("perceptron").fit(X, y)
        certificate = method.certificate()
        assert nr.verify(certificate, X, y).confirmed
    u = np.array(list(certificate.hindsight.witness.values()))
    wrong = np.count_nonzero(np.where(y == pair[1], 1, -1) * (X @ u) <= 0)
    assert certificate.hindsight.loss == wrong <= certificate.loss.total
    assert certificate.regret.upper >= 0
