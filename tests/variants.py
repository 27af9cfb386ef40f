"""Every learner in every form, and examples that it takes.

The registry says which learners there are. ``FORMS`` adds the parameters that reach a learner's
other forms; a learner without an entry is tested as it comes. What a learner takes (labels or
numbers, only 0 and 1 or any number) is found out by asking it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import noregret as nr
from tests.thorough import sized

Floats = NDArray[np.float64]


def rounded_value(score: float, outcome: float) -> float:
    return math.hypot(1.0, score - outcome) - 1.0


def rounded_slope(score: float, outcome: float) -> float:
    return (score - outcome) / math.hypot(1.0, score - outcome)


def gentle_hinge_value(score: float, label: float) -> float:
    return math.pow(max(0.0, 1.0 - label * score), 1.5)


def gentle_hinge_slope(score: float, label: float) -> float:
    return -1.5 * label * math.sqrt(max(0.0, 1.0 - label * score))


ROUNDED = nr.PythonLoss(rounded_value, rounded_slope, name="rounded")
GENTLE_HINGE = nr.PythonLoss(gentle_hinge_value, gentle_hinge_slope, name="gentle", labels=True)

FORMS: dict[str, list[dict[str, Any]]] = {
    "widrow-hoff": [{"rate": 0.5, "norm": 3.0}, {"rate": 2.0, "step": "implicit"}],
    "nlms": [{"rate": 1.5, "epsilon": 0.1}],
    "gradient-descent": [
        *({"loss": loss} for loss in nr.LOSSES),
        *(
            {"loss": loss, "step": "implicit", "rate": 0.5}
            for loss in nr.LOSSES
            if loss not in ("mistake", "linear")
        ),
        {"radius": 0.3},
        {"radius": 0.5, "step": "implicit", "rate": 3.0},
        {"loss": "absolute", "domain": "box", "radius": 0.2, "schedule": "sqrt", "rate": 0.5},
        {"loss": "hinge", "radius": 0.4, "schedule": "horizon", "horizon": 50, "rate": 1.0},
        {"loss": "quantile", "loss_parameter": 0.9},
        {"loss": nr.make_loss("huber", 0.5)},
        {"loss": ROUNDED},
        {"loss": ROUNDED, "step": "implicit", "radius": 1.0},
        {"loss": GENTLE_HINGE},
    ],
    "exponentiated-gradient": [
        {"rate": 0.5, "schedule": "sqrt"},
        {"weight": 2.0},
        {"dimension": 30},
        {"weight": 3.0, "dimension": 30, "schedule": "horizon", "horizon": 50, "rate": 2.0},
        {"loss": "hinge", "weight": 5.0, "step": "implicit", "rate": 0.5},
        {"loss": "absolute", "step": "implicit"},
        {"loss": "logistic", "weight": 4.0},
        {"loss": "linear"},
        {"loss": ROUNDED},
    ],
    "perceptron": [{"averaged": True}],
    "winnow": [
        {"form": "balanced", "rate": 0.3},
        {"form": "winnow1"},
        {"dimension": 30},
        {"form": "balanced", "dimension": 30},
        {"form": "winnow1", "dimension": 30},
    ],
    "hinge": [{"schedule": "constant", "rate": 0.1}, {"schedule": "horizon", "horizon": 50}],
    "passive-aggressive": [
        {"form": form, "loss": loss, "aggressiveness": 0.5}
        for form in ("pa", "pa-i", "pa-ii")
        for loss in ("hinge", "epsilon-insensitive")
    ],
    "logistic": [{"radius": 0.5}, {"step": "implicit", "schedule": "constant"}],
    "follow-the-leader": [
        {"domain": "box", "radius": 2.0},
        {"loss": "square", "radius": 0.5},
        {"loss": "hinge", "domain": "box"},
    ],
    "ftrl": [
        {"radius": 0.5},
        {"schedule": "sqrt", "rate": 0.5, "radius": 0.5},
        {"loss": "hinge", "schedule": "horizon", "horizon": 50, "rate": 1.0},
        {"regulariser": "entropic"},
        {"regulariser": "entropic", "weight": 2.0, "dimension": 30},
        {"loss": ROUNDED},
    ],
    "auto": [
        {"loss": "logistic"},
        {"loss": "absolute"},
        {"members": "linear"},
        {"loss": "quantile", "loss_parameter": 0.8, "recent": False},
    ],
    "auto-classes": [{"recent": False}, {"members": "linear"}],
    "mondrian-forest": [
        {"loss": "logistic"},
        {"trees": 2, "nodes": 9, "seed": 3},
        {"trees": 2, "nodes": 9, "edition": 1},
        {"loss": "logistic", "trees": 1, "nodes": 3},
    ],
    "mondrian-forest-classes": [{"trees": 3, "nodes": 7, "seed": 1}, {"edition": 3}],
    "vaw": [{"penalty": 0.1, "forgetting": 0.9}],
    "online-newton": [
        {"form": "diagonal"},
        {"radius": 0.5, "penalty": 0.1},
        {"loss": "logistic", "radius": 3.0},
        {"loss": "logistic", "form": "diagonal", "radius": 1.0},
        {"loss": "squared-hinge", "radius": 0.5},
    ],
    "arow": [{"form": "diagonal"}, {"penalty": 0.1}],
    "adagrad": [
        {"form": "norm"},
        {"radius": 0.3},
        {"form": "norm", "radius": 0.3, "rate": 1.0},
        {"loss": "logistic", "rate": 0.2},
        {"loss": GENTLE_HINGE, "radius": 0.5},
    ],
    "ftrl-proximal": [
        {"l1": 0.5, "l2": 0.1},
        {"loss": "square", "rate": 0.5, "beta": 0.1},
        {"loss": ROUNDED, "l1": 0.1},
    ],
    "coin-betting": [
        {"form": "norm"},
        {"loss": "logistic", "wealth": 0.1},
        {"loss": "hinge", "form": "norm", "lipschitz": 3.0},
        {"loss": ROUNDED},
    ],
    "max-margin": [{"accuracy": 1.0}, {"accuracy": 0.1}],
    "kernel-perceptron": [
        {"budget": 5},
        {"kernel": "polynomial", "degree": 3, "budget": 1},
        {"kernel": "linear", "budget": 4},
    ],
    "kernel-gradient-descent": [
        {"budget": 6, "rate": 0.5},
        {"loss": "logistic", "kernel": "polynomial", "offset": 0.0, "radius": 0.5, "budget": 4},
        {"loss": "absolute", "kernel": "linear", "schedule": "sqrt", "budget": 3},
        {"loss": ROUNDED, "radius": 0.3, "budget": 8},
        {"loss": "hinge", "schedule": "horizon", "horizon": 50, "rate": 3.0, "budget": 9},
    ],
    "softmax": [
        {"radius": 0.5},
        {"step": "implicit", "schedule": "constant", "rate": 3.0},
        {"step": "implicit", "radius": 1.0},
        {"form": "adagrad", "rate": 0.3},
        {"form": "ftrl-proximal", "rate": 0.5, "l1": 0.1, "l2": 0.2},
        {"schedule": "horizon", "horizon": 50, "radius": 2.0},
    ],
    "multiclass-hinge": [
        {"radius": 0.5},
        {"step": "implicit", "schedule": "constant", "rate": 0.5},
        {"step": "implicit", "schedule": "constant", "rate": 1e6},
        {"schedule": "horizon", "horizon": 50},
        {"step": "implicit", "radius": 0.7},
    ],
    "scale-invariant": [
        {"loss": "logistic", "wealth": 0.1},
        {"loss": "huber", "loss_parameter": 2.0},
        {"loss": "square", "lipschitz": 5.0},
        {"loss": ROUNDED, "lipschitz": 1.0},
    ],
}


@dataclass(frozen=True)
class Variant:
    """A learner with its parameters, perhaps averaged."""

    name: str
    params: dict[str, Any]
    averaged: bool

    def make(self) -> nr.Learner:
        learner: nr.Learner = nr.make(self.name, **self.params)
        return nr.averaged(learner) if self.averaged else learner

    def __str__(self) -> str:
        shown = [f"{k}={v.name if isinstance(v, nr.Loss) else v}" for k, v in self.params.items()]
        return " ".join([*(["averaged"] if self.averaged else []), self.name, *shown])

    @cached_property
    def labels(self) -> bool:
        """Return whether outcomes are labels: −1 and +1."""
        return self.refuses({"x": 1.0}, 0.5) and not self.classes

    @cached_property
    def classes(self) -> bool:
        """Return whether outcomes are classes, with a name or number each."""
        return not self.refuses({"x": 1.0}, "name")

    @cached_property
    def boolean(self) -> bool:
        """Return whether features are 0 and 1 alone."""
        return self.refuses({"x": 0.5}, 1.0)

    def refuses(self, x: Any, y: Any) -> bool:
        try:
            self.make().learn_one(x, y)
        except nr.BadExample:
            return True
        return False

    @cached_property
    def counts_features(self) -> bool:
        """Return whether a feature still to come would change the score of the others."""
        learner: nr.Learner = nr.make(self.name, **self.params)
        learner.learn_one({"a": 1.0, "b": 1.0}, 1.0)
        return bool(learner.decision_one({"a": 1.0}) != learner.decision_one({"a": 1.0, "z": 0.0}))

    @cached_property
    def python_loss(self) -> nr.Loss | None:
        """The loss that a file cannot hold."""
        loss = self.params.get("loss")
        return loss if isinstance(loss, nr.PythonLoss) else None


def has_mean(name: str, params: dict[str, Any]) -> bool:
    """Return whether the learner can be averaged: not where its predictions are more than w·x."""
    try:
        nr.averaged(nr.make(name, **params))
    except ValueError:
        return False
    return True


def every_variant() -> list[Variant]:
    """List every learner with its defaults and in its other forms, plain and averaged.

    The mean is kept beside the weights, whatever the form: it is tried with the defaults and with
    some of the others, and with all of them where laws are tried thoroughly.
    """
    apart = sized(4, full=1)
    return [
        Variant(name, params, averaged)
        for name in nr.all_learners()
        for number, params in enumerate([{}, *FORMS.get(name, [])])
        for averaged in ((False, True) if number % apart == 0 else (False,))
        if not averaged or has_mean(name, params)
    ]


VARIANTS = every_variant()
PLAIN = [variant for variant in VARIANTS if not variant.make().engine.mean_kept]
WITHOUT_LOSS_OBJECT = [
    variant
    for variant in VARIANTS
    if not any(isinstance(value, nr.Loss) for value in variant.params.values())
]


class Shape(NamedTuple):
    """The shape of a stream; the rest follows from the seed."""

    seed: int
    rows: int
    columns: int
    density: float


def shapes(rows: int = 24, columns: int = 19) -> st.SearchStrategy[Shape]:
    """Streams up to that size: few and many columns, dense and sparse."""
    return st.builds(
        Shape,
        seed=st.integers(0, 2**32 - 1),
        rows=st.integers(1, rows),
        columns=st.integers(1, columns),
        density=st.sampled_from([0.2, 0.6, 1.0]),
    )


ROUTINE = Shape(seed=7, rows=40, columns=11, density=0.6)


def examples(variant: Variant, shape: Shape) -> tuple[Floats, NDArray[Any]]:
    """Return rows and outcomes that the learner takes."""
    rng = np.random.default_rng(shape.seed)
    size = (shape.rows, shape.columns)
    kept = rng.random(size) < shape.density
    values = np.ones(size) if variant.boolean else rng.normal(size=size) / math.sqrt(shape.columns)
    X: Floats = kept * values
    y: Floats = X @ rng.normal(size=shape.columns) + 0.3 * rng.normal(size=shape.rows)
    if variant.classes:
        return X, classes_for(y, shape.seed)
    return X, np.where(y > 0, 1.0, -1.0) if variant.labels else y


# Seven classes, more than an engine has room for at first.
NAMES = ["sun", "rain", "", "été", "7", "snow", "hail"]
NUMBERS = [0, -3, 7, 2**40, 1, 2, 5]


def classes_for(y: Floats, seed: int) -> NDArray[Any]:
    """Return classes by how large a number is, and others that only later rows have."""
    found = np.searchsorted([-0.7, 0.0, 0.7], y)
    late = np.arange(len(y)) >= len(y) // 2
    found = np.where(late & (np.arange(len(y)) % 5 == 0), 4 + np.arange(len(y)) % 3, found)
    return np.array(NUMBERS if seed % 2 else NAMES)[found]


def is_foretold(variant: Variant, learner: Any, label: Any) -> bool:
    """Return whether scores tell the loss of a label: of mixtures, only if its class is known."""
    mixtures = ("auto-classes", "mondrian-forest-classes")
    return variant.name not in mixtures or label in learner.classes


def class_loss(name: str, scores: Mapping[Any, float], label: Any) -> float:
    """Return the loss of the scores of the classes so far; one that is new has the score 0."""
    own = scores.get(label, 0.0)
    rivals = [score for rival, score in scores.items() if rival != label]
    if name == "softmax":
        return float(np.logaddexp.reduce([own, *rivals]) - own)
    if not rivals:
        return 0.0
    lead = own - max(rivals)
    return max(0.0, 1.0 - lead) if name == "multiclass-hinge" else float(lead <= 0)


def names(columns: int) -> list[str]:
    """Names whose alphabetical order is that of the columns."""
    digits = max(2, len(str(columns - 1)))
    return [f"x{j:0{digits}d}" for j in range(columns)]


def as_dicts(X: Floats, *, drop_zeros: bool = False) -> list[dict[str, Any]]:
    """Return rows as dicts, perhaps without the zeros of all rows but the first."""
    keys = names(X.shape[1])
    rows = [dict(zip(keys, row, strict=True)) for row in X.tolist()]
    if not drop_zeros:
        return rows
    return rows[:1] + [{k: v for k, v in row.items() if v != 0} for row in rows[1:]]


def learned(variant: Variant, X: Any, y: Any) -> nr.Learner:
    """Return a fresh learner that has learned these examples in one go."""
    learner = variant.make()
    learner.learn_many(X, y)
    return learner


def state(learner: nr.Learner) -> dict[str, Any]:
    """Return all that a learner has learned, such that == means equal to the bit."""
    arrays, numbers, features = learner.get_state()
    shown: dict[str, Any] = {name: array.tobytes() for name, array in arrays.items()}
    shown |= {name: float(number).hex() for name, number in numbers.items()}
    return shown | {"features": features}


def visible(learner: nr.Learner, X: Floats) -> dict[str, Any]:
    """Return what a user can see of a learner, to the bit, with the scores of some rows."""
    rows = X if learner._entry.feature_kind == BY_POSITION else as_dicts(X)
    return {
        "classes": getattr(learner, "classes", None),
        "weights": learner.weights.tobytes(),
        "scores": learner.decision_many(rows).tobytes(),
        "rounds": learner.rounds,
        "total_loss": learner.total_loss.hex(),
        "mistakes": learner.mistakes,
        "measured": learner.measured,
    }


def _position_kind() -> int:
    learner: nr.Learner = nr.Perceptron()
    learner.learn_one([1.0], 1)
    return learner._entry.feature_kind


BY_POSITION = _position_kind()
