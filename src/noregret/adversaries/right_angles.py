"""Examples at right angles to the weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from noregret.adversaries import Attack, Rounds, adversary
from noregret.adversaries.sight import across, weights_of

if TYPE_CHECKING:
    from noregret.linear.learner import Learner

_TUNED = {"rate": 1.0, "schedule": "horizon", "horizon": 1000, "radius": 1.0}


@adversary(
    Attack(
        "projected-gradient",
        {"loss": "linear", **_TUNED},
        {"rounds": 1000},
        "The gradients add up to L√T, and the learner gets nothing of it: exact.",
    ),
    Attack(
        "ogd",
        {"loss": "linear", "rate": 1000**-0.5, "radius": 1.0},
        {"rounds": 1000},
        "As projected-gradient: exact.",
    ),
    Attack("ftrl", {"loss": "linear", **_TUNED}, {"rounds": 1000}, "As projected-gradient: exact."),
    Attack(
        "hinge-ogd",
        {"rate": 1.0, "schedule": "horizon", "horizon": 1000},
        {"rounds": 1000},
        "The learner loses 1 per round, the best predictor never more than that: exact.",
    ),
    Attack(
        "logistic",
        {**_TUNED, "rate": 0.01, "radius": 0.01},
        {"rounds": 1000, "lean": 0.75 * 0.01 / 1000**0.5},
        "Loose: the slope is L only where the prediction is hopeless, and L/2 where it is open.",
    ),
)
def orthogonal(
    learner: Learner, rounds: int = 1000, norm: float = 1.0, lean: float = 0.0
) -> Rounds:
    """Show examples that the learner has no opinion on, all leaning to one side.

    Each example has the given norm and stands at right angles to the weights, in the plane, so that
    the learner predicts 0 and gains nothing. The outcome is 1 in every round, and of the two such
    examples the one is chosen that lengthens their sum: the best fixed predictor goes with the sum.

    Parameters
    ----------
    learner
        The learner: with linear loss, or of labels.
    rounds
        The number of rounds.
    norm
        The norm of every example.
    lean
        The margin that the learner is granted in every round, if its weights are long enough.
        With small steps, as of the logistic loss, only this gets the sum to its best length.

    Examples
    --------
    >>> from noregret import Ftrl, play
    >>> learner = Ftrl.tuned(loss="linear", radius=1.0, lipschitz=1.0, horizon=100)
    >>> promise = play(learner, orthogonal(learner, rounds=100)).certificate().theorem
    >>> round(promise.measured, 6), round(promise.bound, 6)
    (10.0, 10.0)
    """
    right = 1.0 if learner.engine.loss.labels else -1.0  # the way that gains
    total = np.zeros(2)
    for t in range(rounds):
        w = weights_of(learner, 2)
        length = float(np.hypot(*w))
        ahead = w / length if length > 0 else np.array([1.0, 0.0])
        aside = across(ahead, total, t)
        gained = min(lean / (norm * length), 1.0) if length > 0 else 0.0
        x = norm * (np.sqrt(1 - gained**2) * aside + right * gained * ahead)
        total += x
        yield x, 1
