"""The smallest bound of the perceptron's theorem on any data."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize

import noregret as nr
from noregret import play
from noregret.hindsight import Rows, best_mistake_bound, largest_margin
from noregret.hindsight.perceptron import Line, least_bound
from tests.hindsight.problems import Floats
from tests.hindsight.test_margin import labelled


def bound(X: Floats, y: Floats, u: Floats) -> float:
    reach = float(np.linalg.norm(u)) * float(np.linalg.norm(X, axis=1).max())
    hinge = float(np.maximum(0, 1 - y * (X @ u)).sum())
    return ((reach + math.sqrt(reach * reach + 4 * hinge)) / 2) ** 2


@pytest.mark.parametrize("noise", [0.0, 0.3, 3.0])
@pytest.mark.parametrize("seed", range(4))
def test_no_predictor_has_a_smaller_bound(seed: int, noise: float) -> None:
    X, y = labelled(seed, noise)
    found = best_mistake_bound(Rows(X, y))
    assert found.loss == pytest.approx(bound(X, y, found.witness), rel=1e-9)
    assert found.relative_gap <= 1e-6
    draw = np.random.default_rng(seed)
    for size in (0.0, 1e-6, 1e-3, 0.1, 1.0, 10.0):
        assert bound(X, y, found.witness + size * draw.normal(size=4)) >= found.lower
    options = {"maxiter": 2000, "xatol": 1e-9, "fatol": 1e-9}
    start = found.witness + 0.1
    searched = minimize(lambda u: bound(X, y, u), start, method="Nelder-Mead", options=options)
    assert searched.fun >= found.lower


@pytest.mark.parametrize("seed", range(4))
def test_it_is_not_above_the_bound_of_the_largest_margin(seed: int) -> None:
    X, y = labelled(seed)
    longest = float(np.linalg.norm(X, axis=1).max())
    margin = largest_margin(Rows(X, y))
    assert best_mistake_bound(Rows(X, y)).loss <= (longest / margin.lower) ** 2 * (1 + 1e-6)


@pytest.mark.parametrize("noise", [0.0, 0.3, 3.0])
def test_the_perceptron_keeps_it(noise: float) -> None:
    X, y = labelled(5, noise)
    learner = nr.Perceptron()
    learner.learn_many(X, y)
    assert learner.mistakes <= best_mistake_bound(Rows(X, y)).loss


def test_where_nothing_can_be_learned_it_is_the_number_of_rounds() -> None:
    found = best_mistake_bound(Rows([[1.0], [1.0]], [1, -1]))
    assert found.loss == pytest.approx(2.0)
    assert best_mistake_bound(Rows([[0.0], [0.0]], [1, 1])).loss == pytest.approx(2.0)
    assert best_mistake_bound(Rows(features=1)).loss == 0.0


def test_rows_of_all_sizes_overflow_in_no_bound() -> None:
    X = np.array([[1e70, 1e70], [-1e70, 1e70], [2e-90, -2e-90], [1e-95, 3e-96]])
    answer = best_mistake_bound(Rows(X, np.array([1.0, -1.0, 1.0, 1.0])))
    assert 0 <= answer.lower <= answer.loss
    assert least_bound(Line(1e70, 1e-100), Line(1e70, 1e-100), 1.0) > 0


@pytest.mark.parametrize("scale", [1e45, 1e60, 1e70])
def test_the_fewest_mistakes_are_looked_for_at_any_scale(scale: float) -> None:
    X = scale * np.array([[1.0, 2.0], [2.0, -1.0], [1.0, -3.0], [-1.0, -1.0]])
    best = play(nr.Perceptron(), X, np.array([1.0, -1.0, 1.0, -1.0])).certificate().hindsight
    assert best.loss == 2
