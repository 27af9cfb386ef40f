"""Rounding that an interval once did not count, each where it arose."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import noregret
from noregret import play
from noregret.hindsight.experts import best_convex
from noregret.hindsight.margin import largest_margin
from noregret.hindsight.perceptron import best_mistake_bound
from noregret.hindsight.portfolio import loss_of
from noregret.hindsight.proofs.answer import Answer
from noregret.hindsight.proofs.confidence import Moved
from noregret.hindsight.rows import Rows
from noregret.hindsight.rules import best_disjunction
from tests.exactness.arithmetic import SURE, table, weights_of
from tests.exactness.portfolios import pays


def test_the_best_arm_of_many_rounds_is_within_its_interval() -> None:
    X = np.full((6_000, 2), 0.1)
    best = play(noregret.make("ucb1"), X).certificate().hindsight
    missed = 6_000 * (1 - Fraction(0.1))
    assert Fraction(best.loss - best.gap) <= missed <= Fraction(best.loss)
    assert best.gap < 1e-9


@pytest.mark.parametrize("loss", ["square", "absolute", "percentage"])
def test_the_losses_of_advice_are_computed_and_so_rounded(loss: str) -> None:
    X = np.array([[0.1, 0.7], [0.3, 0.2], [0.6, 0.9]])
    y = np.array([0.35, 0.15, 0.55])
    best = play(noregret.make("hedge", loss=loss), X, y).certificate().hindsight
    off = [[abs(Fraction(x) - Fraction(now)) for x in row] for row, now in zip(X, y, strict=True)]
    if loss == "square":
        paid = [[each * each for each in row] for row in off]
    else:
        paid = [
            [each / Fraction(now) if loss == "percentage" else each for each in row]
            for row, now in zip(off, y, strict=True)
        ]
    least = min(sum(column) for column in zip(*paid, strict=True))
    assert Fraction(best.loss - best.gap) <= least <= Fraction(best.loss)


def test_one_asset_is_known_but_for_rounding() -> None:
    X = np.array([[1.1], [0.7], [1.3], [0.9]])
    stated = play(noregret.make("buy-and-hold"), X).certificate()
    exact = pays(table(X), [Fraction(1)])
    assert exact is not None
    best = stated.hindsight
    assert Fraction(best.loss - best.gap) - SURE <= exact <= Fraction(best.loss) + SURE
    assert stated.theorem is not None
    assert stated.theorem.holds


def test_log_wealth_survives_underflow_beside_a_giant() -> None:
    X, u = np.array([[3.3e-20, 1e300], [2.2e-19, 1e300]]), np.array([1.0, 0.0])
    loss, off = loss_of(lambda: [X], u)
    exact = pays(table(X), weights_of(u))
    assert exact is not None
    assert abs(Fraction(loss) - exact) <= Fraction(off) + SURE
    assert off < 1e-9


def test_a_mixture_too_good_for_a_number_does_not_pay_zero() -> None:
    answer = best_convex(Rows(np.full((3, 2), 1e-200), np.zeros(3)), "square")
    assert 0 < answer.loss < 1e-300


def test_percentages_beyond_squares_are_compared() -> None:
    X = np.array([[1e100, 2e100], [1e100, 3e100]])
    answer = best_convex(Rows(X, np.array([1e-80, 1e-80])), "percentage")
    assert answer.loss == pytest.approx(2e180)


def test_an_or_says_no_where_there_are_no_features_yet() -> None:
    rows = Rows(np.zeros((3, 0)), [-1.0, -1.0, 1.0]).add(np.array([[1.0], [0.0]]), [1.0, -1.0])
    answer = best_disjunction(rows)
    assert (answer.loss, answer.lower, answer.exact) == (1.0, 1.0, True)


def test_a_subnormal_row_is_no_row_of_zeros() -> None:
    margin = largest_margin(Rows([[5e-324], [1e-323]], [1, 1]))
    assert margin.upper >= 5e-324
    assert margin.separable is not False


def test_a_bound_on_mistakes_is_found_where_the_ball_cannot_be_searched() -> None:
    X = np.array([[1e-130, 1e140], [2e-130, -1e140], [1e-130, 3e139]])
    answer = best_mistake_bound(Rows(X, [1, -1, 1]))
    assert 0 <= answer.lower <= answer.loss <= 3


@pytest.mark.parametrize("diagonal", [True, False])
def test_sums_that_cancel_are_rounded_as_their_terms_are(diagonal: bool) -> None:
    """Of 2⁶⁰ + 1 − 2⁶⁰ nothing is left in floating-point numbers, and 1 in truth."""
    rows = Rows([[2.0**60], [1.0], [-(2.0**60)]], [1, 1, 1])
    _, steep, rest = Moved(rows, np.ones(3), 1.0, diagonal).lengths()
    moved = Moved(rows, np.ones(3), 1.0, diagonal)
    for u in (1.0, 2.0**-60):
        assert u * 1.0 <= steep * moved.size(np.array([u])) + rest * u


def test_a_margin_too_small_for_weights_is_said() -> None:
    with pytest.raises(noregret.NoRegretError, match="scale the features"):
        noregret.make("hard-margin-svm").fit([[1e-300], [-1e-300]], [1, -1])


@pytest.mark.parametrize("lower", [-1e-20, 1e-20, 0.1, 1 / 3, -7.3])
def test_loss_less_gap_is_a_lower_end_as_it_is_written(lower: float) -> None:
    for loss in (1.0, 1 / 3 + 1e-16, math.pi, 1e10):
        assert loss - Answer("any", loss, min(loss, lower), np.zeros(1)).gap <= lower


def test_what_underflows_in_a_loss_of_ones_own_counts() -> None:
    X, y = np.array([[3e-200, 1e-200]]), np.array([0.0])
    own = noregret.PythonLoss(lambda s, y: (s - y) ** 2, lambda s, y: 2 * (s - y))
    best = best_convex(Rows(X, y), own)
    assert best.loss > 0  # the square of 1e-200, though no number is that small
