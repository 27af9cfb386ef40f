"""The best weights for several classes: against other solvers, and proven in exact arithmetic."""

from __future__ import annotations

from decimal import Decimal, getcontext
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

import noregret as nr
from noregret.hindsight import Answer, Rows, best_classes, largest_class_margin
from tests.hindsight.problems import cp, solved
from tests.thorough import sized

Floats = NDArray[np.float64]
getcontext().prec = 60


def problem(kind: str, seed: int) -> tuple[Floats, NDArray[np.intp]]:
    """Return rows and numbers of classes: random, ill-scaled or collinear."""
    rng = np.random.default_rng(seed)
    rows, n, K = 25, 3, int(rng.integers(2, 5))
    X = rng.normal(size=(rows, n))
    if kind == "ill-scaled":
        X *= [1e-4, 1.0, 1e4]
    if kind == "collinear":
        X[:, 2] = 2 * X[:, 0] - X[:, 1]
    if kind == "sparse":
        X *= rng.random(X.shape) < 0.4
    y = (X @ rng.normal(size=(n, K)) + rng.gumbel(size=(rows, K))).argmax(axis=1)
    y[:K] = np.arange(K)
    return X, y


KINDS = ["random", "ill-scaled", "collinear", "sparse"]
LOSSES = ["softmax", "multiclass-hinge"]


def exact_loss(loss: str, X: Floats, y: Any, W: Floats) -> Decimal:
    """Return the loss of weights to sixty digits."""
    total = Decimal(0)
    V = [[Decimal(float(w)) for w in row] for row in W]
    for x, own in zip(X.tolist(), y.tolist(), strict=True):
        s = [
            sum((Decimal(v) * V[i][k] for i, v in enumerate(x)), Decimal(0))
            for k in range(W.shape[1])
        ]
        if loss == "softmax":
            top = max(s)
            total += sum(((each - top).exp() for each in s), Decimal(0)).ln() + top - s[own]
        else:
            total += max(
                (1 if k != own else 0) + each - s[own] for k, each in enumerate(s)
            )  # fmt: skip
    return total


@pytest.mark.parametrize("radius", [0.3, 5.0])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_interval_holds_in_exact_arithmetic(loss: str, kind: str, radius: float) -> None:
    for seed in range(sized(2, full=20)):
        X, y = problem(kind, seed)
        answer = best_classes(Rows(X, y.astype(float)), loss, radius)
        W = answer.witness.reshape(X.shape[1], -1)
        norm2 = sum((Decimal(float(w)) ** 2 for w in answer.witness), Decimal(0))
        assert norm2 <= Decimal(radius) ** 2 * (1 + Decimal("1e-14"))
        assert exact_loss(loss, X, y, W) <= Decimal(answer.loss)
        assert answer.relative_gap < 1e-6
        # Nothing that another search finds lies below.
        rng = np.random.default_rng(seed)
        for _ in range(5):
            near = W + 1e-3 * radius * rng.normal(size=W.shape)
            near *= min(1.0, radius * (1 - 1e-15) / float(np.linalg.norm(near)))
            assert exact_loss(loss, X, y, near) >= Decimal(answer.lower)


@pytest.mark.parametrize("kind", ["random", "collinear", "sparse"])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_best_is_that_of_a_conic_solver(loss: str, kind: str) -> None:
    for seed in range(sized(2, full=10)):
        X, y = problem(kind, seed)
        W, E = cp.Variable((X.shape[1], int(y.max()) + 1)), np.eye(int(y.max()) + 1)[y]
        own = cp.sum(cp.multiply(E, X @ W))
        highest = cp.log_sum_exp(X @ W, axis=1) if loss == "softmax" else cp.max(X @ W + 1 - E, 1)
        least = solved(cp.sum(highest) - own, [cp.norm(W, "fro") <= 2.0])
        answer = best_classes(Rows(X, y.astype(float)), loss, 2.0)
        assert least is not None
        assert answer.relative_gap <= 1e-6
        assert answer.loss == pytest.approx(least, rel=1e-6)


