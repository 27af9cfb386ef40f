"""Columns that never occur change nothing, however many there are."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

import noregret
from noregret.hindsight import Rows, largest_margin_of_weights
from noregret.hindsight.columns import without_empty_columns
from noregret.hindsight.sparse import compact

WIDTH = 1 << 18
AT = np.array([3, 7_000, WIDTH - 1])


def tables() -> tuple[np.ndarray, sparse.csr_array, np.ndarray]:
    """Return three columns, the same among millions, and labels."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 3))
    y = np.where(X @ [1.0, -1.0, 0.5] > 0, 1, -1)
    starts, at = np.arange(0, 121, 3), np.tile(AT, 40)
    return X, sparse.csr_array((X.ravel(), at, starts), shape=(40, WIDTH)), y


@pytest.mark.parametrize("held", [lambda rows: rows, compact])
@pytest.mark.parametrize("zeros", [0, 1])
def test_rows_without_empty_columns_are_the_same_rows(
    held: Callable[[Rows], Rows], zeros: int
) -> None:
    _, few, y = tables()
    wide = sparse.csr_array(sparse.hstack([few, sparse.eye_array(40)]))
    wide.data[4 : 4 + zeros] = 0.0
    rows, columns = without_empty_columns(held(Rows(wide, y)))
    assert columns.tolist() == [0, *AT, *range(WIDTH, WIDTH + 40)]
    (block, outcomes), *_ = rows.blocks()
    np.testing.assert_array_equal(block.toarray(), wide[:, columns].toarray())
    np.testing.assert_array_equal(outcomes, y)


def test_rows_are_returned_as_they_are_where_most_columns_occur() -> None:
    full = Rows(sparse.csr_array(np.eye(40)), np.ones(40))
    for rows in (full, compact(full), Rows(np.zeros((2, 9)), [1, 2]), Rows()):
        assert without_empty_columns(rows)[0] is rows


def test_a_dense_rest_of_sparse_rows_is_processed_as_dense() -> None:
    _, wide, y = tables()
    rows, columns = without_empty_columns(compact(Rows(wide, y)))
    assert type(rows) is Rows
    assert columns.tolist() == [0, *AT]
    (block, outcomes), *_ = rows.blocks()
    np.testing.assert_array_equal(block.toarray(), wide[:, columns].toarray())
    np.testing.assert_array_equal(outcomes, y)


def test_the_margin_of_weights_needs_no_empty_columns() -> None:
    X, wide, y = tables()
    for weight in (None, 2.0):
        narrow = largest_margin_of_weights(Rows(np.c_[np.zeros(40), X], y), weight=weight)
        found = largest_margin_of_weights(Rows(wide, y), weight=weight)
        assert found.lower == pytest.approx(narrow.lower, abs=1e-8)
        assert found.upper == pytest.approx(narrow.upper, abs=1e-8)
        parts = found.witness.reshape(-1, WIDTH)[:, AT]
        np.testing.assert_allclose(parts, narrow.witness.reshape(-1, 4)[:, 1:], atol=1e-6)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("perceptron", {}),
        ("winnow", {"form": "balanced"}),
        ("logistic", {}),
        ("softmax", {}),
        ("multiclass-perceptron", {}),
    ],
)
def test_certificates_of_few_columns_among_millions_are_those_of_the_few(
    name: str, params: dict[str, str]
) -> None:
    X, wide, y = tables()
    narrow = noregret.play(noregret.make(name, **params), X, y).certificate()
    game = noregret.play(noregret.make(name, **params), wide, y)
    tracemalloc.start()
    found = game.certificate()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 32 * 8 * WIDTH  # a few vectors, not a matrix nor a program of all columns
    if name != "winnow":  # of which the first weights are 1/n
        assert found.hindsight.loss == pytest.approx(narrow.hindsight.loss, rel=1e-5, abs=1e-6)
    assert noregret.verify(found, wide, y).confirmed
