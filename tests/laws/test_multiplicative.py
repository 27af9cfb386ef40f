"""Multiplicative weights are never lost: not by underflow, not by one enormous loss."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st

import noregret as nr
from tests.thorough import few, paired, sized
from tests.variants import Floats

SIMPLEX: list[tuple[str, dict[str, Any]]] = [
    ("exponentiated-gradient", {"rate": 0.5}),
    ("exponentiated-gradient", {"rate": 0.5, "step": "implicit"}),
    ("exponentiated-gradient", {"rate": 0.5, "loss": "linear"}),
    ("exponentiated-gradient", {"rate": 0.5, "loss": "absolute", "schedule": "sqrt"}),
    ("ftrl", {"regulariser": "entropic", "rate": 0.5}),
    ("winnow", {}),
]
SIGNED: list[tuple[str, dict[str, Any]]] = [
    ("exponentiated-gradient", {"rate": 0.5, "weight": 1.0}),
    ("exponentiated-gradient", {"rate": 0.5, "weight": 1.0, "step": "implicit"}),
    ("exponentiated-gradient", {"rate": 0.5, "weight": 1.0, "loss": "linear"}),
    ("ftrl", {"regulariser": "entropic", "rate": 0.5, "weight": 1.0}),
    ("winnow", {"form": "balanced"}),
]


def sound(learner: nr.Learner, signed: bool) -> None:
    """Check that the weights are numbers that add up as they must."""
    weights = learner.weights
    assert np.isfinite(weights).all()
    total = float(np.abs(weights).sum())
    if signed:
        assert total <= 1 + 1e-9
    else:
        assert (weights >= 0).all()
        assert total == pytest.approx(1, abs=1e-9)


def attempt(learner: nr.Learner, x: Any, y: float) -> None:
    """Learn, or leave it: an overflow may be refused, but must not leave a trace."""
    try:
        learner.learn_one(x, y)
    except nr.NoRegretError:
        return


@pytest.mark.parametrize(("name", "params"), SIMPLEX, ids=str)
@pytest.mark.parametrize("n", [1, 2, 7, 1000])
def test_first_weights_are_one_nth(name: str, params: dict[str, Any], n: int) -> None:
    announced = nr.make(name, **params, dimension=n)
    assert announced.decision_one({"a": 1.0}) == pytest.approx(1 / n, rel=1e-15)
    assert announced.decision_one([1.0] + [0.0] * (n - 1)) == pytest.approx(1 / n, rel=1e-15)
    learner = nr.make(name, **params)
    learner.learn_one(np.zeros(n), 1.0)
    np.testing.assert_allclose(learner.weights, np.full(n, 1 / n), rtol=1e-15)


@pytest.mark.parametrize(("name", "params"), [*SIMPLEX, *SIGNED], ids=str)
def test_one_enormous_loss_ruins_nothing(name: str, params: dict[str, Any]) -> None:
    shapes = [[1.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, -1.0, 0.5], [-1.0] * 3]
    for size, shape in paired([1e3, 1e10, 1e60, 1e100, 1e149], shapes):
        recovers_from(name, params, size, shape)


def recovers_from(name: str, params: dict[str, Any], size: float, shape: list[float]) -> None:
    signed = (name, params) in SIGNED
    x = np.array(shape)
    for big_x, big_y in (
        (1.0, 1.0),
        (1.0, -1.0),
        (size, 1.0),
        (size, -1.0),
        (1.0, size),
        (1.0, -size),
    ):
        if name == "winnow" and abs(big_y) != 1:
            continue
        learner = nr.make(name, **params)
        attempt(learner, x * big_x, big_y)
        sound(learner, signed) if learner.rounds else None
        for k in range(20):
            learner.learn_one(np.roll([0.2, 0.7, -0.4], k), (-1.0) ** k)
            sound(learner, signed)
        learner.learn_many(sp.csr_array([[0.5, 0.0, 0.0]]), [1.0])
        sound(learner, signed)


@pytest.mark.parametrize(("name", "params"), [*SIMPLEX, *SIGNED], ids=str)
def test_all_weights_may_fall_together(name: str, params: dict[str, Any]) -> None:
    """A step that is the same for every feature changes nothing on the simplex, however large."""
    learner = nr.make(name, **params)
    for y in (-1.0, 1.0, -1.0, -1.0):
        for _ in range(50):
            attempt(learner, np.array([30.0, 30.0, 30.0]), y * (100 if name != "winnow" else 1))
            sound(learner, (name, params) in SIGNED)
    spread = np.ptp(learner.weights)
    assert spread == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("name", "params"), SIMPLEX, ids=str)
def test_names_may_join_after_all_weights_fell_or_rose(name: str, params: dict[str, Any]) -> None:
    for y in (-1.0, 1.0):
        learner = nr.make(name, **params)
        for _ in range(60):
            attempt(learner, {"a": 30.0, "b": 30.0}, y * (1 if name == "winnow" else 100))
        score = learner.decision_one({"a": 1.0, "late": 1.0})
        learner.learn_one({"late": 0.0}, 1.0)
        sound(learner, False)
        assert math.isfinite(score)
        assert score <= 1 + 1e-9


def log_domain(X: Floats, steps: Floats) -> Floats:
    """Return the weights after these steps, from their logarithms."""
    logs = -(steps[:, None] * X).sum(axis=0)
    weights: Floats = np.exp(logs - logs.max())
    weights /= weights.sum()
    return weights


@few(size=st.floats(1, 1e5), n=st.integers(2, 12), seed=st.integers(0, 1000))
def test_a_weight_that_became_tiny_comes_back(size: float, n: int, seed: int) -> None:
    """With linear losses the weights are exp(−η·sum of losses), however far they had fallen."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, n))
    X[5] *= size
    X[25] = -X[5]  # what was lost is given back
    steps = rng.choice([0.5, 1.0, 2.0], size=40)
    steps[5] = steps[25] = 1.0
    learner = nr.make("exponentiated-gradient", loss="linear", rate=1.0)
    for t in range(40):
        learner.learn_one(X[t], steps[t])
        np.testing.assert_allclose(
            learner.weights, log_domain(X[: t + 1], steps[: t + 1]), rtol=1e-8 * size, atol=1e-12
        )


