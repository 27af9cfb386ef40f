"""Examples too small or too large for a bound are refused in words, not by a false bound."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import noregret
from noregret import (
    ExponentiatedGradient,
    FollowTheLeader,
    Ftrl,
    GradientDescent,
    Hinge,
    NoRegretError,
    PassiveAggressive,
    Perceptron,
    Winnow,
    play,
)
from noregret.linear.learner import Learner
from tests.thorough import sized

ONES = np.ones((3, 2))
RNG = np.random.default_rng(0)
DRAWN = RNG.normal(size=(50, 2))
DRAWN = DRAWN[np.abs(DRAWN @ [1, -2]) > 0.3]
LABELS = np.sign(DRAWN @ [1, -2])


@pytest.mark.parametrize("scale", [1e-160, 1e-310, *sized([], [1e-165, 1e-170, 1e-200])])
@pytest.mark.parametrize("form", [Perceptron, lambda: PassiveAggressive(form="pa")])
def test_examples_whose_squares_underflow(form: Callable[[], Learner], scale: float) -> None:
    for X, y in ((ONES, [1, 1, 1]), (ONES, [1, -1, 1]), (DRAWN, LABELS)):
        assert refused_or_kept(form(), X * scale, y)


def refused_or_kept(learner: Learner, X: object, y: object) -> bool:
    """Return whether there is no bound, in words that say what to do, or one that is not broken."""
    try:
        theorem = play(learner, X, y).certificate().theorem
    except NoRegretError as refused:
        return re.search("scale|choose", str(refused)) is not None
    return theorem is not None and theorem.holds is not False


@pytest.mark.parametrize("scale", [1e-140, 1e-100, 1e-10, 1.0, 1e10])
def test_the_size_makes_no_difference_to_the_perceptron(scale: float) -> None:
    theorem = play(Perceptron(), DRAWN * scale, LABELS).certificate().theorem
    usual = play(Perceptron(), DRAWN, LABELS).certificate().theorem
    assert theorem is not None
    assert usual is not None
    assert theorem.holds
    assert theorem.bound == pytest.approx(usual.bound, rel=1e-4)


@pytest.mark.parametrize("scale", [1e-310, 1e-165, 1e-100, 1.0])
def test_steps_of_limited_size_keep_their_promise(scale: float) -> None:
    theorem = play(PassiveAggressive(), DRAWN * scale, LABELS).certificate().theorem
    assert theorem is not None
    assert theorem.holds


@pytest.mark.parametrize(
    ("learner", "scale"),
    [
        (PassiveAggressive(), 1e100),
        (PassiveAggressive(form="pa"), 1e100),
        (PassiveAggressive(aggressiveness=1e-310), 1.0),
        (Hinge(schedule="horizon", horizon=9), 1e100),
        (Ftrl(radius=1e-200), 1.0),
    ],
)
@pytest.mark.parametrize("labels", [[1, -1, 1], [1, 1, 1]])
def test_what_overflows_is_said_in_words(learner: Learner, scale: float, labels: list[int]) -> None:
    assert refused_or_kept(learner, ONES * scale, labels)


@pytest.mark.parametrize("X", [[{}] * 3, np.zeros((3, 0))], ids=["names", "columns"])
@pytest.mark.parametrize(
    "learner",
    [
        Winnow(),
        Winnow(form="balanced"),
        ExponentiatedGradient(),
        ExponentiatedGradient(weight=2.0),
        Ftrl(regulariser="entropic"),
        FollowTheLeader(domain="box"),
        GradientDescent(domain="box", radius=1.0),
        GradientDescent(loss="absolute", domain="box", radius=1.0),
    ],
    ids=repr,
)
def test_no_features_at_all(learner: Learner, X: object) -> None:
    with pytest.raises(NoRegretError, match="no features to compare with"):
        play(noregret.make(learner.name, **learner.params), X, [1, -1, 1]).certificate()
