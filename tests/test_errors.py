"""Errors are part of the interface: what is refused is named, with what to do instead."""

from __future__ import annotations

import inspect
import math
import pickle
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.base.registry import all_algorithms
from noregret.errors import WrongUsage
from noregret.streams import Options

NOT_NUMBERS: list[Any] = ["0.1", "", b"1", [], [0.1], {}, object(), 1j, math.nan]
NOT_POSITIVE: list[Any] = [*NOT_NUMBERS, 0, 0.0, -0.0, -1, -1e-300, -math.inf]
POSITIVE_FINITE: list[Any] = [*NOT_POSITIVE, None, math.inf, True, False]
OPTIONAL_POSITIVE: list[Any] = [*NOT_POSITIVE, math.inf, True, False]
WHOLE: list[Any] = [*NOT_POSITIVE, 1.5, math.inf, True, False]
CHOICE: list[Any] = ["sideways", "", " ", "Square", 5, 0, True, b"square", [], ["square"], {}]
NOT_NEGATIVE = [*NOT_NUMBERS, None, -1, -1e-300, -math.inf, math.inf, True]

DELAYS = [*NOT_NUMBERS, None, -1, 1.5, math.inf, True, 10**6]

# What each parameter refuses, whatever the learner. A parameter that is not here fails the test
# that every parameter is tested.
REFUSED: dict[str, list[Any]] = {
    "rate": POSITIVE_FINITE,
    "norm": POSITIVE_FINITE,
    "epsilon": NOT_NEGATIVE,
    "aggressiveness": POSITIVE_FINITE,
    "radius": OPTIONAL_POSITIVE,
    "weight": OPTIONAL_POSITIVE,
    "dimension": [*WHOLE, 2**31, 10**30],
    "horizon": WHOLE,
    "schedule": [*CHOICE, None],
    "loss": [*CHOICE, None, len],
    "domain": CHOICE,
    "step": [*CHOICE, None, "normalised"],
    "regulariser": [*CHOICE, None],
    "form": [*CHOICE, None],
    "loss_parameter": [*NOT_NUMBERS, -1, -1e-300, math.inf, -math.inf, True],
    "penalty": POSITIVE_FINITE,
    "forgetting": [*POSITIVE_FINITE, 1.5, 1e-12],
    "wealth": POSITIVE_FINITE,
    "lipschitz": POSITIVE_FINITE,
    "beta": POSITIVE_FINITE,
    "l1": NOT_NEGATIVE,
    "l2": NOT_NEGATIVE,
    "recent": ["yes", "", "False", 1, 0, None, 1.0, []],
    "delay": DELAYS,
    "edition": [*NOT_NUMBERS, None, 0, 4, 1.5, math.inf, True],
    "members": [*CHOICE, None],
    "kernel": [*CHOICE, None],
    "width": POSITIVE_FINITE,
    "degree": [*WHOLE, None, 21],
    "offset": NOT_NEGATIVE,
    "budget": [*WHOLE, None, 1025],
    "accuracy": [*POSITIVE_FINITE, 1.5],
    "averaged": ["yes", "", "False", 1, 0, None, 1.0, []],
    "trees": [*WHOLE, None, 1_001],
    "nodes": [*WHOLE, None, 2, 10**8],
    "seed": [*NOT_NUMBERS, None, -1, 0.5, math.inf, True],
}
# What must be given along with a parameter for it to be looked at.
COMPANIONS: dict[tuple[str, str], dict[str, Any]] = {
    ("*", "horizon"): {"schedule": "horizon"},
    ("*", "loss_parameter"): {"loss": "huber"},
    ("*", "degree"): {"kernel": "polynomial"},
    ("*", "offset"): {"kernel": "polynomial"},
    ("auto", "loss_parameter"): {"loss": "quantile"},
    ("ftrl", "weight"): {"regulariser": "entropic"},
    ("ftrl", "dimension"): {"regulariser": "entropic"},
}
# Where a learner takes more than others do.
ALLOWED: dict[tuple[str, str], list[Any]] = {
    ("winnow", "rate"): [None],  # its default
}
PARAMETERS = [
    (name, parameter)
    for name, learner in nr.all_learners().items()
    for parameter in inspect.signature(learner).parameters
]


def test_every_parameter_is_tested() -> None:
    assert {parameter for _, parameter in PARAMETERS} <= REFUSED.keys()