def test_the_best_expert_recovers_after_one_enormous_loss() -> None:
    """Exponentials alone would underflow and the expert be lost for ever."""
    learner = nr.make("exponentiated-gradient", loss="linear", rate=1.0)
    learner.learn_one([1000.0, 0.0], 1.0)
    assert learner.weights.tolist() == [0.0, 1.0]
    learner.learn_many(np.tile([0.0, 1.0], (1100, 1)), np.ones(1100))
    np.testing.assert_allclose(learner.weights, [1.0, 0.0], atol=1e-12)


@pytest.mark.parametrize(("name", "params"), [*SIMPLEX, *SIGNED], ids=str)
def test_a_million_rounds_of_ever_more_extreme_weights(name: str, params: dict[str, Any]) -> None:
    """One feature is always right: its rivals' weights fall towards e^−(hundreds of thousands)."""
    learner = nr.make(name, **params)
    rng = np.random.default_rng(1)
    # The implicit step is found by trial, which takes its time.
    rows = sized(5_000, full=50_000) // (10 if "step" in params else 1)
    X = rng.normal(size=(rows, 4))
    y = np.sign(X[:, 0])
    X[:, 0] = y
    for _ in range(20):
        learner.learn_many(X, y)
        sound(learner, (name, params) in SIGNED)
    if params.get("loss") != "linear" and name != "winnow":  # there it is pushed down, or rests
        assert learner.weights[0] > 0.9
    turned = -y
    for _ in range(4):
        learner.learn_many(X, turned)
        sound(learner, (name, params) in SIGNED)


@few(seed=st.integers(0, 10_000), scale=st.sampled_from([0.1, 10.0, 200.0]))
def test_sums_do_not_drift(seed: int, scale: float) -> None:
    """The normaliser is kept incrementally; it must be the sum of the weights all the same."""
    rng = np.random.default_rng(seed)
    learner = nr.make("exponentiated-gradient", loss="linear", rate=1.0)
    X = rng.normal(size=(3000, 6)) * scale * (rng.random((3000, 6)) < 0.5)
    y = rng.normal(size=3000)
    for start in range(0, 3000, 100):
        learner.learn_many(sp.csr_array(X[start : start + 100]), y[start : start + 100])
        sound(learner, False)
    logs = -(X * y[:, None]).sum(axis=0)
    expected = np.exp(logs - logs.max())
    np.testing.assert_allclose(
        learner.weights, expected / expected.sum(), rtol=1e-9 * scale, atol=1e-9
    )
