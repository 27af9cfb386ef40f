"""The digest is that of the numbers, however they came, and of nothing else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.proof.record.digest import Digest
from tests.proof.game.reference import digest, hashed
from tests.thorough import draws

Floats = np.ndarray


def table(seed: int, rows: int, columns: int, zeros: float) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    X[rng.random(size=X.shape) < zeros] = rng.choice([0.0, -0.0])
    return X / max(1.0, np.sqrt(columns)), rng.normal(size=rows)


def by_position(X: Floats, y: Floats) -> str:
    rows = [(dict(enumerate(x)), t) for x, t in zip(X.tolist(), y.tolist(), strict=True)]
    return digest(rows, X.shape[1])


@draws(40)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 60),
    columns=st.integers(1, 12),
    zeros=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
)
def test_arrays_and_sparse_matrices_have_the_digest_of_their_description(
    seed: int, rows: int, columns: int, zeros: float
) -> None:
    X, y = table(seed, rows, columns, zeros)
    expected = by_position(X, y)
    for given_rows in (X, np.asfortranarray(X), sp.csr_array(X), sp.coo_array(X)):
        assert nr.play(nr.WidrowHoff(rate=0.1), given_rows, y).digest == expected
    one_by_one = zip(list(X), y.tolist(), strict=True)
    assert nr.play(nr.WidrowHoff(rate=0.1), one_by_one).digest == expected


def test_long_games_have_the_digest_of_their_description() -> None:
    X, y = table(3, 9_000, 6, 0.2)
    assert nr.play(nr.WidrowHoff(rate=0.1), X, y).digest == by_position(X, y)


@draws(25)
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(1, 40))
def test_dicts_and_data_frames_have_one_digest(seed: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    kinds = rng.choice(["x", "y", "ö"], size=rows).tolist()
    dicts = [
        {"b": float(rng.normal()), "a": float(rng.integers(-1, 2)), "kind": kind} for kind in kinds
    ]
    y = rng.normal(size=rows)
    positions: dict[str, int] = {}
    expected_rows = []
    for x, t in zip(dicts, y.tolist(), strict=True):
        named = {f"kind={x['kind']}": 1.0, "a": x["a"], "b": x["b"]}
        for name in sorted(set(named) - set(positions)):
            positions[name] = len(positions)
        expected_rows.append(({positions[n]: float(v) for n, v in named.items()}, t))
    expected = digest(expected_rows, len(positions), list(positions))
    learner = nr.Nlms()
    assert nr.play(learner.clone(), zip(dicts, y.tolist(), strict=True)).digest == expected
    assert nr.play(learner.clone(), dicts, y).digest == expected
    for frame in (pd.DataFrame(dicts), pl.DataFrame(dicts), pa.Table.from_pylist(dicts)):
        assert nr.play(learner.clone(), frame, y).digest == expected


def test_any_change_of_the_data_changes_the_digest() -> None:
    X, y = table(0, 50, 4, 0.3)
    seen = {nr.play(nr.WidrowHoff(rate=0.1), X, y).digest}
    for r, c in [(0, 0), (49, 3), (20, 1)]:
        other = X.copy()
        other[r, c] = np.nextafter(other[r, c], 1.0)
        seen.add(nr.play(nr.WidrowHoff(rate=0.1), other, y).digest)
    late = y.copy()
    late[-1] = np.nextafter(late[-1], 9.0)
    swapped = X[[1, 0, *range(2, 50)]]
    for rows, outcomes in [(X, late), (swapped, y[[1, 0, *range(2, 50)]]), (X[:-1], y[:-1])]:
        seen.add(nr.play(nr.WidrowHoff(rate=0.1), rows, outcomes).digest)
    seen.add(nr.play(nr.WidrowHoff(rate=0.1), np.hstack([X, np.zeros((50, 1))]), y).digest)
    seen.add(nr.play(nr.WidrowHoff(rate=0.1), X[:, ::-1], y).digest)
    named = pd.DataFrame(X, columns=list("abcd"))
    seen.add(nr.play(nr.WidrowHoff(rate=0.1), named, y).digest)
    seen.add(nr.play(nr.WidrowHoff(rate=0.1), named.rename(columns={"d": "e"}), y).digest)
    assert len(seen) == 11


def test_labels_are_digested_as_they_were_given() -> None:
    X = np.eye(4)
    zero_one = nr.play(nr.Perceptron(), X, [0, 1, 1, 0]).digest
    assert zero_one == nr.play(nr.Perceptron(), X, [False, True, True, False]).digest
    assert zero_one != nr.play(nr.Perceptron(), X, [-1, 1, 1, -1]).digest


@pytest.mark.parametrize("cuts", [(0,), (1, 2), (8_192, 8_193), (5, 70_000)])
def test_a_digest_goes_on_from_its_state(cuts: tuple[int, ...]) -> None:
    words = np.random.default_rng(1).normal(size=80_000)
    whole = Digest()
    whole.update(words)
    for cut in cuts:
        first = Digest()
        first.update(words[:cut])
        second = Digest()
        second.set_state(*first.get_state())
        second.update(words[cut:])
        assert second.text(1, 1, []) == whole.text(1, 1, [])
    with pytest.raises(ValueError, match="state"):
        whole.set_state(b"", b"")


def test_the_digest_of_nothing() -> None:
    expected = hashed(bytes(32) + bytes(16)).hex()
    assert Digest().text(0, 0, []) == f"blake2b:{expected}"
