"""Scaling identities: how learners answer to other units.

With a power of two the arithmetic itself scales, so the identities hold to the bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import noregret as nr
from tests.thorough import few
from tests.variants import Floats, Shape, Variant, examples, has_mean, shapes

Params = dict[str, Any]
Rescale = Callable[[Params, float], Params]


def times(**powers: float) -> Rescale:
    """Multiply parameters by a power of c each, where they are given."""

    def rescale(params: Params, c: float) -> Params:
        return {k: v * c ** powers[k] if k in powers else v for k, v in params.items()}

    return rescale


same = times()


class Identity:
    """With x·c^x, y·c^y and these parameters, the scores are those before, times c^score."""

    def __init__(
        self,
        name: str,
        params: Params,
        rescale: Rescale,
        x: float = 1,
        y: float = 0,
        score: float = 0,
        exact: bool = True,
    ) -> None:
        self.name, self.params, self.rescale = name, params, rescale
        self.x, self.y, self.score, self.exact = x, y, score, exact

    def __str__(self) -> str:
        shown = " ".join(f"{k}={v}" for k, v in self.params.items())
        return f"{self.name} {shown} x*c^{self.x} y*c^{self.y}"


SHRINK = times(rate=-2, radius=-1)  # of a gradient method, when x grows
UNITS_OF_Y = times(rate=1, radius=1, loss_parameter=1)
ON_BALL: list[Params] = [{}, {"radius": 0.3}, {"schedule": "sqrt", "radius": 0.5}]
BOUNDED = ("absolute", "quantile", "epsilon-insensitive")
SMOOTH = ("square", "squared-epsilon-insensitive", "huber")

IDENTITIES = [
    Identity("widrow-hoff", {"rate": 0.3, "norm": 1.0}, times(norm=1)),
    Identity("widrow-hoff", {"rate": 3.0, "norm": 1.0, "step": "implicit"}, times(norm=1)),
    Identity("widrow-hoff", {"rate": 2.0, "step": "implicit"}, times(rate=-2)),
    Identity("widrow-hoff", {"rate": 0.3}, same, x=0, y=1, score=1),
    Identity("widrow-hoff", {"rate": 3.0, "step": "implicit"}, same, x=0, y=1, score=1),
    *(
        Identity(name, {"penalty": 0.5, **more}, times(penalty=2, radius=-1))
        for name, more in (
            ("vaw", {}),
            ("vaw", {"forgetting": 0.9}),
            ("online-newton", {}),
            ("online-newton", {"form": "diagonal"}),
            ("online-newton", {"loss": "logistic", "radius": 0.5}),
            ("online-newton", {"loss": "squared-hinge", "radius": 0.5, "form": "diagonal"}),
            ("arow", {}),
            ("arow", {"form": "diagonal"}),
        )
    ),
    Identity("vaw", {}, same, x=0, y=1, score=1),
    Identity("online-newton", {"radius": 0.5}, times(radius=1), x=0, y=1, score=1),
    Identity("nlms", {"rate": 0.5, "epsilon": 1e-3}, times(epsilon=2)),
    Identity("nlms", {"rate": 0.5, "epsilon": 1e-3}, same, x=0, y=1, score=1),
    Identity("perceptron", {}, same, score=2),
    Identity("perceptron", {"averaged": True}, same, score=2),
    *(
        Identity("passive-aggressive", {"form": form, "aggressiveness": 0.5}, fits)
        for form, fits in (("pa", same), ("pa-i", times(aggressiveness=-2)))
    ),
    Identity(
        "passive-aggressive", {"form": "pa-ii", "aggressiveness": 0.5}, times(aggressiveness=-2)
    ),
    *(
        Identity(
            "passive-aggressive",
            {"form": form, "aggressiveness": 0.5, "loss": "epsilon-insensitive", "epsilon": 0.1},
            fits,
            x=0,
            y=1,
            score=1,
        )
        for form, fits in (
            ("pa", times(epsilon=1)),
            ("pa-i", times(epsilon=1, aggressiveness=1)),
            ("pa-ii", times(epsilon=1)),
        )
    ),
    *(
        Identity(name, {"rate": 0.2, **more}, SHRINK)
        for name in ("gradient-descent", "ftrl")
        for more in ON_BALL
    ),
    *(
        Identity("gradient-descent", {"rate": 0.2, "loss": loss, "step": step}, SHRINK)
        for loss in nr.LOSSES
        for step in ("explicit", "implicit")
        if (loss, step) != ("mistake", "implicit")
    ),
    *(
        Identity("gradient-descent", {"rate": 0.2, "loss": loss}, times(rate=1), 0, 1, 1)
        for loss in ("absolute", "quantile")
    ),
    Identity(
        "gradient-descent",
        {"rate": 0.2, "loss": "epsilon-insensitive", "loss_parameter": 0.1, "radius": 0.5},
        UNITS_OF_Y,
        x=0,
        y=1,
        score=1,
    ),
    *(
        Identity(
            "gradient-descent",
            {"rate": 0.1, "loss": loss, "loss_parameter": 0.4, "step": step},
            times(loss_parameter=1),
            x=0,
            y=1,
            score=1,
        )
        for loss in ("squared-epsilon-insensitive", "huber")
        for step in ("explicit", "implicit")
    ),
    Identity("hinge", {"rate": 0.7}, times(rate=-2)),
    Identity("logistic", {"rate": 0.7, "radius": 0.8}, SHRINK),
    Identity("logistic", {"rate": 0.7, "step": "implicit"}, SHRINK),
    Identity("follow-the-leader", {"radius": 0.7}, same, score=1),
    Identity("follow-the-leader", {"radius": 0.7}, same, x=0, y=1),
    Identity("follow-the-leader", {"radius": 0.7, "domain": "box"}, same, score=1),
    Identity("follow-the-leader", {"radius": 0.7}, times(radius=1), x=0, score=1),
    Identity("exponentiated-gradient", {"rate": 0.3}, times(rate=-2), x=1, y=1, score=1),
    Identity("exponentiated-gradient", {"rate": 0.3, "weight": 2.0}, times(weight=-1)),
    Identity(
        "exponentiated-gradient",
        {"rate": 0.3, "weight": 2.0},
        times(weight=1, rate=-2),
        x=0,
        y=1,
        score=1,
    ),
    Identity("ftrl", {"rate": 0.3, "regulariser": "entropic"}, times(rate=-2), x=1, y=1, score=1),
    Identity("ftrl", {"rate": 0.3, "regulariser": "entropic", "weight": 2.0}, times(weight=-1)),
    Identity("winnow", {"rate": 0.4}, times(rate=-1), score=1),
    Identity("winnow", {"rate": 0.4, "form": "balanced"}, times(rate=-1), score=1),
]


def scores(learner: nr.Learner, X: Floats, y: Floats) -> Floats:
    """Return the score of each round, before its outcome was known."""
    found = []
    for x, outcome in zip(X, y, strict=True):
        found.append(learner.decision_one(x))
        learner.learn_one(x, outcome)
    return np.array(found)


@pytest.mark.parametrize("averaged", [False, True], ids=["plain", "averaged"])
@pytest.mark.parametrize("identity", IDENTITIES, ids=str)
@few(shape=shapes(), c=st.sampled_from([2.0, 0.25, 1024.0, 3.0, 0.7]))
def test_scaling_identity(identity: Identity, averaged: bool, shape: Shape, c: float) -> None:
    averaged = averaged and has_mean(identity.name, identity.params)
    X, y = examples(Variant(identity.name, identity.params, averaged), shape)
    learner = Variant(identity.name, identity.params, averaged).make()
    other = Variant(identity.name, identity.rescale(identity.params, c), averaged).make()
    expected = scores(learner, X, y) * c**identity.score
    found = scores(other, X * c**identity.x, y * c**identity.y)
    if np.log2(c).is_integer():
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12 * c**identity.score)
    assert other.mistakes == learner.mistakes


SYMMETRIC = [
    ("vaw", {}),
    ("online-newton", {}),
    ("online-newton", {"form": "diagonal", "radius": 0.5}),
    ("online-newton", {"loss": "logistic", "radius": 0.5}),
    ("arow", {}),
    ("arow", {"form": "diagonal"}),
    ("widrow-hoff", {}),
    ("nlms", {}),
    ("perceptron", {}),
    ("hinge", {}),
    ("logistic", {}),
    ("passive-aggressive", {}),
    ("passive-aggressive", {"loss": "epsilon-insensitive"}),
    ("gradient-descent", {"radius": 0.3}),
    ("gradient-descent", {"loss": "absolute", "domain": "box", "radius": 0.2}),
    ("ftrl", {"radius": 0.4}),
    ("follow-the-leader", {}),
    ("follow-the-leader", {"domain": "box"}),
    ("exponentiated-gradient", {"weight": 2.0}),
    ("winnow", {"form": "balanced"}),
    ("ftrl", {"regulariser": "entropic", "weight": 2.0}),
]


@pytest.mark.parametrize(("name", "params"), SYMMETRIC)
@few(shape=shapes(), seed=st.integers(0, 1000))
def test_turning_features_around_turns_their_weights_around(
    name: str, params: Params, shape: Shape, seed: int
) -> None:
    """w·x is the same where some coordinates of both change sign, so nothing else may change."""
    X, y = examples(Variant(name, params, False), shape)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=X.shape[1])
    learner, other = nr.make(name, **params), nr.make(name, **params)
    np.testing.assert_array_equal(scores(other, X * signs, y), scores(learner, X, y))
    np.testing.assert_array_equal(other.weights, learner.weights * signs)


@pytest.mark.parametrize(("name", "params"), SYMMETRIC)
@few(shape=shapes())
def test_turning_outcomes_around_turns_scores_around(
    name: str, params: Params, shape: Shape
) -> None:
    X, y = examples(Variant(name, params, False), shape)
    learner, other = nr.make(name, **params), nr.make(name, **params)
    np.testing.assert_array_equal(scores(other, X, -y), -scores(learner, X, y))
    assert other.mistakes == learner.mistakes


@few(shape=shapes(), shift=st.floats(-5, 5))
def test_on_the_simplex_shifting_everything_shifts_the_predictions(
    shape: Shape, shift: float
) -> None:
    """Weights that add up to 1 see x + a as w·x + a, and a common factor cancels."""
    X, y = examples(Variant("exponentiated-gradient", {}, False), shape)
    learner, other = nr.make("exponentiated-gradient"), nr.make("exponentiated-gradient")
    found, expected = scores(other, X + shift, y + shift), scores(learner, X, y) + shift
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@few(shape=shapes(columns=6))
def test_the_signed_form_is_the_simplex_on_the_doubled_example(shape: Shape) -> None:
    X, y = examples(Variant("exponentiated-gradient", {}, False), shape)
    U = 2.5
    signed = nr.make("exponentiated-gradient", rate=0.3, weight=U)
    doubled = nr.make("exponentiated-gradient", rate=0.3)
    np.testing.assert_allclose(
        scores(signed, X, y), scores(doubled, np.hstack([U * X, -U * X]), y), rtol=1e-9, atol=1e-12
    )
    n = X.shape[1]
    np.testing.assert_allclose(
        signed.weights, U * (doubled.weights[:n] - doubled.weights[n:]), rtol=1e-9, atol=1e-12
    )
