"""Rules that fit, or the proof that none does, against trying them all."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from noregret.hindsight import Answer, Rows, best_conjunction, best_disjunction

Booleans = NDArray[np.bool_]


@st.composite
def labelled(draw: st.DrawFn) -> tuple[Booleans, Booleans]:
    n, rounds = draw(st.integers(1, 4)), draw(st.integers(1, 20))
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    X = random.random((rounds, n)) < draw(st.sampled_from([0.2, 0.5, 0.8]))
    rule = random.integers(-1, 2, size=n)
    fits = draw(st.sampled_from(["or", "and", "none", "never", "always"]))
    y = {
        "or": X[:, rule > 0].any(axis=1),
        "and": X[:, rule > 0].all(axis=1) & ~X[:, rule < 0].any(axis=1),
        "none": random.random(rounds) < 0.5,
        "never": np.zeros(rounds, dtype=bool),
        "always": np.ones(rounds, dtype=bool),
    }[fits]
    return X, np.asarray(y)


def fewest_of_ors(X: Booleans, y: Booleans) -> int:
    """The mistakes of the best OR of features; that of none is never true."""
    choices = product((False, True), repeat=X.shape[1])
    return min(int(np.sum(X[:, np.array(chosen)].any(axis=1) != y)) for chosen in choices)


def fewest_of_ands(X: Booleans, y: Booleans) -> int:
    """The mistakes of the best AND of literals; one of a feature and its opposite is never true."""
    fewest = int(y.sum())
    for signs in product((-1, 0, 1), repeat=X.shape[1]):
        rule = np.array(signs)
        said = X[:, rule > 0].all(axis=1) & ~X[:, rule < 0].any(axis=1)
        fewest = min(fewest, int(np.sum(said != y)))
    return fewest


@given(labelled())
def test_no_disjunction_has_fewer_mistakes_than_the_lower_end(
    data: tuple[Booleans, Booleans],
) -> None:
    X, y = data
    found, fewest = best_disjunction(Rows(X, 2.0 * y - 1)), fewest_of_ors(X, y)
    assert found.lower <= fewest <= found.loss
    assert (found.loss == 0) == (fewest == 0)


@given(labelled())
def test_no_conjunction_has_fewer_mistakes_than_the_lower_end(
    data: tuple[Booleans, Booleans],
) -> None:
    X, y = data
    found, fewest = best_conjunction(Rows(X, 2.0 * y - 1)), fewest_of_ands(X, y)
    assert found.lower <= fewest <= found.loss
    assert fewest > 0 or found.loss == 0 or not y.any()


def test_sparse_rows_and_late_features_say_the_same() -> None:
    random = np.random.default_rng(71)
    X = random.random((40, 6)) < 0.4
    y = np.where(X[:, 1] | X[:, 4], 1.0, -1.0)
    whole = best_disjunction(Rows(X, y))
    assert whole.loss == 0
    sparse = best_disjunction(Rows(sp.csr_array(X), y))
    assert (sparse.witness == whole.witness).all()
    X[:10, 4:] = False
    y = np.where(X[:, 1] | X[:, 4], 1.0, -1.0)
    late = Rows(X[:10, :4], y[:10]).add(X[10:], y[10:])
    assert best_disjunction(late).loss == best_disjunction(Rows(X, y)).loss == 0
    both = np.where(X[:, 0] & X[:, 5], 1.0, -1.0)
    late = Rows(X[:10, :4], both[:10]).add(X[10:], both[10:])
    assert best_conjunction(late).loss == best_conjunction(Rows(X, both)).loss == 0


@pytest.mark.parametrize("best", [best_disjunction, best_conjunction])
@pytest.mark.parametrize("value", [0.3, 2.0, -1.0])
def test_nothing_is_proven_of_features_that_are_not_truth_values(
    best: Callable[[Rows], Answer], value: float
) -> None:
    found = best(Rows([[value, 1.0], [1.0, 1.0], [0.0, 1.0]], [-1, 1, 1]))
    assert found.lower == 0.0
