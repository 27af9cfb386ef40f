"""The best in a ball: lower ≤ minimum ≤ loss, against an independent solver."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.hindsight import Answer, Limits, Rows, best_in_ball
from noregret.hindsight.classes.ball import lowest_in_ball
from noregret.hindsight.proofs.rounding import norm
from noregret.hindsight.solvers.curvature import Factored
from tests.hindsight.problems import (
    CONVEX,
    LABELLED,
    SHAPES,
    Floats,
    Problem,
    cp,
    expression,
    into_ball,
    problem,
    solved,
)
from tests.thorough import paired, picked

KINKED = ("absolute", "quantile", "epsilon-insensitive", "hinge")


class Counted(Factored):
    """A matrix that counts the systems solved with it."""

    solved = 0

    def solve(self, *given: Any, **named: Any) -> Floats:
        self.solved += 1
        return super().solve(*given, **named)


def found_in_ball(task: Problem, radius: float, limits: Limits = Limits()) -> Answer:  # noqa: B008
    rows = Rows(task.X, task.y)
    return best_in_ball(rows, task.loss, radius, loss_parameter=task.parameter, limits=limits)


def reference(
    task: Problem, radius: float, solver: str = "CLARABEL"
) -> tuple[float | None, Floats]:
    w = cp.Variable(task.X.shape[1])
    least = solved(expression(task, w), [cp.norm(w) <= radius], solver)
    return least, np.zeros(len(task.X[0])) if w.value is None else into_ball(w.value, radius)


@pytest.mark.parametrize(("kind", "loss"), paired(SHAPES, list(CONVEX), 5))
def test_the_interval_holds_the_minimum_of_an_independent_solver(kind: str, loss: str) -> None:
    task = problem(kind, loss, seed=1)
    for radius in picked((0.1, 1.0, 30.0), kind + loss):
        found = found_in_ball(task, radius)
        least, point = reference(task, radius)
        scale = 1e-9 * (1 + task.total(np.zeros(task.X.shape[1])))
        assert found.lower <= task.total(point) + scale
        assert least is None or found.loss >= least - 1e-6 * abs(least) - 1e3 * scale
        assert found.gap <= 1e-6 * abs(found.loss) + scale
        assert found.lower <= found.loss


@pytest.mark.parametrize("loss", ["huber", "hinge", "logistic", "absolute"])
def test_another_solver_agrees(loss: str) -> None:
    task = problem("plain", loss, seed=2)
    least, _ = reference(task, 1.0, "SCS")
    assert least is not None
    assert found_in_ball(task, 1.0).loss == pytest.approx(least, rel=1e-5)


@pytest.mark.parametrize("loss", [name for name in CONVEX if name != "logistic"])
@pytest.mark.parametrize("kind", ["plain", "duplicate columns", "one row", "whole numbers"])
def test_no_point_is_below_in_exact_arithmetic(kind: str, loss: str) -> None:
    draw = np.random.default_rng(5)
    task = problem(kind, loss, seed=3)
    found = found_in_ball(task, 0.8)
    assert task.exactly(found.witness) <= Fraction(found.loss)
    assert sum(Fraction(v) ** 2 for v in found.witness.tolist()) <= Fraction(0.8) ** 2
    for size in (1e-12, 1e-9, 1e-6, 1e-3, 1.0):
        near = found.witness + size * draw.normal(size=len(found.witness))
        assert task.exactly(into_ball(near, 0.8)) >= Fraction(found.lower)


@pytest.mark.parametrize("units", [1e-8, 1e8])
@pytest.mark.parametrize("loss", CONVEX)
def test_units_do_not_matter(loss: str, units: float) -> None:
    task = problem("plain", loss, seed=4)
    plain = found_in_ball(task, 0.5)
    scaled = found_in_ball(task._replace(X=task.X * units), 0.5 / units)
    assert scaled.loss == pytest.approx(plain.loss, rel=3e-6)
    assert scaled.relative_gap <= 1e-6
    assert scaled.lower <= plain.loss
    assert plain.lower <= scaled.loss


@pytest.mark.parametrize("units", [1e-8, 1e8])
@pytest.mark.parametrize("loss", ["square", "absolute", "quantile", "linear"])
def test_units_of_outcomes_do_not_matter(loss: str, units: float) -> None:
    task = problem("plain", loss, seed=5)
    plain = found_in_ball(task, 0.5)
    scaled = found_in_ball(task._replace(y=task.y * units), 0.5 * units)
    power = 2 if loss in ("square", "linear") else 1
    assert scaled.loss == pytest.approx(plain.loss * units**power, rel=3e-6)
    assert scaled.relative_gap <= 1e-6


@pytest.mark.parametrize("loss", ["square", "huber", "squared-hinge", "logistic", *KINKED])
def test_a_ball_that_just_touches_the_best_of_all(loss: str) -> None:
    task = problem("plain", loss, seed=6)
    free = found_in_ball(task, 100.0)
    radius = float(np.linalg.norm(free.witness))
    for share in (1 - 1e-9, 1.0, 1 + 1e-9, 2.0):
        found = found_in_ball(task, share * radius)
        assert found.loss == pytest.approx(free.loss, rel=2e-6)
        assert found.relative_gap <= 1e-6


def test_separable_labels_cost_a_wide_ball_nothing() -> None:
    task = problem("without noise", "hinge", seed=7)
    assert found_in_ball(task, 1e4).loss <= 1e-9
    assert found_in_ball(task, 1e4).lower == 0.0


def test_separable_labels_drive_the_logistic_loss_to_the_edge() -> None:
    task = problem("without noise", "logistic", seed=8)
    last = math.inf
    for radius in (1.0, 10.0, 100.0):
        found = found_in_ball(task, radius)
        assert np.linalg.norm(found.witness) == pytest.approx(radius, rel=1e-6)
        assert found.relative_gap <= 1e-6
        assert found.loss < last
        last = found.loss


@pytest.mark.parametrize("loss", LABELLED)
def test_labels_may_be_zero_and_one(loss: str) -> None:
    task = problem("plain", loss, seed=9)
    other = task._replace(y=(task.y + 1) / 2)
    assert found_in_ball(task, 1.0).loss == found_in_ball(other, 1.0).loss


@pytest.mark.parametrize("loss", ["absolute", "logistic", "huber"])
def test_a_loss_of_ones_own_gives_the_same(loss: str) -> None:
    task = problem("plain", loss, seed=10)
    known = nr.make_loss(loss, task.parameter)
    own = nr.PythonLoss(known.value, known.slope, labels=known.labels)
    found = best_in_ball(Rows(task.X, task.y), own, 1.0)
    assert found.loss == pytest.approx(found_in_ball(task, 1.0).loss, rel=2e-6)
    assert found.relative_gap <= 1e-6


def test_an_early_stop_leaves_an_honest_interval() -> None:
    task = problem("plain", "absolute", seed=11)
    exact = found_in_ball(task, 1.0)
    for steps in (1, 2, 3, 5):
        rough = found_in_ball(task, 1.0, Limits(steps=steps))
        assert rough.lower <= exact.loss
        assert rough.loss >= exact.lower


def test_nothing_recorded_costs_nothing() -> None:
    found = best_in_ball(Rows(features=3), "logistic", 1.0)
    assert (found.loss, found.lower, len(found.witness)) == (0.0, 0.0, 3)


def test_a_loss_that_is_not_convex_is_refused() -> None:
    with pytest.raises(ValueError, match="not convex"):
        best_in_ball(Rows([[1.0]], [1.0]), "mistake", 1.0)


def test_a_radius_must_be_positive() -> None:
    with pytest.raises(ValueError, match="radius"):
        best_in_ball(Rows([[1.0]], [1.0]), "hinge", 0.0)


@pytest.mark.parametrize("scale", [1.0, 1e-40, 1e-100])
def test_the_multiplier_is_found_in_a_few_steps_at_any_scale(scale: float) -> None:
    """The product of two multipliers of 1e-199 underflows; their roots' does not."""
    rows = np.array([[1.0, 0.5, -0.2], [0.3, -1.0, 0.4], [-0.2, 0.1, 0.6]]) * scale
    curvature = Counted(0.015 * rows.T @ rows)
    w, g = np.array([0.9, -0.6, 0.4]) / scale, np.array([-0.1, 0.12, 0.05]) * scale
    found, multiplier = lowest_in_ball(curvature, w, g, norm(w), 0.1 * scale**2)
    assert multiplier > 0
    assert norm(found) == pytest.approx(norm(w))
    assert curvature.solved <= 12
