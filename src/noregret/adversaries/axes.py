"""A new feature in every round."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from noregret.adversaries import Attack, Rounds, adversary

if TYPE_CHECKING:
    from noregret.linear.learner import Learner


@adversary(
    Attack("perceptron", {}, {"rounds": 100}, "As many mistakes as (R/γ)²: exact."),
    Attack("passive-aggressive", {"form": "pa"}, {"rounds": 100}, "Exact."),
    Attack(
        "passive-aggressive-i",
        {"form": "pa-i", "aggressiveness": 1.0},
        {"rounds": 100},
        "Exact where C R² is 1 or more.",
    ),
)
def new_axes(learner: Learner, rounds: int = 100, norm: float = 1.0) -> Rounds:
    """Show an example along a new axis in every round, always labelled 1.

    The learner knows nothing of an axis that it has not seen: its score is 0, a mistake. The
    vector with the same weight on every axis has margin ``norm``/√T in every round, and so
    (R/γ)² = T.

    Parameters
    ----------
    learner
        A learner of labels; its state is not used.
    rounds
        The number of rounds and of features.
    norm
        The norm of every example.

    Examples
    --------
    >>> from noregret import Perceptron, play
    >>> learner = Perceptron()
    >>> promise = play(learner, new_axes(learner, rounds=25)).certificate().theorem
    >>> promise.measured, round(promise.bound, 4)
    (25.0, 25.0)
    """
    for t in range(rounds):
        x = np.zeros(rounds)
        x[t] = norm
        yield x, 1
