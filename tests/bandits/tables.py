"""Tables of rewards in [0, 1] that are hard for policies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def stochastic(rounds: int, arms: int, gap: float, seed: int = 0) -> Floats:
    """One arm is better by a gap, near the one at which it cannot be told in time."""
    means = np.full(arms, 0.5)
    means[arms // 2] += gap
    rng = np.random.default_rng(seed)
    return (rng.random((rounds, arms)) < means).astype(np.float64)


def hard(rounds: int, arms: int, seed: int = 0) -> Floats:
    """The gap at which the lower bound √(nT) is proven."""
    return stochastic(rounds, arms, min(0.5, 0.5 * float(np.sqrt(arms / rounds))), seed)


def turning(rounds: int, arms: int, seed: int = 0) -> Floats:
    """The arm that was best turns bad in the middle, and the others good one after another."""
    table = np.zeros((rounds, arms))
    bounds = np.linspace(0, rounds, arms + 1).astype(int)
    for arm in range(arms):
        table[bounds[arm] :, arm] = 1.0
    table[rounds // 2 :, 0] = 0.0
    return table


def alternating(rounds: int, arms: int, seed: int = 0) -> Floats:
    """Only one arm pays in a round, each in its turn; the last pays a little always."""
    table = np.zeros((rounds, arms))
    table[np.arange(rounds), np.arange(rounds) % arms] = 1.0
    table[:, -1] = np.maximum(table[:, -1], 0.3)
    return table


def silent(rounds: int, arms: int, seed: int = 0) -> Floats:
    """Nothing pays but one arm, and that only late."""
    table = np.zeros((rounds, arms))
    table[rounds // 3 :, 1] = 1.0
    return table


TABLES = {
    "hard": hard,
    "turning": turning,
    "alternating": alternating,
    "silent": silent,
}
