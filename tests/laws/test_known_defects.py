"""Known defects of other libraries are not here."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.thorough import in_turn
from tests.variants import (
    VARIANTS,
    Floats,
    Shape,
    Variant,
    class_loss,
    examples,
    is_foretold,
    learned,
    state,
)


@in_turn("variant", [v for v in VARIANTS if v.averaged])
def test_an_averaged_learner_predicts_with_the_mean_of_the_weights_it_used(
    variant: Variant,
) -> None:
    """w_1 to w_m: the first weights included, those that learned the last example not."""
    X, y = examples(variant, Shape(seed=2, rows=60, columns=7, density=0.6))
    plain, mean = nr.make(variant.name, **variant.params), variant.make()
    plain = plain if not plain.engine.mean_kept else nr.make(variant.name)
    plain.learn_many(X[:0], y[:0])
    used: list[Floats] = []
    scores = np.zeros(len(X))
    for t, (x, outcome) in enumerate(zip(X, y, strict=True)):
        if t > 0:
            used.append(plain.weights)
            scores += plain.decision_many(X)
        else:
            scores += [plain.decision_one(row) for row in X]
            used.append(first_weights(variant, X.shape[1]))
        plain.learn_one(x, outcome)
        mean.learn_one(x, outcome)
        np.testing.assert_allclose(mean.weights, np.mean(used, axis=0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(mean.decision_many(X), scores / len(X), rtol=1e-9, atol=1e-12)
    assert not np.allclose(mean.weights, plain.weights)
    assert mean.total_loss == plain.total_loss
    assert mean.mistakes == plain.mistakes


def first_weights(variant: Variant, n: int) -> Floats:
    learner = nr.make(variant.name, **variant.params)
    unit = np.eye(n)
    if variant.boolean:
        return np.full(n, 1.0 if variant.name == "winnow" else 0.0)
    return np.array([learner.decision_one(row) for row in unit])


def test_the_mean_of_the_first_round_is_the_first_weights() -> None:
    learner = nr.averaged(nr.make("widrow-hoff", rate=0.5))
    learner.learn_one([1.0], 1.0)
    assert learner.weights.tolist() == [0.0]
    learner.learn_one([1.0], 1.0)
    assert learner.weights.tolist() == [0.25]


def test_averaging_starts_before_the_first_round_and_leaves_the_learner_alone() -> None:
    learner = nr.make("perceptron")
    assert nr.averaged(learner) is not learner
    assert not learner.engine.mean_kept
    learner.learn_one([1.0], 1)
    with pytest.raises(ValueError, match="already played"):
        nr.averaged(learner)
    assert not learner.engine.mean_kept


def test_averaging_keeps_the_limits_being_watched() -> None:
    learner = nr.make("perceptron")
    learner.watch("norm", 0.5)
    averaged = nr.averaged(learner)
    averaged.learn_one([1.0], 1)
    assert averaged.measured["norm"] == (1.0, 0.5, 1)


NOT_AVERAGED = [v for v in VARIANTS if not nr.make(v.name, **v.params).engine.mean_kept]


@in_turn("variant", NOT_AVERAGED)
def test_the_reported_loss_is_the_sum_of_the_losses(variant: Variant) -> None:
    """Of the very predictions that were made, before each outcome was seen."""
    X, y = examples(variant, Shape(seed=4, rows=200, columns=5, density=0.7))
    plain = nr.make(variant.name, **variant.params)
    losses, mistakes = [], 0
    for x, outcome in zip(X, y, strict=True):
        score, told = plain.decision_one(x), plain.total_loss
        if variant.classes and not is_foretold(variant, plain, outcome):
            plain.learn_one(x, outcome)
            losses.append(plain.total_loss - told)
            mistakes += len(plain.classes) > 1
            continue
        if variant.classes:
            losses.append(class_loss(plain.engine.loss.name, score, outcome))
            mistakes += class_loss("multiclass-mistake", score, outcome) > 0
        else:
            losses.append(plain.engine.loss.value(score, outcome))
            mistakes += variant.labels and outcome * score <= 0
        plain.learn_one(x, outcome)
    learner = learned(variant, X, y)
    assert learner.total_loss == pytest.approx(math.fsum(losses), rel=1e-14)
    assert learner.mistakes == mistakes


def test_a_long_sum_of_losses_keeps_its_digits() -> None:
    learner = nr.make("gradient-descent", loss="absolute", rate=1e-300)
    y = np.full(200_000, 0.1)
    learner.learn_many(np.zeros((len(y), 1)), y)
    assert learner.total_loss == pytest.approx(math.fsum(y), rel=1e-15)


# Rates that are too large for the data: 1 would do, 10 is far too much.
DIVERGING: list[tuple[str, dict[str, Any]]] = [
    ("widrow-hoff", {"rate": 0.9, "norm": 0.2}),
    ("gradient-descent", {"rate": 10.0}),
    ("gradient-descent", {"rate": 100.0, "schedule": "horizon", "horizon": 100}),
    ("gradient-descent", {"rate": 10.0, "loss": "squared-epsilon-insensitive"}),
    ("ftrl", {"rate": 10.0}),
    (
        "gradient-descent",
        {"rate": 10.0, "loss": nr.PythonLoss(lambda s, y: (s - y) ** 2, lambda s, y: 2 * (s - y))},
    ),
]


@pytest.mark.parametrize("kind", ["one", "many"])
@pytest.mark.parametrize(("name", "params"), DIVERGING, ids=str)
def test_a_rate_that_diverges_says_so_before_it_predicts_nonsense(
    name: str, params: dict[str, Any], kind: str
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    y = 10 + 0.1 * rng.normal(size=3000)
    learner = nr.make(name, **params)
    largest = [0.0]

    def learn() -> None:
        if kind == "many":
            learner.learn_many(X, y)
        for x, outcome in zip(X, y, strict=True):
            largest[0] = max(largest[0], abs(learner.predict_one(x)))
            learner.learn_one(x, outcome)

    with pytest.raises(nr.Diverged) as caught:
        learn()
    assert largest[0] < 1e6  # targets are near 10
    assert caught.value.round == learner.rounds + 1
    assert "rate" in str(caught.value)
    assert f"round {caught.value.round}" in str(caught.value)
    assert np.isfinite(learner.weights).all()
    before = state(learner)
    with pytest.raises(nr.Diverged):
        learner.learn_one(X[learner.rounds], y[learner.rounds])
    assert state(learner) == before


@pytest.mark.parametrize("rate", [0.05, 0.3, 0.9])
def test_rates_that_do_not_diverge_are_not_accused(rate: float) -> None:
    """Outcomes jump between tiny and large, rows between short and long, within norm 1."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(5000, 6))
    X /= np.linalg.norm(X, axis=1, keepdims=True) * rng.choice([1.0, 10.0, 1000.0], size=(5000, 1))
    y = rng.choice([1e-6, 1.0, 1000.0], size=5000) * rng.normal(size=5000)
    learner = nr.make("widrow-hoff", rate=rate)
    learner.learn_many(X, y)
    assert learner.rounds == 5000


def test_the_advice_of_a_diverging_learner_works() -> None:
    X = np.random.default_rng(0).normal(size=(2000, 4))
    y = X @ [1.0, -2.0, 0.5, 0.0]
    learner = nr.make("gradient-descent", rate=3.0)
    with pytest.raises(nr.Diverged, match="divide it by") as caught:
        learner.learn_many(X, y)
    factor = float(str(caught.value).split("divide it by ")[1].split()[0])
    assert factor > 1
    calmer = nr.make("gradient-descent", rate=3.0 / (2 * factor))
    calmer.learn_many(X, y)
    assert calmer.rounds == len(X)


@pytest.mark.parametrize(
    ("x", "y"), [([1.0], 1e149), ([1e-3], 1e149), ([1e149], 1.0), ([1e76], 1e76)], ids=str
)
def test_no_advice_to_divide_a_rate_by_less_than_one(x: list[float], y: float) -> None:
    learner = nr.make("gradient-descent", rate=0.01)
    learner.learn_one([1e-3], 1.0)
    try:
        learner.learn_one(x, y)
        advice = ""
    except nr.NoRegretError as refusal:
        advice = str(refusal)
    if "divide it by" in advice:
        assert float(advice.split("divide it by ")[1].split()[0]) > 1
