"""Every bound on losses and regret is what NumPy and SciPy make of its formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

import noregret as nr
from noregret.proof.certificates.certificate import Promise
from tests.proof.theorems.hostile import Floats
from tests.thorough import draws

seeds = st.integers(0, 2**32 - 1)
some = draws(15)


def promised(learner: nr.Learner, X: Floats, y: Floats, name: str, **given: Any) -> Promise:
    promise = nr.play(learner, X, y).certificate(name, **given).theorem
    assert promise is not None
    assert promise.bound is not None
    assert promise.holds is True
    return promise


def drawn(seed: int, rounds: int = 12, n: int = 3) -> tuple[np.random.Generator, Floats, Floats]:
    """Return examples of norm at most 1, and outcomes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, n))
    X /= np.linalg.norm(X, axis=1, keepdims=True) * (1 + 1e-12)
    return rng, X * rng.uniform(0.2, 1, size=(rounds, 1)), rng.normal(size=rounds)


def ridge(X: Floats, y: Floats, penalty: float, scale: float) -> float:
    """Return min over u of  scale · ‖Xu − y‖² + penalty · ‖u‖²,  by least squares."""
    n = X.shape[1]
    A = np.vstack([np.sqrt(scale) * X, np.sqrt(penalty) * np.eye(n)])
    b = np.r_[np.sqrt(scale) * y, np.zeros(n)]
    u = np.linalg.lstsq(A, b, rcond=None)[0]
    return float(np.sum((A @ u - b) ** 2))


@some
@given(seed=seeds, rate=st.floats(0.01, 0.99), norm=st.sampled_from([1e-3, 1.0, 50.0]))
def test_widrow_hoff(seed: int, rate: float, norm: float) -> None:
    _, X, y = drawn(seed)
    promise = promised(nr.WidrowHoff(rate=rate, norm=norm), norm * X, y, "widrow-hoff")
    assert promise.bound == pytest.approx(ridge(norm * X, y, norm**2 / rate, 1 / (1 - rate)))


@some
@given(seed=seeds, rate=st.floats(0.01, 0.99), epsilon=st.sampled_from([1e-6, 1.0]))
def test_nlms(seed: int, rate: float, epsilon: float) -> None:
    rng, X, y = drawn(seed)
    X *= 10 ** rng.uniform(-2, 2, size=(len(X), 1))
    promise = promised(nr.Nlms(rate=rate, epsilon=epsilon), X, y, "nlms")
    size = np.sqrt(epsilon + np.sum(X**2, axis=1))
    assert promise.bound == pytest.approx(
        ridge(X / size[:, None], y / size, 1 / rate, 1 / (1 - rate))
    )
    w, loss = np.zeros(3), 0.0
    for x, outcome in zip(X, y, strict=True):
        error = float(w @ x) - outcome
        loss += error**2 / (epsilon + x @ x)
        w -= rate * error * x / (epsilon + x @ x)
    assert promise.measured == pytest.approx(loss)


@pytest.mark.parametrize("weight", [None, 2.0])
@some
@given(seed=seeds, c=st.floats(0.05, 10))
def test_eg(weight: float | None, seed: int, c: float) -> None:
    """With two corners the simplex is a line."""
    _, X, y = drawn(seed, n=2 if weight is None else 1)
    Z = X if weight is None else np.hstack([weight * X, -weight * X])
    spread = float(np.max(Z.max(axis=1) - Z.min(axis=1)))
    learner = nr.ExponentiatedGradient(rate=2 * c / (spread**2 * (2 + c)), weight=weight)
    promise = promised(learner, X, y, "eg")

    def bound(p: float) -> float:
        u = np.array([p, 1 - p])
        divergence = float(np.sum(u * np.log(2 * np.maximum(u, 1e-300))))
        loss = float(np.sum((Z @ u - y) ** 2))
        return (1 + c / 2) * loss + (0.5 + 1 / c) * spread**2 * divergence

    best = minimize_scalar(bound, bounds=(0, 1), method="bounded", options={"xatol": 1e-12}).fun
    assert promise.bound == pytest.approx(min(best, bound(0), bound(1)), rel=1e-6)


