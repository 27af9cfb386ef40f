"""Outcomes against the sign of the prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.adversaries import Attack, Rounds, adversary

if TYPE_CHECKING:
    from noregret.linear.learner import Learner


@adversary(
    Attack(
        "widrow-hoff",
        {"rate": 0.1},
        {"rounds": 2000},
        "The loss settles at 1/(1 - rate/2)² per round, against the promised 1/(1 - rate).",
    ),
    Attack(
        "nlms",
        {"rate": 0.1},
        {"rounds": 2000, "norm": 100.0},
        "The same: a larger example changes nothing.",
    ),
    Attack(
        "perceptron-any-data",
        {},
        {"rounds": 500},
        "Every round is a mistake, and no predictor does better than the bound says: exact.",
    ),
    Attack(
        "vaw",
        {},
        {"rounds": 1000},
        "The loss itself; nine tenths of its excess over the best predictor, ln T, are reached.",
    ),
    Attack(
        "online-newton",
        {"penalty": 0.01, "radius": 1.0},
        {"rounds": 1000},
        "All but λR²/2, as the best predictor is 0, and not on the border of the ball.",
    ),
    Attack(
        "online-newton",
        {"penalty": 0.01, "radius": 1.0, "loss": "logistic"},
        {"rounds": 1000},
        "The parabola below the loss is not the loss.",
    ),
    Attack(
        "online-newton-everywhere",
        {},
        {"rounds": 1000},
        "An identity: the bound is met on any data.",
    ),
    Attack(
        "online-newton-diagonal",
        {"form": "diagonal"},
        {"rounds": 1000},
        "With a single feature the diagonal is all there is.",
    ),
    Attack(
        "arow",
        {},
        {"rounds": 500},
        "As the perceptron: every round is a mistake, and no predictor does better: exact.",
    ),
)
def sign_flip(learner: Learner, rounds: int = 1000, norm: float = 1.0, size: float = 1.0) -> Rounds:
    """Show the same example again and again, and answer against the sign of the prediction.

    No fixed predictor can do better than 0, which loses ``size``² per round; but the learner is
    always a little on the wrong side of 0.

    Parameters
    ----------
    learner
        The learner.
    rounds
        The number of rounds.
    norm
        The norm of the example, which has one feature.
    size
        The size of the outcome; 1 for labels.

    Examples
    --------
    >>> from noregret import Perceptron, play
    >>> learner = Perceptron()
    >>> play(learner, sign_flip(learner, rounds=50)).mistakes
    50
    """
    for _ in range(rounds):
        yield [norm], -size if learner.decision_one([norm]) > 0 else size
