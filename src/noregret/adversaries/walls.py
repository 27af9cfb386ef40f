"""Waiting at the wall, and running at the end."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from noregret.adversaries import Attack, Rounds, adversary
from noregret.adversaries.sight import weights_of

if TYPE_CHECKING:
    from noregret.linear.learner import Learner


@adversary(
    Attack(
        "projected-gradient-anytime",
        {"loss": "linear", "rate": 1.0, "schedule": "sqrt", "radius": 1.0},
        {"rounds": 100_000},
        "A third is paid at the wall, in steps there and back; the rest in the last run.",
    ),
    Attack(
        "ogd-anytime",
        {"loss": "linear", "rate": math.sqrt(2), "schedule": "sqrt", "radius": 1.0},
        {"rounds": 100_000},
        "Half is paid at the wall, in steps there and back; the rest in the last run.",
    ),
    Attack(
        "logistic",
        {"rate": 0.001, "schedule": "sqrt", "radius": 0.001},
        {"rounds": 10_000, "steep": 0.5},
        "The anytime form; loose for the same reason, the slope of L/2.",
    ),
)
def wall(learner: Learner, rounds: int = 10_000, steep: float = 1.0) -> Rounds:
    """Keep the weights at the far wall until the steps are small, then run to the other one.

    In one dimension, with losses of slope ±1 and a rate that falls like 1/√t. One step brings
    the weight to −U. There the slopes alternate: each step inwards and back costs as much as the
    step is long, and no fixed predictor gains by it. In the last rounds, as many as it takes to
    cross, every slope leads to +U, which the best predictor had all along.

    Parameters
    ----------
    learner
        ``gradient-descent`` with the linear loss, or ``logistic``; in a ball, with the schedule
        ``sqrt``.
    rounds
        The number of rounds.
    steep
        How steep the loss is: 1 for the linear loss, 1/2 for the logistic loss near 0.

    Examples
    --------
    >>> from noregret import GradientDescent, play
    >>> learner = GradientDescent.tuned("ogd-anytime", loss="linear", radius=1.0, lipschitz=1.0)
    >>> play(learner, wall(learner, rounds=5000)).certificate().theorem.tightness > 0.9
    True
    """
    radius, rate = float(learner.params["radius"]), steep * float(learner.params["rate"])
    up = 1 if learner.engine.loss.labels else -1  # the outcome that raises the weight
    # Steps of rate/√t cross the width 2U in the rounds from `last` to the end.
    last = max(0.0, math.sqrt(learner.rounds + rounds) - radius / rate) ** 2
    for _ in range(rounds):
        w = float(weights_of(learner, 1)[0])
        step = rate / math.sqrt(learner.rounds + 1)
        inside = w > -radius + step / 2  # back to the wall, unless it is there
        yield [1.0], -up if inside and learner.rounds < last else up
