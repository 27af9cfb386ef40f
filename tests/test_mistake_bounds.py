"""Adversaries and chance try to break every promise about mistakes and margins."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import noregret as nr
from tests.reference import Floats

SLACK = 1 + 1e-9
steady = settings(max_examples=20)
seeds = st.integers(0, 2**32 - 1)


def hardest(
    learner: nr.Learner, X: Floats, y: Floats, rounds: int
) -> Iterator[tuple[Floats, float]]:
    """Teach, in every round, the example of the pool that the learner gets most wrong."""
    learner.learn_one(X[0], y[0])
    yield X[0], float(y[0])
    for _ in range(rounds - 1):
        worst = int(np.argmin(y * learner.decision_many(X)))
        learner.learn_one(X[worst], y[worst])
        yield X[worst], float(y[worst])


def in_turn(
    learner: nr.Learner, X: Floats, y: Floats, rounds: int
) -> Iterator[tuple[Floats, float]]:
    """Teach the pool in its own order, again and again."""
    for t in range(rounds):
        i = t % len(X)
        learner.learn_one(X[i], y[i])
        yield X[i], float(y[i])


Teacher = Callable[[nr.Learner, Floats, Floats, int], Iterator[tuple[Floats, float]]]
every_teacher = pytest.mark.parametrize("teach", [hardest, in_turn])


def hinge(u: Floats, X: Floats, y: Floats) -> Floats:
    return np.maximum(0.0, 1 - y * (X @ u))


def separable(rng: np.random.Generator, n: int, margin: float) -> tuple[Floats, Floats, Floats]:
    """Return a unit vector v, and examples of norm at most 1 with y v·x ≥ margin."""
    v = rng.normal(size=n)
    v /= np.linalg.norm(v)
    X = rng.normal(size=(60, n))
    X /= np.linalg.norm(X, axis=1, keepdims=True) * rng.uniform(1, 2, size=(60, 1))
    X = X[np.abs(X @ v) > 1e-3]
    # Push what lies closer to the plane than the margin out along v, and keep what still fits.
    short = np.maximum(0.0, margin - np.abs(X @ v))
    X = X + (short * np.sign(X @ v))[:, None] * v
    X = X[np.linalg.norm(X, axis=1) <= 1]
    return v, X, np.sign(X @ v)


# Perceptron.


@every_teacher
@steady
@given(seed=seeds, n=st.integers(1, 6), margin=st.sampled_from([0.02, 0.1, 0.3]))
def test_perceptron_makes_few_mistakes_where_there_is_a_margin(
    teach: Teacher, seed: int, n: int, margin: float
) -> None:
    v, X, y = separable(np.random.default_rng(seed), n, margin)
    learner = nr.make("perceptron")
    for _ in teach(learner, X, y, 300):
        pass
    true_margin = float(np.min(y * (X @ v)))
    assert learner.mistakes <= (np.max(np.linalg.norm(X, axis=1)) / true_margin) ** 2 * SLACK


def test_perceptron_bound_is_reached() -> None:
    """One new axis a round: every round is a mistake, and R/γ is √n."""
    n = 25
    learner = nr.make("perceptron")
    for x in np.eye(n):
        learner.learn_one(x, 1)
    assert learner.mistakes == n


def any_data_bound(u: Floats, X: Floats, y: Floats) -> float:
    size = float(np.linalg.norm(u)) * float(np.max(np.linalg.norm(X, axis=1)))
    return float(((size + np.sqrt(size**2 + 4 * np.sum(hinge(u, X, y)))) / 2) ** 2)


@every_teacher
@steady
@given(seed=seeds, noise=st.sampled_from([0.0, 0.1, 0.5]))
def test_perceptron_makes_few_mistakes_on_any_data(teach: Teacher, seed: int, noise: float) -> None:
    rng = np.random.default_rng(seed)
    v, X, y = separable(rng, 3, 0.1)
    y = np.where(rng.random(len(y)) < noise, -y, y)
    learner = nr.make("perceptron")
    played = list(teach(learner, X, y, 150))
    X, y = np.array([x for x, _ in played]), np.array([label for _, label in played])
    start = v / 0.1
    best = minimize(lambda u: any_data_bound(u, X, y), start, method="Powell").x
    for u in (np.zeros(3), start, best, *rng.normal(size=(5, 3))):
        assert learner.mistakes <= any_data_bound(u, X, y) * SLACK


# Winnow.


def corners(rng: np.random.Generator, u: Floats, margin: float) -> tuple[Floats, Floats]:
    """Return examples in [−1, 1]ⁿ with |u·x| ≥ margin, and their labels; some must be left."""
    X = np.vstack([rng.choice([-1.0, 1.0], size=(300, len(u))), rng.uniform(-1, 1, (100, len(u)))])
    X = X[np.abs(X @ u) >= margin]
    return X, np.sign(X @ u)


@every_teacher
@pytest.mark.parametrize("form", ["normalised", "balanced"])
@steady
@given(seed=seeds, n=st.integers(2, 20), margin=st.sampled_from([0.05, 0.2, 0.5]))
def test_winnow_makes_few_mistakes_where_there_is_a_margin(
    teach: Teacher, form: str, seed: int, n: int, margin: float
) -> None:
    rng = np.random.default_rng(seed)
    u = np.zeros(n)
    u[:2] = rng.dirichlet([1.0, 1.0])
    if form == "balanced":
        u[0] = -u[0]
    X, y = corners(rng, u, margin)
    learner = nr.make("winnow", form=form, rate=0.5 * np.log((1 + margin) / (1 - margin)))
    for _ in teach(learner, X, y, 250):
        pass
    directions = n if form == "normalised" else 2 * n
    assert learner.mistakes <= 2 * np.log(directions) / margin**2 * SLACK


@every_teacher
@steady
@given(seed=seeds, n=st.integers(2, 64), k=st.integers(1, 4))
def test_winnow1_learns_a_disjunction_with_few_mistakes(
    teach: Teacher, seed: int, n: int, k: int
) -> None:
    rng = np.random.default_rng(seed)
    k = min(k, n)
    relevant = rng.permutation(n)[:k]
    density = rng.choice([0.05, 0.3, 0.6], size=(400, 1))
    X = np.vstack([np.eye(n), np.ones((1, n)), rng.random((400, n)) < density]).astype(float)
    y = np.where(X[:, relevant].any(axis=1), 1.0, -1.0)
    learner = nr.make("winnow", form="winnow1", dimension=n)
    for _ in teach(learner, X, y, 300):
        pass
    assert learner.mistakes <= 2 * k * np.log2(n) + 2


# Conjunctions.


@every_teacher
@steady
@given(seed=seeds, n=st.integers(1, 12), literals=st.integers(0, 12))
def test_conjunction_makes_at_most_one_mistake_a_feature_and_one_more(
    teach: Teacher, seed: int, n: int, literals: int
) -> None:
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(n)[: min(literals, n)]
    wanted = rng.integers(0, 2, size=len(chosen))
    X = rng.integers(0, 2, size=(200, n)).astype(float)
    X[::2, chosen] = wanted  # or there would hardly be a positive
    y = np.where((X[:, chosen] == wanted).all(axis=1), 1.0, -1.0)
    learner = nr.make("conjunction")
    for _ in teach(learner, X, y, 250):
        pass
    assert learner.mistakes <= n + 1


def test_conjunction_bound_is_reached() -> None:
    """Everything is positive: each mistake after the first strikes out a single literal."""
    n = 10
    learner = nr.make("conjunction")
    for x in [np.zeros(n), *np.eye(n)]:
        learner.learn_one(x, True)
    assert learner.mistakes == n + 1


# Passive-aggressive: the bounds of Crammer, Dekel, Keshet, Shalev-Shwartz and Singer, 2006.


def lost(
    learner: nr.Learner, X: Floats, y: Floats, teach: Teacher
) -> tuple[Floats, Floats, Floats]:
    """Return the rounds that were played and the hinge loss of each."""
    rows, labels, losses = [], [], []
    before = learner.copy()
    for x, label in teach(learner, X, y, 120):
        losses.append(max(0.0, 1 - label * before.decision_one(x)))
        rows.append(x)
        labels.append(label)
        before = learner.copy()
    return np.array(rows), np.array(labels), np.array(losses)


@every_teacher
@steady
@given(seed=seeds, margin=st.sampled_from([0.05, 0.3]))
def test_passive_aggressive_pays_little_where_there_is_a_margin(
    teach: Teacher, seed: int, margin: float
) -> None:
    """Σ hinge² ≤ ‖u‖²R² for every u without loss."""
    v, X, y = separable(np.random.default_rng(seed), 3, margin)
    X, y, losses = lost(nr.make("passive-aggressive", form="pa"), X, y, teach)
    norm = 1 / float(np.min(y * (X @ v)))
    assert np.sum(losses**2) <= norm**2 * np.max(np.sum(X**2, axis=1)) * SLACK


def competitors(rng: np.random.Generator, v: Floats) -> list[Floats]:
    return [np.zeros(3), v, 5 * v, *rng.normal(size=(10, 3)), *(10 * rng.normal(size=(5, 3)))]


@every_teacher
@steady
@given(seed=seeds, noise=st.sampled_from([0.0, 0.2, 0.5]), c=st.sampled_from([0.01, 0.3, 10.0]))
def test_passive_aggressive_keeps_its_promises_on_any_data(
    teach: Teacher, seed: int, noise: float, c: float
) -> None:
    """Against every u with hinge losses h_t and examples of norm at most R.

    pa, ‖x‖ = 1:  Σ hinge² ≤ (‖u‖ + 2√Σh_t²)²
    pa-i:         mistakes ≤ max(R², 1/C)·(‖u‖² + 2C Σh_t)
    pa-ii:        Σ hinge² ≤ (R² + 1/(2C))·(‖u‖² + 2C Σh_t²)
    """
    rng = np.random.default_rng(seed)
    v, pool, labels = separable(rng, 3, 0.1)
    labels = np.where(rng.random(len(labels)) < noise, -labels, labels)
    unit = pool / np.linalg.norm(pool, axis=1, keepdims=True)

    X, y, losses = lost(nr.make("passive-aggressive", form="pa"), unit, labels, teach)
    for u in competitors(rng, v):
        size, h = float(np.linalg.norm(u)), hinge(u, X, y)
        assert np.sum(losses**2) <= (size + 2 * np.sqrt(np.sum(h**2))) ** 2 * SLACK

    first = nr.make("passive-aggressive", form="pa-i", aggressiveness=c)
    X, y, _ = lost(first, pool, labels, teach)
    largest = float(np.max(np.sum(X**2, axis=1)))
    for u in competitors(rng, v):
        price = float(u @ u) + 2 * c * float(np.sum(hinge(u, X, y)))
        assert first.mistakes <= max(largest, 1 / c) * price * SLACK

    second = nr.make("passive-aggressive", form="pa-ii", aggressiveness=c)
    X, y, losses = lost(second, pool, labels, teach)
    assert second.total_loss == pytest.approx(float(np.sum(losses**2)), rel=1e-9)
    largest = float(np.max(np.sum(X**2, axis=1)))
    for u in competitors(rng, v):
        price = float(u @ u) + 2 * c * float(np.sum(hinge(u, X, y) ** 2))
        assert second.total_loss <= (largest + 1 / (2 * c)) * price * SLACK
