"""Assumptions and measurements shared by the theorems of policies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from noregret.proof.theorems.assumptions import Finding, Shown, Structural

if TYPE_CHECKING:
    from noregret.bandits.evidence import BanditEvidence

# How often a table is played again at a time, and at most, with other draws, where one play exceeds
# what is promised of the mean over all draws.
REPLAYS_PER_BATCH, MAX_REPLAYS = 30, 300
# How many standard errors above it the mean of those must lie before the promise is broken.
STANDARD_ERRORS = 5.0
# The chance of calling independent rewards dependent.
FALSE_ALARM_CHANCE = 1e-9
# Parts of a game at whose ends the means so far are compared with those of the whole.
PARTS = 16


def luck_of_hindsight(arms: int, rounds: int) -> float:
    """Return √(T ln(n)/2): how far the best of n sums may be expected above the best mean's."""
    return math.sqrt(rounds * math.log(arms) / 2)


def promised(evidence: BanditEvidence) -> float:
    """Return what is promised of a game, in the units of the rewards."""
    return float(evidence.player.bound_after(evidence.rounds) * evidence.player.span)


def own_regret(evidence: BanditEvidence) -> float:
    """Return the regret of the game as it was played."""
    return float(evidence.loss - evidence.usual().lower)


def expected_regret(evidence: BanditEvidence) -> float | None:
    """Return the regret that the policy's chances lead to expect; None where that is not clear.

    The chances of a round depend on the draws before it, so that one play can have bad luck. If it
    exceeds what is promised, the mean over other plays of the same table counts.
    """
    regret = own_regret(evidence)
    if regret <= promised(evidence) or evidence.rounds_before:
        return regret
    return evidence.once("again", lambda: mean_regret(evidence))


def mean_regret(evidence: BanditEvidence) -> float | None:
    """Return the mean regret of plays of the same table with other draws.

    There are as many as it takes to tell on which side of the promise it lies; None where the
    most that are tried do not.
    """
    bound, found = promised(evidence), list[float]()
    while len(found) < MAX_REPLAYS:
        found += [regret_again(evidence, len(found) + k) for k in range(1, REPLAYS_PER_BATCH + 1)]
        mean, error = math.fsum(found) / len(found), np.std(found) / math.sqrt(len(found))
        if mean <= bound or mean > bound + STANDARD_ERRORS * error:
            return mean
    return None


def regret_again(evidence: BanditEvidence, draws: int) -> float:
    """Return the regret of another play of the same table, with other draws."""
    seed = (evidence.params["seed"] + draws) % 2**63
    other = type(evidence.player)(**{**evidence.params, "seed": seed})
    if evidence.game_names is not None:
        other.check_names(evidence.game_names)
    for X, _ in evidence.table.blocks():
        other.play_block(X, None, None)
    return float(other.total_loss - evidence.usual().lower)


def independent(evidence: BanditEvidence) -> Finding:
    """Say that independence is taken on trust, unless the rewards refute it.

    If rows are drawn independently from one distribution, then by Hoeffding's inequality the mean
    of the first m rewards of an arm is near that of all, and what was earned is near what the arms
    pulled bring on average. Whichever is too far off to be chance says that they are not.
    """
    name = "rewards are drawn independently from one distribution"
    arms, rounds, player = evidence.width, evidence.rounds, evidence.player
    limit = math.log(2 * (arms * PARTS + arms + 1) / FALSE_ALARM_CHANCE)
    sums = evidence.sums_at([rounds * k // PARTS for k in range(1, PARTS + 1)])
    means = sums[-1] / rounds
    for k, so_far in enumerate(sums[:-1], 1):
        m = rounds * k // PARTS
        off = float(np.abs(so_far - m * means).max())
        most = math.sqrt(m * limit / 2)
        if off > most:
            return Finding(name, most, off, False, m)
    if not evidence.rounds_before:
        off = abs(float(player.gains.sum() - player.pulls @ (1 - means)))
        most = 2 * math.sqrt(rounds * limit / 2)
        if off > most:
            return Finding(name, most, off, False, None)
    return Finding(name, None, None, None)


IN_RANGE = Structural(
    r"every reward lies between `low` and `high` (another is refused); $n$ arms, $T$ rounds"
)
OBLIVIOUS = Structural(
    "the rewards of all arms are there before the round and do not depend on the policy's draws,"
    " as those of a table; the expectation is over these draws"
)
INDEPENDENT = Shown(
    "the rewards of each round are drawn independently from one distribution: taken on trust, but"
    " refuted where means drift, or earnings stray, further than chance allows in one of $10^9$"
    " games",
    independent,
)
