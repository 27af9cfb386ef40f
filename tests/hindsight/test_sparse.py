"""Sparse rows in three arrays are the same rows: each pass agrees with a plain one."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import count

import numpy as np
import pytest
from scipy import sparse

from noregret.errors import BadExample
from noregret.hindsight import Rows, passes
from noregret.hindsight.proofs.rounding import Floats
from noregret.hindsight.solvers.curvature import (
    MAX_ALWAYS_DENSE,
    Factored,
    ManyRows,
    Search,
)
from noregret.hindsight.sparse import SMALL, SparseRows, compact

RANDOM = np.random.default_rng(3)


def drawn(rows: int, columns: int, density: float = 0.1) -> sparse.csr_array:
    made = sparse.random_array((rows, columns), density=density, rng=RANDOM, format="csr")
    made.data = RANDOM.standard_normal(made.nnz) * 10.0 ** RANDOM.integers(-3, 4, made.nnz)
    return made


SHAPES = [(1, 1), (7, 40), (200, 30), (2_500, 500)]


@pytest.mark.parametrize("shape", SHAPES)
def test_passes_agree_with_plain_ones(shape: tuple[int, int]) -> None:
    X = drawn(*shape)
    assert shape != SHAPES[-1] or X.nnz > SMALL  # two threads share them
    y, w = RANDOM.standard_normal(shape[0]), RANDOM.standard_normal(shape[1])
    d = RANDOM.random(shape[0]) * (RANDOM.random(shape[0]) > 0.3)
    plain, rows = Rows(X, y), compact(Rows(X, y))
    assert isinstance(rows, SparseRows)
    dense = X.toarray()
    assert_close = partial(np.testing.assert_allclose, rtol=1e-9, atol=1e-9)
    assert_close(rows.scores(w), dense @ w)
    assert_close(rows.scores(np.abs(w), absolute=True), abs(dense) @ abs(w))
    assert_close(rows.combine(y), dense.T @ y)
    assert_close(rows.combine(d, absolute=True), abs(dense).T @ d)
    assert_close(rows.column_squares(d), (dense**2).T @ d)
    assert_close(rows.bend(d, w), dense.T @ (d * (dense @ w)))
    assert_close(rows.gram(d), dense.T @ (d[:, None] * dense))
    some = np.flatnonzero(RANDOM.random(shape[1]) > 0.5)
    assert_close(rows.cross_of(some, d), rows.gram(d)[:, some])
    assert rows.shape == plain.shape
    assert rows.survey.longest == pytest.approx(plain.survey.longest, rel=1e-12)
    assert (rows.survey.numbers, rows.survey.filled) == (X.nnz, plain.survey.filled)
    again = sparse.vstack([block for block, _ in rows.blocks()])
    assert (again != X).nnz == 0


def test_a_careful_sum_is_as_exact_as_it_says() -> None:
    X = drawn(400, 12, 0.4)
    rows = SparseRows(X.indptr.astype(np.int64), X.indices, X.data, np.zeros(400), 12)
    a = RANDOM.standard_normal(400) * 10.0 ** RANDOM.integers(-8, 9, 400)
    found, off = rows.combined(a)
    for column in range(12):
        numbers = X[:, [column]].toarray().ravel()
        exact = sum(Fraction(x) * Fraction(s) for x, s in zip(numbers, a, strict=True))
        assert abs(Fraction(found[column]) - exact) <= Fraction(off[column])


def test_dense_rows_and_rows_from_elsewhere_stay_as_they_are() -> None:
    dense = Rows(RANDOM.standard_normal((5, 3)), np.zeros(5))
    full = Rows(drawn(20, 10, 0.5), np.zeros(20))
    sparse_rows = compact(Rows(drawn(20, 30), np.zeros(20)))
    assert [compact(rows) for rows in (dense, full, sparse_rows)] == [dense, full, sparse_rows]


def test_columns_that_never_came_are_zero() -> None:
    rows = compact(Rows(drawn(20, 30), np.zeros(20), features=40))
    assert rows.shape == (20, 40)
    assert not rows.combine(np.ones(20))[30:].any()


def test_rows_too_large_and_too_small_for_squares() -> None:
    X = sparse.csr_array(np.eye(8) * 1e200)
    with pytest.raises(BadExample, match="finite"):
        compact(Rows(X, np.zeros(8))).survey  # noqa: B018
    tiny = compact(Rows(sparse.csr_array(np.eye(8) * 1e-200), np.zeros(8)))
    assert 1e-200 <= tiny.survey.longest < 1.1e-200


def test_every_pass_is_there() -> None:
    assert {"scores", "combine", "combine_carefully", "bend", "gram", "cross", "lengths"} <= set(
        dir(passes)
    )


def counted(steps: count[int], v: Floats, rest: Floats) -> bool:
    """Count a step, which is not the last."""
    return next(steps) < 0


def test_the_fullest_columns_speed_up_conjugate_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of different scales among indicators, two of them the same, and one a constant."""
    rows, kinds = 6_000, 3_000
    numbers = 30 + np.cumsum(RANDOM.standard_normal((rows, 12)), axis=1)
    numbers = np.column_stack([numbers * 10.0 ** np.arange(-6, 6), numbers[:, 0], np.ones(rows)])
    chosen = RANDOM.integers(0, kinds, rows)
    indicators = sparse.csr_array((np.ones(rows), (np.arange(rows), chosen)), (rows, kinds))
    X = sparse.csr_array(sparse.hstack([sparse.csr_array(numbers), indicators]))
    made = compact(Rows(X, np.zeros(rows)))
    assert isinstance(made, SparseRows)
    assert made.fullest_columns.tolist() == list(range(14))
    wanted = X.T @ RANDOM.standard_normal(rows)
    taken = []
    for least in (0, 10**9):
        monkeypatch.setattr("noregret.hindsight.solvers.curvature.MIN_BLOCK_NUMBERS", least)
        curvature, steps = ManyRows(made, np.ones(rows)), count()
        curvature.solve(0.0, wanted, Search(None, 1e-8, done=partial(counted, steps)))
        taken.append(next(steps))
        v = curvature.solve(0.0, wanted, Search(None, 1e-8))
        assert np.linalg.norm(X.T @ (X @ v) - wanted) <= 1e-6 * np.linalg.norm(wanted)
    assert taken[0] < taken[1]


def test_a_large_factor_solves_whatever_its_corner_is() -> None:
    """The first and the last column have nothing in common, as those of two indicators."""
    X = RANDOM.standard_normal((400, MAX_ALWAYS_DENSE + 1))
    X[:200, 0], X[200:, -1] = 0.0, 0.0
    H, r = X.T @ X, RANDOM.standard_normal(MAX_ALWAYS_DENSE + 1)
    H[0, -1] = H[-1, 0] = 0.0
    v = Factored(H).solve(1.0, r)
    assert np.linalg.norm(H @ v + v - r) <= 1e-9 * np.linalg.norm(r)
