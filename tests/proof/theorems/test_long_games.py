"""Mistakes in long games: the example that a learner gets most wrong, again and again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from tests.proof.theorems.hostile import Floats, Pairs
from tests.thorough import draws

seeds = st.integers(0, 2**32 - 1)
some = draws(12)
Teacher = Callable[[nr.Learner, Floats, Floats, int], Pairs]


def hardest(learner: nr.Learner, X: Floats, y: Floats, rounds: int) -> Pairs:
    """Yield, in every round, the example of the pool that the learner gets most wrong."""
    for t in range(rounds):
        worst = int(np.argmin(y * learner.decision_many(X))) if t else 0
        yield X[worst], float(y[worst])


def in_turn(learner: nr.Learner, X: Floats, y: Floats, rounds: int) -> Pairs:
    """Yield the pool in its own order, again and again."""
    for t in range(rounds):
        yield X[t % len(X)], float(y[t % len(X)])


every_teacher = pytest.mark.parametrize("teach", [hardest, in_turn])


def kept(learner: nr.Learner, stream: Pairs, name: str) -> None:
    promise = nr.play(learner, stream).certificate(name).theorem
    assert promise is not None
    assert promise.failed is None
    assert promise.holds is True


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


@every_teacher
@pytest.mark.parametrize("name", ["perceptron", "passive-aggressive"])
@some
@given(seed=seeds, n=st.integers(1, 6), margin=st.sampled_from([0.02, 0.1, 0.3]))
def test_with_a_margin(teach: Teacher, name: str, seed: int, n: int, margin: float) -> None:
    _, X, y = separable(np.random.default_rng(seed), n, margin)
    learner = nr.Perceptron() if name == "perceptron" else nr.PassiveAggressive(form="pa")
    kept(learner, teach(learner, X, y, 300), name)


@every_teacher
@pytest.mark.parametrize("c", [None, 0.01, 0.3, 10.0])
@draws(4)
@given(seed=seeds, noise=st.sampled_from([0.0, 0.1, 0.5]))
def test_on_any_data(teach: Teacher, c: float | None, seed: int, noise: float) -> None:
    rng = np.random.default_rng(seed)
    _, X, y = separable(rng, 3, 0.1)
    y = np.where(rng.random(len(y)) < noise, -y, y)
    if c is None:
        learner: nr.Learner = nr.Perceptron()
        kept(learner, teach(learner, X, y, 150), "perceptron-any-data")
    else:
        learner = nr.PassiveAggressive(form="pa-i", aggressiveness=c)
        kept(learner, teach(learner, X, y, 150), "passive-aggressive-i")


@every_teacher
@pytest.mark.parametrize("form", ["normalised", "balanced"])
@some
@given(seed=seeds, n=st.integers(2, 20), margin=st.sampled_from([0.05, 0.2, 0.5]))
def test_winnow(teach: Teacher, form: str, seed: int, n: int, margin: float) -> None:
    """The corners of [−1, 1]ⁿ and points inside, where |u·x| is at least the margin."""
    rng = np.random.default_rng(seed)
    u = np.zeros(n)
    u[:2] = rng.dirichlet([1.0, 1.0])
    if form == "balanced":
        u[0] = -u[0]
    X = np.vstack([rng.choice([-1.0, 1.0], size=(300, n)), rng.uniform(-1, 1, (100, n))])
    X = X[np.abs(X @ u) >= margin]
    learner = nr.Winnow.tuned(margin=0.999 * margin, form=form)
    kept(learner, teach(learner, X, np.sign(X @ u), 250), "winnow")


@every_teacher
@some
@given(seed=seeds, n=st.integers(2, 64), k=st.integers(1, 4))
def test_winnow1(teach: Teacher, seed: int, n: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    relevant = rng.permutation(n)[: min(k, n)]
    density = rng.choice([0.05, 0.3, 0.6], size=(400, 1))
    X = np.vstack([np.eye(n), np.ones((1, n)), rng.random((400, n)) < density]).astype(float)
    y = np.where(X[:, relevant].any(axis=1), 1.0, -1.0)
    learner = nr.Winnow(form="winnow1", dimension=n)
    kept(learner, teach(learner, X, y, 300), "winnow1")
    assert learner.mistakes <= 2 * len(relevant) * np.log2(n) + 2


@every_teacher
@some
@given(seed=seeds, n=st.integers(1, 12), literals=st.integers(0, 12))
def test_conjunction(teach: Teacher, seed: int, n: int, literals: int) -> None:
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(n)[: min(literals, n)]
    wanted = rng.integers(0, 2, size=len(chosen))
    X = rng.integers(0, 2, size=(200, n)).astype(float)
    X[::2, chosen] = wanted  # or there would hardly be a positive
    y = np.where((X[:, chosen] == wanted).all(axis=1), 1.0, -1.0)
    learner = nr.Conjunction()
    kept(learner, teach(learner, X, y, 250), "conjunctions")
