"""A comparator in a corner of the simplex, revealed as slowly as can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from noregret.adversaries import Attack, Rounds, adversary
from noregret.adversaries.sight import balancing, weights_of

if TYPE_CHECKING:
    from noregret.linear.learner import Learner


@adversary(
    Attack(
        "eg",
        {"rate": 0.5, "dimension": 32},
        {"dimension": 32, "error": 0.1},
        "The rest is the weight that the corner lacks at the end.",
    ),
    Attack(
        "eg",
        {"rate": 0.125, "weight": 1.0, "dimension": 32},
        {"dimension": 32, "error": 0.1},
        "The signed form, on the doubled example.",
    ),
)
def hidden_corner(
    learner: Learner, rounds: int = 100_000, dimension: int = 200, error: float = 0.05
) -> Rounds:
    """Let one feature be good, and tell the learner of it in small errors that teach little.

    Half of the weight sees one end of the range, half the other, which is where a step of given
    size changes the weights the least. The outcome misses the prediction by a small error, and the
    good feature misses the outcome by just as much as the bound says is worst. The stream ends when
    the good feature has so much weight that the rest cannot balance it.

    Parameters
    ----------
    learner
        ``exponentiated-gradient`` with the square loss, at a constant rate; signed or not.
    rounds
        The largest number of rounds.
    dimension
        n, the number of features.
    error
        How far the outcome is from the prediction, as a share of the range: the smaller, the
        longer it takes and the closer it comes to the bound.

    Examples
    --------
    >>> from noregret import ExponentiatedGradient, play
    >>> learner = ExponentiatedGradient(rate=0.5, dimension=20)
    >>> game = play(learner, hidden_corner(learner, dimension=20))
    >>> game.certificate().theorem.tightness > 0.9
    True
    """
    weight = learner.params["weight"]
    scale = 1.0 if weight is None else float(weight)
    spread = 1.0 if weight is None else 2 * scale
    middle, half = (0.5, 0.5) if weight is None else (0.0, 1.0)
    # With c = 2ηR²/(2 − ηR²), the worst share of the error is 1/(1 + c/2).
    share = 1 - learner.params["rate"] * spread**2 / 2
    e = error * spread
    for _ in range(rounds):
        w = weights_of(learner, dimension)
        if learner.rounds == 0 and weight is None:
            w[:] = 1 / dimension
        x = middle + half * np.r_[0.0, -balancing(w[1:])]
        # The good feature sees prediction − e + share·e, and the prediction counts it.
        rest = float(w[1:] @ x[1:])
        x[0] = (rest - (1 - share) * e) / (scale - w[0]) if w[0] < scale else np.inf
        if not middle - half <= x[0] <= middle + half:
            return
        yield x, float(w @ x) - e
