"""The best weighting: lower ≤ minimum ≤ loss, against an independent solver."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret.errors import NoRegretError
from noregret.hindsight import Answer, LeastSquares, Rows, best_in_simplex
from tests.hindsight.problems import (
    CONVEX,
    SHAPES,
    Floats,
    Problem,
    cp,
    expression,
    problem,
    solved,
)
from tests.thorough import draws, paired, picked


def weighted(
    task: Problem, entropy: float, weight: float | None = None, scale: float = 1.0
) -> Answer:
    return best_in_simplex(
        Rows(task.X, task.y),
        task.loss,
        entropy=entropy,
        scale=scale,
        weight=weight,
        loss_parameter=task.parameter,
    )


def doubled(task: Problem, weight: float | None) -> Problem:
    if weight is None:
        return task
    return task._replace(X=np.hstack([weight * task.X, -weight * task.X]))


def price(task: Problem, u: Floats, entropy: float, scale: float) -> float:
    used = u[u > 0]
    return scale * task.total(u) + entropy * float(used @ np.log(used * len(u)))


@pytest.mark.parametrize(("kind", "loss"), paired(SHAPES, [*CONVEX][::-1], 5))
def test_the_interval_holds_the_minimum_of_an_independent_solver(kind: str, loss: str) -> None:
    task = problem(kind, loss, seed=21)
    forms = ((None, 0.0), (None, 1.5), (2.0, 0.0))
    for weight, entropy in picked(forms, kind + loss):
        found = weighted(task, entropy, weight, scale=1.3)
        whole = doubled(task, weight)
        n = whole.X.shape[1]
        u = cp.Variable(n)
        distance = cp.sum(cp.rel_entr(u, np.full(n, 1 / n))) if entropy else 0.0
        simplex = [u >= 0, cp.sum(u) == 1]
        least = solved(1.3 * expression(whole, u) + entropy * distance, simplex)
        assert u.value is not None
        point = np.maximum(u.value, 0)
        point /= point.sum()
        scale = 1e-9 * (1 + abs(price(whole, np.full(n, 1 / n), entropy, 1.3)))
        assert found.lower <= price(whole, point, entropy, 1.3) + scale
        assert least is None or found.loss >= least - 1e-6 * abs(least) - 1e3 * scale
        assert found.gap <= 1e-6 * abs(found.loss) + scale
        assert found.loss == pytest.approx(price(whole, found.witness, entropy, 1.3), abs=scale)


@draws(40)
@given(
    seed=st.integers(0, 10_000),
    entropy=st.sampled_from([0.0, 1e-3, 1.0, 100.0]),
    weight=st.sampled_from([None, 0.1, 1.0, 50.0]),
    loss=st.sampled_from(["square", "logistic", "absolute"]),
    kind=st.sampled_from(list(SHAPES)),
)
def test_no_weighting_is_below(
    seed: int, entropy: float, weight: float | None, loss: str, kind: str
) -> None:
    task = problem(kind, loss, seed)
    found, whole = weighted(task, entropy, weight), doubled(task, weight)
    n = whole.X.shape[1]
    draw = np.random.default_rng(seed)
    near = found.witness * np.exp(1e-3 * draw.normal(size=n))
    others = (*np.eye(n), np.full(n, 1 / n), near / near.sum(), *draw.dirichlet(np.ones(n), 20))
    rounding = 1e-13 * (1 + abs(found.loss))
    assert all(price(whole, u, entropy, 1.0) >= found.lower - rounding for u in others)
    assert found.witness.min() >= 0
    assert found.witness.sum() == pytest.approx(1, rel=1e-14)


@pytest.mark.parametrize("units", [1e-8, 1e8])
def test_units_do_not_matter(units: float) -> None:
    task = problem("plain", "square", seed=23)
    plain = weighted(task, 0.0)
    scaled = weighted(task._replace(X=task.X * units, y=task.y * units), 0.0)
    assert scaled.loss == pytest.approx(plain.loss * units**2, rel=3e-6)
    assert scaled.relative_gap <= 1e-6


def test_sums_are_enough_for_the_square_loss() -> None:
    task = problem("plain", "square", seed=24)
    sums = LeastSquares().add(task.X, task.y)
    for weight, entropy in ((None, 0.0), (None, 2.0), (3.0, 0.5)):
        from_sums = sums.simplex(entropy=entropy, weight=weight)
        from_rows = weighted(task, entropy, weight)
        assert from_sums.loss == pytest.approx(from_rows.loss, rel=2e-6)
        assert from_sums.relative_gap <= 1e-6
        assert from_sums.lower <= from_rows.loss


def test_enough_entropy_makes_the_weights_equal() -> None:
    task = problem("plain", "square", seed=25)
    found = weighted(task, 1e9)
    assert found.witness == pytest.approx(np.full(4, 0.25), rel=1e-5)


def test_there_is_no_weighting_of_nothing() -> None:
    with pytest.raises(NoRegretError, match="no features"):
        best_in_simplex(Rows(), "logistic")
