"""Games of every kind that certificates are made of: small, fixed, and quick to play again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import noregret
from noregret import Certificate, Learner, play

draw = np.random.default_rng(20)
ROWS = draw.normal(size=(60, 4))
ROWS /= np.linalg.norm(ROWS, axis=1, keepdims=True)
TRUTH = np.array([0.5, -1.0, 2.0, 0.25])
NUMBERS = ROWS @ TRUTH + 0.3 * draw.normal(size=60)
LABELS = np.where(ROWS @ TRUTH > 0, 1, -1)
NOISY = np.where(draw.random(60) < 0.15, -LABELS, LABELS)
KINDS = np.array(["sun", "rain", "snow"])[np.searchsorted([-0.8, 0.8], NUMBERS)]
BITS = (draw.random((60, 5)) < 0.4).astype(float)


@dataclass(frozen=True)
class Case:
    """A learner, its data, and what its certificate is told."""

    learner: Callable[[], Learner]
    X: Any
    y: Any
    target: str | None = None
    theorem: str | None = None
    given: tuple[tuple[str, Any], ...] = ()

    def data(self) -> dict[str, Any]:
        """The data as ``verify`` takes them."""
        return {"data": self.X, "outcomes": self.y, "target": self.target}

    def play(self) -> noregret.Game:
        return play(self.learner(), self.X, self.y, target=self.target)


def frame() -> pd.DataFrame:
    table = pd.DataFrame(ROWS, columns=["sun", "wind", "rain", "heat"])
    return table.assign(city=np.where(BITS[:, 0] > 0, "Oslo", "Rome"), sold=NUMBERS)


CASES = {
    "widrow-hoff": Case(lambda: noregret.make("widrow-hoff", rate=0.3), ROWS, NUMBERS),
    "widrow-hoff, named": Case(
        lambda: noregret.make("widrow-hoff", rate=0.4, norm=1.5), frame(), None, "sold"
    ),
    "perceptron, separable": Case(lambda: noregret.make("perceptron"), ROWS, LABELS),
    "perceptron, not separable": Case(lambda: noregret.make("perceptron"), ROWS, NOISY),
    "perceptron, asked for a margin": Case(
        lambda: noregret.make("perceptron"), ROWS, NOISY, theorem="perceptron"
    ),
    "eg": Case(lambda: noregret.make("exponentiated-gradient", rate=0.2), ROWS, NUMBERS / 3),
    "eg, signed": Case(
        lambda: noregret.make("exponentiated-gradient", rate=0.02, weight=3.0), ROWS, NUMBERS
    ),
    "logistic in a ball": Case(
        lambda: noregret.all_learners()["logistic"].tuned(radius=3.0, norm=1.0, horizon=60),
        ROWS,
        NOISY,
    ),
    "winnow1": Case(
        lambda: noregret.make("winnow", form="winnow1"), BITS, np.maximum(BITS[:, 0], BITS[:, 2])
    ),
    "conjunction": Case(
        lambda: noregret.make("conjunction"), BITS, (BITS[:, 0] > BITS[:, 2]).astype(float)
    ),
    "too steep": Case(
        lambda: noregret.make(
            "gradient-descent", loss="absolute", rate=0.1, schedule="sqrt", radius=0.5
        ),
        9 * ROWS,
        NUMBERS,
    ),
    "in a box": Case(
        lambda: noregret.make(
            "gradient-descent", loss="huber", rate=0.5, schedule="sqrt", radius=0.5, domain="box"
        ),
        ROWS,
        NUMBERS,
    ),
    "no theorem": Case(
        lambda: noregret.make("gradient-descent", loss="quantile", loss_parameter=0.3, rate=0.1),
        ROWS,
        NUMBERS,
    ),
    "risk": Case(
        lambda: noregret.make("widrow-hoff", rate=0.3),
        ROWS,
        NUMBERS,
        theorem="online-to-batch-high-probability",
        given=(("largest_loss", 9.0), ("chance", 0.1)),
    ),
    "several promises": Case(
        lambda: noregret.batch.OnlineToBatch(noregret.WidrowHoff(rate=0.3), order="shuffled"),
        ROWS,
        NUMBERS,
        given=(("largest_loss", 9.0), ("chance", 0.1)),
    ),
    "boosted": Case(
        lambda: noregret.batch.AdaBoost(members=4), ROWS, NOISY, given=(("margin", 0.2),)
    ),
}


@cache
def certificate_of(name: str) -> Certificate:
    case = CASES[name]
    return case.play().certificate(case.theorem, **dict(case.given))
