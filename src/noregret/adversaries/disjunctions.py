"""A hidden disjunction, which forces Winnow to shift weight to irrelevant features."""

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
        "Every round is a mistake, but irrelevant features cannot absorb all of the weight.",
    ),
)
def hidden_or(
    learner: Learner, rounds: int = 10_000, dimension: int = 256, relevant: int = 2
) -> Rounds:
    """Make the learner double the weights of irrelevant features, and then reset them.

    A missed positive has one feature of the OR, and as many irrelevant ones as fit below the
    threshold: all their weights double. Once an irrelevant weight exceeds the threshold, a negative
    example of irrelevant features, with a total weight just above it, is a mistake that sets them
    to zero. The OR needs log₂n doublings per feature, and each is followed by a mistake that undoes
    its side effects.

    Parameters
    ----------
    learner
        ``winnow`` in the form ``winnow1``.
    rounds
        The largest number of rounds.
    dimension
        n, the number of features.
    relevant
        k, the number of features in the OR.

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
    """Return a mask of weights, the largest first, whose sum is at most ``room``."""
    taken = np.zeros(len(weights))
    for i in np.argsort(-weights, kind="stable"):
        if 0 < weights[i] <= room:
            taken[i] = 1.0
            room -= weights[i]
    return taken
