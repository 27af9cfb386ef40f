"""A loss written in Python does what a built-in one does, and fails loudly."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.reference import LABELLED, PARAMETERS, SLOPES, VALUES

LEARNERS: list[tuple[str, dict[str, Any]]] = [
    ("gradient-descent", {"rate": 0.3, "step": "explicit"}),
    ("gradient-descent", {"rate": 0.3, "step": "explicit", "radius": 0.5}),
    ("gradient-descent", {"rate": 0.3, "step": "implicit"}),
    ("gradient-descent", {"rate": 30.0, "step": "implicit"}),
    ("exponentiated-gradient", {"rate": 0.3, "step": "explicit"}),
    ("exponentiated-gradient", {"rate": 0.3, "step": "implicit"}),
    ("exponentiated-gradient", {"rate": 0.3, "step": "implicit", "weight": 2.0}),
    ("ftrl", {"rate": 0.3}),
    ("follow-the-leader", {}),
]
STEPS = [
    (name, params | {"step": step})
    for name, params in LEARNERS[:1] + LEARNERS[4:5]
    for step in ("explicit", "implicit")
]


def twin(name: str) -> nr.PythonLoss:
    """Return the same loss, written in Python."""
    own = PARAMETERS.get(name, 0.0)
    return nr.PythonLoss(
        lambda s, y: VALUES[name](s, y, own),
        lambda s, y: SLOPES[name](s, y, own),
        name=f"my-{name}",
        labels=name in LABELLED,
    )


def no_loss(s: float, y: float) -> float:
    return 0.0


def no_slope(s: float, y: float) -> float:
    return 0.0


@pytest.mark.parametrize("loss", [name for name in VALUES if name != "mistake"])
@pytest.mark.parametrize(("name", "params"), LEARNERS, ids=str)
def test_a_loss_in_python_equals_the_built_in_one(
    name: str, params: dict[str, Any], loss: str
) -> None:
    rng = np.random.default_rng(0)
    built_in, own = nr.make(name, loss=loss, **params), nr.make(name, loss=twin(loss), **params)
    for _ in range(25):
        x = rng.normal(size=4)
        y = float(rng.choice([-1.0, 1.0])) if loss in LABELLED else float(rng.normal())
        built_in.learn_one(x, y)
        own.learn_one(x, y)
        np.testing.assert_allclose(own.weights, built_in.weights, rtol=1e-9, atol=1e-10)
    assert own.total_loss == pytest.approx(built_in.total_loss, rel=1e-9)
    assert own.mistakes == built_in.mistakes


def test_a_loss_in_python_can_be_called_by_itself() -> None:
    own = twin("logistic")
    assert own.value(0.5, 1.0) == pytest.approx(nr.make_loss("logistic").value(0.5, 1.0), rel=1e-14)
    assert own.slope(0.5, 1.0) == pytest.approx(nr.make_loss("logistic").slope(0.5, 1.0), rel=1e-14)
    assert own.implicit_step(0.5, 1.0, 2.0, 3.0) == pytest.approx(
        nr.make_loss("logistic").implicit_step(0.5, 1.0, 2.0, 3.0), rel=1e-12
    )
    assert (own.name, own.labels) == ("my-logistic", True)


def test_a_loss_in_python_travels_with_its_learner() -> None:
    learner = nr.make("gradient-descent", loss=nr.PythonLoss(no_loss, no_slope))
    learner.learn_one([1.0], 1.0)
    assert pickle.loads(pickle.dumps(learner)).rounds == 1
    assert learner.copy().rounds == 1


class OutOfPatienceError(Exception):
    """Raised by a loss below."""


def raises(s: float, y: float) -> float:
    raise OutOfPatienceError(f"at {y}")


def interrupts(s: float, y: float) -> float:
    raise KeyboardInterrupt("now")


def taught(name: str, params: dict[str, Any], loss: nr.PythonLoss) -> tuple[nr.Learner, Any]:
    """Return a learner that has taken a few good rounds with this loss, and its state."""
    learner = nr.make(name, loss=loss, **params)
    for x in ([0.5, -0.25], [1.0, 0.5]):
        learner.learn_one(x, 1.0)
    return learner, state(learner)


def state(learner: nr.Learner) -> Any:
    return (
        learner.weights.tobytes(),
        learner.features,
        learner.rounds,
        learner.total_loss,
        learner.measured,
        learner.decision_one([0.3, 0.7]),
    )


def turning_bad(bad: Any, after: float) -> Any:
    """Return a slope that is fine until the outcome is ``after``."""

    def slope(s: float, y: float) -> Any:
        if y == after:
            return bad(s, y) if callable(bad) else bad
        return 2 * (s - y)

    return slope


def square(s: float, y: float) -> float:
    return (s - y) ** 2


@pytest.mark.parametrize("which", ["value", "slope"])
@pytest.mark.parametrize(("name", "params"), STEPS, ids=str)
@pytest.mark.parametrize(
    ("bad", "error", "says"),
    [
        (raises, OutOfPatienceError, "at 13"),
        (interrupts, KeyboardInterrupt, "now"),
        (math.nan, nr.BadExample, "NaN"),
        ("high", (TypeError, ValueError), "high"),
        ("1.5", (TypeError, ValueError), "1.5"),
        (None, (TypeError, ValueError), "None"),
    ],
    ids=["raises", "interrupts", "nan", "text", "digits", "none"],
)
def test_a_loss_that_fails_says_so_and_nothing_is_learned(
    name: str, params: dict[str, Any], bad: Any, error: Any, says: str, which: str
) -> None:
    faulty = turning_bad(bad, after=13.0)
    loss = nr.PythonLoss(faulty, turning_bad(None, after=math.inf))
    if which == "slope":
        loss = nr.PythonLoss(square, faulty)
    learner, before = taught(name, params, loss)
    with pytest.raises(error, match=says):
        learner.learn_one([1.0, 2.0], 13.0)
    assert state(learner) == before
    with pytest.raises(error, match=says):
        learner.learn_many(np.array([[1.0, 2.0]]), [13.0])
    assert state(learner) == before
    learner.learn_one([1.0, 2.0], 0.5)
    assert learner.rounds == 3


@pytest.mark.parametrize("name", ["gradient-descent", "exponentiated-gradient"])
def test_a_slope_that_fails_inside_the_implicit_solve_says_so(name: str) -> None:
    """It fails only away from where the step starts."""

    def slope(s: float, y: float) -> float:
        if y == 13.0 and abs(s - start) > 1e-9:
            raise OutOfPatienceError("half way")
        return 2 * (s - y)

    learner, before = taught(name, {"step": "implicit"}, nr.PythonLoss(square, slope))
    start = learner.decision_one([1.0, 2.0])
    with pytest.raises(OutOfPatienceError, match="half way"):
        learner.learn_one([1.0, 2.0], 13.0)
    assert state(learner) == before


def test_rows_before_the_one_that_fails_are_learned() -> None:
    loss = nr.PythonLoss(square, turning_bad(raises, after=13.0))
    learner = nr.make("gradient-descent", loss=loss)
    X = np.array([[1.0], [0.5], [0.25], [0.1]])
    with pytest.raises(OutOfPatienceError):
        learner.learn_many(X, [1.0, 2.0, 13.0, 1.0])
    assert learner.rounds == 2


def test_a_failing_loss_leaves_no_new_names_behind() -> None:
    learner = nr.make("gradient-descent", loss=nr.PythonLoss(square, turning_bad(raises, 13.0)))
    learner.learn_one({"a": 1.0}, 1.0)
    with pytest.raises(OutOfPatienceError):
        learner.learn_one({"a": 1.0, "b": 1.0}, 13.0)
    assert learner.features == ["a"]


@pytest.mark.parametrize(("value", "slope"), [(1.0, no_slope), (no_loss, None)])
def test_a_loss_needs_two_functions(value: Any, slope: Any) -> None:
    with pytest.raises(TypeError, match="two functions"):
        nr.PythonLoss(value, slope)
