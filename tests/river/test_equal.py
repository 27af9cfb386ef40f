"""Where River has the same algorithm, configured alike, its predictions are ours to 1e-9."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from river import linear_model, optim, preprocessing

from noregret import river
from tests.river.data import approval, chances, flights, played, scaled

NEAR: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-9}
POLLS = scaled(approval())
FLIGHTS = scaled(flights())


@pytest.mark.parametrize("intercept", [False, True, 0.5, 3.0])
def test_linear_regression_by_gradient_descent(intercept: float) -> None:
    """River's slope is 2 (w·x − y), Widrow and Hoff's w·x − y: the same step is twice the rate.

    Its intercept has a rate of its own: that of a constant feature c is c² times the others'.
    """
    rate = 0.01
    peer = linear_model.LinearRegression(optim.SGD(rate), intercept_lr=rate * float(intercept) ** 2)
    widrow_hoff = river.WidrowHoffRegressor(rate=2 * rate, step="explicit", intercept=intercept)
    descent = river.GradientDescentRegressor(rate=rate, step="explicit", intercept=intercept)
    expected = played(peer, POLLS)
    np.testing.assert_allclose(played(widrow_hoff, POLLS), expected, **NEAR)
    np.testing.assert_allclose(played(descent, POLLS), expected, **NEAR)


@pytest.mark.parametrize("loss", ["absolute", "huber", "quantile"])
def test_linear_regression_with_other_losses(loss: str) -> None:
    losses = {
        "absolute": optim.losses.Absolute(),
        "huber": optim.losses.Huber(1.0),
        "quantile": optim.losses.Quantile(0.8),
    }
    peer = linear_model.LinearRegression(optim.SGD(0.1), losses[loss], intercept_lr=0.1)
    number = {"absolute": None, "huber": 1.0, "quantile": 0.8}[loss]
    ours = river.GradientDescentRegressor(
        loss=loss, rate=0.1, step="explicit", loss_parameter=number
    )
    np.testing.assert_allclose(played(ours, POLLS), played(peer, POLLS), **NEAR)


@pytest.mark.parametrize("intercept", [False, True])
def test_logistic_regression(intercept: bool) -> None:
    peer = linear_model.LogisticRegression(optim.SGD(0.1), intercept_lr=0.1 * intercept)
    ours = river.LogisticClassifier(rate=0.1, schedule="constant", intercept=intercept)
    np.testing.assert_allclose(chances(ours, FLIGHTS), chances(peer, FLIGHTS), **NEAR)


def test_the_perceptron() -> None:
    peer, ours = linear_model.Perceptron(), river.PerceptronClassifier()
    np.testing.assert_allclose(chances(ours, FLIGHTS), chances(peer, FLIGHTS), **NEAR)


@pytest.mark.parametrize(("form", "mode"), [("pa", 0), ("pa-i", 1), ("pa-ii", 2)])
def test_passive_aggressive_classification(form: str, mode: int) -> None:
    peer = linear_model.PAClassifier(C=0.1, mode=mode, learn_intercept=False)
    ours = river.PassiveAggressiveClassifier(form=form, aggressiveness=0.1, intercept=False)
    np.testing.assert_allclose(chances(ours, FLIGHTS), chances(peer, FLIGHTS), **NEAR)


class Tube(optim.losses.EpsilonInsensitiveHinge):
    """The loss as it is defined: River's own takes every outcome y for 2y − 1."""

    def __call__(self, y_true: float, y_pred: float) -> float:
        return float(max(abs(y_pred - y_true) - self.eps, 0.0))


@pytest.mark.parametrize(("form", "mode"), [("pa", 0), ("pa-i", 1), ("pa-ii", 2)])
def test_passive_aggressive_regression(form: str, mode: int) -> None:
    peer: Any = linear_model.PARegressor(C=0.1, mode=mode, eps=0.2, learn_intercept=False)
    peer.loss = Tube(0.2)
    ours = river.PassiveAggressiveRegressor(
        form=form, aggressiveness=0.1, epsilon=0.2, intercept=False
    )
    np.testing.assert_allclose(played(ours, POLLS), played(peer, POLLS), **NEAR)


def test_the_approximate_large_margin_algorithm() -> None:
    """With the paper's B = √8/α, and examples scaled to norm 1, which ours does itself."""
    alpha = 0.9
    peer = linear_model.ALMAClassifier(p=2, alpha=alpha, B=math.sqrt(8) / alpha, C=math.sqrt(2))
    ours = river.MaxMarginClassifier(accuracy=alpha, intercept=False)
    normal = preprocessing.Normalizer(order=2)
    examples = [(normal.transform_one(x), y) for x, y in FLIGHTS if any(x.values())]
    np.testing.assert_allclose(chances(ours, examples)[1:], chances(peer, examples)[1:], **NEAR)
