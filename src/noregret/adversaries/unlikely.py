"""The class that a learner holds least likely."""

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
        "In the end only even odds have weight, and their prior is all that was lost.",
    )
)
def least_likely(learner: Learner, rounds: int = 1000, classes: int = 5) -> Rounds:
    """Show the class that the learner holds least likely in every round.

    So a mixture loses at least ln K per round, K being the number of classes, which is what even
    odds lose. All else that it mixes must lose its weight.

    Parameters
    ----------
    learner
        The learner that predicts probabilities of classes.
    rounds
        Rounds after those in which the classes become known.
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
