"""The record: the same numbers however the rows came."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import noregret as nr
from noregret.hindsight import Rows, best_in_ball, best_linear
from noregret.hindsight.solvers.doubled import Doubled
from tests.hindsight.problems import Floats


def example(rounds: int = 300, features: int = 20) -> tuple[Floats, Floats]:
    draw = np.random.default_rng(1)
    X = draw.normal(size=(rounds, features)) * (draw.random((rounds, features)) < 0.2)
    y = np.where(X @ draw.normal(size=features) + 0.5 * draw.normal(size=rounds) > 0, 1.0, -1.0)
    return X, y


def records() -> Iterator[tuple[str, Rows]]:
    X, y = example()
    yield "array", Rows(X, y)
    yield "sparse", Rows(sp.csr_array(X), y)
    yield "sparse columns", Rows(sp.csc_matrix(X), y)
    yield "blocks", Rows(X[:7], y[:7]).add(sp.csr_array(X[7:100]), y[7:100]).add(X[100:], y[100:])
    yield "source", Rows(source=lambda: ((X[k : k + 50], y[k : k + 50]) for k in range(0, 300, 50)))
    yield "columns", Rows(np.asfortranarray(X), y)


@pytest.mark.parametrize(("name", "rows"), list(records()))
def test_all_records_of_the_same_rows_agree(name: str, rows: Rows) -> None:
    X, y = example()
    draw = np.random.default_rng(2)
    w, a, d = draw.normal(size=20), draw.normal(size=300), draw.random(300) - 0.3
    d = np.maximum(d, 0)
    assert rows.shape == (300, 20)
    assert (rows.outcomes == y).all()
    assert rows.scores(w) == pytest.approx(X @ w, abs=1e-13)
    assert rows.combine(a) == pytest.approx(X.T @ a, abs=1e-12)
    assert rows.scores(w, absolute=True) == pytest.approx(np.abs(X) @ w, abs=1e-13)
    assert rows.combine(a, absolute=True) == pytest.approx(np.abs(X).T @ a, abs=1e-12)
    assert rows.gram(d) == pytest.approx(X.T @ (d[:, None] * X), abs=1e-12)
    assert rows.column_squares(d) == pytest.approx((X**2).T @ d, abs=1e-12)
    assert rows.survey.longest == pytest.approx(np.linalg.norm(X, axis=1).max(), rel=1e-12)
    picked = rows.pick(d)
    picked = picked.toarray() if sp.issparse(picked) else picked
    assert (picked == X[d > 0]).all()
    twice = Doubled(rows, 3.0)
    whole = np.hstack([3 * X, -3 * X])
    both = draw.normal(size=40)
    assert twice.shape == (300, 40)
    assert twice.scores(both) == pytest.approx(whole @ both, abs=1e-12)
    assert twice.combine(a) == pytest.approx(whole.T @ a, abs=1e-11)
    assert twice.gram(d) == pytest.approx(whole.T @ (d[:, None] * whole), abs=1e-11)
    assert twice.pick(d).shape == (np.count_nonzero(d), 40)


@pytest.mark.parametrize(("name", "rows"), list(records()))
def test_all_records_of_the_same_rows_have_the_same_best(name: str, rows: Rows) -> None:
    X, y = example()
    first = best_in_ball(Rows(X, y), "logistic", 2.0)
    assert best_in_ball(rows, "logistic", 2.0).loss == pytest.approx(first.loss, rel=1e-6)


def test_a_source_is_read_anew_each_time_and_nothing_is_kept() -> None:
    X, y = example()
    reads = 0

    def source() -> Iterator[tuple[Floats, Floats]]:
        nonlocal reads
        reads += 1
        yield X, y

    rows = Rows(source=source)
    rows.scores(np.zeros(20))
    rows.scores(np.ones(20))
    assert reads == 2
    assert not rows.kept
    with pytest.raises(ValueError, match="source"):
        rows.add(X, y)


def test_features_may_join_late() -> None:
    X, y = example()
    X[:100, 15:] = 0.0
    late = Rows(X[:100, :15], y[:100]).add(X[100:], y[100:])
    whole = Rows(X, y)
    draw = np.random.default_rng(3)
    w, d = draw.normal(size=20), draw.random(300)
    assert late.shape == (300, 20)
    assert late.scores(w) == pytest.approx(whole.scores(w), abs=1e-13)
    assert late.gram(d) == pytest.approx(whole.gram(d), abs=1e-12)
    assert late.pick(d) == pytest.approx(X)
    assert best_linear(late).loss == pytest.approx(best_linear(whole).loss, rel=1e-9)


def test_arrays_are_kept_as_they_are_and_not_copied() -> None:
    X, y = example()
    kept = Rows(X, y).kept[0][0]
    assert np.shares_memory(kept, X)
    table = sp.csr_array(X)
    assert np.shares_memory(Rows(table, y).kept[0][0].data, table.data)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0, 2.0]], [1.0, 2.0], "one outcome per row"),
        ([1.0, 2.0], [1.0, 2.0], "one outcome per row"),
        ([[1.0]], [np.nan], "outcome"),
        ([[np.nan]], [1.0], "finite"),
        ([[np.inf]], [1.0], "finite"),
        ([[1e200]], [1.0], r"1e\+150"),
    ],
)
def test_rows_that_are_none_are_refused(X: Any, y: Any, message: str) -> None:
    with pytest.raises(nr.BadExample, match=message):
        Rows(X, y).shape  # noqa: B018
