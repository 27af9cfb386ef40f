"""Losses that come and go so that the leader is always the wrong expert to follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from noregret.adversaries import Attack, Rounds, adversary

if TYPE_CHECKING:
    from noregret.experts.master import Master

HOEFFDING = {"schedule": "hoeffding", "horizon": 20_000}


@adversary(
    Attack(
        "ftl-experts-fails",
        {},
        {"rounds": 1000},
        "Linear regret: its loss is 1 in every round but the first, and each expert half of that.",
    ),
    Attack(
        "ada-hedge",
        {},
        {"rounds": 1000},
        "The cure, on the same losses: a regret of √T, not of T.",
    ),
)
def leader_trap(master: Master, rounds: int = 1000) -> Rounds:
    """Give two experts the losses (1/2, 0), then (0, 1), (1, 0), (0, 1), and so on.

    Each expert that leads is about to lose. Either loses about T/2, and following the leader
    loses in every round.

    Parameters
    ----------
    master
        The master of two experts; its state is not used.
    rounds
        The number of rounds.

    Examples
    --------
    >>> from noregret import play
    >>> from noregret.experts import FollowTheLeader
    >>> master = FollowTheLeader()
    >>> play(master, leader_trap(master, rounds=1000)).loss
    999.25
    """
    for t in range(rounds):
        yield [0.5, 0.0] if t == 0 else [float(t % 2 == 0), float(t % 2)]


@adversary(
    Attack(
        "hedge-hoeffding",
        HOEFFDING,
        {"rounds": 20_000},
        "Both terms of the bound at once: mixing costs η/8 per round, and finding the best ln n/η.",
    ),
    Attack(
        "hedge",
        HOEFFDING | {"schedule": "horizon"},
        {"rounds": 20_000, "ending": 1000},
        "At half the rate the end takes twice as long. No more than 5/8 of the bound can be"
        " reached: hedge-hoeffding has a better constant.",
    ),
    Attack("hedge-anytime", {}, {"rounds": 20_000}, "The same, with a rate that falls."),
    Attack(
        "ada-hedge",
        {},
        {"rounds": 20_000},
        "Neither the range nor the number of rounds was given, and the bound is nearly met.",
    ),
    Attack(
        "boa",
        {"gradient": False},
        {"rounds": 20_000},
        "Nearly all: second-order bounds are as tight here as those that know the range.",
    ),
    Attack("squint", {"gradient": False}, {"rounds": 20_000}, "The same."),
    Attack(
        "ml-poly",
        {"gradient": False},
        {"experts": 64, "rounds": 20_000, "ending": 100},
        "Its weights turn to the best expert at once, so the end is short.",
    ),
    Attack(
        "fixed-share-losses",
        {"share": 1e-4, "rate": 0.02, "loss": "absolute"},
        {"rounds": 20_000},
        "The best sequence stays with one expert; its loss is most of the bound.",
    ),
)
def even_then_one(
    master: Master, experts: int = 16, rounds: int = 10_000, ending: int | None = None
) -> Rounds:
    """Let half of the experts lose by turns, so that nothing is learned, until all but one lose.

    While the weights stay even, a mixture pays its variance in every round; when the end is as near
    as it takes to find the best expert, the first is the only one that loses nothing more.

    Parameters
    ----------
    master
        The master; its state is not used.
    experts
        n, an even number.
    rounds
        The number of rounds.
    ending
        In how many of them, at the end, one expert alone is right; as many as it takes at a rate of
        √(8 ln n/T) if not given.

    Examples
    --------
    >>> from noregret import play
    >>> from noregret.experts import Hedge
    >>> master = Hedge(schedule="hoeffding", horizon=1000)
    >>> game = play(master, even_then_one(master, rounds=1000))
    >>> round(game.certificate().theorem.tightness, 2)
    0.98
    """
    odd = np.arange(experts) % 2 == 1
    if ending is None:  # the best has the weight of all others after half of that
        ending = int(np.sqrt(rounds * np.log(experts) / 2))
    last = (rounds - ending) // 2 * 2
    for t in range(rounds):
        if t < last:
            yield np.where(odd, float(t % 2 == 0), float(t % 2))
        else:
            yield np.where(np.arange(experts) == 0, 0.0, 1.0)


@adversary(
    Attack(
        "hedge-hoeffding",
        {"schedule": "hoeffding", "horizon": 4000},
        {"experts": 1000, "rounds": 4000},
        "No learner can escape it: as n and T grow, the bound cannot be improved.",
    ),
    Attack(
        "ada-hedge",
        {},
        {"experts": 1000, "rounds": 4000},
        "The same losses; nothing about them has to be known.",
    ),
)
def coin_flips(master: Master, experts: int = 100, rounds: int = 10_000, seed: int = 0) -> Rounds:
    """Draw every loss by a fair coin, so that no learner can expect to pay less than T/2.

    One expert of many is lucky: the least sum of n fair coins is about √(T ln n/2) below T/2.
    That is the regret of any learner whatever.

    Parameters
    ----------
    master
        The master; its state is not used.
    experts
        n.
    rounds
        The number of rounds.
    seed
        The same seed draws the same losses.

    Examples
    --------
    >>> from noregret import play
    >>> from noregret.experts import Hedge
    >>> master = Hedge(schedule="hoeffding", horizon=5000)
    >>> game = play(master, coin_flips(master, rounds=5000))
    >>> game.certificate().theorem.tightness > 0.6
    True
    """
    draw = np.random.default_rng(seed)
    for _ in range(rounds):
        yield draw.integers(0, 2, experts).astype(float)
