"""Every loss: its value, its slope, its implicit step, and losses written in Python."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

import noregret as nr
from tests.reference import LABELLED, PARAMETERS, SLOPES, VALUES
from tests.thorough import draws

PARAMETRISED: list[tuple[str, float | None]] = [(name, None) for name in VALUES]
PARAMETRISED += [("quantile", 0.05), ("quantile", 0.9), ("huber", 0.1), ("huber", 7.0)]
PARAMETRISED += [("epsilon-insensitive", 0.0), ("epsilon-insensitive", 1.5)]
PARAMETRISED += [("squared-epsilon-insensitive", 0.0), ("squared-epsilon-insensitive", 1.5)]
CONVEX = [(name, parameter) for name, parameter in PARAMETRISED if name != "mistake"]
every_loss = pytest.mark.parametrize(("name", "parameter"), PARAMETRISED)
every_convex_loss = pytest.mark.parametrize(("name", "parameter"), CONVEX)

scores = st.floats(-100, 100)
steady = draws(80)


def own_parameter(name: str, parameter: float | None) -> float:
    return PARAMETERS.get(name, 0.0) if parameter is None else parameter


def kinks(name: str, y: float, parameter: float) -> list[float]:
    """Return the scores at which the slope jumps or bends."""
    if name in ("hinge", "squared-hinge"):
        return [y]
    if name == "mistake":
        return [0.0]
    if name == "logistic":
        return []
    return [y - parameter, y, y + parameter]


def as_outcome(name: str, y: float) -> float:
    return math.copysign(1.0, y) if name in LABELLED else y


def test_there_is_a_formula_for_every_loss() -> None:
    assert set(nr.LOSSES) == set(VALUES)


@every_loss
@steady
@given(s=scores, y=scores)
def test_value_and_slope_are_those_of_the_formula(
    name: str, parameter: float | None, s: float, y: float
) -> None:
    loss, own, y = (
        nr.make_loss(name, parameter),
        own_parameter(name, parameter),
        as_outcome(name, y),
    )
    assert loss.value(s, y) == pytest.approx(VALUES[name](s, y, own), rel=1e-14, abs=1e-300)
    assert loss.slope(s, y) == pytest.approx(SLOPES[name](s, y, own), rel=1e-14, abs=1e-300)
    assert loss.labels == (name in LABELLED)


@every_loss
@steady
@given(s=scores, y=scores)
def test_slope_is_the_derivative_of_the_value(
    name: str, parameter: float | None, s: float, y: float
) -> None:
    loss, own, y = (
        nr.make_loss(name, parameter),
        own_parameter(name, parameter),
        as_outcome(name, y),
    )
    h = 1e-4
    if name == "mistake":
        pytest.skip("its slope is that of the perceptron, not its derivative")
    assume(all(abs(s - kink) > h for kink in kinks(name, y, own)))
    difference = (loss.value(s + h, y) - loss.value(s - h, y)) / (2 * h)
    assert loss.slope(s, y) == pytest.approx(difference, rel=1e-6, abs=1e-6)


@every_loss
@steady
@given(low=scores, rise=st.floats(0, 100), y=scores)
def test_slope_never_falls(
    name: str, parameter: float | None, low: float, rise: float, y: float
) -> None:
    """So say the convex losses, and the mistakes, whose slope is the perceptron's."""
    loss, y = nr.make_loss(name, parameter), as_outcome(name, y)
    assert loss.slope(low, y) <= loss.slope(low + rise, y)


@every_convex_loss
@steady
@given(a=scores, b=scores, y=scores, share=st.floats(0, 1))
def test_value_lies_below_its_chords(
    name: str, parameter: float | None, a: float, b: float, y: float, share: float
) -> None:
    loss, y = nr.make_loss(name, parameter), as_outcome(name, y)
    chord = share * loss.value(a, y) + (1 - share) * loss.value(b, y)
    assert loss.value(share * a + (1 - share) * b, y) <= chord + 1e-9 * (1 + abs(chord))


@every_loss
def test_slope_at_a_kink_is_that_of_the_theory(name: str, parameter: float | None) -> None:
    """A zero score is a mistake; a margin of just 1 costs nothing; no error has no slope."""
    loss = nr.make_loss(name, parameter)
    if name == "mistake":
        assert (loss.value(0.0, 1.0), loss.slope(0.0, 1.0), loss.slope(0.0, -1.0)) == (1, -1, 1)
    elif name in ("hinge", "squared-hinge"):
        assert (loss.slope(1.0, 1.0), loss.slope(-1.0, -1.0)) == (0, 0)
    elif name not in ("logistic", "linear"):
        assert (loss.value(2.0, 2.0), loss.slope(2.0, 2.0)) == (0, 0)


# Numbers at the ends of the range.

EXTREMES = [1e300, -1e300, 1e-300, -1e-300, 1e16, -1e16, 745.2, -745.2, 36.8, -36.8, 0.0]
QUADRATIC = ("square", "squared-hinge", "squared-epsilon-insensitive")


