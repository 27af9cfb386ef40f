"""A feature with a small margin, while the others cancel out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from noregret.adversaries import Attack, Rounds, adversary
from noregret.adversaries.sight import balancing, weights_of

if TYPE_CHECKING:
    from noregret.linear.learner import Learner


@adversary(
    Attack(
        "winnow",
        {"rate": math.atanh(0.2), "dimension": 500},
        {"dimension": 500},
        "The heavier the good feature gets, the less is left to cancel it out with.",
    ),
    Attack(
        "winnow",
        {"rate": math.atanh(0.2), "form": "balanced", "dimension": 500},
        {"dimension": 500},
        "The balanced form: the same.",
    ),
)
def hidden_margin(learner: Learner, rounds: int = 100_000, dimension: int = 200) -> Rounds:
    """Let one feature point the right way, just far enough, and the rest cancel out.

    All labels are 1. The good feature is δ in every round, the margin that the rate is meant for;
    the others are ±1 such that the whole score is just not positive: a mistake in every round.
    Weights that are pushed up and down in equal parts grow the least. The stream ends when
    the good feature has so much weight that the rest cannot outweigh it.

    Parameters
    ----------
    learner
        ``winnow``, normalised or balanced.
    rounds
        The largest number of rounds.
    dimension
        n, the number of features.

    Examples
    --------
    >>> from noregret import Winnow, play
    >>> learner = Winnow.tuned(margin=0.2, dimension=50)
    >>> game = play(learner, hidden_margin(learner, dimension=50))
    >>> game.rounds == game.mistakes, game.certificate().theorem.tightness > 0.7
    (True, True)
    """
    rate = learner.params["rate"]
    margin = math.tanh(0.1 if rate is None else rate) * (1 + 1e-6)
    for _ in range(rounds):
        w = weights_of(learner, dimension)
        if learner.rounds == 0 and learner.params["form"] == "normalised":
            w[:] = 1 / dimension
        x = np.r_[margin, balancing(w[1:], margin * w[0] + 1e-12)]
        if learner.decision_one(x) > 0:
            return
        yield x, 1
