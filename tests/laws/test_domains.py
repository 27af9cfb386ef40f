"""Weights stay in their domain to 1e-9, whatever happens, for a million rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import noregret as nr
from tests.thorough import in_turn, sized
from tests.variants import VARIANTS, Floats, Shape, Variant, examples

ROUNDS = sized(100_000, full=1_000_000)
BLOCK = ROUNDS // 20
CLOSE = 1e-9


def outside(learner: nr.Learner) -> float:
    """Return how far the weights are from their domain, relative to its size; 0 inside."""
    params, weights = learner.params, learner.weights
    # The domain of others is one of scores: see test_second_order.
    if not learner.engine.linear:
        return 0.0
    size, limit = float(np.abs(weights).sum()), params.get("weight")
    if params.get("form") == "balanced":
        limit = 1.0
    if params.get("radius") is not None:
        box = params.get("domain") == "box" or params.get("form") == "diagonal"
        size, limit = float(np.linalg.norm(weights, np.inf if box else 2)), params["radius"]
    if on_simplex(learner):
        return max(abs(size - 1), -min(0.0, float(weights.min())))
    return 0.0 if limit is None else max(0.0, size / float(limit) - 1)


def on_simplex(learner: nr.Learner) -> bool:
    params = learner.params
    if params.get("weight") is not None:
        return False
    return (
        learner.name == "exponentiated-gradient"
        or params.get("regulariser") == "entropic"
        or (learner.name == "winnow" and params["form"] == "normalised")
    )


BOUNDED: list[tuple[str, dict[str, Any]]] = [
    ("gradient-descent", {"radius": 0.3, "rate": 0.2}),
    ("gradient-descent", {"radius": 100.0, "rate": 0.01, "loss": "absolute"}),
    ("gradient-descent", {"radius": 0.3, "rate": 5.0, "step": "implicit"}),
    ("gradient-descent", {"radius": 2.0, "loss": "linear", "schedule": "sqrt", "rate": 3.0}),
    ("gradient-descent", {"radius": 0.2, "domain": "box"}),
    ("logistic", {"radius": 0.5}),
    ("adagrad", {"radius": 0.2, "rate": 3.0}),
    ("adagrad", {"radius": 0.5, "form": "norm"}),
    ("adagrad", {"radius": 2.0, "form": "norm", "loss": "linear"}),
    ("ftrl", {"radius": 0.5}),
    ("ftrl", {"radius": 0.5, "schedule": "sqrt", "loss": "linear"}),
    ("ftrl", {"regulariser": "entropic"}),
    ("follow-the-leader", {"radius": 0.5}),
    ("follow-the-leader", {"radius": 0.5, "domain": "box", "loss": "square"}),
    ("exponentiated-gradient", {}),
    ("exponentiated-gradient", {"weight": 2.0, "rate": 0.5}),
    ("exponentiated-gradient", {"loss": "linear", "rate": 1.0}),
    ("winnow", {}),
    ("winnow", {"form": "balanced"}),
]


def block(variant: Variant, scale: float) -> tuple[Floats, Floats]:
    X, y = examples(variant, Shape(seed=11, rows=BLOCK, columns=9, density=0.4))
    return X * scale, y


@pytest.mark.parametrize(("name", "params"), BOUNDED, ids=str)
def test_a_million_rounds_stay_in_the_domain(name: str, params: dict[str, Any]) -> None:
    variant = Variant(name, params, False)
    X, y = block(variant, 1.0)
    S = sp.csr_array(X)
    dense, sparse = variant.make(), variant.make()
    for _ in range(ROUNDS // BLOCK):
        dense.learn_many(X, y)
        sparse.learn_many(S, y)
        assert outside(dense) < CLOSE
    assert dense.rounds == ROUNDS
    assert np.isfinite(dense.weights).all()
    assert dense.weights.any()
    assert dense.weights.tobytes() == sparse.weights.tobytes()
    assert dense.total_loss == sparse.total_loss


@pytest.mark.parametrize("scale", [30.0, 1e4, 1e12])
@pytest.mark.parametrize(("name", "params"), BOUNDED, ids=str)
def test_enormous_steps_stay_in_the_domain(name: str, params: dict[str, Any], scale: float) -> None:
    variant = Variant(name, params, False)
    X, y = block(variant, scale)
    X, y = X[:2000], y[:2000]
    learner = variant.make()
    # Ordinary rounds between the enormous ones: they must not drown in what those left behind.
    X[::3] /= scale
    y[1::3] *= scale if not variant.labels else 1
    for start in range(0, len(X), 100):
        learner.learn_many(X[start : start + 100], y[start : start + 100])
        assert outside(learner) < CLOSE
    assert np.isfinite(learner.weights).all()


@in_turn("variant", VARIANTS)
def test_every_bounded_learner_stays_in_its_domain(variant: Variant) -> None:
    X, y = examples(variant, Shape(seed=5, rows=80, columns=12, density=0.5))
    learner = variant.make()
    for x, outcome in zip(X, y, strict=True):
        learner.learn_one(x, outcome)
        assert learner.params.get("dimension") or outside(learner) < CLOSE


def test_a_ball_reached_by_a_long_walk_is_not_left() -> None:
    """The norm is kept incrementally; here its rounding errors have every reason to add up."""
    rng = np.random.default_rng(0)
    learner = nr.make("gradient-descent", loss="linear", radius=1.0, rate=0.7)
    X = rng.normal(size=(200_000, 3))
    y = rng.choice([-1.0, 1.0], size=200_000)
    for start in range(0, len(X), 1000):
        learner.learn_many(X[start : start + 1000], y[start : start + 1000])
        assert outside(learner) < CLOSE
