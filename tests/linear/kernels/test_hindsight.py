"""Hindsight in a kernel's space finds what scikit-learn and closed forms find."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC

import noregret as nr
from noregret.hindsight import Limits, Rows, largest_margin
from noregret.hindsight.kernel_rows import KernelRows
from noregret.hindsight.proofs.answer import USUAL
from noregret.hindsight.proofs.kernel_proofs import best_in_space, norm_of, pull_above, scores_of
from noregret.hindsight.solvers.priced_hinge import best_priced_hinge

RNG = np.random.default_rng(4)
X = RNG.normal(size=(80, 3))
LABELS = np.sign(X[:, 0] * X[:, 1] + 0.2)
GAMMA = 1 / (2 * 0.8**2)


def space(y: np.ndarray, X: np.ndarray = X) -> KernelRows:
    engine = nr.KernelPerceptron(width=0.8).engine
    return KernelRows(Rows(X, y), engine.gram_within, np.zeros((0, 3)))


def test_the_margin_is_that_of_a_support_vector_machine() -> None:
    machine = SVC(C=1e8, kernel="rbf", gamma=GAMMA, tol=1e-8).fit(X, LABELS)
    machine.intercept_[:] = 0
    # With an intercept the machine may do better: a kernel plus a large constant has it too.
    margin = largest_margin(space(LABELS).model)
    dual = np.zeros(len(X))
    dual[machine.support_] = machine.dual_coef_[0]
    scores = space(LABELS).gram(X)[0] @ dual
    norm = np.sqrt(dual @ scores)
    assert margin.lower >= (LABELS * scores).min() / norm - 1e-6
    assert margin.gap <= 1e-5 * margin.upper


@pytest.mark.parametrize("penalty", [0.01, 0.3, 5.0])
def test_the_best_of_a_ball_is_kernel_ridge_regression(penalty: float) -> None:
    y = X[:, 0] ** 2 + RNG.normal(size=80)
    ridge = KernelRidge(alpha=penalty, kernel="rbf", gamma=GAMMA).fit(X, y)
    scores = ridge.predict(X)
    norm = float(np.sqrt(ridge.dual_coef_ @ scores))
    found = best_in_space(space(y), nr.make_loss("square"), norm, USUAL)
    assert found.loss == pytest.approx(float(((scores - y) ** 2).sum()), rel=1e-5)
    assert found.gap <= 1e-5 * found.loss


def test_rows_that_repeat_have_one_place() -> None:
    twice = space(np.r_[LABELS, LABELS], np.r_[X, X])
    assert twice.model.shape == (160, 80)
    c = twice.coefficients(np.ones(80))
    at = twice.chosen[0]
    scores, off = scores_of(twice, at, c)
    np.testing.assert_allclose(twice.model.scores(np.ones(80)), scores, atol=1e-8)
    assert off.max() < 1e-8
    assert norm_of(twice, at, c) == pytest.approx(np.sqrt(80), rel=1e-9)


def test_coordinates_keep_products() -> None:
    rows = space(LABELS)
    Z = rows.chosen[2]
    K, off = rows.gram(X)
    np.testing.assert_allclose(Z @ Z.T, K, atol=1e-12)
    assert off.max() < 1e-14
    a = RNG.normal(size=80)
    assert pull_above(rows, a) == pytest.approx(np.sqrt(a @ K @ a), rel=1e-12)


@pytest.mark.parametrize("price", [0.1, 3.0, 40.0])
def test_the_length_is_priced_right(price: float) -> None:
    cp: Any = importlib.import_module("cvxpy")
    rows = Rows(X, LABELS)
    u = cp.Variable(3)
    hinge = cp.sum(cp.pos(1 - cp.multiply(LABELS, X @ u)))
    least = cp.Problem(cp.Minimize(hinge + price * cp.norm(u))).solve(solver=cp.CLARABEL)
    found = best_priced_hinge(rows, price, limits=Limits())
    assert least - 1e-6 <= found.loss <= least * 1.01 + 1e-6
