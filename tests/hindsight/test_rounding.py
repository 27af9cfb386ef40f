"""Bounds that hold in exact arithmetic, not nearly."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret.hindsight import LeastSquares, Rows
from noregret.hindsight.proofs.rounding import (
    dot,
    downward,
    growth,
    norm,
    norm_above,
    shrunk_into_ball,
    total,
    upward,
)
from noregret.hindsight.rows import score_error
from noregret.hindsight.solvers.doubled import Doubled
from noregret.hindsight.sums import add_outer_products

numbers = st.floats(-1e100, 1e100).filter(lambda v: v == 0 or abs(v) > 1e-100)
vectors = st.lists(numbers, min_size=1, max_size=30)


def squared_norm(vector: list[float]) -> Fraction:
    return sum((Fraction(v) ** 2 for v in vector), Fraction(0))


@given(vectors)
def test_the_norm_is_not_above_its_bound(vector: list[float]) -> None:
    assert Fraction(norm_above(np.array(vector))) ** 2 >= squared_norm(vector)
    assert norm_above(np.array(vector)) == pytest.approx(norm(np.array(vector)), rel=1e-13)


@given(vectors)
def test_the_error_of_a_dot_product_is_within_its_bound(vector: list[float]) -> None:
    other = vector[::-1]
    products = [Fraction(a) * Fraction(b) for a, b in zip(vector, other, strict=True)]
    error = abs(Fraction(dot(np.array(vector), np.array(other))) - sum(products))
    assert error <= Fraction(growth(len(vector))) * sum(map(abs, products))


@given(vectors, st.floats(1e-10, 1e10))
def test_what_is_put_into_a_ball_is_in_it(vector: list[float], radius: float) -> None:
    inside = shrunk_into_ball(np.array(vector), radius)
    assert squared_norm(inside.tolist()) <= Fraction(radius) ** 2


@given(vectors)
def test_totals_are_rounded_once(vector: list[float]) -> None:
    exact = sum(map(Fraction, vector), Fraction(0))
    assert total(np.array(vector)) == float(exact)


@given(numbers)
def test_upward_is_up_and_downward_down(value: float) -> None:
    assert downward(value) <= value <= upward(value)
    assert (downward(value) < value < upward(value)) == (value != 0)


@given(st.integers(1, 10**6))
def test_growth_is_more_than_the_terms(terms: int) -> None:
    assert growth(terms) >= terms * 2.0**-53


def exactly(numbers: Iterable[Fraction], factors: Iterable[float]) -> Fraction:
    pairs = zip(numbers, factors, strict=True)
    return sum((a * Fraction(b) for a, b in pairs), Fraction(0))


@pytest.mark.parametrize("weight", [None, 0.3])
@pytest.mark.parametrize("rounds", [30, 300])
@pytest.mark.parametrize("seed", range(5))
def test_scores_and_combinations_are_as_near_as_they_say(
    seed: int, rounds: int, weight: float | None
) -> None:
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(rounds, 7)) * 10.0 ** draw.integers(-8, 9, size=(rounds, 7))
    rows = Rows(X, np.zeros(rounds))
    n = 7 if weight is None else 14
    w, a = (draw.normal(size=k) * 10.0 ** draw.integers(-8, 9, size=k) for k in (n, rounds))
    if weight is None:
        table = [[Fraction(v) for v in x] for x in X.tolist()]
    else:
        rows = Doubled(rows, weight)
        single = [[Fraction(weight) * Fraction(v) for v in x] for x in X.tolist()]
        table = [[*x, *(-v for v in x)] for x in single]
    for x, score, off in zip(table, rows.scores(w), score_error(rows, w), strict=True):
        assert abs(exactly(x, w.tolist()) - Fraction(float(score))) <= Fraction(float(off))
    columns = zip(*table, strict=True)
    for column, number, off in zip(columns, *rows.combined(a), strict=True):
        assert abs(exactly(column, a.tolist()) - Fraction(float(number))) <= Fraction(float(off))


def test_a_proven_combination_is_off_by_as_little_for_many_rows_as_for_few() -> None:
    X = np.ones((100_000, 1))
    _, off = Rows(X, X[:, 0]).combined(X[:, 0])
    assert off[0] / 100_000 < 1e-13


@pytest.mark.parametrize("by_products", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_the_loss_from_sums_is_as_near_as_it_says(seed: int, by_products: bool) -> None:
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(500, 4)) * 10.0 ** draw.integers(-5, 6, size=4)
    w = draw.normal(size=4) / np.abs(X).max(axis=0)
    y = X @ w + 1e-6 * draw.normal(size=500)  # so that nearly all digits cancel
    sums = LeastSquares()
    for part in (slice(20), slice(20, 400), slice(400, 500)):
        if by_products:
            z = np.ascontiguousarray(np.column_stack([y, X])[part])
            product = np.zeros((5, 5))
            add_outer_products(z, product)
            sums.add_product(product, len(z))
        else:
            sums.add(X[part], y[part])
    exact = Fraction(0)
    gradient = [Fraction(0)] * 4
    for x, outcome in zip(X.tolist(), y.tolist(), strict=True):
        row = [Fraction(v) for v in x]
        error = sum((a * Fraction(b) for a, b in zip(row, w.tolist(), strict=True)), Fraction(0))
        error -= Fraction(outcome)
        exact += error**2
        gradient = [g + 2 * error * v for g, v in zip(gradient, row, strict=True)]
    tangent = sums.tangent(w)
    assert Fraction(tangent.low) <= exact <= Fraction(tangent.high)
    for number, off, sure in zip(tangent.gradient, tangent.off, gradient, strict=True):
        assert abs(sure - Fraction(float(number))) <= Fraction(float(off))
