"""A hidden OR, fed with weight that is worth nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from noregret.adversaries import Attack, Rounds, adversary
from noregret.adversaries.sight import Floats, weights_of

if TYPE_CHECKING:
    from noregret.linear.learner import Learner


@adversary(
    Attack(
        "winnow1",
        {"form": "winnow1", "dimension": 1024},
        {"dimension": 1024, "relevant": 8},
        "Every round is a mistake; useless features cannot be made to absorb all the weight.",
    ),
)
def hidden_or(
    learner: Learner, rounds: int = 10_000, dimension: int = 256, relevant: int = 2
) -> Rounds:
    """Make the learner double the weight of useless features, and then take it away again.

    A missed positive has one feature of the OR and as many useless ones as fit below the threshold:
    all their weights double. Once a useless weight is above the threshold, a false alarm of
    useless features, just heavy enough, wipes them out. So every doubling, of which the OR needs
    log₂n for each of its features, is followed by a mistake that undoes what it gave away.

    Parameters
    ----------
    learner
        ``winnow`` in the form ``winnow1``.
    rounds
        The largest number of rounds.
    dimension
        n, the number of features.
    relevant
        k, how many of them make up the OR.

    Examples
    --------
    >>> from noregret import Winnow, play
    >>> learner = Winnow(form="winnow1", dimension=64)
    >>> game = play(learner, hidden_or(learner, dimension=64, relevant=2))
    >>> game.mistakes == game.rounds
    True
    """
    threshold = dimension / 2
    for _ in range(rounds):
        w = weights_of(learner, dimension) if learner.rounds else np.ones(dimension)
        hidden, useless = w[:relevant], w[relevant:]
        unlearned = np.flatnonzero(hidden <= threshold)
        label = len(unlearned) > 0 and not np.any(useless > threshold)
        x = np.zeros(dimension)
        if label:
            x[unlearned[0]] = 1.0
            x[relevant:] = fitting(useless, threshold - hidden[unlearned[0]])
        else:
            x[relevant:] = fitting(useless, threshold)
            left = np.flatnonzero((useless > 0) & (x[relevant:] == 0))
            if len(left) == 0:
                return
            x[relevant + left[np.argmin(useless[left])]] = 1.0
            if w @ x <= threshold:
                return
        yield x, label


def fitting(weights: Floats, room: float) -> Floats:
    """Return which weights to take, the largest first, so that they fit."""
    taken = np.zeros(len(weights))
    for i in np.argsort(-weights, kind="stable"):
        if 0 < weights[i] <= room:
            taken[i] = 1.0
            room -= weights[i]
    return taken
