"""Which columns depend on each other, proven."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from noregret.hindsight import Rows
from noregret.hindsight.solvers.dependence import (
    MAX_PLAIN_COLUMNS,
    independent_columns,
    pivoted,
    surely_curved,
)
from tests.hindsight.problems import Floats


def kept_of(X: Floats) -> list[int] | None:
    rows = Rows(X, np.zeros(len(X)))
    kept = independent_columns(rows)
    return None if kept is None else kept.tolist()


def indicators() -> Floats:
    draw = np.random.default_rng(51)
    groups = [np.eye(k)[draw.integers(0, k, 200)] for k in (3, 4, 5)]
    X = np.hstack([np.ones((200, 1)), *groups, draw.normal(size=(200, 2))])
    return np.asarray(X / np.linalg.norm(X, axis=1)[:, None])


def test_indicators_of_several_columns_depend_and_that_is_found() -> None:
    kept = kept_of(indicators())
    assert kept is not None
    assert len(kept) == 15 - 3


def test_sparse_rows_say_the_same() -> None:
    X = indicators()
    rows = Rows(sp.csr_array(X), np.zeros(len(X)))
    kept = independent_columns(rows)
    assert kept is not None
    assert kept.tolist() == kept_of(X)


def test_duplicates_opposites_doubles_and_zeros_are_found() -> None:
    X = np.random.default_rng(52).normal(size=(30, 7))
    X[:, 3], X[:, 4], X[:, 5], X[:, 6] = X[:, 0], -X[:, 1], 4 * X[:, 2], 0.0
    kept = kept_of(X)
    assert kept is not None
    assert len(kept) == 3


def test_the_smallest_difference_in_a_single_row_is_seen() -> None:
    X = np.random.default_rng(53).normal(size=(30, 3))
    X[:, 2] = X[:, 1]
    X[17, 2] = np.nextafter(X[17, 2], 9.0)
    assert kept_of(X) is None


def test_a_sum_that_is_only_rounded_to_zero_is_no_proof() -> None:
    draw = np.random.default_rng(54)
    X = draw.normal(size=(50, 3))
    X[:, 2] = X[:, 0] + X[:, 1]  # rounded in most rows
    assert kept_of(X) is None


def test_independent_columns_are_all_kept() -> None:
    assert kept_of(np.random.default_rng(55).normal(size=(30, 4))) is None


@pytest.mark.parametrize("seed", range(20))
def test_curvature_is_claimed_only_where_it_is(seed: int) -> None:
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(40, 5)) * 10.0 ** draw.integers(-6, 7, size=5)
    X[:, 4] = X[:, 3] * (1 + 10.0 ** -draw.integers(0, 17) * draw.normal(size=40))
    gram = X.T @ X
    norms, least = surely_curved(gram, 1e-14)
    unit = X / norms
    assert least <= np.linalg.svd(unit, compute_uv=False)[-1] ** 2
    assert least > 0 or np.linalg.cond(unit) > 1e4


@pytest.mark.parametrize("columns", [1, 6, MAX_PLAIN_COLUMNS, MAX_PLAIN_COLUMNS + 1])
def test_pivoted_factors_are_those_of_lapack(columns: int) -> None:
    draw = np.random.default_rng(55)
    A = draw.normal(size=(columns, columns)) * 10.0 ** draw.integers(-3, 4, columns)
    A[:, columns // 2] = 2 * A[:, 0] if columns > 1 else A[:, 0]
    R, order = pivoted(A)
    theirs = scipy.linalg.qr(A, mode="r", pivoting=True)[0]
    assert sorted(order.tolist()) == list(range(columns))
    assert not np.tril(R, -1).any()
    size = float(np.linalg.norm(A))
    np.testing.assert_allclose(R.T @ R, A[:, order].T @ A[:, order], atol=1e-13 * size**2)
    left = np.abs(np.diag(theirs))
    np.testing.assert_allclose(np.abs(np.diag(R)), left, rtol=1e-6, atol=1e-13 * size)
