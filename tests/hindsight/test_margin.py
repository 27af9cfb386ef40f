"""The largest margin, from both sides, or the proof that there is none."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

from noregret.hindsight import Limits, Rows, largest_margin, largest_margin_of_weights
from tests.hindsight.problems import Floats, cp


def labelled(
    seed: int, noise: float = 0.0, shape: tuple[int, int] = (60, 4)
) -> tuple[Floats, Floats]:
    draw = np.random.default_rng(seed)
    X = draw.normal(size=shape)
    scores = X @ draw.normal(size=shape[1])
    return X, np.where(scores + noise * draw.normal(size=shape[0]) > 0, 1.0, -1.0)


def game_value(X: Floats, y: Floats) -> float:
    rounds, n = X.shape
    played = linprog(
        np.append(np.zeros(n), -1.0),
        A_ub=np.hstack([-y[:, None] * X, np.ones((rounds, 1))]),
        b_ub=np.zeros(rounds),
        A_eq=[np.append(np.ones(n), 0.0)],
        b_eq=[1.0],
        bounds=[(0, None)] * n + [(None, None)],
    )
    return -float(played.fun)


@pytest.mark.parametrize("units", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("seed", range(8))
def test_the_margin_is_that_of_an_independent_solver(seed: int, units: float) -> None:
    X, y = labelled(seed, shape=(60, 4) if seed % 2 else (5, 9))
    w = cp.Variable(X.shape[1])
    size = cp.Problem(cp.Minimize(cp.norm(w)), [cp.multiply(y, X @ w) >= 1]).solve()
    found = largest_margin(Rows(units * X, y))
    assert found.separable
    assert found.lower == pytest.approx(units / float(size), rel=1e-5)
    assert found.gap <= 1e-6 * found.upper
    reached = float(np.min(y * (units * X @ found.witness))) / float(np.linalg.norm(found.witness))
    assert reached >= found.lower * (1 - 1e-13)


@pytest.mark.parametrize("seed", range(5))
def test_no_direction_has_a_larger_margin(seed: int) -> None:
    X, y = labelled(seed)
    found = largest_margin(Rows(X, y))
    draw = np.random.default_rng(seed)
    for size in (1e-6, 1e-3, 0.1, 1.0):
        v = found.witness + size * draw.normal(size=4)
        assert float(np.min(y * (X @ v))) / float(np.linalg.norm(v)) <= found.upper


@pytest.mark.parametrize("kind", ["plain", "duplicate", "zeros", "indicators", "sparse"])
def test_labels_that_cannot_be_separated_are_proven_so(kind: str) -> None:
    X, y = labelled(11, noise=3.0, shape=(400, 6))
    if kind == "duplicate":
        X[:, 3] = X[:, 1]
    if kind == "zeros":
        X[:, 2] = 0.0
    if kind == "indicators":
        draw = np.random.default_rng(12)
        X = np.hstack([np.eye(3)[draw.integers(0, 3, 400)], np.eye(4)[draw.integers(0, 4, 400)]])
    rows = Rows(sp.csr_array(X), y) if kind == "sparse" else Rows(X, y)
    for found in (largest_margin(rows), largest_margin_of_weights(rows, weight=2.0)):
        assert found.separable is False
        assert found.upper == 0.0


def test_a_pair_that_contradicts_itself_is_enough() -> None:
    found = largest_margin(Rows([[1.0, 2.0], [1.0, 2.0], [0.0, 1.0]], [1, -1, 1]))
    assert found.separable is False


def test_an_empty_row_can_not_be_told() -> None:
    assert largest_margin(Rows([[0.0, 0.0], [1.0, 0.0]], [1, 1])).separable is False


def test_one_row_has_its_norm_for_a_margin() -> None:
    found = largest_margin(Rows([[3.0, 4.0]], [-1]))
    assert found.lower == pytest.approx(5.0, rel=1e-6)
    assert found.lower <= 5.0 <= found.upper


def test_all_labels_equal_is_separable_if_the_rows_lie_on_one_side() -> None:
    X = np.abs(labelled(13)[0])
    assert largest_margin(Rows(X, np.ones(60))).separable


@pytest.mark.parametrize("weight", [None, 1.0, 5.0])
@pytest.mark.parametrize("seed", range(6))
def test_the_margin_of_weights_is_the_value_of_the_game(seed: int, weight: float | None) -> None:
    X, y = labelled(seed, noise=0.5 * (seed % 2), shape=(50, 5))
    whole = X if weight is None else np.hstack([weight * X, -weight * X])
    found = largest_margin_of_weights(Rows(X, y), weight=weight)
    value = game_value(whole, y)
    assert found.lower - 1e-9 <= value <= found.upper + 1e-9
    assert found.gap <= 1e-6 * max(abs(value), 1e-3)
    draw = np.random.default_rng(seed)
    for u in (*np.eye(whole.shape[1]), *draw.dirichlet(np.ones(whole.shape[1]), 50)):
        assert float(np.min(y * (whole @ u))) <= found.upper


def test_units_of_the_weights_margin_do_not_matter() -> None:
    X, y = labelled(14)
    plain = largest_margin_of_weights(Rows(X, y))
    for units in (1e-8, 1e8):
        scaled = largest_margin_of_weights(Rows(units * X, y))
        assert scaled.lower == pytest.approx(units * plain.lower, rel=1e-6)
        assert scaled.gap <= 1e-6 * abs(scaled.upper)


def test_an_early_stop_leaves_an_honest_interval() -> None:
    X, y = labelled(15)
    sure = largest_margin(Rows(X, y))
    for steps in (1, 3, 6):
        rough = largest_margin(Rows(X, y), limits=Limits(steps=steps))
        assert rough.lower <= sure.upper
        assert rough.upper >= sure.lower


def test_there_is_no_margin_of_nothing() -> None:
    with pytest.raises(ValueError, match="at least one round"):
        largest_margin(Rows(features=2))
