"""Gradients that rock back and forth where it costs most, against rates that follow them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.adversaries import Attack, Rounds, adversary

if TYPE_CHECKING:
    from noregret.linear.learner import Learner

# Steps become smaller, so that rocking leads away from the side; there it is brought back.
RETURN_ROUNDS = (64, 1024, 8192)
# The drive to the other side is given up after this many times the rounds before it.
PATIENCE = 10


@adversary(
    Attack(
        "adagrad",
        {"loss": "linear", "radius": 1.0},
        {"rounds": 20_000},
        "Both terms of the bound are met, up to the rounds that the drive takes.",
    ),
    Attack(
        "adagrad-norm",
        {"loss": "linear", "radius": 1.0, "form": "norm"},
        {"rounds": 20_000},
        "The same: with one feature the two forms are one.",
    ),
    Attack(
        "adagrad-free",
        {"loss": "linear"},
        {"rounds": 20_000, "pushes": 40},
        "The rest is lost because the rocking is mostly slightly off the farthest point.",
    ),
    Attack(
        "ftrl-proximal",
        {"loss": "linear", "rate": 1.0},
        {"rounds": 20_000, "pushes": 40, "push": 0.1},
        "Exact for u where the weights end: the leader's bound is an identity there.",
    ),
)
def seesaw(learner: Learner, rounds: int = 1000, pushes: int = 1, push: float = 1e-6) -> Rounds:
    """Push the weight to one side with small gradients, rock it there, then drive it across.

    Every turn of the rocking costs half a step, and the drive costs the way to the predictor at
    the other side, which is the best in hindsight.

    Parameters
    ----------
    learner
        The learner, with the linear loss.
    rounds
        The number of rounds of rocking.
    pushes
        The number of small gradients at the start.
    push
        Their size.

    Examples
    --------
    >>> from noregret import Adagrad, play
    >>> learner = Adagrad(loss="linear", radius=1.0)
    >>> game = play(learner, seesaw(learner, rounds=9000))
    >>> 0.9 < game.certificate("adagrad").theorem.tightness <= 1
    True
    """
    for _ in range(pushes):
        yield [push], -1.0
    top = learner.decision_one([1.0])
    for turn in range(rounds):
        while turn in RETURN_ROUNDS and learner.decision_one([1.0]) < top * (1 - 1e-9):
            yield [1.0], -1.0
        yield [1.0], 1.0 if turn % 2 == 0 else -1.0
    for _ in range(PATIENCE * rounds):
        if learner.decision_one([1.0]) <= -top * (1 - 1e-9):
            break
        yield [1.0], 1.0


@adversary(
    Attack(
        "coin-betting",
        {"loss": "linear", "form": "norm"},
        {"rounds": 20_001},
        "The gambler loses nearly all of the wealth, which is all that u near 0 allows.",
    ),
    Attack(
        "coin-betting-coordinates",
        {"loss": "linear"},
        {"rounds": 20_001},
        "The same, for the gambler of the only feature.",
    ),
    Attack(
        "scale-invariant",
        {"loss": "linear", "lipschitz": 1.0},
        {"rounds": 50_001},
        "This gambler bets less, and loses the wealth with the fourth root of the rounds only.",
    ),
)
def heads_and_tails(learner: Learner, rounds: int = 1000) -> Rounds:
    """Let a coin fall heads and tails by turns, so that every bet on it is lost.

    Parameters
    ----------
    learner
        The learner, with the linear loss.
    rounds
        The number of rounds; an odd number ends on the side that most coins fell on.

    Examples
    --------
    >>> from noregret import CoinBetting, play
    >>> learner = CoinBetting(loss="linear")
    >>> game = play(learner, heads_and_tails(learner, rounds=1001))
    >>> 0.9 < game.certificate().theorem.tightness <= 1
    True
    """
    for turn in range(rounds):
        yield [1.0], 1.0 if turn % 2 == 0 else -1.0