def refused_values(name: str, parameter: str) -> list[Any]:
    allowed = ALLOWED.get((name, parameter), [])
    values = [v for v in REFUSED[parameter] if not any(v is a for a in allowed)]
    optional = inspect.signature(nr.all_learners()[name]).parameters[parameter].default is None
    return [v for v in values if not (optional and v is None)]


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS)
def test_a_parameter_out_of_range_is_refused_by_name(name: str, parameter: str) -> None:
    more = COMPANIONS.get((name, parameter), COMPANIONS.get(("*", parameter), {}))
    accepted, wrong, unnamed = [], [], []
    for value in refused_values(name, parameter):
        try:
            nr.make(name, **{parameter: value} | more)
            accepted.append(value)
        except ValueError as refusal:
            if parameter not in str(refusal):
                unnamed.append((value, str(refusal)))
        except Exception as other:
            wrong.append((value, other))
    assert not accepted
    assert not wrong
    assert not unnamed


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS)
def test_the_value_given_is_the_value_shown(name: str, parameter: str) -> None:
    """Not half of it, or its square."""
    if parameter in ("averaged", "loss", "domain", "step", "form", "schedule", "regulariser"):
        value: Any = "sideways"
    else:
        value = -0.8
    more = COMPANIONS.get((name, parameter), COMPANIONS.get(("*", parameter), {}))
    with pytest.raises(ValueError, match=f"{parameter}.*{value!r}"):
        nr.make(name, **{parameter: value} | more)


@pytest.mark.parametrize("step", ["explicit", "implicit"])
@pytest.mark.parametrize("rate", [-0.8, 0, math.nan, "0.1"])
def test_widrow_hoff_shows_the_rate_given(step: str, rate: Any) -> None:
    with pytest.raises(ValueError, match=f"rate.*{rate!r}"):
        nr.make("widrow-hoff", rate=rate, step=step)


@pytest.mark.parametrize("rate", [1.0, 1.5])
def test_a_rate_outside_the_theorem_is_refused_with_a_way_out(rate: float) -> None:
    with pytest.raises(ValueError, match=r"rate must lie between 0 and 1.*implicit"):
        nr.make("widrow-hoff", rate=rate)
    with pytest.raises(ValueError, match=r"rate must .*between 0 and 2"):
        nr.make("nlms", rate=rate + 1)


@pytest.mark.parametrize("norm", [1e-200, 1e-160, 1e160, 1e200, 5e-324])
def test_a_norm_whose_square_is_no_number_is_refused(norm: float) -> None:
    try:
        learner = nr.make("widrow-hoff", norm=norm)
    except ValueError as refusal:
        assert "norm" in str(refusal)  # noqa: PT017
    else:
        learner.learn_one([norm], 1.0)
        assert math.isfinite(learner.weights[0])