@every_loss
def test_no_score_is_too_large(name: str, parameter: float | None) -> None:
    loss = nr.make_loss(name, parameter)
    for s, outcome in product(EXTREMES, (1.0, -1.0, 0.5)):
        y = as_outcome(name, outcome)
        value, slope = loss.value(s, y), loss.slope(s, y)
        assert not math.isnan(value)
        assert math.isfinite(slope)
        if name not in QUADRATIC or abs(s) < 1e100:
            assert math.isfinite(value)
        if name not in ("linear", "square") and name not in QUADRATIC:
            assert abs(slope) <= max(1.0, own_parameter(name, parameter))


def test_logistic_keeps_its_digits_in_both_tails() -> None:
    loss = nr.make_loss("logistic")
    assert loss.value(1e300, -1.0) == 1e300
    assert loss.value(-1e300, 1.0) == 1e300
    assert loss.value(1e300, 1.0) == 0.0
    assert (loss.slope(1e300, -1.0), loss.slope(-1e300, 1.0)) == (1.0, -1.0)
    assert loss.value(1e-300, 1.0) == pytest.approx(math.log(2), rel=1e-15)
    # ln(1 + e^−40) is e^−40 to the last digit, and so is the slope.
    assert loss.value(40.0, 1.0) == pytest.approx(math.exp(-40), rel=1e-15)
    assert loss.slope(40.0, 1.0) == pytest.approx(-math.exp(-40), rel=1e-15)
    assert loss.slope(-40.0, -1.0) == pytest.approx(math.exp(-40), rel=1e-15)


# The implicit step: t of w − t x, which moves the score by −t |x|².


@every_convex_loss
@steady
@given(
    s=st.floats(-20, 20), y=st.floats(-20, 20), rate=st.floats(0.01, 20), norm2=st.floats(0.01, 20)
)
def test_implicit_step_minimises_loss_and_distance(
    name: str, parameter: float | None, s: float, y: float, rate: float, norm2: float
) -> None:
    """|w − t x − w|²/2 is t²|x|²/2, so t minimises rate · loss(s − t|x|²) + t²|x|²/2."""
    loss, y = nr.make_loss(name, parameter), as_outcome(name, y)

    def cost(t: float) -> float:
        return rate * loss.value(s - t * norm2, y) + 0.5 * t * t * norm2

    found = loss.implicit_step(s, y, rate, norm2)
    reach = 1.1 * rate * abs(loss.slope(s, y)) + 1e-6
    best = minimize_scalar(cost, bounds=(-reach, reach), method="bounded", options={"xatol": 1e-12})
    assert cost(found) <= best.fun + 1e-10 * (1 + abs(best.fun))


@every_convex_loss
def test_implicit_step_is_rate_times_a_slope_between_both_ends(
    name: str, parameter: float | None
) -> None:
    """The condition of the minimum, which is also why the step cannot overshoot."""
    loss, sizes = nr.make_loss(name, parameter), (1e-12, 1.0, 1e12)
    scores = (1e100, -1e100, 1e8, -1e8, 1e-8, 0.0)
    for s, rate, norm2, y in product(scores, sizes, sizes, (1.0, -1.0)):
        t = loss.implicit_step(s, y, rate, norm2)
        before = loss.slope(s, y)
        assert min(0.0, rate * before) * (1 + 1e-12) <= t <= max(0.0, rate * before) * (1 + 1e-12)
        slack = 1e-9 * (abs(s) + abs(t * norm2) + 1)
        low, high = (loss.slope(s - t * norm2 + d, y) for d in (-slack, slack))
        assert rate * low - 1e-9 * abs(t) <= t <= rate * high + 1e-9 * abs(t)


@pytest.mark.parametrize(("name", "parameter"), [("hinge", None), ("epsilon-insensitive", 0.1)])
def test_an_infinite_rate_goes_all_the_way(name: str, parameter: float | None) -> None:
    loss = nr.make_loss(name, parameter)
    t = loss.implicit_step(-2.0, 1.0, math.inf, 4.0)
    assert loss.value(-2.0 - 4.0 * t, 1.0) == pytest.approx(0.0, abs=1e-12)
    assert loss.implicit_step(1.0, 1.0, math.inf, 4.0) == 0.0


def test_mistakes_have_no_implicit_step() -> None:
    with pytest.raises(ValueError, match="no implicit step"):
        nr.make_loss("mistake").implicit_step(0.0, 1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="explicit"):
        nr.make("gradient-descent", loss="mistake", step="implicit")


# Parameters.


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        ("quantile", 0.0),
        ("quantile", 1.0),
        ("quantile", -0.1),
        ("quantile", math.nan),
        ("epsilon-insensitive", -0.1),
        ("squared-epsilon-insensitive", math.inf),
        ("huber", 0.0),
        ("huber", math.nan),
        ("square", 1.0),
        ("logistic", 0.5),
        ("no-such-loss", None),
    ],
)
def test_a_parameter_out_of_range_is_refused(name: str, parameter: float | None) -> None:
    with pytest.raises(ValueError, match=name.split("-", maxsplit=1)[0]):
        nr.make_loss(name, parameter)


def test_best_constant_score_is_the_quantile() -> None:
    rng = np.random.default_rng(0)
    outcomes = rng.normal(size=1001)
    for q in (0.1, 0.5, 0.9):
        loss = nr.make_loss("quantile", q)
        costs = [sum(loss.value(s, y) for y in outcomes) for s in outcomes]
        best = outcomes[int(np.argmin(costs))]
        assert best == pytest.approx(np.quantile(outcomes, q), abs=0.02)
