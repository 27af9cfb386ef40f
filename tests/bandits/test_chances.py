"""The probability of a Beta variable to be the largest, against closed forms and counting."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import betaln

from noregret.bandits.beta import chances_of_best


def beats(a: int, b: int, c: int, d: int) -> float:
    """P(Beta(c, d) > Beta(a, b)) for a whole c, as a finite sum."""
    return float(
        sum(
            math.exp(betaln(a + i, b + d) - math.log(d + i) - betaln(1 + i, d) - betaln(a, b))
            for i in range(c)
        )
    )


@pytest.mark.parametrize(
    "shapes", [(1, 1, 1, 1), (2, 5, 3, 4), (40, 60, 50, 50), (1, 1, 500, 500), (900, 100, 30, 3)]
)
def test_of_two_it_is_the_closed_form(shapes: tuple[int, int, int, int]) -> None:
    a, b, c, d = shapes
    chances = chances_of_best(np.array([a, c], dtype=float), np.array([b, d], dtype=float))
    expected = beats(a, b, c, d)
    assert chances == pytest.approx([1 - expected, expected], abs=2e-6)


def test_of_equals_it_is_shared() -> None:
    for n in (1, 3, 8):
        chances = chances_of_best(np.full(n, 12.0), np.full(n, 7.0))
        assert chances == pytest.approx(np.full(n, 1 / n), abs=1e-9)


def test_of_many_it_is_what_counting_finds() -> None:
    good, bad = np.array([3.0, 9.0, 1.0, 80.0]), np.array([2.0, 5.0, 1.0, 50.0])
    drawn = np.random.default_rng(0).beta(good, bad, size=(200_000, 4)).argmax(axis=1)
    counted = np.bincount(drawn, minlength=4) / len(drawn)
    chances = chances_of_best(good, bad)
    errors = np.sqrt(chances * (1 - chances) / len(drawn))
    assert (np.abs(chances - counted) <= 5 * errors + 1e-6).all()


@pytest.mark.parametrize("size", [1e-2, 1.0, 1e6, 1e12])
def test_extreme_shapes_leave_probabilities(size: float) -> None:
    chances = chances_of_best(np.array([size, 1.0, 2 * size]), np.array([1.0, size, size]))
    assert np.isfinite(chances).all()
    assert (chances > 0).all()
    assert chances.sum() == pytest.approx(1.0)
