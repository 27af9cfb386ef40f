"""The share of samples of flights in which the risk of mean weights is within its bound.

Each split draws some flights to learn from; the others, which were not seen, tell the risk nearly
exactly. The same seeds give the same figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import noregret as nr
from noregret.batch import OnlineToBatch
from noregret.hindsight.proofs.answer import USUAL
from noregret.proof.theorems.averaging import HIGH_PROBABILITY

Floats = NDArray[np.float64]
EXAMPLES = 2_000
CHANCES = (0.05, 0.2, 0.5)
TAKES = ("average", "last-half", "last")
# The largest weights in all, which with examples of norm 1 at most are the largest scores.
RADIUS = 3.0


class Task(NamedTuple):
    """A task: its target, its loss, and the largest loss of a score up to RADIUS."""

    name: str
    loss: str
    outcomes: str
    largest: float


TASKS = (
    Task("late or not", "logistic", "late", math.log1p(math.exp(RADIUS))),
    Task("late or not", "hinge", "late", 1 + RADIUS),
    Task("delay", "absolute", "delay", 1 + RADIUS),
    Task("delay", "square", "delay", (1 + RADIUS) ** 2),
)


def descent(schedule: str, rate: float) -> Callable[[str], nr.Learner]:
    """Return what makes a learner whose scores are at most RADIUS, whatever comes."""
    return lambda loss: nr.GradientDescent(loss=loss, rate=rate, schedule=schedule, radius=RADIUS)


# The first one's promise is looked at.
LEARNERS: dict[str, Callable[[str], nr.Learner]] = {
    "gradient-descent, 0.5/√t": descent("sqrt", 0.5),
    "gradient-descent, 2/√t": descent("sqrt", 2.0),
    "gradient-descent, 0.5": descent("constant", 0.5),
    "coin-betting": lambda loss: nr.CoinBetting(loss=loss),
}
FIRST = next(iter(LEARNERS))


@cache
def flights() -> tuple[Floats, dict[str, Floats]]:
    """Return examples of norm at most 1, and what became of the flights.

    ``late`` is +1 for an arrival more than 15 minutes late, else −1; ``delay`` is that in hours,
    cut at −1 and 1.
    """
    rows = list(nr.data.flights())
    kinds = sorted({f"{key}={x[key]}" for x, _ in rows for key in ("carrier", "origin")})
    X = np.zeros((len(rows), 4 + len(kinds)))
    for row, (x, _) in zip(X, rows, strict=True):
        row[:4] = (
            1.0,
            float(x["hour of day"]),
            min(float(x["distance"]) / 5, 1.0),
            min(max(float(x["departure delay"]), -1.0), 1.0),
        )
        for key in ("carrier", "origin"):
            row[4 + kinds.index(f"{key}={x[key]}")] = 1.0
    delays = np.array([delay for _, delay in rows])
    outcomes = {
        "late": np.where(delays > 15, 1.0, -1.0),
        "delay": np.clip(delays / 60, -1.0, 1.0),
    }
    return X / math.sqrt(6), outcomes  # four numbers and two kinds, each at most 1


class Outcome(NamedTuple):
    """The result of a split: the progressive mean loss, the risk, and the bounds by chance."""

    progressive: float
    risk: float
    bounds: dict[float, float]


def split(
    seed: int, task: Task, learner: str, take: str, examples: int = EXAMPLES
) -> tuple[OnlineToBatch, Outcome]:
    """Learn from some flights, and hold what is promised against the others."""
    X, outcomes = flights()
    y = outcomes[task.outcomes]
    order = np.random.default_rng(seed).permutation(len(y))
    seen, others = order[:examples], order[examples:]
    method = OnlineToBatch(LEARNERS[learner](task.loss), take=take).fit(X[seen], y[seen])
    return method, Outcome(
        method.progressive_loss,
        mean_loss(task, X[others] @ method.weights, y[others]),
        bounds(method, task) if learner == FIRST and take != "last" else {},
    )


def mean_loss(task: Task, scores: Floats, y: Floats) -> float:
    """Return the mean loss, computed without noregret."""
    losses: dict[str, Callable[[], Floats]] = {
        "logistic": lambda: np.logaddexp(0.0, -y * scores),
        "hinge": lambda: np.maximum(0.0, 1 - y * scores),
        "absolute": lambda: np.abs(scores - y),
        "square": lambda: (scores - y) ** 2,
    }
    return float(losses[task.loss]().mean())


def bounds(method: OnlineToBatch, task: Task) -> dict[float, float]:
    """Return what the certificate would promise; the best in hindsight is not looked for."""
    assert method.game is not None
    assert HIGH_PROBABILITY.bound is not None
    found = {}
    for chance in CHANCES:
        given = {"largest_loss": task.largest, "chance": chance}
        found[chance] = HIGH_PROBABILITY.bound(method.game.evidence(given, USUAL))
    return found
