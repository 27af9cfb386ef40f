"""Arrays and sparse matrices of every kind, and what is refused in their place."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import noregret as nr
from tests.variants import state

X = np.arange(12.0).reshape(4, 3) / 10 - 0.5
WHOLE = np.array([[1, 0, 2], [0, 3, 0], [1, 1, 1], [0, 0, 0]])
Y = np.array([1.0, -1.0, 0.5, 2.0])


def make() -> nr.Learner:
    learner: nr.Learner = nr.WidrowHoff(rate=0.1)
    return learner


def taught(rows: Any, y: Any = Y) -> nr.Learner:
    learner = make()
    learner.learn_many(rows, y)
    return learner


@pytest.mark.parametrize(
    "dtype", ["f2", "f4", "f8", ">f8", "g", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
)
def test_arrays_of_every_number_are_taken(dtype: str) -> None:
    rows = WHOLE.astype(dtype)
    expected = taught(WHOLE.astype(float))
    assert state(taught(rows)) == state(expected)
    assert expected.decision_many(rows).tolist() == expected.decision_many(WHOLE * 1.0).tolist()
    one = make()
    for x, y in zip(rows, Y.astype(dtype if dtype != "u8" else "f8"), strict=True):
        one.learn_one(x, float(y))
        assert one.decision_one(x) == one.decision_one(x.astype(float))


def test_boolean_arrays_are_taken() -> None:
    assert state(taught(WHOLE > 0)) == state(taught((WHOLE > 0) * 1.0))


def test_views_and_read_only_arrays_are_taken_as_they_are() -> None:
    expected = state(taught(X))
    locked = X.copy()
    locked.setflags(write=False)
    for rows in (
        locked,
        np.asfortranarray(X),
        np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
        X[::-1].copy()[::-1],
        X[:, ::-1].copy()[:, ::-1],
        X.tolist(),
        tuple(map(tuple, X)),
    ):
        assert state(taught(rows)) == expected
        learner = make()
        for x, y in zip(np.asarray(rows), Y, strict=True):
            learner.learn_one(x, y)
        assert state(learner) == expected


MISALIGNED = """
import numpy as np, noregret as nr
rows = np.frombuffer(bytes(1) + np.arange(6.0).tobytes(), dtype=np.uint8)[1:].view(np.float64)
rows = rows.reshape(2, 3) / 1
odd = np.frombuffer(bytes(1) + rows.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(2, 3)
assert not odd.flags.aligned
by_row, many, expected = nr.WidrowHoff(), nr.WidrowHoff(), nr.WidrowHoff()
expected.learn_many(rows, [1.0, 2.0])
many.learn_many(odd, odd[:, 1] * 0 + [1.0, 2.0])
for x, y in zip(odd, [1.0, 2.0]):
    by_row.learn_one(x, y)
assert by_row.weights.tolist() == many.weights.tolist() == expected.weights.tolist()
assert many.predict_many(odd).tolist() == expected.predict_many(rows).tolist()
"""


def test_numbers_at_odd_addresses_are_taken() -> None:
    """In a process of its own: going wrong here may take the interpreter along."""
    done = subprocess.run([sys.executable, "-c", MISALIGNED], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


def test_one_row_seen_many_times_is_many_rows() -> None:
    rows = np.broadcast_to(X[0], (4, 3))
    assert rows.strides[0] == 0
    assert state(taught(rows)) == state(taught(rows.copy()))


def test_what_is_given_is_not_changed() -> None:
    rows, y = X.copy(), Y.copy()
    matrix = sp.csr_matrix((np.ones(3), [2, 0, 0], [0, 2, 2, 3, 3]), shape=(4, 3))
    parts = matrix.data.copy(), matrix.indices.copy(), matrix.indptr.copy()
    row = {"b": 1.0, "a": "text"}
    taught(rows, y)
    taught(matrix, y)
    make().learn_one(row, 1.0)
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(y, Y)
    for now, before in zip((matrix.data, matrix.indices, matrix.indptr), parts, strict=True):
        np.testing.assert_array_equal(now, before)
    assert row == {"b": 1.0, "a": "text"}


def test_blocks_larger_than_those_handed_on_are_taken_whole() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(150_000, 2)) / 2
    y = rng.normal(size=150_000)
    expected = state(taught(rows, y))
    assert state(taught(np.asfortranarray(rows), y)) == expected
    assert taught(sp.csr_array(rows), y).weights.tobytes() == taught(rows, y).weights.tobytes()
    frame = pl.DataFrame({"a": rows[:20_000, 0], "b": rows[:20_000, 1]})
    by_name = taught(frame, y[:20_000])
    assert by_name.weights.tobytes() == taught(rows[:20_000], y[:20_000]).weights.tobytes()


@pytest.mark.parametrize(
    "empty",
    [np.empty((0, 3)), sp.csr_array((0, 3)), pd.DataFrame({"a": []}), pl.DataFrame({"a": []}), []],
    ids=["array", "CSR", "pandas", "polars", "list"],
)
def test_no_rows_teach_nothing(empty: Any) -> None:
    learner = make()
    learner.learn_many(empty, [])
    assert np.asarray(learner.play_many(empty, [])).tolist() == []
    assert state(learner) == state(make())
    assert np.asarray(learner.predict_many(empty)).tolist() == []
    assert np.asarray(learner.decision_many(empty)).tolist() == []


def test_rows_without_columns_are_rounds_all_the_same() -> None:
    kinds: list[Any] = [np.empty((4, 0)), sp.csr_array((4, 0)), [{}] * 4]
    for rows in [*kinds, pd.DataFrame(index=range(4))]:
        learner = taught(rows)
        assert learner.rounds == 4
        assert learner.features == []
        assert learner.total_loss == pytest.approx(float((Y**2).sum()))
        assert learner.predict_many(rows).tolist() == [0.0] * 4


@pytest.mark.parametrize(
    "rows",
    [
        X.astype(object),
        X.astype(complex),
        X.astype(str),
        [["a", "b"]] * 4,
        [[1.0, None]] * 4,
        [[1.0, 2.0], [1.0], [2.0], [3.0]],
        [[[1.0]]] * 4,
        [1.0, 2.0, 3.0, 4.0],
        np.ones((4, 3, 2)),
        np.array(["2020-01-01"] * 4, dtype="M8[D]")[:, None],
        [None] * 4,
        [b"row"] * 4,
        "rows",
        b"rows",
        {"a": [1.0] * 4},
        pd.Series([1.0] * 4),
        None,
        4.0,
        iter(X),
        [[1.0], {"a": 1.0}, [1.0], [1.0]],
        np.ma.masked_array(X, mask=X > 0.3),
    ],
    ids=lambda rows: type(rows).__name__,
)
def test_rows_of_no_use_are_refused(rows: Any) -> None:
    learner = make()
    with pytest.raises(nr.BadExample):
        learner.learn_many(rows, Y)
    with pytest.raises(nr.BadExample):
        learner.play_many(rows, Y)
    with pytest.raises(nr.BadExample):
        learner.predict_many(rows)
    assert state(learner) == state(make())


@pytest.mark.parametrize(
    "x",
    [
        "x",
        b"x",
        None,
        1.0,
        True,
        np.float64(1.0),
        np.array(1.0),
        [["a"]],
        [[1.0]],
        ["a", "b"],
        [1.0, None],
        [1.0, [2.0]],
        np.ones((2, 2)),
        np.array([1j]),
        np.array([None, 1.0]),
        np.array(["2020-01-01"], dtype="M8[D]"),
        sp.csr_array(np.ones((2, 3))),
        {"a", "b"},
        iter([1.0]),
        object(),
        np.ma.masked_array([1.0, 2.0], mask=[False, True]),
    ],
    ids=lambda x: type(x).__name__,
)
def test_an_example_of_no_use_is_refused(x: Any) -> None:
    learner = make()
    for ask in (lambda: learner.learn_one(x, 1.0), lambda: learner.predict_one(x)):
        with pytest.raises(nr.BadExample):
            ask()
    assert state(learner) == state(make())


# Sparse matrices.


@pytest.mark.parametrize("name", ["widrow-hoff", "auto", "kernel-gradient-descent"])
def test_a_row_of_another_length_is_named_with_both_lengths(name: str) -> None:
    rows = [[1.0, 2.0], [3.0, 4.0], [5.0], [6.0, 7.0]]
    said = "row 2 has 1 value, and row 0 has 2 values"
    learner = nr.make(name)
    calls: list[Callable[[], object]] = [
        lambda: learner.learn_many(rows, Y),
        lambda: learner.learn_many(rows, Y, importance=[1, 3, 1, 1]),
        lambda: learner.play_many(rows, Y),
        lambda: learner.predict_many(rows),
        lambda: learner.decision_many([np.array(row) for row in rows]),
        lambda: nr.play(learner, rows, Y),
    ]
    for call in calls:
        with pytest.raises(nr.BadExample, match=said):
            call()
    assert learner.rounds == 0


def test_a_value_among_rows_is_named() -> None:
    with pytest.raises(nr.BadExample, match="row 1 is a single value, and row 0 has 3 values"):
        taught([[1.0, 2.0, 3.0], 4.0, [5.0, 6.0, 7.0], [1.0, 2.0, 3.0]])


def test_sparse_values_of_every_number_are_taken() -> None:
    expected = taught(WHOLE.astype(float))
    for dtype in ("f4", "i4", "i8", "u1"):
        learner = taught(sp.csr_array(WHOLE.astype(dtype)))
        assert learner.weights.tobytes() == expected.weights.tobytes()
    signs = taught(sp.csr_array(WHOLE > 0))
    assert signs.weights.tobytes() == taught((WHOLE > 0) * 1.0).weights.tobytes()


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_every_sparse_form_is_taken(form: str) -> None:
    rows = sp.csr_array(X).asformat(form)
    before = make()
    assert before.predict_many(rows).tolist() == [0.0] * 4  # before anything was learned
    learner = taught(rows)
    assert learner.weights.tobytes() == taught(X).weights.tobytes()
    assert learner.predict_many(rows).tolist() == learner.predict_many(X).tolist()


def test_sparse_entries_given_twice_are_added() -> None:
    twice = sp.csr_matrix(([1.0, 2.0, 4.0], [2, 0, 2], [0, 3]), shape=(1, 3))
    assert not twice.has_canonical_format
    for learn in ("learn_many", "learn_one"):
        learner, expected = make(), make()
        getattr(learner, learn)(twice, [1.0] if learn == "learn_many" else 1.0)
        expected.learn_one([2.0, 0.0, 5.0], 1.0)
        assert learner.weights.tobytes() == expected.weights.tobytes()


def test_sparse_values_that_are_not_numbers_are_refused() -> None:
    for values in (np.array([1j]), np.array([float("nan")]), np.array([float("inf")])):
        rows = sp.csr_matrix((values, [0], [0, 1]), shape=(1, 2))
        with pytest.raises(nr.BadExample):
            make().learn_many(rows, [1.0])
        with pytest.raises(nr.BadExample):
            make().predict_many(rows)


def test_sparse_indices_outside_the_matrix_are_refused() -> None:
    for index in (7, -1):
        rows = sp.csr_matrix(([1.0, 1.0], [0, 1], [0, 1, 2]), shape=(2, 3))
        rows.indices = np.array([0, index], dtype=np.int32)
        with pytest.raises(nr.BadExample):
            make().learn_many(rows, [1.0, 1.0])


def test_a_sparse_matrix_of_zeros_is_rounds_of_zeros() -> None:
    rows = sp.csr_array((4, 3))
    learner = taught(rows)
    assert learner.rounds == 4
    assert learner.weights.tolist() == [0.0, 0.0, 0.0]
    assert learner.decision_many(rows).tolist() == [0.0] * 4
