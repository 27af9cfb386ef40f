"""Every bound on mistakes is what SciPy or brute force make of its formula."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import noregret as nr
from tests.proof.theorems.hostile import Floats
from tests.proof.theorems.test_bounds_on_losses import drawn, promised, seeds, some


def margin_in_the_plane(X: Floats, y: Floats) -> float:
    """Return the largest margin: its direction is that of one example, or evenly between two."""
    M = y[:, None] * X
    between = [np.array([-d[1], d[0]]) for d in (a - b for a, b in combinations(M, 2))]
    directions = np.array([*M, *between, *(-d for d in between)])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return float(np.max(np.min(directions @ M.T, axis=1)))


@pytest.mark.parametrize("name", ["perceptron", "passive-aggressive"])
@some
@given(seed=seeds)
def test_mistakes_with_a_margin(name: str, seed: int) -> None:
    rng, X, _ = drawn(seed, n=2)
    y = np.where(X @ rng.normal(size=2) > 0, 1.0, -1.0)
    learner = nr.Perceptron() if name == "perceptron" else nr.PassiveAggressive(form="pa")
    promise = promised(learner, X, y, name)
    largest = float(np.max(np.linalg.norm(X, axis=1)))
    assert promise.bound == pytest.approx((largest / margin_in_the_plane(X, y)) ** 2, rel=1e-5)


@some
@given(seed=seeds, c=st.sampled_from([0.05, 0.5, 1.0, 20.0]))
def test_mistakes_on_any_data_on_a_line(seed: int, c: float) -> None:
    _, X, y = drawn(seed, n=1)
    y = np.where(y > 0, 1.0, -1.0)
    largest = float(np.max(np.abs(X)))
    u = np.linspace(-40, 40, 400_001)
    hinge = sum(np.maximum(0, 1 - label * x * u) for x, label in zip(X[:, 0], y, strict=True))
    perceptron = promised(nr.Perceptron(), X, y, "perceptron-any-data").bound
    size = np.abs(u) * largest
    best = float(np.min(((size + np.sqrt(size**2 + 4 * hinge)) / 2) ** 2))
    # Any u is valid, so a good one is enough; below the best there is none.
    assert best * (1 - 1e-3) <= (perceptron or 0) <= best * 1.05
    passive = promised(
        nr.PassiveAggressive(form="pa-i", aggressiveness=c), X, y, "passive-aggressive-i"
    ).bound
    best = max(largest**2, 1 / c) * float(np.min(u**2 + 2 * c * hinge))
    assert passive == pytest.approx(best, rel=1e-3)


@pytest.mark.parametrize("form", ["normalised", "balanced"])
@some
@given(seed=seeds)
def test_winnow(form: str, seed: int) -> None:
    """The margin that is found is that of a linear programme."""
    rng = np.random.default_rng(seed)
    n, hidden = 4, rng.dirichlet(np.ones(4))
    X = rng.uniform(-1, 1, size=(15, n))
    y = np.where(X @ hidden > 0, 1.0, -1.0)
    Z = y[:, None] * (X if form == "normalised" else np.hstack([X, -X]))
    corners = Z.shape[1]
    solved = linprog(
        np.r_[np.zeros(corners), -1.0],
        A_ub=np.c_[-Z, np.ones(len(Z))],
        b_ub=np.zeros(len(Z)),
        A_eq=np.r_[np.ones(corners), 0.0][None],
        b_eq=[1.0],
        bounds=[(0, None)] * corners + [(None, None)],
    )
    margin = float(-solved.fun)
    told = 0.9 * margin
    promise = promised(nr.Winnow.tuned(margin=told, form=form), X, y, "winnow")
    assert promise.bound == pytest.approx(2 * np.log(corners) / told**2)
    found = next(a for a in promise.assumptions if a.name.startswith("margin"))
    assert found.limit == pytest.approx(told)
    assert found.measured == pytest.approx(margin, rel=1e-4)


@some
@given(seed=seeds, extra=st.sampled_from([0, 3]))
def test_winnow1(seed: int, extra: int) -> None:
    """The OR in the bound fits; it need not be the shortest that does."""
    rng = np.random.default_rng(seed)
    n = 5
    X = (rng.random((20, n)) < 0.4).astype(float)
    y = np.where(X[:, rng.random(n) < 0.4].any(axis=1), 1.0, -1.0)
    dimension = n + extra if extra else None
    promise = promised(nr.Winnow(form="winnow1", dimension=dimension), X, y, "winnow1")
    fits = [
        sum(chosen)
        for chosen in product([0, 1], repeat=n)
        if np.array_equal(X @ np.array(chosen) > 0, y > 0)
    ]
    assert promise.bound in [pytest.approx(2 * k * np.log2(n + extra) + 2) for k in fits]


@pytest.mark.parametrize("n", [1, 2, 7])
def test_conjunctions(n: int) -> None:
    X = np.random.default_rng(0).integers(0, 2, size=(20, n)).astype(float)
    y = np.where(X[:, 0] == 1, 1.0, -1.0)
    assert promised(nr.Conjunction(), X, y, "conjunctions").bound == n + 1
