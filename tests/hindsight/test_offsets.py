"""The best in hindsight on columns that are nearly dependent, against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from noregret.hindsight import LeastSquares, Rows, best_in_ball, best_linear, best_ridge
from tests.exactness.arithmetic import dot, fractions, gram, solve, square, table

OFFSETS = [0.0, 1e4, 1e6, 1e8, 1e9]


def data(offset: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(11)
    Z = rng.normal(size=(25, 3))
    return Z + offset, Z @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=25)


def exact_ridge(X: np.ndarray, y: np.ndarray, penalty: Fraction) -> list[Fraction]:
    """Solve the normal equations in rational numbers."""
    rows, outcomes = table(X), fractions(y)
    system = [
        [v + penalty * (i == j) for j, v in enumerate(row)] for i, row in enumerate(gram(rows))
    ]
    found = solve(system, [dot(column, outcomes) for column in zip(*rows, strict=True)])
    assert found is not None
    return list(found)


def exact_loss(X: np.ndarray, y: np.ndarray, w: list[Fraction]) -> Fraction:
    scores = [dot(row, w) for row in table(X)]
    return square([s - v for s, v in zip(scores, fractions(y), strict=True)])


@pytest.mark.parametrize("offset", OFFSETS)
def test_the_best_linear_predictor_is_proven_to_nine_digits(offset: float) -> None:
    X, y = data(offset)
    answer = best_linear(Rows(X, y))
    least = exact_loss(X, y, exact_ridge(X, y, Fraction()))
    assert Fraction(answer.lower) <= least <= Fraction(answer.loss)
    assert exact_loss(X, y, list(fractions(answer.witness))) <= Fraction(answer.loss)
    assert answer.comparator == "all linear predictors"
    assert answer.gap <= 1e-9 * answer.loss


@pytest.mark.parametrize("offset", OFFSETS)
def test_the_best_with_a_penalty_is_proven_to_nine_digits(offset: float) -> None:
    X, y = data(offset)
    for penalty in (1e-6, 1.0, 1e6):
        answer = best_ridge(Rows(X, y), penalty, 2.0)
        u = exact_ridge(X, y, Fraction(penalty) / 2)
        least = 2 * exact_loss(X, y, u) + Fraction(penalty) * square(u)
        w = list(fractions(answer.witness))
        pays = 2 * exact_loss(X, y, w) + Fraction(penalty) * square(w)
        assert Fraction(answer.lower) <= least <= pays <= Fraction(answer.loss)
        assert answer.gap <= 1e-9 * answer.loss


@pytest.mark.parametrize("offset", OFFSETS)
def test_the_best_in_a_ball_is_proven_to_nine_digits(offset: float) -> None:
    X, y = data(offset)
    for radius in (0.1, 1.0, 100.0):
        answer = best_in_ball(Rows(X, y), "square", radius)
        w = list(fractions(answer.witness))
        assert square(w) <= Fraction(radius) ** 2
        assert exact_loss(X, y, w) <= Fraction(answer.loss)
        assert answer.gap <= 1e-9 * answer.loss
        # Any exact point of the ball pays no less than what is proven.
        for penalty in (0, 1, 50, 1000):
            u = exact_ridge(X, y, Fraction(penalty))
            if square(u) <= Fraction(radius) ** 2:
                assert exact_loss(X, y, u) >= Fraction(answer.lower)


def test_dependent_columns_with_an_offset_are_told_from_nearly_dependent_ones() -> None:
    X, y = data(1e8)
    twice = np.column_stack([X, X[:, 0], np.zeros(len(y))])
    answer, single = best_linear(Rows(twice, y)), best_linear(Rows(X, y))
    assert answer.comparator == "all linear predictors"
    assert answer.loss == pytest.approx(single.loss, rel=1e-9)
    assert answer.lower == pytest.approx(single.lower, rel=1e-9)


@pytest.mark.parametrize("offset", OFFSETS)
def test_sums_without_rows_prove_less_but_nothing_false(offset: float) -> None:
    X, y = data(offset)
    answer = LeastSquares(3).add(X, y).best()
    u = exact_ridge(X, y, Fraction())
    assert exact_loss(X, y, list(fractions(answer.witness))) <= Fraction(answer.loss)
    if square(u) <= Fraction(min(answer.reach, 1e300)) ** 2:
        assert Fraction(answer.lower) <= exact_loss(X, y, u)
