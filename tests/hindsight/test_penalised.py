"""All predictors, paying for their length: lower ≤ minimum ≤ loss, against a second solver."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from noregret.hindsight import Answer, Rows, best_penalised, best_ridge
from tests.hindsight.problems import CONVEX, SHAPES, Problem, cp, expression, problem, solved
from tests.thorough import paired, picked


def found_with(task: Problem, penalty: float) -> Answer:
    rows = Rows(task.X, task.y)
    return best_penalised(rows, task.loss, penalty, loss_parameter=task.parameter)


@pytest.mark.parametrize(("kind", "loss"), paired(SHAPES, [*CONVEX][::-1], 5))
def test_the_interval_holds_the_minimum_of_an_independent_solver(kind: str, loss: str) -> None:
    task = problem(kind, loss, seed=61)
    for penalty in picked((1e-3, 0.5, 100.0), kind + loss):
        found = found_with(task, penalty)
        w = cp.Variable(task.X.shape[1])
        least = solved(expression(task, w) + penalty * cp.sum_squares(w), [])
        assert w.value is not None
        scale = 1e-9 * (1 + abs(found.loss))
        assert found.lower <= task.total(w.value) + penalty * float(w.value @ w.value) + scale
        assert least is None or found.loss >= least - 1e-6 * abs(least) - 1e3 * scale
        assert found.gap <= 1e-6 * abs(found.loss) + scale


@pytest.mark.parametrize("loss", [name for name in CONVEX if name != "logistic"])
def test_no_predictor_is_below_in_exact_arithmetic(loss: str) -> None:
    draw = np.random.default_rng(62)
    task = problem("whole numbers", loss, seed=62)
    found = found_with(task, 0.7)
    for size in (0.0, 1e-12, 1e-9, 1e-6, 1e-3, 1.0):
        w = found.witness + size * draw.normal(size=len(found.witness))
        price = Fraction(0.7) * sum(Fraction(v) ** 2 for v in w.tolist())
        assert task.exactly(w) + price >= Fraction(found.lower)
        if size == 0:
            assert task.exactly(w) + price <= Fraction(found.loss)


def test_for_the_square_loss_it_is_ridge() -> None:
    task = problem("plain", "square", seed=63)
    ridge, found = best_ridge(Rows(task.X, task.y), 2.0), found_with(task, 2.0)
    assert found.lower <= ridge.loss
    assert ridge.lower <= found.loss


def test_a_penalty_must_be_positive() -> None:
    with pytest.raises(ValueError, match="penalty"):
        best_penalised(Rows([[1.0]], [1.0]), "hinge", 0.0)