def test_eg_counts_announced_features_among_the_corners() -> None:
    """One feature of four is shown: the comparator may stay at the other three."""
    learner = nr.ExponentiatedGradient(rate=0.5, dimension=4)
    promise = promised(learner, np.ones((9, 1)), np.ones(9), "eg")

    def line(p: float) -> float:
        divergence = p * np.log(4 * p) + (1 - p) * np.log(4 * (1 - p) / 3)
        return float(9 * (1 - p) ** 2 / 0.75 + 2 * divergence)

    best = minimize_scalar(line, bounds=(1e-9, 1 - 1e-9), method="bounded")
    assert promise.bound == pytest.approx(best.fun, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "times", "reach"),
    [
        ("projected-gradient", 1.0, 1.0),
        ("projected-gradient-anytime", 3.0, 1.0),
        ("ogd-anytime", np.sqrt(8), 1.0),
        ("ftrl", 1.0, 1.0),
    ],
)
@some
@given(seed=seeds, radius=st.floats(0.1, 10), steep=st.floats(0.1, 10))
def test_regret_of_linear_losses(
    name: str, times: float, reach: float, seed: int, radius: float, steep: float
) -> None:
    """Gradients of norm L, all used up; the best point is opposite to their sum."""
    _, X, _ = drawn(seed)
    X *= steep / np.linalg.norm(X, axis=1, keepdims=True) / (1 + 1e-12)
    known: dict[str, Any] = {} if "anytime" in name else {"horizon": len(X)}
    kind = nr.all_theorems()[name][1]
    assert kind is not None
    learner = kind.tuned(name, loss="linear", radius=radius, lipschitz=steep, **known)
    again = learner.clone()
    promise = promised(learner, X, np.ones(len(X)), name)
    assert promise.bound == pytest.approx(times * radius * steep * np.sqrt(len(X)))
    loss = 0.0
    for x in X:
        loss += again.decision_one(x)
        again.learn_one(x, 1.0)
    assert promise.measured == pytest.approx(loss + radius * np.linalg.norm(X.sum(axis=0)))


@some
@given(seed=seeds, rate=st.floats(0.01, 1), radius=st.sampled_from([0.3, 2.0]))
def test_ftrl_with_gradients_of_its_own(seed: int, rate: float, radius: float) -> None:
    """η/2 Σ‖g‖² + U²/(2η), the gradients computed by hand; without a domain, U is told."""
    _, X, y = drawn(seed)
    promise = promised(nr.Ftrl(rate=rate), X, y, "ftrl", radius=radius)
    total, squares = np.zeros(3), 0.0
    for x, outcome in zip(X, y, strict=True):
        g = 2 * (float(-rate * total @ x) - outcome) * x
        total, squares = total + g, squares + float(g @ g)
    assert promise.bound == pytest.approx(radius**2 / (2 * rate) + rate / 2 * squares)


@pytest.mark.parametrize("horizon", [None, 12, 20])
@some
@given(seed=seeds, radius=st.floats(0.1, 10))
def test_logistic_on_a_line(horizon: int | None, seed: int, radius: float) -> None:
    _, X, y = drawn(seed, n=1)
    y = np.where(y > 0, 1.0, -1.0)
    learner = nr.Logistic.tuned(radius=radius, norm=1.0, horizon=horizon)
    promise = promised(learner, X, y, "logistic")
    factor = 3 * np.sqrt(12) if horizon is None else np.sqrt(horizon)
    assert promise.bound == pytest.approx(radius * factor)

    def loss(u: float) -> float:
        return float(np.sum(np.logaddexp(0, -y * X[:, 0] * u)))

    inside = minimize_scalar(loss, bounds=(-radius, radius), method="bounded")
    best = min(inside.fun, loss(radius), loss(-radius))
    assert promise.measured == pytest.approx(learner.total_loss - best, abs=2e-5)


@some
@given(seed=seeds, radius=st.floats(0.1, 10), norm=st.sampled_from([0.1, 3.0]))
def test_hinge_on_a_line(seed: int, radius: float, norm: float) -> None:
    _, X, y = drawn(seed, n=1)
    X, y = norm * X / np.max(np.abs(X)), np.where(y > 0, 1.0, -1.0)
    learner = nr.Hinge.tuned(radius=radius, norm=norm, horizon=15)
    promise = promised(learner, X, y, "hinge-ogd")
    assert promise.bound == pytest.approx(radius * norm * np.sqrt(15))
    # The best is at a kink, or at an end.
    kinks = np.clip(np.r_[y / X[:, 0], -radius, radius], -radius, radius)
    best = min(float(np.sum(np.maximum(0, 1 - y * X[:, 0] * u))) for u in kinks)
    assert promise.measured == pytest.approx(learner.total_loss - best, abs=2e-5)


@some
@given(seed=seeds, chance=st.sampled_from([None, 0.5, 0.01]))
def test_online_to_batch_with_high_probability(seed: int, chance: float | None) -> None:
    _, X, y = drawn(seed)
    learner = nr.averaged(nr.GradientDescent(loss="absolute", rate=0.1))
    given: dict[str, Any] = {} if chance is None else {"chance": chance}
    name = "online-to-batch-high-probability"
    promise = nr.play(learner, X, y).certificate(name, largest_loss=9.0, **given).theorem
    assert promise is not None
    expected = learner.total_loss / 12 + 9 * np.sqrt(2 * np.log(1 / (chance or 0.05)) / 12)
    assert promise.bound == pytest.approx(expected)
    assert promise.holds is None  # the risk is not to be known from the data
