"""Every master in every form, and rounds that it takes.

The registry says which masters there are. ``FORMS`` adds parameters that reach a master's other
forms; one without an entry is tested as it comes. What it takes (votes or forecasts, losses alone,
experts that sleep) is found out by asking it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import noregret as nr
from noregret.base.registry import all_of
from noregret.errors import BadExample
from noregret.experts.master import Master

Floats = NDArray[np.float64]


def smooth_value(x: float, y: float) -> float:
    return math.hypot(1.0, x - y) - 1.0


def smooth_slope(x: float, y: float) -> float:
    return (x - y) / math.hypot(1.0, x - y)


SMOOTH = nr.PythonLoss(smooth_value, smooth_slope, name="smooth")
FOLLOWING: list[dict[str, Any]] = [
    {"loss": "square", "gradient": False},
    {"loss": "log", "gradient": True},
    {"loss": "quantile", "loss_parameter": 0.8, "gradient": True},
    {"loss": "zero-one", "gradient": False},
]

FORMS: dict[str, list[dict[str, Any]]] = {
    "hedge": [
        {"schedule": "horizon", "horizon": 100},
        {"schedule": "hoeffding", "horizon": 100},
        {"schedule": "constant", "rate": 0.7},
        {"play": "sampled", "seed": 3},
        {"play": "sampled", "loss": "zero-one"},
        {"loss": "absolute", "gradient": True, "high": 2.0},
        {"loss": "log"},
    ],
    "ada-hedge": FOLLOWING,
    "ml-poly": [
        *FOLLOWING,
        {"loss": "absolute"},
        {"loss": "percentage"},
        {"loss": SMOOTH},
        {"loss": "log", "gradient": False},
    ],
    "boa": FOLLOWING,
    "squint": FOLLOWING,
    "blend": [{"loss": "log"}, {"loss": "zero-one"}],
    "follow-the-leader": [{"loss": "absolute"}],
    "fixed-share": [
        {"share": 0.3},
        {"variable": True, "share": 0.1},
        {"loss": "log"},
        {"loss": "absolute", "rate": 0.8},
    ],
    "weighted-average": [
        {"loss": "log"},
        {"low": -1.0, "high": 2.0},
        {"loss": SMOOTH, "rate": 0.2},
    ],
    "aggregating": [{"loss": "log"}, {"low": -1.0, "high": 2.0}],
    "weighted-majority": [{"beta": 0.1}],
    "randomised-weighted-majority": [{"beta": 0.9, "seed": 5}],
}


@dataclass(frozen=True)
class Variant:
    """A master with its parameters."""

    name: str
    params: dict[str, Any]

    def make(self, **more: Any) -> Master:
        made: Master = nr.experts.make(self.name, **self.params | more)
        return made

    def __str__(self) -> str:
        shown = [f"{k}={getattr(v, 'name', v)}" for k, v in self.params.items()]
        return " ".join([self.name, *shown])

    @cached_property
    def votes(self) -> bool:
        """Return whether forecasts are 0 or 1."""
        try:
            self.make().predict_one([0.5, 0.5])
        except BadExample:
            return True
        return False

    @cached_property
    def takes_losses(self) -> bool:
        """Return whether it learns from losses without advice."""
        try:
            self.make().learn_losses([0.5, 0.5])
        except TypeError:
            return False
        return True

    @cached_property
    def sleeps(self) -> bool:
        """Return whether experts may sleep."""
        try:
            self.make().predict_one([1.0, math.nan])
        except BadExample:
            return False
        return True

    @cached_property
    def scale_free(self) -> bool:
        """Return whether no rate or range was chosen, so that the size of losses cannot matter."""
        chosen = {"rate", "low", "high", "share", "beta"} & self.make().params.keys()
        return self.takes_losses and not chosen

    @cached_property
    def python_loss(self) -> nr.Loss | None:
        """The loss that a file cannot hold."""
        loss = self.params.get("loss")
        return loss if isinstance(loss, nr.PythonLoss) else None


VARIANTS = [
    Variant(name, params) for name in all_of("experts") for params in [{}, *FORMS.get(name, [])]
]
PLAIN = [Variant(name, {}) for name in all_of("experts")]
ALLOCATING = [variant for variant in VARIANTS if variant.takes_losses]
SLEEPING = [variant for variant in VARIANTS if variant.sleeps]
SCALE_FREE = [variant for variant in ALLOCATING if variant.scale_free]


class Shape(NamedTuple):
    """The shape of a game; the rest follows from the seed."""

    seed: int
    rounds: int
    experts: int
    kind: str
    asleep: float = 0.0

    @property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)


KINDS = ("uniform", "corners", "by turns", "walks", "any scale", "the same", "one leads")


def shapes(rounds: int = 30, experts: int = 9, asleep: bool = False) -> st.SearchStrategy[Shape]:
    """Games up to that size, perhaps with experts that sleep."""
    return st.builds(
        Shape,
        seed=st.integers(0, 2**32 - 1),
        rounds=st.integers(1, rounds),
        experts=st.integers(1, experts),
        kind=st.sampled_from(KINDS),
        asleep=st.sampled_from([0.1, 0.5, 0.9]) if asleep else st.just(0.0),
    )


ROUTINE = Shape(seed=7, rounds=40, experts=5, kind="uniform")


def losses_of(shape: Shape) -> Floats:
    """Return losses in [0, 1], NaN for those who sleep; somebody is always awake."""
    rng, size = shape.rng, (shape.rounds, shape.experts)
    table: Floats
    if shape.kind == "uniform":
        table = rng.random(size)
    elif shape.kind == "corners":
        table = rng.integers(0, 2, size).astype(float)
    elif shape.kind == "by turns":
        table = ((np.arange(size[0])[:, None] + np.arange(size[1])) % 2).astype(float)
        table[0] /= 2
    elif shape.kind == "walks":
        table = np.cumsum(rng.normal(size=size), axis=0)
        table = (table - table.min()) / max(1e-9, float(np.ptp(table)))
    elif shape.kind == "any scale":
        table = rng.random(size) * 10.0 ** rng.integers(-9, 1, (size[0], 1))
    elif shape.kind == "the same":
        table = np.repeat(rng.random((size[0], 1)), size[1], axis=1)
    else:
        table = rng.random(size)
        table[:, rng.integers(size[1])] *= 0.3
    return lulled(table, shape)


def lulled(table: Floats, shape: Shape) -> Floats:
    """Put some to sleep, but never all."""
    if not shape.asleep:
        return table
    rng = np.random.default_rng([shape.seed, 1])
    asleep = rng.random(table.shape) < shape.asleep
    asleep[np.arange(len(table)), rng.integers(table.shape[1], size=len(table))] = False
    return np.where(asleep, np.nan, table)


def advice_of(variant: Variant, shape: Shape) -> tuple[Floats, Floats]:
    """Return forecasts and outcomes that the master takes, within [0, 1]."""
    rng = np.random.default_rng([shape.seed, 2])
    X = losses_of(shape._replace(asleep=0.0))
    y = rng.random(shape.rounds)
    if variant.votes or variant.params.get("loss") == "zero-one":
        X, y = np.round(X), np.round(y)
    elif variant.params.get("loss") == "log":
        X, y = 0.02 + 0.96 * X, np.where(rng.random(len(y)) < 0.5, np.round(y), y)
    elif variant.params.get("loss") == "percentage":
        y = 0.5 + y
    return lulled(X, shape), y


def state(master: Master) -> dict[str, Any]:
    """Return all that a master has learned, such that == means equal to the bit."""
    arrays, numbers, names = master.get_state()
    shown: dict[str, Any] = {name: array.tobytes() for name, array in arrays.items()}
    return shown | {k: float(v).hex() for k, v in numbers.items()} | {"names": names}


def played(master: Master, X: Floats, y: Floats | None = None) -> tuple[Floats, Floats]:
    """Play rounds in one block; return the forecasts and the weights used."""
    said, used = np.empty(len(X)), np.empty(X.shape)
    master.play_block(X, y, said, used)
    return said, used


def names_of(n: int) -> list[str]:
    """Names whose alphabetical order is that of the columns."""
    return [f"e{k:02d}" for k in range(n)]