@pytest.mark.parametrize(
    ("name", "params", "words"),
    [
        ("gradient-descent", {"domain": "ball"}, "radius"),
        ("gradient-descent", {"domain": "everything", "radius": 1.0}, "radius"),
        ("gradient-descent", {"schedule": "horizon"}, "horizon"),
        ("gradient-descent", {"horizon": 5}, "horizon"),
        ("gradient-descent", {"loss": "square", "loss_parameter": 1.0}, "parameter"),
        ("gradient-descent", {"loss": "quantile", "loss_parameter": 1.0}, "loss_parameter"),
        ("gradient-descent", {"loss": "quantile", "loss_parameter": 0.0}, "loss_parameter"),
        ("gradient-descent", {"loss": "huber", "loss_parameter": 0.0}, "loss_parameter"),
        ("gradient-descent", {"loss": "mistake", "step": "implicit"}, "no implicit step"),
        ("exponentiated-gradient", {"loss": "mistake", "step": "implicit"}, "no implicit step"),
        ("ftrl", {"regulariser": "entropic", "radius": 1.0}, "radius"),
        ("ftrl", {"regulariser": "euclidean", "weight": 1.0}, "weight"),
        ("ftrl", {"regulariser": "euclidean", "dimension": 3}, "dimension"),
        ("ftrl", {"regulariser": "entropic", "schedule": "sqrt"}, "horizon"),
        ("winnow", {"form": "winnow1", "rate": 0.5}, "rate"),
        ("follow-the-leader", {"radius": None}, "radius"),
        ("follow-the-leader", {"domain": "everything"}, "ball or box|ball, box"),
        ("passive-aggressive", {"loss": "square"}, "hinge"),
    ],
    ids=str,
)
def test_parameters_that_do_not_go_together_are_refused(
    name: str, params: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        nr.make(name, **params)


@pytest.mark.parametrize(
    ("given", "meant"),
    [("widrow-hof", "widrow-hoff"), ("WidrowHoff", "widrow-hoff"), ("percepton", "perceptron")],
)
def test_an_unknown_learner_hints_at_the_nearest(given: str, meant: str) -> None:
    with pytest.raises(ValueError, match=f"unknown learner '{given}': did you mean .*{meant}"):
        nr.make(given)


def test_an_unknown_learner_like_no_other_lists_them_all() -> None:
    with pytest.raises(ValueError, match="unknown learner 'zzz'") as caught:
        nr.make("zzz")
    for name in nr.all_learners():
        assert name in str(caught.value)


def test_an_unknown_parameter_hints_at_the_nearest() -> None:
    with pytest.raises(ValueError, match="widrow-hoff has no parameter 'rte': did you mean rate"):
        nr.make("widrow-hoff", rte=0.1)
    with pytest.raises(ValueError, match="conjunction has no parameter 'rate': it takes none"):
        nr.make("conjunction", rate=0.1)
    with pytest.raises(ValueError, match=r"nlms has no parameter 'zzz'.*rate.*epsilon"):
        nr.make("nlms", zzz=0.1)


@pytest.mark.parametrize("name", nr.all_learners())
def test_probabilities_are_only_given_by_the_logistic_loss_and_the_softmax(name: str) -> None:
    learner = nr.make(name)
    if learner.engine.loss.name == "softmax":
        assert learner.predict_proba_one([1.0]) == {}
        learner.learn_one([1.0], "first")
    if learner.engine.loss.name in ("logistic", "softmax"):
        assert sum(learner.predict_proba_one([1.0]).values()) == pytest.approx(1)
        return
    for ask in (learner.predict_proba_one, learner.predict_proba_many):
        with pytest.raises(nr.NoRegretError, match=r"logistic|Softmax"):
            ask([[1.0]])


@pytest.mark.parametrize(
    "error",
    [
        nr.BadExample("words", round=3, feature="a"),
        nr.Diverged("words", round=3),
        nr.ModelFileError("words"),
        nr.NoRegretError("words"),
        WrongUsage("words"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_are_of_one_family_and_cross_processes(error: nr.NoRegretError) -> None:
    assert isinstance(error, nr.NoRegretError)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


@pytest.mark.parametrize("name", nr.all_learners())
def test_a_refusal_says_which_round_it_was(name: str) -> None:
    learner = nr.make(name)
    learner.learn_many([[1.0, 0.0], [0.0, 1.0]], [1, -1])
    with pytest.raises(nr.BadExample, match=r"round 3: .*column 1.* is nan") as caught:
        learner.learn_one([1.0, math.nan], 1)
    assert (caught.value.round, caught.value.feature) == (3, "1")
    with pytest.raises(nr.BadExample, match="round 4") as caught:
        learner.learn_many([[1.0, 0.0], [1.0, math.inf]], [1, 1])
    assert (caught.value.round, caught.value.feature) == (4, "1")
    assert learner.rounds == 3


@pytest.mark.parametrize("kind", all_algorithms(), ids=lambda kind: f"{kind.family} {kind.name}")
def test_every_class_names_the_parameter_that_was_meant(kind: Any) -> None:
    known = list(inspect.signature(kind).parameters)
    with pytest.raises(TypeError, match=f"{kind.__name__} has no parameter 'zqx'") as caught:
        kind(zqx=1)
    assert all(name in str(caught.value) for name in known)
    for name in known:
        if len(name) > 3:
            with pytest.raises(TypeError, match=rf"did you mean .*\b{name}\b.*\?"):
                kind(**{name[:-1] if name[:-1] not in known else name + "x": 1})


@pytest.mark.parametrize(
    ("build", "meant"),
    [
        (lambda: nr.GradientDescent("mse"), "square"),
        (lambda: nr.Auto(loss="L1"), "absolute"),
        (lambda: nr.Auto(loss="log"), "logistic"),
        (lambda: nr.make("hedge", loss="logloss"), "log"),
        (lambda: nr.make("hedge", loss="pinball"), "quantile"),
    ],
)
def test_a_loss_by_another_librarys_name_is_recognised(build: Any, meant: str) -> None:
    with pytest.raises(ValueError, match=rf"is called {meant} here$"):
        build()


@pytest.mark.parametrize("kind", all_algorithms(), ids=lambda kind: f"{kind.family}-{kind.name}")
def test_no_parameter_that_is_a_number_takes_true(kind: Any) -> None:
    """Python counts True as 1: who writes it means another parameter, or no number."""
    for name, parameter in inspect.signature(kind).parameters.items():
        kinds = str(parameter.annotation)
        if ("int" in kinds or "float" in kinds) and "bool" not in kinds:
            for value in (True, np.True_):
                with pytest.raises((TypeError, ValueError), match=name.split("_")[0]):
                    kind(**{name: value})


@pytest.mark.parametrize("bits", [True, np.True_, 3.0, "3", 0, -1, 31, 10**30])
def test_hashing_takes_a_whole_number_of_bits(bits: Any) -> None:
    with pytest.raises(ValueError, match="hash must be a positive whole number"):
        Options(hash=bits)
    of_numpy: Any = np.int64(3)
    assert Options(hash=of_numpy).transforms() == ("hash=3",)
