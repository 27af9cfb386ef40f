"""Adversaries and chance try to break every promise about regression and convex losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import noregret as nr
from tests.reference import PARAMETERS, SLOPES, VALUES, Floats, shares

SLACK = 1 + 1e-9  # rounding, nothing else
steady = settings(max_examples=25)
seeds = st.integers(0, 2**32 - 1)
Adversary = Callable[[np.random.Generator, Floats, float], float]
"""From the example and its score to the outcome."""

ADVERSARIES: dict[str, Adversary] = {
    "noise": lambda rng, x, s: float(rng.uniform(-1, 1)),
    "a fixed rule": lambda rng, x, s: float(np.clip(x @ np.linspace(-1, 1, len(x)), -1, 1)),
    "against the score": lambda rng, x, s: -1.0 if s > 0 else 1.0,
    "with the score": lambda rng, x, s: 1.0 if s > 0 else -1.0,
    "extreme": lambda rng, x, s: float(rng.choice([-1.0, 1.0])),
}
every_adversary = pytest.mark.parametrize("adversary", ADVERSARIES)


def unit(rng: np.random.Generator, n: int) -> Floats:
    """Return an example of norm at most 1: a random one, or one along an axis."""
    if rng.random() < 0.3:
        return np.asarray(np.eye(n)[rng.integers(n)])
    x = rng.normal(size=n)
    return np.asarray(x / np.linalg.norm(x) * rng.uniform(0.5, 1.0))


def box(rng: np.random.Generator, n: int) -> Floats:
    """Return an example in [−1, 1]ⁿ, often in a corner."""
    corner = rng.random() < 0.5
    return np.asarray(rng.choice([-1.0, 1.0], size=n) if corner else rng.uniform(-1, 1, size=n))


def play(
    learner: nr.Learner,
    rounds: int,
    seed: int,
    adversary: str,
    n: int = 3,
    example: Callable[[np.random.Generator, int], Floats] = unit,
) -> tuple[Floats, Floats, Floats]:
    """Let the adversary see every score before it answers; return examples, outcomes, scores."""
    rng = np.random.default_rng(seed)
    X, y, scores = np.zeros((rounds, n)), np.zeros(rounds), np.zeros(rounds)
    labels = learner.engine.loss.labels
    for t in range(rounds):
        X[t] = example(rng, n)
        scores[t] = learner.decision_one(X[t])
        y[t] = ADVERSARIES[adversary](rng, X[t], scores[t])
        if labels:
            y[t] = 1.0 if y[t] > 0 else -1.0
        learner.learn_one(X[t], y[t])
    return X, y, scores


def loss_of(u: Floats, X: Floats, y: Floats, loss: str) -> float:
    own = PARAMETERS.get(loss, 0.0)
    return float(sum(VALUES[loss](s, t, own) for s, t in zip(X @ u, y, strict=True)))


def best_in_ball(X: Floats, y: Floats, loss: str, radius: float, start: Floats) -> float:
    """Return the least loss found in the ball: by descent from several points, and by chance."""

    def inside(v: Floats) -> Floats:
        return np.asarray(v * min(1.0, radius / max(float(np.linalg.norm(v)), 1e-300)))

    rng = np.random.default_rng(0)
    starts = [start, *(radius * unit(rng, X.shape[1]) for _ in range(3))]
    found = [0 * start, *starts]
    for v in starts:
        result = minimize(lambda v: loss_of(inside(v), X, y, loss), v, method="Powell")
        found.append(np.asarray(result.x))
    return min(loss_of(inside(v), X, y, loss) for v in found)


# Widrow-Hoff: L ≤ min_u L_u/(1−η) + X²‖u‖²/η, a ridge problem with an exact answer.


def widrow_hoff_bound(X: Floats, y: Floats, rate: float, norm: float = 1.0) -> float:
    ridge = norm**2 * (1 - rate) / rate
    u = np.asarray(np.linalg.solve(X.T @ X + ridge * np.eye(X.shape[1]), X.T @ y), np.float64)
    return loss_of(u, X, y, "square") / (1 - rate) + norm**2 * float(u @ u) / rate


@every_adversary
@steady
@given(seed=seeds, rate=st.floats(0.01, 0.99), norm=st.sampled_from([1.0, 5.0]))
def test_widrow_hoff_keeps_its_promise(adversary: str, seed: int, rate: float, norm: float) -> None:
    learner = nr.make("widrow-hoff", rate=rate, norm=norm)
    X, y, _ = play(learner, 60, seed, adversary, example=lambda rng, n: norm * unit(rng, n))
    assert learner.total_loss <= widrow_hoff_bound(X, y, rate, norm) * SLACK


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.3])
def test_widrow_hoff_bound_is_nearly_reached(rate: float) -> None:
    """Against y = −sign(score) the loss stays just below the bound: the bound is not slack."""
    learner = nr.make("widrow-hoff", rate=rate)
    example = lambda rng, n: np.ones(1)  # noqa: E731
    X, y, _ = play(learner, 3000, 0, "against the score", n=1, example=example)
    bound = widrow_hoff_bound(X, y, rate)
    assert 0.9 * bound < learner.total_loss <= bound * SLACK


# Exponentiated gradient: L ≤ min_u (1+c/2) L_u + (1/2+1/c) R² KL(u‖uniform).


def simplex_bounds(Z: Floats, y: Floats, c: float, spread: float) -> list[float]:
    """Return the bound at the corners, in the middle and at the best u that scipy finds."""
    n = Z.shape[1]

    def bound(u: Floats) -> float:
        positive = u[u > 0]
        divergence = float(np.sum(positive * np.log(positive * n)))
        return (1 + c / 2) * loss_of(u, Z, y, "square") + (0.5 + 1 / c) * spread**2 * divergence

    best = minimize(lambda logs: bound(shares(logs)), np.zeros(n), method="BFGS")
    return [bound(u) for u in (*np.eye(n), np.full(n, 1 / n), shares(best.x))]


@every_adversary
@steady
@given(seed=seeds, c=st.floats(0.05, 10))
def test_exponentiated_gradient_keeps_its_promise(adversary: str, seed: int, c: float) -> None:
    rate = 2 * c / (4 * (2 + c))
    learner = nr.make("exponentiated-gradient", rate=rate)
    X, y, _ = play(learner, 50, seed, adversary, n=4, example=box)
    assert learner.measured["spread"].largest <= 2.0
    assert learner.total_loss <= min(simplex_bounds(X, y, c, 2.0)) * SLACK


@every_adversary
@steady
@given(seed=seeds, c=st.floats(0.05, 10), weight=st.sampled_from([0.5, 1.0, 3.0]))
def test_signed_exponentiated_gradient_keeps_its_promise(
    adversary: str, seed: int, c: float, weight: float
) -> None:
    spread = 2 * weight
    rate = 2 * c / (spread**2 * (2 + c))
    learner = nr.make("exponentiated-gradient", rate=rate, weight=weight)
    X, y, _ = play(learner, 50, seed, adversary, n=3, example=box)
    assert learner.measured["spread"].largest <= spread
    Z = np.hstack([weight * X, -weight * X])
    assert learner.total_loss <= min(simplex_bounds(Z, y, c, spread)) * SLACK


def test_spread_counts_announced_features_that_are_absent_as_zero() -> None:
    """R of the promise is max x_i − min x_i over all n features, those never named included."""
    learner = nr.make("exponentiated-gradient", dimension=4)
    learner.learn_one({"a": 1.0}, 1.0)
    assert learner.measured["spread"].largest == 1.0


def test_exponentiated_gradient_pays_little_for_a_thousand_useless_features() -> None:
    """One feature is the outcome: the loss stays below (1/2 + 1/c) R² ln n."""
    n, c = 1000, 2.0
    learner = nr.make("exponentiated-gradient", rate=2 * c / (4 * (2 + c)))
    rng = np.random.default_rng(0)
    for _ in range(400):
        x = rng.choice([-1.0, 1.0], size=n)
        learner.learn_one(x, float(x[0]))
    assert learner.total_loss <= (0.5 + 1 / c) * 4 * np.log(n) * SLACK


# Gradient descent in a ball: the anytime and the horizon rate.

LIPSCHITZ = ["absolute", "hinge", "logistic", "linear", "quantile", "epsilon-insensitive"]


@pytest.mark.parametrize("loss", LIPSCHITZ)
@pytest.mark.parametrize("adversary", ["a fixed rule", "against the score", "with the score"])
@settings(max_examples=2)
@given(seed=seeds, radius=st.sampled_from([0.5, 2.0]))
def test_projected_gradient_keeps_its_promises(
    loss: str, adversary: str, seed: int, radius: float
) -> None:
    """All these losses have slopes of at most 1, and examples of norm 1: L = 1."""
    T = 60
    tunings: list[tuple[dict[str, Any], float]] = [
        ({"schedule": "horizon", "horizon": T, "rate": radius}, radius * np.sqrt(T)),
        ({"schedule": "sqrt", "rate": radius}, 3 * radius * np.sqrt(T)),
        ({"schedule": "sqrt", "rate": radius * np.sqrt(2)}, radius * np.sqrt(8 * T)),
    ]
    for params, bound in tunings:
        learner = nr.make("gradient-descent", loss=loss, radius=radius, **params)
        X, y, _ = play(learner, T, seed, adversary)
        assert learner.measured["gradient"].largest <= 1 + 1e-12
        best = best_in_ball(X, y, loss, radius, learner.weights)
        assert learner.total_loss - best <= bound * SLACK


@every_adversary
@settings(max_examples=5)
@given(seed=seeds, radius=st.sampled_from([1.0, 2.0]))
def test_gradient_descent_keeps_its_promise_for_the_square_loss(
    adversary: str, seed: int, radius: float
) -> None:
    """‖x‖ ≤ 1 and |y| ≤ U make G = 4U, and the regret at most 8U²√(2T)."""
    T, steepest = 60, 4 * radius
    learner = nr.make(
        "gradient-descent", rate=radius * np.sqrt(2) / steepest, schedule="sqrt", radius=radius
    )
    X, y, _ = play(learner, T, seed, adversary)
    assert learner.measured["gradient"].largest <= steepest
    best = best_in_ball(X, y, "square", radius, learner.weights)
    assert learner.total_loss - best <= 8 * radius**2 * np.sqrt(2 * T) * SLACK


def linear_regret(learner: nr.Learner, gradients: Floats, radius: float) -> float:
    """Return the regret of linear losses, whose best point in the ball is known."""
    for g in gradients:
        learner.learn_one(g, 1.0)
    return learner.total_loss + radius * float(np.linalg.norm(gradients.sum(axis=0)))


@pytest.mark.parametrize(
    ("name", "params"),
    [("gradient-descent", {"loss": "linear"}), ("ftrl", {"loss": "linear"})],
)
def test_no_slack_is_left_where_every_gradient_is_new(name: str, params: dict[str, Any]) -> None:
    """Orthogonal gradients: the learner never gains, the best point pays −R√T. Just the bound."""
    T, radius = 64, 3.0
    learner = nr.make(name, rate=radius, schedule="horizon", horizon=T, radius=radius, **params)
    assert linear_regret(learner, np.eye(T), radius) == pytest.approx(radius * np.sqrt(T), rel=1e-9)


@pytest.mark.parametrize("name", ["gradient-descent", "ftrl"])
@pytest.mark.parametrize("schedule", ["horizon", "sqrt"])
@settings(max_examples=25)
@given(seed=seeds, T=st.integers(1, 200), radius=st.floats(0.1, 10))
def test_linear_losses_chosen_to_hurt_keep_within_the_bound(
    name: str, schedule: str, seed: int, T: int, radius: float
) -> None:
    """The adversary turns every gradient so that it costs, and leads the sum ever farther."""
    rng = np.random.default_rng(seed)
    known = {"horizon": T} if schedule == "horizon" else {}
    learner = nr.make(name, loss="linear", rate=radius, schedule=schedule, radius=radius, **known)
    total = np.zeros(2)
    for _ in range(T):
        g = unit(rng, 2)
        g = -g if learner.decision_one(g) < 0 or (rng.random() < 0.5 and g @ total < 0) else g
        total += g
        learner.learn_one(g, 1.0)
    regret = learner.total_loss + radius * float(np.linalg.norm(total))
    assert regret <= (1 if schedule == "horizon" else 3) * radius * np.sqrt(T) * SLACK


def test_logistic_keeps_its_promise() -> None:
    T, radius = 80, 2.0
    for schedule, factor in (("horizon", 1.0), ("sqrt", 3.0)):
        known = {"horizon": T} if schedule == "horizon" else {}
        for adversary in ADVERSARIES:
            learner = nr.make("logistic", rate=radius, schedule=schedule, radius=radius, **known)
            X, y, _ = play(learner, T, 1, adversary)
            best = best_in_ball(X, y, "logistic", radius, learner.weights)
            assert learner.total_loss - best <= factor * radius * np.sqrt(T) * SLACK


@every_adversary
@settings(max_examples=5)
@given(seed=seeds, radius=st.sampled_from([0.5, 1.0, 4.0]))
def test_hinge_keeps_its_promise_without_projection(
    adversary: str, seed: int, radius: float
) -> None:
    T = 60
    learner = nr.make("hinge", rate=radius, schedule="horizon", horizon=T)
    X, y, _ = play(learner, T, seed, adversary)
    best = best_in_ball(X, y, "hinge", radius, learner.weights)
    assert learner.total_loss - best <= radius * np.sqrt(T) * SLACK


# Leaders.


@pytest.mark.parametrize("domain", ["ball", "box"])
@pytest.mark.parametrize("T", [1, 2, 51, 1000])
def test_follow_the_leader_fails_in_every_round_but_the_first(domain: str, T: int) -> None:
    learner = nr.make("follow-the-leader", domain=domain)
    for t in range(T):
        learner.learn_one([1.0], 0.5 if t == 0 else (-1.0) ** t)
    assert learner.total_loss == T - 1


@pytest.mark.parametrize("loss", ["linear", "square", "hinge", "logistic", "absolute", "huber"])
@pytest.mark.parametrize("radius", [None, 1.0])
@pytest.mark.parametrize("adversary", ["a fixed rule", "against the score", "extreme"])
@settings(max_examples=6)
@given(seed=seeds, rate=st.floats(0.01, 0.9))
def test_regularised_leader_keeps_its_promise(
    loss: str, radius: float | None, adversary: str, seed: int, rate: float
) -> None:
    """regret(u) ≤ ‖u‖²/(2η) + (η/2) Σ‖g_t‖², for every u of the domain."""
    own = PARAMETERS.get(loss, 0.0)
    learner = nr.make("ftrl", loss=loss, rate=rate, radius=radius)
    X, y, scores = play(learner, 50, seed, adversary)
    slopes = np.array([SLOPES[loss](s, t, own) for s, t in zip(scores, y, strict=True)])
    price = rate / 2 * float(np.sum((slopes[:, None] * X) ** 2))
    rng = np.random.default_rng(seed)
    # The hardest u for the linearised losses, the weights themselves, and points by chance.
    gradient = slopes @ X
    hardest = [-rate * gradient, learner.weights, np.zeros(3)]
    for u in [*hardest, *(float(rng.uniform(0, 3)) * unit(rng, 3) for _ in range(20))]:
        v = u if radius is None else u * min(1.0, radius / max(float(np.linalg.norm(u)), 1e-300))
        regret = learner.total_loss - loss_of(v, X, y, loss)
        assert regret <= (float(v @ v) / (2 * rate) + price) * SLACK + 1e-12


# nlms: Widrow-Hoff on examples and outcomes divided by √(ε + ‖x‖²), whatever their size.


def any_size(rng: np.random.Generator, n: int) -> Floats:
    return unit(rng, n) * 10.0 ** rng.integers(-3, 4)


@every_adversary
@pytest.mark.parametrize("rate", [0.05, 0.5, 0.95])
@steady
@given(seed=seeds)
def test_nlms_keeps_its_promise_on_examples_of_any_size(
    adversary: str, rate: float, seed: int
) -> None:
    X, y, scores = play(nr.Nlms(rate=rate, epsilon=0.01), 60, seed, adversary, example=any_size)
    weight = 1 / np.sqrt(0.01 + np.sum(X**2, axis=1))
    A, b = X * weight[:, None], y * weight
    bound = widrow_hoff_bound(A, b, rate)
    assert np.sum((scores * weight - b) ** 2) <= bound * SLACK
