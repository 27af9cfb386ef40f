"""The best in a box: lower ≤ minimum ≤ loss, against an independent solver."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import NoRegretError
from noregret.hindsight import Rows, best_in_ball, best_in_box
from tests.hindsight.problems import CONVEX, SHAPES, cp, expression, problem, solved
from tests.thorough import draws, paired, picked


@pytest.mark.parametrize(("kind", "loss"), paired(SHAPES, list(CONVEX), 5))
def test_the_interval_holds_the_minimum_of_an_independent_solver(kind: str, loss: str) -> None:
    task = problem(kind, loss, seed=1)
    rows = Rows(task.X, task.y)
    for radius in picked((0.1, 1.0, 30.0), kind + loss):
        found = best_in_box(rows, task.loss, radius, loss_parameter=task.parameter)
        w = cp.Variable(task.X.shape[1])
        least = solved(expression(task, w), [cp.norm(w, "inf") <= radius], "CLARABEL")
        point = np.zeros(task.X.shape[1]) if w.value is None else np.clip(w.value, -radius, radius)
        scale = 1e-9 * (1 + task.total(np.zeros(task.X.shape[1])))
        assert found.lower <= task.total(point) + scale
        assert least is None or found.loss >= least - 1e-6 * abs(least) - 1e3 * scale
        assert found.gap <= 1e-6 * abs(found.loss) + scale
        assert found.lower <= found.loss
        assert np.abs(found.witness).max() <= radius


@draws(30)
@given(seed=st.integers(0, 2**32 - 1), power=st.integers(-6, 6))
def test_the_box_holds_the_ball_and_is_held_by_a_larger_one(seed: int, power: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 4)) * 10.0**power
    rows, radius = Rows(X, X @ rng.normal(size=4) + rng.normal(size=30)), 0.5
    box = best_in_box(rows, "absolute", radius)
    inside, around = (best_in_ball(rows, "absolute", r) for r in (radius, 2 * radius))
    assert box.lower <= inside.loss
    assert around.lower <= box.loss
    assert box.relative_gap <= 1e-5


def test_with_one_feature_the_box_is_the_ball() -> None:
    rows = Rows([[1.0], [2.0], [-1.0]], [1.0, -1.0, 1.0])
    box, ball = (find(rows, "logistic", 0.3) for find in (best_in_box, best_in_ball))
    assert box.loss == pytest.approx(ball.loss, rel=1e-9)
    assert box.witness == pytest.approx(ball.witness, rel=1e-4)


def test_without_features_there_is_nothing_to_compare_with() -> None:
    with pytest.raises(NoRegretError, match="no features"):
        best_in_box(Rows(np.zeros((3, 0)), [1.0, 2.0, 3.0]), "square", 1.0)


@pytest.mark.parametrize("loss", ["square", "absolute", "logistic"])
def test_gradient_descent_on_the_box_has_a_sharp_certificate(loss: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    y = np.where(X @ rng.normal(size=6) > 0, 1.0, -1.0)
    learner = nr.GradientDescent(loss=loss, rate=0.1, schedule="sqrt", domain="box", radius=0.5)
    assert nr.play(learner, X, y).certificate().hindsight.gap <= 1e-3
