"""However the numbers are handed over, the learner learns the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp

from tests.thorough import fewer, in_turn
from tests.variants import (
    ROUTINE,
    VARIANTS,
    Floats,
    Shape,
    Variant,
    as_dicts,
    examples,
    learned,
    names,
    shapes,
    state,
    visible,
)


def columns(X: Floats) -> dict[str, Floats]:
    return dict(zip(names(X.shape[1]), X.T.copy(), strict=True))


def spread_out(X: Floats) -> Floats:
    """Return the same numbers as every second row and column of a larger array."""
    larger = np.full((2 * X.shape[0], 2 * X.shape[1]), np.nan)
    larger[::2, ::2] = X
    return larger[::2, ::2]


def out_of_order(X: Floats) -> sp.csr_matrix:
    """Return a CSR matrix whose indices decrease in each row and come in two equal halves."""
    matrix = sp.csr_matrix(X)
    rows = [slice(a, b) for a, b in zip(matrix.indptr, matrix.indptr[1:], strict=False)]
    at = np.concatenate([np.arange(r.start, r.stop)[::-1].repeat(2) for r in rows])
    made = sp.csr_matrix(
        (0.5 * matrix.data[at], matrix.indices[at], 2 * matrix.indptr), shape=X.shape
    )
    assert not made.has_canonical_format or made.nnz == 0
    return made


def wide_indices(X: Floats) -> sp.csr_matrix:
    matrix = sp.csr_matrix(X)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def explicit_zeros(X: Floats) -> sp.csr_matrix:
    rows, width = X.shape
    starts = np.arange(0, rows * width + 1, width)
    return sp.csr_matrix((X.ravel(), np.tile(np.arange(width), rows), starts), shape=X.shape)


BY_COLUMN: dict[str, Callable[[Floats], Any]] = {
    "Fortran order": np.asfortranarray,
    "strided view": spread_out,
    "list of lists": lambda X: X.tolist(),
    "list of arrays": list,
    "big-endian": lambda X: X.astype(">f8"),
    "CSR": sp.csr_array,
    "CSR matrix": sp.csr_matrix,
    "CSR out of order": out_of_order,
    "CSR with zeros": explicit_zeros,
    "CSR with 64-bit indices": wide_indices,
    "CSC": sp.csc_array,
    "COO": sp.coo_matrix,
}
BY_NAME: dict[str, Callable[[Floats], Any]] = {
    "dicts": as_dicts,
    "dicts without zeros": lambda X: as_dicts(X, drop_zeros=True),
    "tuple of dicts": lambda X: tuple(as_dicts(X)),
    "pandas": lambda X: pd.DataFrame(columns(X)),
    "polars": lambda X: pl.DataFrame(columns(X)),
    "Arrow": lambda X: pa.table(columns(X)),
}


@in_turn("variant", VARIANTS)
@fewer(shape=shapes())
def test_columns_of_every_kind_are_the_same(variant: Variant, shape: Shape) -> None:
    X, y = examples(variant, shape)
    expected = visible(learned(variant, X, y), X)
    for kind, convert in BY_COLUMN.items():
        learner = variant.make()
        np.testing.assert_array_equal(
            learner.play_many(convert(X), y), variant.make().play_many(X, y), kind
        )
        assert visible(learner, X) == expected, kind
        np.testing.assert_array_equal(
            learner.predict_many(convert(X)), learner.predict_many(X), kind
        )


@in_turn("variant", VARIANTS)
@fewer(shape=shapes())
def test_names_of_every_kind_are_the_same_as_columns(variant: Variant, shape: Shape) -> None:
    X, y = examples(variant, shape)
    by_column = learned(variant, X, y)
    expected = visible(by_column, X)
    for kind, convert in BY_NAME.items():
        learner = learned(variant, convert(X), y)
        assert learner.features == names(X.shape[1]), kind
        assert visible(learner, X) == expected, kind
        np.testing.assert_array_equal(
            learner.decision_many(convert(X)), by_column.decision_many(X), kind
        )


@in_turn("variant", VARIANTS)
def test_one_row_of_every_kind_is_the_same(variant: Variant) -> None:
    X, y = examples(variant, ROUTINE)
    kinds: list[Callable[[Floats], Any]] = [
        list,
        tuple,
        lambda x: np.stack([x, x], axis=1)[:, 0],
        lambda x: sp.csr_array(x[None]),
        lambda x: sp.csc_matrix(x[None]),
        sp.coo_array,
        pl.Series,
        pa.array,
    ]
    expected = visible(learned(variant, X, y), X)
    for convert in kinds:
        learner = variant.make()
        for x, outcome in zip(X, y, strict=True):
            learner.learn_one(convert(x), outcome)
        assert visible(learner, X) == expected
        assert learner.decision_one(convert(X[0])) == learner.decision_one(X[0])


@in_turn("variant", VARIANTS)
def test_one_named_row_of_every_kind_is_the_same(variant: Variant) -> None:
    X, y = examples(variant, ROUTINE)
    expected = state(learned(variant, as_dicts(X), y))
    by_series = variant.make()
    for x, outcome in zip(as_dicts(X), y, strict=True):
        by_series.learn_one(pd.Series(x), outcome)
    assert state(by_series) == expected


@in_turn("variant", VARIANTS)
def test_outcomes_of_every_kind_are_the_same(variant: Variant) -> None:
    X, y = examples(variant, ROUTINE)
    expected = state(learned(variant, X, y))
    for outcomes in (list(y), y.tolist(), tuple(y), pd.Series(y), pl.Series(y), pa.array(y)):
        assert state(learned(variant, X, outcomes)) == expected
    assert state(learned(variant, X, np.stack([y, y], axis=1)[:, 1])) == expected
    assert state(learned(variant, X, y.astype(object))) == expected
    assert state(learned(variant, X, pd.Series(y.astype(object)))) == expected
