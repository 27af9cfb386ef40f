"""Dual coordinate ascent: every step is the best there is, and its interval holds the minimum."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize_scalar

from noregret.hindsight import Limits, Rows, best_in_ball
from noregret.hindsight.classes.ball import Ball
from noregret.hindsight.losses import losses_of
from noregret.hindsight.solvers.dual_ascent import Climb, ascended
from noregret.hindsight.sparse import SparseRows, compact
from tests.hindsight.problems import CONVEX, LABELLED, Floats, Problem, cp, expression, solved
from tests.thorough import sized

LOSSES = [loss for loss in CONVEX if loss != "square"]


def wide(loss: str, rounds: int = 60, features: int = 400) -> Problem:
    draw = np.random.default_rng([5, rounds, list(CONVEX).index(loss)])
    kept = draw.random((rounds, features)) < 0.02
    X = np.where(kept, draw.normal(size=(rounds, features)), 0.0)
    X[3] = 0.0
    y = X @ draw.normal(size=features) + 0.5 * draw.normal(size=rounds)
    y = np.where(y > 0, 1.0, -1.0) if loss in LABELLED else y
    return Problem(X, y, loss, CONVEX[loss] or None)


def climb_of(task: Problem, radius: float) -> Climb:
    rows = compact(Rows(sparse.csr_array(task.X), task.y))
    assert isinstance(rows, SparseRows)
    losses = losses_of(task.loss, task.y, task.parameter)
    return Climb(rows, losses, Ball(radius), np.zeros(task.X.shape[1]))  # type: ignore[arg-type]


def dual(task: Problem, slopes: Floats, multiplier: float) -> float:
    losses = losses_of(task.loss, task.y, task.parameter)
    g = task.X.T @ slopes
    constants = losses.line_of(slopes)[1]  # type: ignore[attr-defined]
    return float(-constants.sum() - g @ g / (2 * multiplier))


@pytest.mark.parametrize("multiplier", [1e-3, 0.3, 40.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_slope_moves_to_where_the_dual_is_highest(loss: str, multiplier: float) -> None:
    task = wide(loss, rounds=8)
    climb = climb_of(task, 1.0)
    climb.multiplier = multiplier
    for t in (0, 5, 3, 0, 7):
        climb.pass_over(np.array([t], np.int32))
        reached = dual(task, climb.slopes, multiplier)

        def at(slope: float, t: int = t) -> float:
            slopes = climb.slopes.copy()
            slopes[t] = slope
            return -dual(task, slopes, multiplier)

        low, high = max(-1e3, climb.low[t]), min(1e3, climb.high[t])
        best = -minimize_scalar(at, bounds=(low, high), options={"xatol": 1e-12}).fun
        assert reached >= best - 1e-8 * (1 + abs(best))
        assert climb.gradient == pytest.approx(task.X.T @ climb.slopes, abs=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_every_pass_raises_what_is_proven(loss: str) -> None:
    task = wide(loss)
    climb, before = climb_of(task, 2.0), -math.inf
    losses = losses_of(loss, task.y, task.parameter)
    for seed in range(12):
        climb.pass_over(np.random.default_rng(seed).permutation(60).astype(np.int32))
        climb.look()
        constants = losses.line_of(climb.slopes)[1]  # type: ignore[attr-defined]
        proven = -2.0 * float(np.linalg.norm(task.X.T @ climb.slopes)) - float(constants.sum())
        assert proven >= before - 1e-9 * (1 + abs(proven))
        before = proven
    assert before <= climb.found.loss + 1e-9 * abs(before)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_interval_holds_the_minimum_of_an_independent_solver(loss: str) -> None:
    task = wide(loss)
    w = cp.Variable(task.X.shape[1])
    for radius in (0.3, 4.0):
        least = solved(expression(task, w), [cp.norm(w) <= radius])
        if least is None:  # the solver doubts itself
            continue
        room = 1e-6 * (1 + abs(least))
        rows = Rows(sparse.csr_array(task.X), task.y)
        for limits in (Limits(steps=1), Limits(steps=4), Limits()):
            found = best_in_ball(
                rows, task.loss, radius, loss_parameter=task.parameter, limits=limits
            )
            assert found.lower <= least + room
            assert found.loss >= least - room
        assert found.gap <= room


@pytest.mark.parametrize("loss", ["logistic", "squared-hinge"])
def test_a_few_passes_close_most_of_the_gap_for_many_rows(loss: str) -> None:
    task = wide(loss, rounds=2_000)
    rows = compact(Rows(sparse.csr_array(task.X), task.y))
    losses, ball = losses_of(task.loss, task.y), Ball(10.0)
    found = ascended(rows, losses, ball, np.zeros(400), Limits(steps=25))
    assert found is not None
    assert found.gap <= 1e-2 * found.loss


HOSTILE = {
    "zeros": lambda X: 0.0 * X,
    "tiny": lambda X: 1e-160 * X,
    "huge": lambda X: 1e60 * X,
    "heavy tails": lambda X: X * 10.0 ** np.random.default_rng(1).integers(-9, 9, (len(X), 1)),
    "repeated": lambda X: X[np.zeros(len(X), int)],
    "one row": lambda X: X[:1],
    "shared column": lambda X: X + np.eye(1, X.shape[1], 7),
}


@pytest.mark.parametrize("loss", ["logistic", "hinge", "huber"])
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_rows_give_an_honest_interval(kind: str, loss: str) -> None:
    task = wide(loss)
    X = sparse.csr_array(HOSTILE[kind](task.X))
    y = task.y[: X.shape[0]]
    for radius in (1e-6, 1.0, 1e6):
        limits = Limits(steps=sized(6, full=30))
        found = best_in_ball(Rows(X, y, features=400), loss, radius, limits=limits)
        assert 0 <= found.lower <= found.loss < math.inf
        assert np.isfinite(found.witness).all()
        paid = float(losses_of(loss, y).value(X @ found.witness[: X.shape[1]]).sum())
        assert found.loss >= paid * (1 - 1e-12)
