"""Assumptions and measurements shared by the theorems of policies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from noregret.proof.theorems.assumptions import Finding, Shown, Structural

if TYPE_CHECKING:
    from noregret.bandits.evidence import BanditEvidence

# A table whose game exceeds the bound on the mean over all draws is replayed with other draws, this
# many times before each look at their mean, and at most.
REPLAYS_PER_BATCH, MAX_REPLAYS = 30, 300
# A bound counts as exceeded if the mean of the replays lies this many standard errors above it.
STANDARD_ERRORS = 5.0
# The probability of reporting independent rewards as dependent.
FALSE_ALARM_CHANCE = 1e-9
# The means so far are compared with those of the whole game after each of this many parts.
PARTS = 16


def luck_of_hindsight(arms: int, rounds: int) -> float:
    """Return √(T ln(n)/2), a bound on how far the best of n sums exceeds T times the best mean."""
    return math.sqrt(rounds * math.log(arms) / 2)


def promised(evidence: BanditEvidence) -> float:
    """Return the bound on a game, in the units of the rewards."""
    return float(evidence.player.bound_after(evidence.rounds) * evidence.player._span)


def own_regret(evidence: BanditEvidence) -> float:
    """Return the regret of the game as it was played."""
    return float(evidence.loss - evidence.usual().lower)


def expected_regret(evidence: BanditEvidence) -> float | None:
    """Return an estimate of the expected regret; None if replays leave it undecided.

    The probabilities of a round depend on the draws before it, so a single game can have bad luck.
    If it exceeds the bound, the mean over replays of the same table is returned instead.
    """
    regret = own_regret(evidence)
    if regret <= promised(evidence) or evidence.rounds_before:
        return regret
    return evidence.once("again", lambda: mean_regret(evidence))


def mean_regret(evidence: BanditEvidence) -> float | None:
    """Return the mean regret of replays of the same table with other draws.

    There are as many replays as needed to tell on which side of the bound the mean lies; None if
    ``MAX_REPLAYS`` are not enough.
    """
    bound, found = promised(evidence), list[float]()
    while len(found) < MAX_REPLAYS:
        found += [regret_again(evidence, len(found) + k) for k in range(1, REPLAYS_PER_BATCH + 1)]
        mean, error = math.fsum(found) / len(found), np.std(found) / math.sqrt(len(found))
        if mean <= bound or mean > bound + STANDARD_ERRORS * error:
            return mean
    return None


def regret_again(evidence: BanditEvidence, draws: int) -> float:
    """Return the regret of a replay of the same table with other draws."""
    seed = (evidence.params["seed"] + draws) % 2**63
    other = type(evidence.player)(**{**evidence.params, "seed": seed})
    if evidence.game_names is not None:
        other.check_names(evidence.game_names)
    for X, _ in evidence.table.blocks():
        other.play_block(X, None, None)
    return float(other.total_loss - evidence.usual().lower)


def independent(evidence: BanditEvidence) -> Finding:
    """Return that independence is taken on trust, unless the rewards refute it.

    If rows are drawn independently from one distribution, then by Hoeffding's inequality the mean
    of the first m rewards of an arm is near that of all, and the rewards received are near the mean
    rewards of the arms pulled. A difference too large for chance refutes independence.
    """
    name = "rewards are drawn independently from one distribution"
    arms, rounds, player = evidence.width, evidence.rounds, evidence.player
    limit = math.log(2 * (arms * PARTS + arms + 1) / FALSE_ALARM_CHANCE)
    sums = evidence.sums_at([rounds * k // PARTS for k in range(1, PARTS + 1)])
    means = sums[-1] / rounds
    for k, so_far in enumerate(sums[:-1], 1):
        m = rounds * k // PARTS
        off = float(np.abs(so_far - m * means).max())
        allowed = math.sqrt(m * limit / 2)
        if off > allowed:
            return Finding(name, allowed, off, False, m)
    if not evidence.rounds_before:
        off = abs(float(player._state.sums["gains"].sum() - player.pulls @ (1 - means)))
        allowed = 2 * math.sqrt(rounds * limit / 2)
        if off > allowed:
            return Finding(name, allowed, off, False, None)
    return Finding(name, None, None, None)


IN_RANGE = Structural(
    r"every reward lies between `low` and `high` (others are rejected); $n$ arms, $T$ rounds"
)
OBLIVIOUS = Structural(
    "the rewards of all arms are fixed before the round and do not depend on the policy's draws,"
    " as in a table; the expectation is over these draws"
)
INDEPENDENT = Shown(
    "the rewards of each round are drawn independently from one distribution: taken on trust, but"
    " refuted if the means drift, or the rewards received deviate, further than chance allows in"
    " one of $10^9$ games",
    independent,
)
