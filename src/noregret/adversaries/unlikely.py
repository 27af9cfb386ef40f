"""An adversary that shows the class to which the learner gives the lowest probability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from noregret.adversaries import Attack, Rounds, adversary

if TYPE_CHECKING:
    from noregret.linear.learner import Learner


@adversary(
    Attack(
        "auto-classes",
        {},
        {"rounds": 1000, "classes": 5},
        "In the end only even odds have weight, and the regret is the price of their prior.",
    )
)
def least_likely(learner: Learner, rounds: int = 1000, classes: int = 5) -> Rounds:
    """In every round, show the class to which the learner gives the lowest probability.

    With K classes, a mixture then has a loss of at least ln K per round, the loss of even odds. The
    other members do no better, so their weights must vanish.

    Parameters
    ----------
    learner
        A learner that predicts class probabilities.
    rounds
        The number of rounds after the first, which show each class once.
    classes
        The number of classes.

    Examples
    --------
    >>> from noregret import AutoClasses, play
    >>> learner = AutoClasses()
    >>> play(learner, least_likely(learner)).certificate().theorem.tightness > 0.9
    True
    """
    x = np.ones(1)
    for each in range(classes):
        yield x, each
    for _ in range(rounds):
        scores = learner.decision_one(x)
        assert isinstance(scores, dict)
        yield x, min(scores, key=scores.__getitem__)
