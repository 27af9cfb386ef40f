"""Experts that disagree by halves, and outcomes against the prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from noregret.adversaries import Attack, Rounds, adversary

if TYPE_CHECKING:
    from noregret.experts.master import Master


@adversary(
    Attack(
        "halving",
        {},
        {"experts": 1024},
        "Every round is a mistake: exact, and no algorithm at all can promise less.",
    ),
)
def halving_adversary(master: Master, experts: int = 16) -> Rounds:
    """Let half of the experts that were never wrong say 0 and half 1, and make the majority wrong.

    Whatever is predicted, the outcome is the opposite, and half of these experts have foreseen it.
    So ⌊log₂ n⌋ rounds pass before a single one is left: that many mistakes are forced on any
    deterministic algorithm, although some expert is never wrong.

    Parameters
    ----------
    master
        The master, which predicts 0 or 1.
    experts
        n, at least 2.

    Examples
    --------
    >>> from noregret import play
    >>> from noregret.experts import Halving
    >>> master = Halving()
    >>> play(master, halving_adversary(master, experts=64)).mistakes
    6
    """
    alive = np.arange(experts)
    while len(alive) > 1:
        half = len(alive) // 2
        says = np.zeros(experts)
        says[alive[half : 2 * half]] = 1.0
        outcome = 0.0 if master.predict_one(says) >= 0.5 else 1.0
        yield says, outcome
        alive = alive[:half] if outcome == 0.0 else alive[half : 2 * half]


@adversary(
    Attack(
        "weighted-majority",
        {"beta": 0.5},
        {"experts": 100, "rounds": 300},
        "Two camps of equal weight in every round: each mistake costs only the minimum.",
    ),
)
def even_camps(master: Master, experts: int = 16, rounds: int = 100) -> Rounds:
    """Split the experts into two camps of equal weight, and answer against the heavier one.

    A vote is wrong whenever it can be, and no more weight than half is ever lost by it.

    Parameters
    ----------
    master
        The master, which predicts 0 or 1 by the weight of the votes.
    experts
        n.
    rounds
        The number of rounds.

    Examples
    --------
    >>> from noregret import play
    >>> from noregret.experts import WeightedMajority
    >>> master = WeightedMajority()
    >>> play(master, even_camps(master, rounds=50)).mistakes
    50
    """
    for _ in range(rounds):
        weights = master.weights() if master.width else np.full(experts, 1 / experts)
        weights = weights.round(12)  # what differs only in rounding is the same
        says, balance = np.zeros(experts), 0.0
        for i in np.argsort(-weights, kind="stable"):
            says[i] = float(balance < -1e-9)
            balance += weights[i] if says[i] else -weights[i]
        yield says, 0.0 if master.predict_one(says) >= 0.5 else 1.0


@adversary(
    Attack(
        "weighted-majority",
        {"beta": 0.9},
        {"rounds": 1000},
        "The best expert is wrong in half of the rounds, the vote in all: no"
        " deterministic algorithm can promise less than twice the mistakes of the best expert.",
    ),
    Attack(
        "randomised-weighted-majority",
        {"beta": 0.9},
        {"rounds": 1000},
        "The cure, on the same outcomes: a random choice is wrong half of the time, as the best"
        " expert is.",
    ),
)
def contrary(master: Master, rounds: int = 1000) -> Rounds:
    """Make every prediction wrong, with one expert that always says 0 and one that always says 1.

    In every round one of the two is right, so the better one is wrong in at most half of them. A
    randomised master is asked for its weights, and the outcome is the less likely one.

    Parameters
    ----------
    master
        The master, which predicts 0 or 1.
    rounds
        The number of rounds.

    Examples
    --------
    >>> from noregret import play
    >>> from noregret.experts import WeightedMajority
    >>> master = WeightedMajority()
    >>> game = play(master, contrary(master, rounds=100))
    >>> game.mistakes, int(master.expert_losses.min())
    (100, 50)
    """
    says = np.array([0.0, 1.0])
    for _ in range(rounds):
        drawn = master._round.pays_expected and master.width
        one = float(master.weights()[1]) if drawn else master.predict_one(says)
        yield says, 0.0 if one >= 0.5 else 1.0
