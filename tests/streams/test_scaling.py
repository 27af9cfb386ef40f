"""Scaling as rows come, told against slow computations over all rows so far."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import noregret
from noregret import NoRegretError, streams
from noregret.streams.parsing.scaling import Scaler
from tests.thorough import draws

from .files import Row, blocks_of, game_of, write_csv, write_jsonl, write_parquet

Floats = NDArray[np.float64]
cells = st.floats(-1e6, 1e6, allow_subnormal=False) | st.sampled_from([0.0, 1.0, 1.0, -3.0])
arrays = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(cells, min_size=n, max_size=n), min_size=1, max_size=12)
)


def by_max(X: Floats) -> Floats:
    most = np.maximum.accumulate(np.abs(X), axis=0)
    return X / np.where(most > 0, most, 1.0)


def standardised(X: Floats) -> Floats:
    out = np.zeros_like(X)
    for r in range(len(X)):
        so_far = X[: r + 1]
        spread = so_far.std(axis=0)
        off = X[r] - so_far.mean(axis=0)
        varied = np.ptp(so_far, axis=0) > 0
        out[r] = np.where(varied, off / np.where(varied, spread, 1.0), 0.0)
    return out


def to_unit(X: Floats) -> Floats:
    peaks = np.abs(X).max(axis=1, keepdims=True, initial=0.0)
    X = X / np.where(peaks > 0, peaks, 1.0)
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(norms > 0, norms, 1.0)


SLOW: dict[str, Callable[[Floats], Floats]] = {
    "max": by_max,
    "standard": standardised,
    "unit": to_unit,
}
kinds = pytest.mark.parametrize("kind", SLOW)


def rows_of(stream: Any, columns: list[str]) -> Floats:
    return np.array([[x.get(name, 0.0) for name in columns] for x, _ in stream])


@kinds
@draws(25)
@given(arrays, st.integers(1, 100))
def test_tables_are_scaled_by_what_has_been_seen(
    kind: str, table: list[list[float]], size: int
) -> None:
    if kind == "standard":  # which loses all digits where values hardly differ
        table = [[round(value, 2) for value in row] for row in table]
    X = np.array(table)
    columns = [f"c{k}" for k in range(X.shape[1])]
    rows: list[Row] = [dict(zip(columns, x, strict=True)) | {"sold": 1.0} for x in table]
    expected = SLOW[kind](X)
    with TemporaryDirectory() as folder, blocks_of(size):
        for file in (
            write_csv(rows, Path(folder) / "d.csv"),
            write_parquet(rows, Path(folder) / "d.parquet"),
            write_jsonl(rows, Path(folder) / "d.jsonl"),
        ):
            found = rows_of(streams.read(file, "sold", scale=kind), columns)
            # Cancellation may cost digits where values differ by little of their size.
            np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-6)
        np.savez(Path(folder) / "d.npz", X=X, y=np.ones(len(X)))
        stream = streams.read(Path(folder) / "d.npz", scale=kind)
        found = rows_of(stream, [str(k) for k in range(X.shape[1])])
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-6)


@kinds
def test_indicators_and_the_intercept_are_not_standardised(kind: str, tmp_path: Path) -> None:
    rows: list[Row] = [
        {"a": 1.0, "town": "x", "sold": 1},
        {"a": 5.0, "town": "y", "sold": 1},
        {"a": -2.0, "town": "x", "sold": 1},
    ]
    X = np.array([[1.0, 1, 0, 1], [5.0, 0, 1, 1], [-2.0, 1, 0, 1]])
    expected = SLOW[kind](X)
    if kind == "standard":
        expected[:, 1:] = X[:, 1:]
    columns = ["a", "town=x", "town=y", "intercept"]
    for file in (
        write_csv(rows, tmp_path / "d.csv"),
        write_parquet(rows, tmp_path / "d.parquet"),
        write_jsonl(rows, tmp_path / "d.jsonl"),
    ):
        found = rows_of(streams.read(file, "sold", scale=kind, intercept=True), columns)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    np.savez(tmp_path / "d.npz", X=X[:, :1], y=np.ones(3))
    found = rows_of(
        streams.read(tmp_path / "d.npz", scale=kind, intercept=True), ["0", "intercept"]
    )
    slow = SLOW[kind](X[:, [0, 3]])
    if kind == "standard":
        slow[:, 1] = 1.0
    np.testing.assert_allclose(found, slow, rtol=1e-12, atol=1e-12)


def test_fields_that_come_and_go_are_standardised_by_the_rows_that_have_them(
    tmp_path: Path,
) -> None:
    rows: list[Row] = [
        {"a": 1.0, "sold": 1},
        {"b": 7.0, "sold": 1},
        {"a": 3.0, "sold": 1},
        {"a": 8.0, "b": 9.0, "sold": 1},
    ]
    stream = streams.read(write_jsonl(rows, tmp_path / "d.jsonl"), "sold", scale="standard")
    found = [x for x, _ in stream]
    a, b = standardised(np.array([[1.0], [3.0], [8.0]])), standardised(np.array([[7.0], [9.0]]))
    assert [x["a"] for x in found if "a" in x] == pytest.approx(a[:, 0].tolist())
    assert [x["b"] for x in found if "b" in x] == pytest.approx(b[:, 0].tolist())


@draws(30)
@given(
    st.lists(st.dictionaries(st.integers(0, 6), cells.filter(bool), max_size=4), min_size=1),
    st.sampled_from(["max", "unit"]),
    st.integers(1, 80),
)
def test_sparse_text_is_scaled_too(rows: list[dict[int, float]], kind: str, size: int) -> None:
    X = np.zeros((len(rows), 7))
    for r, row in enumerate(rows):
        X[r, list(row)] = list(row.values())
    with TemporaryDirectory() as folder, blocks_of(size):
        svm = "\n".join(
            "1 " + " ".join(f"{i}:{v!r}" for i, v in sorted(row.items())) for row in rows
        )
        (Path(folder) / "d.svm").write_text(svm, "utf-8")
        vw = "\n".join("1 | " + " ".join(f"{i}:{v!r}" for i, v in row.items()) for row in rows)
        (Path(folder) / "d.vw").write_text(vw, "utf-8")
        for file in ("d.svm", "d.vw"):
            stream = streams.read(Path(folder) / file, scale=kind)
            found = rows_of(stream, [str(k) for k in range(7)])
            np.testing.assert_allclose(found, SLOW[kind](X), rtol=1e-12)


@given(st.lists(st.floats(1e-320, 1e149), min_size=1, max_size=5))
def test_unit_rows_have_norm_one_whatever_their_size(x: list[float]) -> None:
    X = np.array([x])
    Scaler("unit").scale_dense(X)
    assert np.linalg.norm(X) == pytest.approx(1.0, rel=1e-9)


@kinds
@pytest.mark.parametrize("bad", ["inf", "1e200", "oops", ""])
@pytest.mark.parametrize("text", [False, True])
def test_a_refused_row_leaves_no_trace(kind: str, bad: str, text: bool, tmp_path: Path) -> None:
    good = ["1,2,x,3", "4,-5,y,6", "2,2,x,1"] * 4
    rows = [line if text else line[:4] + line[6:] for line in good]
    broken = f"100,{bad},never,1" if text else f"100,{bad},1"
    head = "a,b,town,sold\n" if text else "a,b,sold\n"
    (tmp_path / "good.csv").write_text(head + "\n".join(rows), "utf-8")
    (tmp_path / "bad.csv").write_text(
        head + "\n".join([*rows[:2], broken, *rows[2:], broken]), "utf-8"
    )
    for size in (20, 1 << 20):
        with blocks_of(size):
            game = game_of(tmp_path / "bad.csv", target="sold", scale=kind, on_error="skip")
            expected = game_of(tmp_path / "good.csv", target="sold", scale=kind)
        assert len(game.skipped) == 2
        assert game.digest == expected.digest
        assert game.learner.weights.tolist() == expected.learner.weights.tolist()


def test_sparse_arrays_are_not_standardised(tmp_path: Path) -> None:
    parts = {"data": [1.0], "indices": [0], "indptr": [0, 1], "shape": [1, 2]}
    np.savez(tmp_path / "d.npz", **parts, y=[1.0])  # type: ignore[arg-type]
    with pytest.raises(NoRegretError, match="standardising would make it dense"):
        list(streams.read(tmp_path / "d.npz", scale="standard"))
    assert (
        noregret.play(noregret.make("nlms"), streams.read(tmp_path / "d.npz", scale="max")).rounds
        == 1
    )


def test_scaling_only_what_is_seen_in_learning() -> None:
    scaler = Scaler("max")
    scaler.scale_dense(np.array([[2.0, 1.0]]))
    X = np.array([[4.0, 0.5]])
    scaler.scale_dense(X, learning=False)
    assert X.tolist() == [[2.0, 0.5]]
    X = np.array([[1.0, 1.0]])
    scaler.scale_dense(X)
    assert X.tolist() == [[0.5, 1.0]]


@kinds
def test_a_state_is_kept_and_one_that_makes_no_sense_is_refused(kind: str) -> None:
    scaler = Scaler(kind)
    scaler.scale_dense(np.array([[1.0, 2.0], [3.0, 4.0]]))
    state = scaler.get_state(2)
    other = Scaler(kind)
    other.set_state(state)
    assert all((other.get_state(2)[name] == array).all() for name, array in state.items())
    with pytest.raises(ValueError, match=f"scaling by {kind} keeps"):
        other.set_state(state | {"speed": np.zeros(2)})
    for name in state:
        for wrong in (
            np.full(2, np.nan),
            np.zeros((2, 2)),
            np.zeros(2, dtype=np.int8),
            -np.ones(3),
        ):
            with pytest.raises(ValueError, match=r"scaling|negative"):
                other.set_state(state | {name: wrong})


@pytest.mark.parametrize("power", [*range(14), 15, 16])
def test_a_mean_far_from_0_costs_as_many_digits_as_it_has_more_than_the_deviation(
    power: int,
) -> None:
    """Told by exact arithmetic. Where the deviation is 1e-14 of the mean nothing is left: 0."""
    offset = 10.0**power
    X = offset + np.random.default_rng(power).normal(size=(300, 1))
    exact, total, squares = [], Fraction(0), Fraction(0)
    for count, x in enumerate(map(Fraction, X[:, 0].tolist()), 1):
        total, squares = total + x, squares + x * x
        mean = total / count
        variance = squares / count - mean**2
        exact.append(float(x - mean) / math.sqrt(variance) if variance else 0.0)
    Scaler("standard").scale_dense(X)
    if power < 14:
        np.testing.assert_allclose(X[2:, 0], exact[2:], rtol=0, atol=2e-14 * offset)
    else:
        assert not X[2:].any()
