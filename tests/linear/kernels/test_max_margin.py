"""The online learner that approaches the largest margin."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import noregret as nr
from noregret.hindsight import Rows, largest_margin
from tests.thorough import few
from tests.variants import Floats


def separable(seed: int, rows: int = 60, margin: float = 0.1) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    v = rng.normal(size=4)
    v /= np.linalg.norm(v)
    X = rng.normal(size=(rows, 4))
    X /= np.linalg.norm(X, axis=1)[:, None]
    y = np.sign(X @ v)
    X += (margin * y)[:, None] * v
    return X * rng.lognormal(sigma=2, size=(rows, 1)), y


def cycled(accuracy: float, X: Floats, y: Floats) -> Any:
    """Return a learner that has gone round until it was not corrected any more."""
    learner: Any = nr.MaxMargin(accuracy=accuracy)
    while True:
        before = learner.corrections
        learner.learn_many(X, y)
        if learner.corrections == before:
            return learner


def share_of_margin(learner: nr.Learner, X: Floats, y: Floats) -> float:
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    own = float((y * (unit @ learner.weights)).min() / np.linalg.norm(learner.weights))
    return own / largest_margin(Rows(unit, y)).upper


@few(seed=st.integers(0, 10**6), accuracy=st.sampled_from([0.1, 0.3, 0.7, 1.0]))
def test_it_is_the_algorithm_of_the_paper(seed: int, accuracy: float) -> None:
    X, y = separable(seed)
    learner = nr.MaxMargin(accuracy=accuracy)
    w, k = np.zeros(4), 1
    for x, label in zip(X, y, strict=True):
        learner.learn_one(x, label)
        unit = x / np.linalg.norm(x)
        if label * (w @ unit) <= (1 - accuracy) * math.sqrt(8) / accuracy / math.sqrt(k):
            w = w + math.sqrt(2 / k) * label * unit
            w /= max(1.0, float(np.linalg.norm(w)))
            k += 1
        np.testing.assert_allclose(learner.weights, w, rtol=1e-9, atol=1e-12)
    assert learner.corrections == k - 1


@pytest.mark.parametrize("accuracy", [1.0, 0.7, 0.3, 0.1, 0.03])
def test_the_bound_follows_from_what_a_correction_does(accuracy: float) -> None:
    """u·w grows by γ√(2/k), then shrinks by at most √(1 + A/k), and never exceeds 1."""
    A, reach = 2 * (1 - accuracy) * 4 / accuracy + 2, 0.0
    for k in range(1, 30_000):
        reach = (reach + math.sqrt(2 / k)) / math.sqrt(1 + A / k)
        margin = min(1.0, 1 / reach)  # the largest with which k corrections may be
        assert k <= 2 / margin**2 * (2 / accuracy - 1) ** 2 + 8 / accuracy - 4


def test_cycling_reaches_the_largest_margin_as_the_accuracy_tends_to_zero() -> None:
    X, y = separable(3)
    gamma = largest_margin(Rows(X / np.linalg.norm(X, axis=1)[:, None], y)).lower
    shares = []
    for accuracy in (0.9, 0.5, 0.2, 0.1):
        learner = cycled(accuracy, X, y)
        shares.append(share_of_margin(learner, X, y))
        assert shares[-1] >= 1 - accuracy - 1e-9
        assert learner.corrections <= 2 / gamma**2 * (2 / accuracy - 1) ** 2 + 8 / accuracy - 4
    assert shares[-1] > 0.98
    assert shares == sorted(shares)


@few(seed=st.integers(0, 10**6))
def test_an_adversary_who_sees_the_weights_stays_below_the_bound(seed: int) -> None:
    """Of many examples with the margin, always the one with the least for the learner."""
    rng = np.random.default_rng(seed)
    v = np.eye(4)[0]
    learner = nr.MaxMargin(accuracy=0.5)

    def hostile() -> object:
        for _ in range(400):
            across = rng.normal(size=(20, 4)) * (v == 0)
            across /= np.linalg.norm(across, axis=1)[:, None]
            many = 0.2 * v + math.sqrt(1 - 0.2**2) * across
            yield min(many, key=learner.decision_one), 1

    promise = nr.play(learner, hostile()).certificate().theorem
    assert promise is not None
    assert promise.holds is True
    assert promise.measured == learner.corrections


def test_the_norms_of_examples_do_not_matter() -> None:
    X, y = separable(5)
    one, other = nr.MaxMargin(), nr.MaxMargin()
    one.learn_many(X, y)
    other.learn_many(X * np.random.default_rng(0).lognormal(sigma=20, size=(60, 1)), y)
    assert one.corrections == other.corrections
    np.testing.assert_allclose(other.weights, one.weights, rtol=1e-9)


def test_examples_too_small_to_be_scaled_are_told() -> None:
    game = nr.play(nr.MaxMargin(), [[1e-150, 0.0], [1.0, 0.0]], [1, 1])
    with pytest.raises(nr.NoRegretError, match="scale them up"):
        game.certificate()


@pytest.mark.parametrize("accuracy", [0.0, -1.0, 1.1, math.nan, "a"])
def test_accuracy_is_a_share(accuracy: float) -> None:
    with pytest.raises(ValueError, match="accuracy must be"):
        nr.MaxMargin(accuracy=accuracy)
