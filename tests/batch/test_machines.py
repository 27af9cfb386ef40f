"""Support vector machines, against cvxpy and scikit-learn; and what cannot be separated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import sparse
from sklearn.svm import SVC, LinearSVC

import noregret as nr
from noregret.batch import HardMarginSvm, SoftMarginSvm
from noregret.errors import NoRegretError
from tests.hindsight.problems import cp
from tests.thorough import draws

from .problems import labels

Floats = NDArray[np.float64]
SHARP = {"solver": cp.CLARABEL, "tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}


def with_constant(X: Floats, intercept: bool) -> Floats:
    return np.column_stack([np.ones(len(X)), X]) if intercept else X


def all_weights(method: Any) -> Floats:
    return np.append(method.constant, method.weights) if method.intercept else method.weights


def soft_by_cvxpy(A: Floats, y: Floats, penalty: float) -> tuple[float, Floats]:
    u = cp.Variable(A.shape[1])
    hinge = cp.sum(cp.pos(1 - cp.multiply(y, A @ u)))
    problem = cp.Problem(cp.Minimize(hinge + penalty * cp.sum_squares(u)))
    problem.solve(**SHARP)
    return float(problem.value), np.asarray(u.value)


def hard_by_cvxpy(A: Floats, y: Floats) -> tuple[str, Any, Any]:
    u = cp.Variable(A.shape[1])
    margins = cp.multiply(y, A @ u) >= 1
    problem = cp.Problem(cp.Minimize(cp.sum_squares(u)), [margins])
    problem.solve(**SHARP)
    return problem.status, u.value, margins.dual_value


# The soft margin.


@pytest.mark.parametrize("penalty", [1e-3, 0.2, 50.0])
@pytest.mark.parametrize("intercept", [False, True])
def test_the_soft_margin_is_that_of_cvxpy(penalty: float, intercept: bool) -> None:
    X, y = labels(80, noise=1.5)
    A = with_constant(X, intercept)
    least, weights = soft_by_cvxpy(A, y, penalty)
    found = SoftMarginSvm(penalty, intercept).fit(X, y)
    lower, upper = found.objective
    assert lower <= least * (1 + 1e-9)
    assert upper >= least * (1 - 1e-9)
    assert upper - lower <= 1e-8 * upper
    assert np.allclose(all_weights(found), weights, rtol=1e-5, atol=1e-6)
    margins = y * (A @ weights)
    assert set(np.flatnonzero(margins < 1 - 1e-5)) <= set(found.support)
    assert set(found.support) <= set(np.flatnonzero(margins < 1 + 1e-2))


@pytest.mark.parametrize("intercept", [False, True])
def test_the_soft_margin_is_that_of_linear_svc(intercept: bool) -> None:
    X, y = labels(100, seed=4, noise=1.0)
    peer = LinearSVC(C=2.0, loss="hinge", fit_intercept=intercept, max_iter=1_000_000, tol=1e-10)
    peer.fit(X, y)
    found = SoftMarginSvm(penalty=0.25, intercept=intercept).fit(X, y)
    assert np.allclose(found.weights, peer.coef_[0], atol=1e-4)
    assert found.constant == pytest.approx(float(np.ravel(peer.intercept_)[0]), abs=1e-4)
    theirs = with_constant(X, intercept) @ np.append(
        peer.intercept_ if intercept else [], peer.coef_[0]
    )
    paid = np.maximum(0, 1 - y * theirs).sum() + 0.25 * (
        float(peer.coef_[0] @ peer.coef_[0]) + intercept * float(np.ravel(peer.intercept_)[0]) ** 2
    )
    assert found.objective[0] <= paid * (1 + 1e-12)


def test_support_vectors_are_those_of_svc() -> None:
    X, y = labels(60, seed=2, noise=1.0)
    X, y = np.vstack([X, -X]), np.append(y, -y)  # so that the best threshold is zero
    peer = SVC(kernel="linear", C=1.0, tol=1e-10).fit(X, y)
    found = SoftMarginSvm(penalty=0.5).fit(X, y)
    assert np.allclose(found.weights, peer.coef_[0], atol=1e-5)
    assert set(peer.support_) <= set(found.support)
    assert len(found.support) <= len(peer.support_) + 8


def test_rows_beside_the_support_make_no_difference() -> None:
    X, y = labels(80, noise=1.0)
    found = SoftMarginSvm(penalty=0.5).fit(X, y)
    assert len(found.support) < len(y)
    again = SoftMarginSvm(penalty=0.5).fit(X[found.support], y[found.support])
    assert np.allclose(again.weights, found.weights, atol=1e-5)


small = st.integers(-4, 4).map(float)


@st.composite
def labelled(draw: Any) -> tuple[Floats, Floats]:
    rows, features = draw(st.integers(1, 8)), draw(st.integers(1, 3))
    X = draw(arrays(np.float64, (rows, features), elements=small))
    return X, draw(arrays(np.float64, rows, elements=st.sampled_from([-1.0, 1.0])))


@given(labelled(), st.floats(1e-3, 1e2), st.booleans())
@draws(30)
def test_no_weights_beat_the_objective(
    data: tuple[Floats, Floats], penalty: float, intercept: bool
) -> None:
    X, y = data
    found = SoftMarginSvm(penalty, intercept).fit(X, y)
    A, w = with_constant(X, intercept), all_weights(found)
    lower, upper = found.objective

    def paid(u: Floats) -> float:
        return float(np.maximum(0, 1 - y * (A @ u)).sum() + penalty * (u @ u))

    assert paid(w) <= upper <= lower * (1 + 1e-6) + 1e-12
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-1, 1.0):
        assert paid(w + size * rng.normal(size=len(w))) >= lower
    certificate = found.certificate()
    assert certificate.theorem is not None
    assert certificate.theorem.holds is True
    assert nr.verify(certificate, X, y).confirmed


# The hard margin.


@given(labelled(), st.booleans())
@draws(30)
def test_labels_are_separable_or_the_proof_says_why_not(
    data: tuple[Floats, Floats], intercept: bool
) -> None:
    X, y = data
    A = with_constant(X, intercept)
    found = HardMarginSvm(intercept).fit(X, y)
    certificate = found.certificate()
    done = nr.verify(certificate, X, y)
    assert done.confirmed, done.failed
    assert certificate.theorem is not None
    p = np.zeros(len(y))
    p[list(found.proof)] = list(found.proof.values())
    assert (p >= 0).all()
    status, expected, _ = hard_by_cvxpy(A, y)
    if found.separable:
        assert status == "optimal"
        assert np.allclose(all_weights(found), expected, rtol=1e-4, atol=1e-4)
        lower, upper = found.margin
        assert (y * (A @ all_weights(found))).min() >= 1 - 1e-9
        assert upper * (1 + 1e-9) >= 1 / np.linalg.norm(expected) >= lower * (1 - 1e-9)
        assert np.linalg.norm(A.T @ (p * y)) / p.sum() == pytest.approx(upper, rel=1e-6)
        assert certificate.theorem.holds is True
        assert certificate.loss.mistakes == 0
    else:
        assert found.separable is False
        assert status in ("infeasible", "infeasible_inaccurate")
        assert np.abs(A.T @ (p * y)).max() <= 1e-9 * max(1.0, np.abs(A).max())
        assert certificate.theorem.bound is None
        assert certificate.theorem.failed is not None
        with pytest.raises(NoRegretError, match="no linear predictor separates these labels"):
            found.predict_many(X)
        with pytest.raises(NoRegretError, match="contradict each other"):
            assert found.weights is None


@pytest.mark.parametrize("intercept", [False, True])
def test_the_hard_margin_is_that_of_cvxpy(intercept: bool) -> None:
    X, y = labels(80)
    A = with_constant(X, intercept)
    _, expected, duals = hard_by_cvxpy(A, y)
    found = HardMarginSvm(intercept).fit(X, y)
    assert np.allclose(all_weights(found), expected, rtol=1e-6, atol=1e-6)
    assert set(found.support) == set(np.flatnonzero(duals > 1e-6))
    assert found.margin[1] - found.margin[0] <= 1e-8 * found.margin[1]


def test_the_hard_margin_is_that_of_svc_with_a_high_price() -> None:
    X, y = labels(60)
    X, y = np.vstack([X, -X]), np.append(y, -y)
    peer = SVC(kernel="linear", C=1e8, tol=1e-8).fit(X, y)
    assert np.allclose(HardMarginSvm().fit(X, y).weights, peer.coef_[0], rtol=1e-4, atol=1e-4)


def test_two_rows_that_contradict_each_other_are_named() -> None:
    X, y = labels(30)
    X, y = np.vstack([X, X[3]]), np.append(y, -y[3])
    found = HardMarginSvm().fit(X, y)
    assert found.separable is False
    assert found.margin == (0.0, 0.0)
    assert set(found.proof) >= {3, 30}
    assert found.proof[3] == pytest.approx(found.proof[30], rel=1e-6)


def test_rows_that_contradict_each_other_are_found_among_many_in_any_form() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 60)), np.ones(50)  # more features than rows: all can be separated
    X[20], y[20] = -X[7], 1.0
    for rows in (X, sparse.csr_array(X)):
        found = HardMarginSvm().fit(rows, y)
        assert found.separable is False
        assert found.proof == {7: 0.5, 20: 0.5}
    assert HardMarginSvm().fit(np.delete(X, 20, axis=0), y[1:]).separable is True


def test_a_light_penalty_is_no_hindrance() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 12))
    y = np.sign(X @ rng.normal(size=12) + rng.normal(size=600))
    for penalty in (1e-2, 1e-4, 1e-7):
        lower, upper = SoftMarginSvm(penalty).fit(X, y).objective
        assert upper - lower <= 1e-8 * upper


def test_a_constant_makes_separable_what_is_not_without() -> None:
    X, y = [[1.0], [2.0]], [1, -1]
    assert HardMarginSvm().fit(X, y).separable is False
    found = HardMarginSvm(intercept=True).fit(X, y)
    assert found.separable is True
    assert found.weights == pytest.approx([-2.0])
    assert found.constant == pytest.approx(3.0)


@pytest.mark.parametrize("make", [SoftMarginSvm, HardMarginSvm])
def test_one_label_alone_is_no_contradiction(make: Any) -> None:
    found = make().fit([[1.0, 2.0], [2.0, 1.0]], [1, 1])
    assert found.predict_many([[1.0, 1.0]]).tolist() == [1]
    assert nr.verify(found.certificate(), [[1.0, 2.0], [2.0, 1.0]], [1, 1]).confirmed


def test_rows_of_zeros_cannot_be_separated() -> None:
    found = HardMarginSvm().fit([[0.0, 0.0], [1.0, 2.0]], [1, 1])
    assert found.separable is False
    assert 0 in found.proof
    assert SoftMarginSvm().fit([[0.0], [0.0]], [1, -1]).weights.tolist() == [0.0]
