"""The losses of hindsight: those of the core, and the lines below them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.hindsight.losses import losses_of
from tests.hindsight.problems import CONVEX, LABELLED
from tests.thorough import draws

every_loss = pytest.mark.parametrize("loss", CONVEX)
scores = st.floats(-100, 100)
some = draws(60)


def outcome(loss: str, y: float) -> float:
    return math.copysign(1.0, y) if loss in LABELLED else y


def test_every_convex_loss_of_the_core_is_here() -> None:
    assert set(CONVEX) == set(nr.LOSSES) - {"mistake"}


@every_loss
@some
@given(s=scores, y=scores)
def test_value_and_slope_are_those_of_the_core(loss: str, s: float, y: float) -> None:
    parameter = CONVEX[loss] or None
    known, y = nr.make_loss(loss, parameter), outcome(loss, y)
    here = losses_of(loss, np.array([y]), parameter)
    at = np.array([s])
    assert here.value(at)[0] == pytest.approx(known.value(s, y), rel=1e-13, abs=1e-13)
    assert here.slope(at)[0] == pytest.approx(known.slope(s, y), rel=1e-13, abs=1e-300)


@every_loss
@some
@given(s=scores, y=scores, elsewhere=scores)
def test_the_lines_touch_the_loss_and_lie_below_it(
    loss: str, s: float, y: float, elsewhere: float
) -> None:
    parameter = CONVEX[loss] or None
    here = losses_of(loss, np.array([outcome(loss, y)]), parameter)
    slopes, constants = here.lines(np.array([s]))
    value = here.value(np.array([s]))[0]
    assert slopes[0] * s - constants[0] == pytest.approx(value, rel=1e-12, abs=1e-11)
    other = here.value(np.array([elsewhere]))[0]
    size = abs(slopes[0] * elsewhere) + abs(constants[0])
    assert slopes[0] * elsewhere - constants[0] <= other + 1e-15 * size


@every_loss
@some
@given(s=scores, y=scores, elsewhere=scores, width=st.floats(1e-3, 10), part=st.floats(0, 1))
def test_the_lines_of_a_stand_in_lie_below_the_loss_itself(
    loss: str, s: float, y: float, elsewhere: float, width: float, part: float
) -> None:
    parameter = CONVEX[loss] or None
    here = losses_of(loss, np.array([outcome(loss, y)]), parameter)
    ends = here.slope(np.array([-200.0])), here.slope(np.array([200.0]))
    anchor = (1 - part) * ends[0] + part * ends[1]
    slopes, constants = here.smoothed(width, anchor).lines(np.array([s]))
    other = here.value(np.array([elsewhere]))[0]
    size = abs(slopes[0] * elsewhere) + abs(constants[0])
    assert slopes[0] * elsewhere - constants[0] <= other + 1e-15 * size


@every_loss
def test_a_smoothed_slope_is_continuous_and_its_curvature_the_derivative(loss: str) -> None:
    parameter = CONVEX[loss] or None
    at = np.linspace(-5, 5, 2001)
    y = np.ones_like(at)
    here = losses_of(loss, y, parameter).smoothed(0.5, np.zeros_like(at))
    slope, step = here.slope(at), 1e-7
    assert np.abs(np.diff(slope)).max() <= (at[1] - at[0]) * (1 / 0.5 + 2) + 1e-12
    between = (here.slope(at + step) - here.slope(at - step)) / (2 * step)
    differs = np.abs(between - here.curvature(at)) > 1e-5
    assert np.count_nonzero(differs) <= 4  # at the bends


@some
@given(
    s=scores,
    y=scores,
    elsewhere=scores,
    width=st.floats(1e-3, 10),
    loss=st.sampled_from(["absolute", "hinge", "quantile", "logistic", "square", "huber"]),
)
def test_a_loss_of_ones_own_has_lines_below_it_too(
    loss: str, s: float, y: float, elsewhere: float, width: float
) -> None:
    known, y = nr.make_loss(loss), outcome(loss, y)
    own = nr.PythonLoss(known.value, known.slope)
    here = losses_of(own, np.array([y]))
    smoothed = here.smoothed(width, np.zeros(1))
    for lines in (here.lines(np.array([s])), smoothed.lines(np.array([s]))):
        slope, constant = lines[0][0], lines[1][0]
        size = abs(slope * elsewhere) + abs(constant)
        assert slope * elsewhere - constant <= known.value(elsewhere, y) + 4e-15 * size


def test_labels_other_than_two_are_refused() -> None:
    with pytest.raises(nr.BadExample, match="labels"):
        losses_of("hinge", np.array([1.0, 2.0]))
