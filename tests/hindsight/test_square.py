"""The square loss: sums, all linear predictors, ridge, ball."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st

from noregret.hindsight import Answer, LeastSquares, Rows, best_in_ball, best_linear, best_ridge
from noregret.hindsight.classes.ball import lowest_in_ball, lowest_in_span
from noregret.hindsight.solvers.curvature import Factored
from noregret.hindsight.solvers.quadratic import best_in_ball as best_in_ball_of
from noregret.hindsight.solvers.quadratic import best_linear as best_linear_of
from noregret.hindsight.solvers.quadratic import best_ridge as best_ridge_of
from noregret.hindsight.solvers.tangent import over_rows
from noregret.hindsight.sums import add_outer_products
from tests.hindsight.problems import SHAPES, Floats, Problem, cp, into_ball, problem, solved
from tests.thorough import draws


def least_squares(task: Problem) -> float:
    scale = np.where(task.X.any(axis=0), np.abs(task.X).max(axis=0), 1.0)
    w = np.linalg.lstsq(task.X / scale, task.y, rcond=None)[0]
    return float(np.sum((task.X / scale @ w - task.y) ** 2))


def answers(task: Problem) -> dict[str, Answer]:
    """All ways to the best linear predictor."""
    rows = Rows(task.X, task.y)
    sums = LeastSquares().add(task.X, task.y)
    return {
        "sums": sums.best(),
        "sums and rows": sums.best(rows),
        "rows": best_linear(rows),
        "no sums": best_linear_of(over_rows(rows)),
    }


@pytest.mark.parametrize("units", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("kind", SHAPES)
def test_the_best_of_all_is_least_squares(kind: str, units: float) -> None:
    task = problem(kind, "square", seed=31)
    task = task._replace(X=task.X * units)
    expected, energy = least_squares(task), float(task.y @ task.y)
    for way, found in answers(task).items():
        assert found.loss == pytest.approx(expected, rel=1e-6, abs=1e-11 * energy), way
        assert found.lower <= expected * (1 + 1e-12) + 1e-25 * energy, way
        assert found.gap <= 1e-6 * found.loss + 1e-11 * energy, way


@pytest.mark.parametrize("kind", SHAPES)
def test_columns_that_surely_depend_leave_nothing_to_doubt(kind: str) -> None:
    task = problem(kind, "square", seed=32)
    found = best_linear(Rows(task.X, task.y))
    if kind not in ("fewer rows than features", "repeated rows"):
        assert found.comparator == "all linear predictors"
        assert math.isinf(found.reach)


def test_without_the_rows_dependent_columns_limit_the_reach() -> None:
    task = problem("duplicate columns", "square", seed=33)
    found = LeastSquares().add(task.X, task.y).best()
    assert 1e3 < found.reach < math.inf
    assert "norm at most" in found.comparator
    assert found.relative_gap <= 1e-6


def test_a_difference_that_only_huge_weights_exploit_is_not_denied() -> None:
    draw = np.random.default_rng(34)
    X = draw.normal(size=(40, 3))
    y = draw.normal(size=40)
    X[:, 2] = X[:, 1] + 2.0**-40 * y  # so that (0, −2⁴⁰, 2⁴⁰) predicts nearly without loss
    truth = Rows(X, y)
    for found in (LeastSquares().add(X, y).best(), best_linear(truth)):
        beyond = np.array([0.0, -(2.0**40), 2.0**40])
        loss = float(np.sum((X @ beyond - y) ** 2))
        assert found.lower <= loss or np.linalg.norm(beyond) > found.reach


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize(("penalty", "scale"), [(1e-6, 1.0), (1.0, 1 / 0.9), (1e6, 3.0)])
def test_ridge_is_proven_to_the_last_digits(kind: str, penalty: float, scale: float) -> None:
    task = problem(kind, "square", seed=35)
    n = task.X.shape[1]
    w = np.linalg.solve(scale * task.X.T @ task.X + penalty * np.eye(n), scale * task.X.T @ task.y)
    expected = scale * float(np.sum((task.X @ w - task.y) ** 2)) + penalty * float(w @ w)
    rows, energy = Rows(task.X, task.y), scale * float(task.y @ task.y)
    for found in (
        best_ridge(rows, penalty, scale),
        best_ridge_of(over_rows(rows), penalty, scale),
        LeastSquares().add(task.X, task.y).ridge(penalty, scale),
    ):
        assert found.loss == pytest.approx(expected, rel=1e-9, abs=1e-12 * energy)
        assert found.lower <= expected * (1 + 1e-13) + 1e-25 * energy
        assert found.gap <= 1e-9 * found.loss + 1e-12 * energy


def test_no_predictor_is_below_ridge_in_exact_arithmetic() -> None:
    draw = np.random.default_rng(36)
    task = problem("plain", "square", seed=36)
    found = best_ridge(Rows(task.X, task.y), 0.7, 1.1)
    for size in (0.0, 1e-12, 1e-8, 1e-4):
        w = found.witness + size * draw.normal(size=4)
        paid = Fraction(0.7) * sum(Fraction(v) ** 2 for v in w.tolist())
        loss = Fraction(1.1) * task.exactly(w) + paid
        assert loss >= Fraction(found.lower)
        if size == 0:
            assert loss <= Fraction(found.loss)


@pytest.mark.parametrize("kind", SHAPES)
def test_the_ball_is_that_of_an_independent_solver(kind: str) -> None:
    task = problem(kind, "square", seed=37)
    rows, energy = Rows(task.X, task.y), float(task.y @ task.y)
    sums = LeastSquares().add(task.X, task.y)
    for radius in (1e-3, 0.5, 2.0, 1e3):
        w = cp.Variable(task.X.shape[1])
        least = solved(cp.sum_squares(task.X @ w - task.y), [cp.norm(w) <= radius])
        assert w.value is not None
        point = float(np.sum((task.X @ into_ball(w.value, radius) - task.y) ** 2))
        for found in (
            best_in_ball(rows, "square", radius),
            best_in_ball_of(over_rows(rows), radius),
            sums.ball(radius),
        ):
            assert found.lower <= point + 1e-14 * energy
            assert least is None or found.loss >= least - 1e-6 * energy
            assert found.gap <= 1e-9 * found.loss + 1e-11 * energy * (1 + radius)
            assert np.linalg.norm(found.witness) <= radius * (1 + 1e-15)


@draws(200)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 8),
    rank=st.integers(0, 8),
    radius=st.floats(1e-6, 1e6),
    guess=st.sampled_from([0.0, 1e-9, 1.0, 1e9]),
    units=st.sampled_from([1e-8, 1.0, 1e8]),
)
@example(seed=0, n=2, rank=1, radius=0.5, guess=0.0, units=1.0)
@example(seed=321507, n=7, rank=1, radius=0.7958414691198864, guess=0.0, units=1.0)
@example(seed=565611, n=8, rank=6, radius=178.48795802528048, guess=1e-9, units=1e-8)
@example(seed=929847, n=8, rank=6, radius=6.420773328261029, guess=1.0, units=1e8)
@example(seed=33243, n=8, rank=7, radius=13.682107040756371, guess=1e-9, units=1e8)
def test_the_secular_equation_is_solved(
    seed: int, n: int, rank: int, radius: float, guess: float, units: float
) -> None:
    draw = np.random.default_rng(seed)
    root = units * draw.normal(size=(n, min(rank, n)))
    H, g = root @ root.T, units * draw.normal(size=n)
    w = into_ball(radius * draw.normal(size=n), radius)
    if seed % 3 == 0:  # the hard case: no pull where H has no curvature
        g = H @ draw.normal(size=n)
    for search in (lowest_in_ball, lowest_in_span):
        v, multiplier = w, guess
        for _ in range(8):
            gradient = g + H @ (v - w)
            v, multiplier = search(Factored(H), v, gradient, radius, multiplier)
        gradient = g + H @ (v - w)
        size = np.linalg.norm(g) + np.linalg.norm(H) * (np.linalg.norm(w) + np.linalg.norm(v))
        assert multiplier >= 0
        assert np.linalg.norm(v) <= radius * (1 + 1e-9)
        # At the minimum the gradient points straight inward, or is zero.
        assert gradient @ v + radius * np.linalg.norm(gradient) <= 1e-7 * radius * size


def test_sums_of_parts_are_the_sums_of_the_whole() -> None:
    draw = np.random.default_rng(38)
    X, y = draw.normal(size=(20_000, 6)) * 10.0 ** draw.integers(-4, 5, size=6), np.ones(20_000)
    whole = LeastSquares().add(X, y)
    parts = LeastSquares().add(X[:9], y[:9])
    parts.merge(LeastSquares(6).add(sp.csr_array(X[9:7000]), y[9:7000])).add(X[7000:], y[7000:])
    assert parts.rounds == whole.rounds == 20_000
    assert parts.gram == pytest.approx(whole.gram, rel=1e-12)
    assert parts.moment == pytest.approx(whole.moment, rel=1e-12)
    assert parts.energy == whole.energy
    assert parts.best().loss == pytest.approx(whole.best().loss, rel=1e-9)


@draws(20)
@given(st.integers(1, 30), st.integers(0, 30), st.floats(-8, 8), st.integers(0, 999))
def test_sums_of_pages_enclose_the_loss_in_exact_arithmetic(
    features: int, pages: int, scale: float, seed: int
) -> None:
    random = np.random.default_rng(seed)
    sums, exact = LeastSquares(), Fraction(0)
    units = 10 ** random.uniform(-abs(scale), abs(scale), features)
    w = random.standard_normal(features) / units
    for _ in range(pages):
        X = random.standard_normal((4, features)) * units
        y = X @ w + 0.01 * random.standard_normal(4)
        table, product = np.column_stack([y, X]), np.zeros((features + 1, features + 1))
        add_outer_products(table, product)
        sums.add_product(product, len(y))
        for row, outcome in zip(X.tolist(), y.tolist(), strict=True):
            score = sum(Fraction(a) * Fraction(b) for a, b in zip(row, w.tolist(), strict=True))
            exact += (score - Fraction(outcome)) ** 2
    low, high, *_ = LeastSquares(features).merge(sums).tangent(w)
    assert Fraction(low) <= exact <= Fraction(high)


def test_sums_grow_with_features_that_join_late() -> None:
    draw = np.random.default_rng(39)
    X, y = draw.normal(size=(50, 5)), draw.normal(size=50)
    X[:20, 3:] = 0.0
    late = LeastSquares().add(X[:20, :3], y[:20]).add(X[20:], y[20:])
    assert late.gram == pytest.approx(LeastSquares().add(X, y).gram, abs=1e-12)


def test_the_sums_say_when_they_have_lost_their_digits() -> None:
    draw = np.random.default_rng(40)
    X = draw.normal(size=(200, 4)) + 1e3
    y = X @ np.ones(4) + 1e-3 * draw.normal(size=200)
    rows = Rows(X, y)
    rough, sharp = LeastSquares().add(X, y).best(), best_linear(rows)
    assert rough.lower <= sharp.loss
    assert sharp.lower <= rough.loss
    assert rough.relative_gap > 0.5  # of squares of 1e10 in all, 1e-4 is left
    assert sharp.relative_gap <= 1e-6


def test_nothing_added_is_nothing_lost() -> None:
    found = LeastSquares(3).best()
    assert (found.loss, found.lower) == (0.0, 0.0)
    assert (found.witness == 0).all()


@pytest.mark.parametrize("method", ["ridge", "ball"])
def test_parameters_must_be_positive(method: str) -> None:
    with pytest.raises(ValueError, match="positive"):
        getattr(LeastSquares(1), method)(-1.0)


def test_the_answer_is_the_same_to_the_bit_each_time() -> None:
    task = problem("plain", "square", seed=41)

    def once() -> Floats:
        return best_linear(Rows(task.X, task.y)).witness

    assert (once() == once()).all()
