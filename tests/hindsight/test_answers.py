"""Answers in hindsight: attained from above, proven from below, whatever the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog, minimize

import noregret as nr
from noregret.hindsight import (
    LeastSquares,
    Rows,
    best_in_ball,
    best_in_simplex,
    best_linear,
    best_mistake_bound,
    best_ridge,
    largest_margin,
    largest_margin_of_weights,
)
from tests.thorough import draws

Floats = NDArray[np.float64]
REGRESSION = ("square", "absolute", "quantile", "huber", "epsilon-insensitive", "linear")
LABELS = ("hinge", "squared-hinge", "logistic")
few = draws(20)


def problem(seed: int, labels: bool) -> tuple[Floats, Floats]:
    """Return rows and outcomes, often degenerate: equal or empty columns, few rows, odd units."""
    rng = np.random.default_rng(seed)
    rounds, n = int(rng.integers(1, 30)), int(rng.integers(1, 6))
    X = rng.normal(size=(rounds, n)) * 10.0 ** rng.integers(-2, 3)
    if n > 1 and seed % 3 == 0:
        X[:, 1] = X[:, 0]
    if n > 2 and seed % 4 == 0:
        X[:, 2] = 0.0
    y = np.where(rng.random(rounds) < 0.5, -1.0, 1.0) if labels else rng.normal(size=rounds)
    return X, np.ones(rounds) if seed % 5 == 0 else y


def total(loss: str, X: Floats, y: Floats, w: Floats) -> float:
    value = nr.make_loss(loss).value
    return float(sum(value(s, o) for s, o in zip((X @ w).tolist(), y.tolist(), strict=True)))


def into_ball(w: Floats, radius: float) -> Floats:
    return np.asarray(w * min(1.0, radius / max(float(np.linalg.norm(w)), 1e-300)))


@pytest.mark.parametrize("loss", REGRESSION + LABELS)
@few
@given(seed=st.integers(0, 10_000), radius=st.sampled_from([0.01, 0.3, 1.0, 10.0]))
def test_no_point_of_the_ball_is_below_and_the_witness_attains(
    loss: str, seed: int, radius: float
) -> None:
    X, y = problem(seed, loss in LABELS)
    found = best_in_ball(Rows(X, y), loss, radius)
    scale = 1e-9 * (1 + sum(abs(y)))
    assert np.linalg.norm(found.witness) <= radius * (1 + 1e-12)
    assert total(loss, X, y, found.witness) == pytest.approx(found.loss, rel=1e-9, abs=scale)
    assert found.lower <= found.loss
    assert found.gap <= 1e-6 * abs(found.loss) + scale
    rng = np.random.default_rng(seed)
    for size in (0.0, 1e-3, 0.1, 1.0, 100.0):
        other = into_ball(found.witness + size * rng.normal(size=X.shape[1]), radius)
        assert found.lower <= total(loss, X, y, other) + scale


@pytest.mark.parametrize("loss", ["logistic", "hinge", "absolute", "huber"])
@pytest.mark.parametrize("seed", range(6))
def test_an_independent_search_agrees(loss: str, seed: int) -> None:
    X, y = problem(seed + 1, loss in LABELS)
    found = best_in_ball(Rows(X, y), loss, 1.0)

    def cost(v: Any) -> float:
        return total(loss, X, y, into_ball(np.asarray(v), 1.0))

    options = {"maxiter": 4000, "xatol": 1e-10, "fatol": 1e-12}
    starts = (found.witness + 0.1, np.zeros(X.shape[1]) + 0.01)
    searched = min(minimize(cost, v, method="Nelder-Mead", options=options).fun for v in starts)
    assert found.lower <= searched + 1e-9
    assert found.loss <= searched * (1 + 1e-5) + 1e-9


@few
@given(seed=st.integers(0, 10_000), radius=st.floats(1e-3, 1e3))
def test_the_square_loss_from_sums_is_that_from_rows(seed: int, radius: float) -> None:
    X, y = problem(seed, False)
    half = len(X) // 2
    sums = LeastSquares(X.shape[1])
    sums.add(X[:half], y[:half])
    other = LeastSquares(X.shape[1])
    other.add(X[half:], y[half:])
    merged = sums.merge(other)
    for one, two in (
        (merged.best(), best_linear(Rows(X, y))),
        (merged.ridge(0.7), best_ridge(Rows(X, y), 0.7)),
        (merged.ball(radius), best_in_ball(Rows(X, y), "square", radius)),
    ):
        scale = 1e-6 * (1 + float(y @ y))
        assert one.loss == pytest.approx(two.loss, rel=1e-6, abs=scale)
        assert one.lower <= two.loss + scale
        assert two.lower <= one.loss + scale


@few
@given(seed=st.integers(0, 10_000), penalty=st.floats(1e-3, 1e3))
def test_ridge_is_the_solution_of_its_equations(seed: int, penalty: float) -> None:
    X, y = problem(seed, False)
    u = np.linalg.solve(X.T @ X + penalty * np.eye(X.shape[1]), X.T @ y)
    expected = float(np.sum((X @ u - y) ** 2) + penalty * u @ u)
    assert best_ridge(Rows(X, y), penalty).loss == pytest.approx(expected, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("weight", [None, 2.0])
@few
@given(seed=st.integers(0, 10_000), entropy=st.sampled_from([0.0, 0.1, 5.0]))
def test_no_point_of_the_simplex_is_below(seed: int, entropy: float, weight: float | None) -> None:
    X, y = problem(seed, False)
    found = best_in_simplex(Rows(X, y), "square", entropy=entropy, weight=weight)
    doubled = X if weight is None else np.hstack([weight * X, -weight * X])
    n = doubled.shape[1]
    rng = np.random.default_rng(seed)
    for shares in (*np.eye(n), *rng.dirichlet(np.ones(n), size=20), np.full(n, 1 / n)):
        inside = shares[shares > 0]
        price = float(np.sum((doubled @ shares - y) ** 2))
        price += entropy * float(inside @ np.log(inside * n))
        assert found.lower <= price * (1 + 1e-9) + 1e-9
    assert found.gap <= 1e-6 * abs(found.loss) + 1e-7 * (1 + float(y @ y))


@pytest.mark.parametrize("seed", range(8))
def test_the_margin_lies_in_its_interval(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    direction = rng.normal(size=3)
    y = np.sign(X @ direction)
    found = largest_margin(Rows(X, y))
    unit = found.witness / np.linalg.norm(found.witness)
    assert float(np.min(y * (X @ unit))) >= found.lower - 1e-12
    for _ in range(200):
        v = unit + 0.3 * rng.normal(size=3)
        assert float(np.min(y * (X @ (v / np.linalg.norm(v))))) <= found.upper + 1e-12
    assert found.upper - found.lower <= 1e-6 * found.upper
    assert found.separable


def test_data_that_cannot_be_separated_are_known() -> None:
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    found = largest_margin(Rows(X, np.array([1.0, 1.0, 1.0])))
    assert found.upper <= 1e-9
    assert not found.separable


@pytest.mark.parametrize("seed", range(6))
def test_the_margin_of_weights_is_the_value_of_the_game(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(30, 4))
    y = np.where(rng.random(30) < 0.5, -1.0, 1.0)
    found = largest_margin_of_weights(Rows(X, y))
    played = linprog(
        [0, 0, 0, 0, -1.0],
        A_ub=np.hstack([-y[:, None] * X, np.ones((30, 1))]),
        b_ub=np.zeros(30),
        A_eq=[[1.0, 1.0, 1.0, 1.0, 0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * 4 + [(None, None)],
    )
    assert found.lower <= -played.fun + 1e-7
    assert found.upper >= -played.fun - 1e-7
    assert found.upper - found.lower <= 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_the_mistake_bound_is_that_of_its_witness_and_the_perceptron_keeps_it(seed: int) -> None:
    X, y = problem(seed + 7, True)
    found = best_mistake_bound(Rows(X, y))
    longest = float(np.max(np.linalg.norm(X, axis=1)))
    hinge = float(np.sum(np.maximum(0, 1 - y * (X @ found.witness))))
    size = float(np.linalg.norm(found.witness)) * longest
    assert found.loss == pytest.approx(((size + np.sqrt(size**2 + 4 * hinge)) / 2) ** 2, rel=1e-9)
    learner = nr.Perceptron()
    learner.learn_many(X, y)
    assert learner.mistakes <= found.loss * (1 + 1e-9) + 1e-9


def test_sparse_rows_and_sources_that_are_read_again_give_the_same() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20)) * (rng.random((300, 20)) < 0.2)
    y = np.sign(X @ rng.normal(size=20) + 0.5 * rng.normal(size=300))
    y[y == 0] = 1.0
    dense = best_in_ball(Rows(X, y), "logistic", 2.0)
    sparse = best_in_ball(Rows(sp.csr_array(X), y), "logistic", 2.0)
    assert dense.loss == pytest.approx(sparse.loss, rel=1e-6)
