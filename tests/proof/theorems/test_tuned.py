"""``tuned`` gives the parameters that a theorem asks for, and refuses what makes no sense."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

import noregret as nr
from noregret.proof.theorems.tuning import takes_of
from tests.proof.theorems.cases import linear_theorems
from tests.thorough import draws

sizes = st.floats(1e-3, 1e3)
many = draws(40)


@many
@given(norm=sizes, radius=sizes, loss=st.one_of(st.just(0.0), sizes))
def test_widrow_hoff_at_its_best_rate(norm: float, radius: float, loss: float) -> None:
    """The rate minimises K/(1−η) + X²U²/η, and the bound is (√K + XU)²."""
    learner = nr.WidrowHoff.tuned(norm=norm, radius=radius, loss=loss)
    assert learner.params["norm"] == norm

    def bound(rate: float) -> float:
        return loss / (1 - rate) + (norm * radius) ** 2 / rate

    rate = learner.params["rate"]
    assert 0 < rate < 1
    if rate < 0.999:
        assert bound(rate) == pytest.approx((math.sqrt(loss) + norm * radius) ** 2, rel=1e-9)
    assert nr.WidrowHoff.tuned("online-to-batch", norm=norm, radius=radius, loss=loss).params == (
        learner.params
    )


@many
@given(
    spread=sizes,
    dimension=st.integers(2, 1000),
    loss=sizes,
    weight=st.one_of(st.none(), st.floats(0.1, 10)),
)
def test_eg_at_its_best_rate(
    spread: float, dimension: int, loss: float, weight: float | None
) -> None:
    known = {"spread": spread} if weight is None else {"peak": spread / (2 * weight)}
    learner = nr.ExponentiatedGradient.tuned(dimension=dimension, loss=loss, weight=weight, **known)
    corners = dimension if weight is None else 2 * dimension

    def bound(log_c: float) -> float:
        c = math.exp(log_c)
        return (1 + c / 2) * loss + (0.5 + 1 / c) * spread**2 * math.log(corners)

    rate = learner.params["rate"]
    c = 2 * rate * spread**2 / (2 - rate * spread**2)
    assert c == pytest.approx(spread * math.sqrt(2 * math.log(corners) / loss), rel=1e-6)
    least = minimize_scalar(bound, bounds=(-30, 30), method="bounded").fun
    assert bound(math.log(c)) == pytest.approx(least, rel=1e-6)
    assert learner.params["dimension"] == dimension
    assert learner.params["weight"] == weight


@many
@given(radius=sizes, steep=sizes, horizon=st.integers(1, 10**6))
def test_descent_by_horizon_and_at_any_time(radius: float, steep: float, horizon: int) -> None:
    known = {"radius": radius, "lipschitz": steep}
    by_horizon = nr.GradientDescent.tuned(**known, horizon=horizon).params
    assert by_horizon["rate"] / math.sqrt(horizon) == pytest.approx(
        radius / (steep * math.sqrt(horizon))
    )
    assert (by_horizon["schedule"], by_horizon["horizon"]) == ("horizon", horizon)
    anytime = nr.GradientDescent.tuned(**known).params
    assert (anytime["rate"], anytime["schedule"]) == (pytest.approx(radius / steep), "sqrt")
    ogd = nr.GradientDescent.tuned("ogd-anytime", **known).params
    assert (ogd["rate"], ogd["schedule"]) == (pytest.approx(math.sqrt(2) * radius / steep), "sqrt")
    leader = nr.Ftrl.tuned(**known, horizon=horizon).params
    assert leader["rate"] == pytest.approx(radius / steep)
    assert (leader["schedule"], leader["horizon"]) == ("horizon", horizon)
    assert {p["radius"] for p in (by_horizon, anytime, ogd, leader)} == {radius}


@many
@given(radius=sizes, norm=sizes, horizon=st.integers(1, 10**6))
def test_labels(radius: float, norm: float, horizon: int) -> None:
    hinge = nr.Hinge.tuned(radius=radius, norm=norm, horizon=horizon).params
    assert hinge == {
        "rate": pytest.approx(radius / norm), "schedule": "horizon", "horizon": horizon
    }  # fmt: skip
    logistic = nr.Logistic.tuned(radius=radius, norm=norm, horizon=horizon).params
    assert logistic["rate"] == pytest.approx(radius / norm)
    assert (logistic["schedule"], logistic["radius"]) == ("horizon", radius)
    anytime = nr.Logistic.tuned(radius=radius, norm=norm).params
    assert (anytime["rate"], anytime["schedule"]) == (pytest.approx(radius / norm), "sqrt")


@many
@given(margin=st.floats(1e-3, 0.999))
def test_winnow(margin: float) -> None:
    rate = nr.Winnow.tuned(margin=margin, form="balanced", dimension=7).params["rate"]
    assert rate == pytest.approx(0.5 * math.log((1 + margin) / (1 - margin)))


TUNED = [
    name
    for name, (theorem, kind) in nr.all_theorems().items()
    if name in linear_theorems() and theorem.tune is not None and kind is not None
]


@pytest.mark.parametrize("name", TUNED)
def test_a_tuned_learner_is_one_that_the_theorem_speaks_of(name: str) -> None:
    theorem, kind = nr.all_theorems()[name]
    assert kind is not None
    known: dict[str, Any] = {
        word.split("=")[0]: 0.5 if word == "margin" else 8 for word in takes_of(theorem).split(", ")
    }
    known.pop("spread", None)  # or else the peak
    assert theorem.covers(kind.tuned(name, **known).params)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (
            lambda: nr.WidrowHoff.tuned(radius=1.0, loss=1.0, norm=-1.0),
            "norm must be a positive number: got -1.0",
        ),
        (
            lambda: nr.WidrowHoff.tuned(radius=1.0, loss=-1.0),
            "loss must be a number, 0 or above: got -1.0",
        ),
        (
            lambda: nr.WidrowHoff.tuned(radius=1.0, loss=math.nan),
            "loss must be a number, 0 or above: got nan",
        ),
        (
            lambda: nr.WidrowHoff.tuned(radius=1.0, loss=math.inf),
            "loss must be a number, 0 or above: got inf",
        ),
        (
            lambda: nr.WidrowHoff.tuned(radius="wide", loss=1.0),
            "radius must be a positive number: got 'wide'",
        ),
        (lambda: nr.WidrowHoff.tuned(step="implicit"), "widrow-hoff cannot be tuned with step"),
        (
            lambda: nr.WidrowHoff.tuned("widrow-hoff", radius=1.0, loss=1.0, step="implicit"),
            "does not speak of WidrowHoff",
        ),
        (
            lambda: nr.WidrowHoff.tuned("perceptron"),
            "widrow-hoff is tuned by widrow-hoff or online",
        ),
        (lambda: nr.WidrowHoff.tuned(speed=1.0), "cannot be tuned with speed: widrow-hoff takes"),
        (
            lambda: nr.ExponentiatedGradient.tuned(spread=0, dimension=3, loss=1.0),
            "spread must be a positive",
        ),
        (
            lambda: nr.ExponentiatedGradient.tuned(spread=1, dimension=0, loss=1.0),
            "dimension must be a pos",
        ),
        (
            lambda: nr.ExponentiatedGradient.tuned(spread=1, dimension=3, loss=-1.0),
            "loss must be a number, 0 or above: got -1.0",
        ),
        (
            lambda: nr.ExponentiatedGradient.tuned(peak=1, dimension=3, loss=1.0, weight=-1.0),
            "weight must be a positive number",
        ),
        (
            lambda: nr.ExponentiatedGradient.tuned(spread=1, dimension=3, loss=1.0, weight=2.0),
            "give peak, the largest",
        ),
        (lambda: nr.ExponentiatedGradient.tuned(dimension=3, loss=1.0), "give peak, the largest"),
        (lambda: nr.WidrowHoff.tuned(norm=3.0), "takes radius, loss, norm=1.0"),
        (lambda: nr.GradientDescent.tuned(radius=1.0), "lipschitz"),
        (
            lambda: nr.GradientDescent.tuned(radius=1.0, lipschitz=0.0),
            "lipschitz must be a positive",
        ),
        (
            lambda: nr.GradientDescent.tuned(radius=1.0, lipschitz=1.0, horizon=2.5),
            "horizon must be a positive whole number",
        ),
        (
            lambda: nr.GradientDescent.tuned(radius=1.0, lipschitz=1.0, loss="mistake"),
            "cannot be tuned with",
        ),
        (
            lambda: nr.Hinge.tuned(radius=1.0, norm=1.0, horizon=-3),
            "horizon must be a positive whole",
        ),
        (lambda: nr.Logistic.tuned(radius=1.0, norm=0), "norm must be a positive number: got 0"),
        (lambda: nr.Winnow.tuned(margin=1.5), "margin must lie between 0 and 1: got 1.5"),
        (lambda: nr.Winnow.tuned(margin=0.5, form="winnow1"), "winnow1 takes no rate"),
        (nr.Perceptron.tuned, "no theorem of perceptron asks for a choice of parameters"),
    ],
)
def test_nonsense_is_refused(make: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        make()


def test_a_perfect_comparator_makes_the_steps_as_long_as_may_be() -> None:
    assert nr.WidrowHoff.tuned(radius=1.0, loss=0.0).params["rate"] == 0.999
    rate = nr.ExponentiatedGradient.tuned(spread=2.0, dimension=9, loss=0.0).params["rate"]
    assert rate < 0.5
    assert rate == pytest.approx(0.5, rel=1e-5)
    X = np.random.default_rng(0).uniform(-1, 1, size=(200, 9))
    learner = nr.ExponentiatedGradient.tuned(spread=2.0, dimension=9, loss=0.0)
    promise = nr.play(learner, X, X[:, 4]).certificate().theorem
    assert promise is not None
    assert promise.holds is True
    assert promise.bound is not None
    assert promise.bound <= 2 * math.log(9) * (1 + 1e-4)  # the price of the best corner
