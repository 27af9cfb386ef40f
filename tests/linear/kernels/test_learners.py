"""The kernel learners do what they are defined to do."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import noregret as nr
from tests.linear.kernels.reference import Machine, kernel
from tests.thorough import few
from tests.variants import Floats

KERNELS: list[dict[str, Any]] = [
    {"kernel": "rbf", "width": 0.7},
    {"kernel": "polynomial", "degree": 3, "offset": 0.5},
    {"kernel": "linear"},
]


def stream(seed: int, rows: int = 40, columns: int = 3) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    return X, np.sign(np.sin(2 * X[:, 0]) + X[:, -1] ** 2 - 0.7)


def reference_of(learner: Any, form: dict[str, Any], radius: float | None = None) -> Machine:
    made = kernel(form["kernel"], **{k: v for k, v in form.items() if k != "kernel"})
    rate = learner.params.get("rate", 1.0)
    return Machine(made, rate, learner.budget, np.inf if radius is None else radius)


@pytest.mark.parametrize("budget", [2, 7, 100])
@pytest.mark.parametrize("form", KERNELS, ids=lambda form: form["kernel"])
@few(seed=st.integers(0, 10**6))
def test_the_perceptron_is_the_one_of_the_books(
    form: dict[str, Any], budget: int, seed: int
) -> None:
    learner = nr.KernelPerceptron(**form, budget=budget)
    other = reference_of(learner, form)
    for x, y in zip(*stream(seed, columns=8), strict=True):
        score = other.f(x)
        assert learner.decision_one(x) == pytest.approx(score, rel=1e-5, abs=1e-7)
        if abs(score) < 1e-9 and other.f.points:
            return  # rounding may tell either way
        other.step(x, -y if y * score <= 0 else 0.0)
        learner.learn_one(x, y)
    agree(learner, other)


@pytest.mark.parametrize("radius", [None, 0.8])
@pytest.mark.parametrize("budget", [3, 100])
@pytest.mark.parametrize("form", KERNELS, ids=lambda form: form["kernel"])
@few(seed=st.integers(0, 10**6))
def test_gradient_descent_is_the_one_of_the_books(
    form: dict[str, Any], budget: int, radius: float | None, seed: int
) -> None:
    learner = nr.KernelGradientDescent(
        loss="logistic", rate=0.3, radius=radius, **form, budget=budget
    )
    other = reference_of(learner, form, radius)
    for x, y in zip(*stream(seed, rows=25), strict=True):
        score = other.f(x)
        assert learner.decision_one(x) == pytest.approx(score, rel=1e-5, abs=1e-7)
        other.step(x, learner.engine.loss.slope(score, y))
        learner.learn_one(x, y)
        assert learner.norm <= (radius or np.inf) * (1 + 1e-9)
    agree(learner, other)


def agree(learner: Any, other: Machine) -> None:
    """The numbers recorded for theorems are right."""
    kept = {name: float(value[0]) for name, value in learner._accounts().items() if value.ndim == 1}
    assert learner.removed == other.removals
    assert learner.norm == pytest.approx(other.f.norm, rel=1e-4, abs=1e-6)
    assert kept["moved"] == pytest.approx(other.moved, rel=1e-4, abs=1e-4)
    assert kept["exchanged"] == pytest.approx(other.exchanged, rel=1e-3, abs=1e-4)
    assert len(learner.support_vectors) == len(other.f.points) <= learner.budget


@pytest.mark.parametrize("radius", [None, 0.5])
def test_the_linear_kernel_is_the_linear_learner(radius: float | None) -> None:
    X, y = stream(3, rows=200)
    plain = nr.GradientDescent(loss="hinge", radius=radius)
    inside = nr.KernelGradientDescent(loss="hinge", radius=radius, kernel="linear", budget=256)
    tight = nr.KernelGradientDescent(loss="hinge", radius=radius, kernel="linear", budget=3)
    for learner in (plain, inside, tight):
        learner.learn_many(X, y)
    np.testing.assert_allclose(inside.weights, plain.weights, rtol=1e-9)
    assert inside.total_loss == pytest.approx(plain.total_loss, rel=1e-9)
    # Three vectors span the three features, so that nothing is lost but what the lift costs.
    np.testing.assert_allclose(tight.weights, plain.weights, rtol=1e-2, atol=1e-2)


def test_weights_are_the_slope_at_zero() -> None:
    X, y = stream(5)
    for form in KERNELS:
        learner = nr.KernelGradientDescent(loss="hinge", **form, budget=20)
        learner.learn_many(X, y)
        slope = [
            (learner.decision_one(1e-5 * e) - learner.decision_one(-1e-5 * e)) / 2e-5
            for e in np.eye(3)
        ]
        np.testing.assert_allclose(learner.weights, slope, rtol=1e-6, atol=1e-9)


def test_many_threads_predict_at_once() -> None:
    X, y = stream(7, rows=2000)
    learner = nr.KernelGradientDescent(loss="hinge", budget=64)
    learner.learn_many(X, y)
    expected = learner.decision_many(X).tobytes()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: learner.decision_many(X).tobytes(), range(12)))
    assert set(found) == {expected}


def test_a_long_game_keeps_its_inverse_in_order() -> None:
    """Many exchanges of vectors that nearly depend on each other: f must not drift away."""
    rng = np.random.default_rng(0)
    X = rng.choice(np.linspace(0, 1, 40), size=(6000, 1)) + 1e-6 * rng.normal(size=(6000, 1))
    y = np.sin(7 * X[:, 0]) + 0.1 * rng.normal(size=6000)
    learner = nr.KernelGradientDescent(width=0.3, rate=0.2, budget=12)
    learner.learn_many(X, y)
    # Twelve vectors span a function this smooth but for little.
    assert np.mean((learner.predict_many(X) - np.sin(7 * X[:, 0])) ** 2) < 0.05
    assert np.abs(learner.coefficients).max() < 1e4


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"kernel": "cosine"}, "choose one of rbf, polynomial, linear"),
        ({"width": 0.0}, "width must be"),
        ({"degree": 0}, "degree must be"),
        ({"degree": 21}, "degree must be"),
        ({"offset": -1.0}, "offset must be"),
        ({"budget": 0}, "budget must be"),
        ({"budget": 1025}, "budget must be"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(wrong: dict[str, Any], said: str) -> None:
    for kind in (nr.KernelPerceptron, nr.KernelGradientDescent):
        with pytest.raises(ValueError, match=said):
            kind(**wrong)


def test_more_features_than_fit_are_refused_with_what_would_do() -> None:
    learner = nr.KernelPerceptron(budget=1024)
    with pytest.raises(nr.BadExample, match="use a smaller budget"):
        learner.learn_one(np.zeros(100_000), 1)
    assert learner.rounds == 0
