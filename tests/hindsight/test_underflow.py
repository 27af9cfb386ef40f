"""Features so small that their squares underflow: nothing is claimed that is not so."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from noregret import WidrowHoff, play
from noregret.hindsight import (
    Answer,
    LeastSquares,
    Rows,
    best_in_ball,
    best_in_simplex,
    best_linear,
    best_ridge,
)
from noregret.hindsight.solvers.quadratic import best_linear as best_linear_of
from noregret.hindsight.solvers.quadratic import best_ridge as best_ridge_of
from noregret.hindsight.solvers.tangent import over_rows
from tests.hindsight.problems import Floats, Problem
from tests.thorough import paired

SCALES = (1e-150, 1e-152, 1e-155, 1e-160, 1e-165, 1e-170, 1e-300, 1e-320)


def drawn(scale: float, kind: str) -> Problem:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(6, 2)) * scale, rng.normal(size=6)
    if kind == "unlike":
        X[:, 1] = 1.0
    if kind == "one":
        X = X[:, :1]
    if kind == "exact":
        X, y = np.array([[scale], [2 * scale]]), np.array([1.0, 2.0])
    if kind == "small outcomes":
        y = y * scale
    return Problem(X, y, "square", None)


KINDS = ("alike", "unlike", "one", "exact", "small outcomes")


def least(task: Problem) -> tuple[Fraction, list[Fraction]]:
    """Return the least square loss of all, and its weights, without rounding."""
    X = [[Fraction(v) for v in row] for row in task.X.tolist()]
    y = [Fraction(v) for v in task.y.tolist()]
    n = len(X[0])
    system = [
        [sum((r[i] * r[j] for r in X), Fraction(0)) for j in range(n)]
        + [sum((r[i] * t for r, t in zip(X, y, strict=True)), Fraction(0))]
        for i in range(n)
    ]
    for i in range(n):  # the columns drawn are independent
        system[i] = [v / system[i][i] for v in system[i]]
        for k in range(n):
            if k != i:
                times = system[k][i]
                system[k] = [a - times * b for a, b in zip(system[k], system[i], strict=True)]
    w = [row[n] for row in system]
    loss = Fraction(0)
    for r, t in zip(X, y, strict=True):
        loss += (sum((a * b for a, b in zip(w, r, strict=True)), Fraction(0)) - t) ** 2
    return loss, w


def all_ways(task: Problem) -> dict[str, Answer]:
    rows, sums = Rows(task.X, task.y), LeastSquares().add(task.X, task.y)
    return {
        "sums": sums.best(),
        "sums and rows": sums.best(rows),
        "rows": best_linear(rows),
        "no sums": best_linear_of(over_rows(rows)),
    }


def square_of(w: Floats) -> Fraction:
    return sum((Fraction(v) ** 2 for v in w.tolist()), Fraction(0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", SCALES)
def test_the_least_loss_of_all_is_not_below_the_lower_end(scale: float, kind: str) -> None:
    task = drawn(scale, kind)
    loss, w = least(task)
    for way, found in all_ways(task).items():
        assert task.exactly(found.witness) <= Fraction(found.loss), way
        if np.isinf(found.reach) or sum(v * v for v in w) <= Fraction(found.reach) ** 2:
            assert Fraction(found.lower) <= loss, way
        assert found.lower <= found.loss, way
        assert ("all linear" in found.comparator) == np.isinf(found.reach), way


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", SCALES)
def test_a_lower_end_with_a_reach_holds_that_far(scale: float, kind: str) -> None:
    task = drawn(scale, kind)
    _, w = least(task)
    for way, found in all_ways(task).items():
        if np.isfinite(found.reach):
            size = max(abs(v) for v in w)
            u = np.array([float(v / size) for v in w]) * (found.reach / 2)
            assert Fraction(found.lower) <= task.exactly(u), way


@pytest.mark.parametrize(
    ("of", "radius"), paired(product(SCALES, KINDS), [1e-3, 1.0, 1e90]), ids=str
)
def test_balls_and_ridges(of: tuple[float, str], radius: float) -> None:
    task = drawn(*of)
    rows, sums = Rows(task.X, task.y), LeastSquares().add(task.X, task.y)
    others = [np.zeros(task.X.shape[1]), np.full(task.X.shape[1], 0.7 * radius)]
    others += [sums.ball(radius, rows).witness]
    for found in (sums.ball(radius), sums.ball(radius, rows), best_in_ball(rows, "square", radius)):
        assert task.exactly(found.witness) <= Fraction(found.loss)
        for u in others:
            assert Fraction(found.lower) <= task.exactly(u)
    penalty = 1 / radius
    for found in (sums.ridge(penalty), sums.ridge(penalty, rows=rows), best_ridge(rows, penalty)):
        paid = task.exactly(found.witness) + Fraction(penalty) * square_of(found.witness)
        assert paid <= Fraction(found.loss)
        for u in [*others, found.witness]:
            assert Fraction(found.lower) <= task.exactly(u) + Fraction(penalty) * square_of(u)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", SCALES)
def test_simplices(scale: float, kind: str) -> None:
    task = drawn(scale, kind)
    rows, sums = Rows(task.X, task.y), LeastSquares().add(task.X, task.y)
    n = task.X.shape[1]
    for found in (sums.simplex(), sums.simplex(rows=rows), best_in_simplex(rows, "square")):
        for u in np.eye(n):
            assert Fraction(found.lower) <= task.exactly(u)
        assert Fraction(found.loss) >= Fraction(found.lower)


def test_columns_of_zeros_that_the_rows_show_leave_nothing_to_doubt() -> None:
    rows = Rows([[0.0, 1.0], [0.0, 2.0]], [1.0, 1.0])
    assert best_linear(rows).comparator == "all linear predictors"
    assert best_linear(Rows(np.zeros((2, 1)), [1.0, 1.0])).comparator == "all linear predictors"


def test_the_longest_row_is_known_where_its_square_underflows() -> None:
    for scale in (1e-150, 1e-165, 1e-300):
        longest = Rows(np.array([[3.0, 4.0]]) * scale, [1.0]).survey.longest
        assert 5 * scale <= longest * (1 + 1e-15)
        assert longest == pytest.approx(5 * scale)


def test_a_certificate_does_not_claim_all_where_larger_weights_pay_nothing() -> None:
    stated = play(WidrowHoff(), [[1e-170], [2e-170]], [1.0, 2.0]).certificate().hindsight
    assert "norm at most" in stated.comparator or stated.gap >= stated.loss


@pytest.mark.parametrize("outcome", [1e-161, 1e-162, 1e-200])
def test_a_scale_that_takes_all_of_a_loss_away_leaves_some(outcome: float) -> None:
    rows = Rows(np.array([[1e-300], [0.0]]), np.array([0.0, outcome]))
    for answer in (
        best_ridge(rows, 1.0, 1e-3),
        best_ridge_of(over_rows(rows), 1.0, 1e-3),
        best_ridge_of(LeastSquares(1).add(*next(iter(rows.blocks()))).quadratic(), 1.0, 1e-3),
    ):
        assert answer.loss > 0  # it is 1e-3 times the square of the outcome, below all numbers