def test_columns_without_values_do_not_hide_the_best() -> None:
    """Of more than 300 weights, whose matrix of second derivatives has zeros in its corners."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 40))
    X[:, [0, 39]] = 0.0
    y = (X @ rng.normal(size=(40, 10)) + 3 * rng.gumbel(size=(400, 10))).argmax(axis=1)
    answer = best_classes(Rows(X, y.astype(float)), "softmax", 1.0)
    dense = best_classes(Rows(X[:, 1:39], y.astype(float)), "softmax", 1.0)
    assert answer.relative_gap <= 1e-6
    assert answer.loss == pytest.approx(dense.loss, rel=1e-6)


def test_a_free_hinge_is_that_of_a_linear_program() -> None:
    """In a ball so large that it does not bind; min Σξ with ξ_t ≥ [r ≠ y] + (W x)_r − (W x)_y."""
    for seed in range(sized(3, full=10)):
        X, y = problem("random", seed)
        T, n, K = len(X), X.shape[1], int(y.max()) + 1
        A, b = [], []
        for t in range(T):
            for r in range(K):
                if r != y[t]:
                    row = np.zeros((n, K))
                    row[:, r] += X[t]
                    row[:, y[t]] -= X[t]
                    slack = np.zeros(T)
                    slack[t] = -1
                    A.append(np.concatenate([row.reshape(-1), slack]))
                    b.append(-1.0)
        cost = np.concatenate([np.zeros(n * K), np.ones(T)])
        bounds = [(None, None)] * (n * K) + [(0, None)] * T
        found = linprog(cost, np.array(A), b, bounds=bounds)
        answer = best_classes(Rows(X, y.astype(float)), "multiclass-hinge", 1000.0)
        assert answer.lower <= found.fun * (1 + 1e-9) + 1e-9
        assert answer.loss == pytest.approx(found.fun, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_two_classes_are_those_of_two_labels(loss: str) -> None:
    """Weights (v, −v)/√2 of norm |v| have the scores ±v·x/√2: the two-label loss in a ball √2 R."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
    several = best_classes(Rows(X, (y + 1) / 2), loss, 1.5)
    two = nr.hindsight.best_in_ball(
        Rows(X, y), "logistic" if loss == "softmax" else "hinge", radius=1.5 * np.sqrt(2)
    )
    assert several.loss == pytest.approx(two.loss, rel=1e-6)


def test_a_margin_is_that_of_its_witness_and_proven() -> None:
    for seed in range(sized(4, full=20)):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, 3))
        y = (X @ rng.normal(size=(3, 3))).argmax(axis=1)
        found = largest_class_margin(Rows(X, y.astype(float)), classes=3)
        W = found.witness.reshape(3, 3) / np.linalg.norm(found.witness)
        S = X @ W
        own = S[np.arange(40), y]
        rivals = np.where(np.arange(3) == y[:, None], -np.inf, S).max(axis=1)
        assert found.separable
        assert (own - rivals).min() >= found.lower * (1 - 1e-9)
        assert found.gap <= 1e-6 * found.upper
        # No convex combination of the rows e_y xᵀ − e_r xᵀ is shorter than the margin.
        for _ in range(20):
            shares = rng.dirichlet(0.05 * np.ones(40))
            r = (y + rng.integers(1, 3, size=40)) % 3
            G = (np.eye(3)[y] - np.eye(3)[r]).T @ (shares[:, None] * X)
            assert np.linalg.norm(G) >= found.lower


def test_classes_that_cannot_be_told_apart_are_found() -> None:
    X = np.ones((2, 1))
    assert largest_class_margin(Rows(X, [0.0, 1.0])).separable is False
    with pytest.raises(nr.NoRegretError, match="one class"):
        largest_class_margin(Rows(X, [0.0, 0.0]))


@pytest.mark.parametrize("wrong", [-1.0, 0.5])
def test_outcomes_are_numbers_of_classes(wrong: float) -> None:
    with pytest.raises(nr.NoRegretError, match="numbers of classes"):
        best_classes(Rows([[1.0]], [wrong]), "softmax", 1.0)


def test_many_weights_are_found_by_conjugate_gradients() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 700)) * (rng.random((300, 700)) < 0.05)
    y = rng.integers(0, 4, size=300)
    answer: Answer = best_classes(Rows(X, y.astype(float)), "softmax", 1.0)
    assert answer.relative_gap < 1e-5
