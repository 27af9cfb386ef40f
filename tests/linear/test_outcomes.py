"""Outcomes and labels of every kind, and what is refused in their place."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import noregret as nr
from tests.variants import state

X = np.arange(12.0).reshape(4, 3) / 10 - 0.5
Y = np.array([1.0, -1.0, 0.5, 2.0])


def make() -> nr.Learner:
    learner: nr.Learner = nr.WidrowHoff(rate=0.1)
    return learner


def taught(y: Any) -> nr.Learner:
    learner = make()
    learner.learn_many(X, y)
    return learner


@pytest.mark.parametrize(
    "y",
    [
        [1, 0, 1, 1],
        (1.0, 0.0, 1.0, 1.0),
        np.array([1, 0, 1, 1], dtype=np.int8),
        np.array([True, False, True, True]),
        [True, False, True, True],
        pd.Series([1, 0, 1, 1], index=[7, 7, 7, 7]),
        pd.Series([True, False, True, True], dtype="boolean"),
        pd.Series([1, 0, 1, 1], dtype="Int64"),
        pl.Series([1, 0, 1, 1]),
        pl.Series([True, False, True, True]),
        pa.array([1, 0, 1, 1]),
        pa.chunked_array([[1, 0], [1, 1]]),
        [Decimal(1), Fraction(0), np.float32(1), 1],
        np.array([1, 0, 1, 1], dtype=object),
    ],
    ids=lambda y: f"{type(y).__module__}.{type(y).__name__}",
)
def test_outcomes_of_every_kind_are_taken(y: Any) -> None:
    assert state(taught(y)) == state(taught([1.0, 0.0, 1.0, 1.0]))


@pytest.mark.parametrize(
    "y",
    [
        [1.0, 2.0, 3.0],
        [1.0] * 5,
        [],
        1.0,
        None,
        [[1.0]] * 4,
        [[1.0], [1.0, 2.0], [], []],
        "1234",
        iter(Y),
        np.ones((4, 1)),
        [1j] * 4,
        pd.Series(pd.to_datetime(["2020-01-01"] * 4)),
    ],
    ids=lambda y: type(y).__name__,
)
def test_outcomes_of_no_use_are_refused(y: Any) -> None:
    for rows in (X, sp.csr_array(X), pd.DataFrame(X, columns=list("abc"))):
        learner = make()
        with pytest.raises(nr.BadExample):
            learner.learn_many(rows, y)
        with pytest.raises(nr.BadExample):
            learner.play_many(rows, y)
        assert state(learner) == state(make())


def test_lengths_that_differ_are_named() -> None:
    with pytest.raises(nr.BadExample, match="4 rows, but 3 outcomes"):
        make().learn_many(X, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("label", [0.5, 2, -2, "yes", None, float("nan"), 1.0000001])
def test_a_wrong_label_is_refused_with_a_hint(label: Any) -> None:
    learner = nr.make("perceptron")
    with pytest.raises(nr.BadExample, match="labels are −1 and \\+1, 0 and 1, or False and True"):
        learner.learn_one([1.0], label)


def test_two_ways_to_write_no_are_refused() -> None:
    learner = nr.make("perceptron")
    learner.learn_one([1.0], 0)
    with pytest.raises(nr.BadExample, match="0 was seen before"):
        learner.learn_one([1.0], -1)
    other = nr.make("perceptron")
    other.learn_one([1.0], -1)
    for no in (0, False):
        with pytest.raises(nr.BadExample, match="−1 was seen before"):
            other.learn_one([1.0], no)
    with pytest.raises(nr.BadExample, match="−1 was seen before") as caught:
        other.learn_many([[1.0], [1.0]], [1, 0])
    assert caught.value.round == 3
    assert other.rounds == 2


def test_an_outcome_is_below_the_limit_that_is_named() -> None:
    learner = make()
    with pytest.raises(nr.BadExample, match=r"below 1e\+150 in size"):
        learner.learn_one([1.0], 1e150)
