"""The policies again, in a few lines of NumPy each, many plays of a table at once.

Each function plays a table of losses in [0, 1] and returns the regret of every play against the
best arm of the table: by the chances, and by the arms pulled.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def best_loss(losses: Floats) -> float:
    return float(losses.sum(axis=0).min())


def exp3(
    losses: Floats, plays: int, horizon: int | None, seed: int, bias: float = 0.0
) -> tuple[Floats, Floats]:
    """Exp3, or Exp3-IX where the estimates are biased by that share of the rate."""
    rng = np.random.default_rng(seed)
    rounds, n = losses.shape
    estimates, every = np.zeros((plays, n)), np.arange(plays)
    by_chance, by_arm = np.zeros(plays), np.zeros(plays)
    for t in range(rounds):
        rate = math.sqrt(
            2 * math.log(n) / (n * horizon) if horizon else math.log(n) / (n * (t + 1))
        )
        logs = -rate * estimates
        p = np.exp(logs - logs.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        arms = np.minimum((p.cumsum(axis=1) <= rng.random(plays)[:, None]).sum(axis=1), n - 1)
        by_chance += p @ losses[t]
        by_arm += losses[t, arms]
        estimates[every, arms] += losses[t, arms] / (p[every, arms] + bias * rate)
    return by_chance - best_loss(losses), by_arm - best_loss(losses)


def exp4(losses: Floats, advice: NDArray[np.int64], plays: int, horizon: int, seed: int) -> Floats:
    """Exp4 over experts who advise arms; the regret by the chances, against the best expert."""
    rng = np.random.default_rng(seed)
    rounds, n = losses.shape
    experts = advice.shape[1]
    estimates, every, paid = np.zeros((plays, experts)), np.arange(plays), np.zeros(plays)
    rate = math.sqrt(2 * math.log(experts) / (n * horizon))
    for t in range(rounds):
        logs = -rate * estimates
        q = np.exp(logs - logs.max(axis=1, keepdims=True))
        q /= q.sum(axis=1, keepdims=True)
        said = np.eye(n)[advice[t]]
        p = q @ said
        arms = np.minimum((p.cumsum(axis=1) <= rng.random(plays)[:, None]).sum(axis=1), n - 1)
        paid += p @ losses[t]
        estimates += said[:, arms].T * (losses[t, arms] / p[every, arms])[:, None]
    rivals = np.take_along_axis(losses, advice, axis=1).sum(axis=0)
    return np.asarray(paid - rivals.min())


def ucb1(means: Floats, rounds: int, plays: int, seed: int) -> tuple[Floats, Floats]:
    """UCB1 on rewards that are 0 or 1; the regret against the best mean, and in hindsight."""
    rng = np.random.default_rng(seed)
    n, every = len(means), np.arange(plays)
    pulls, gains = np.zeros((plays, n)), np.zeros((plays, n))
    sums, earned, behind = np.zeros((plays, n)), np.zeros(plays), np.zeros(plays)
    for t in range(rounds):
        if t < n:
            arms = np.full(plays, t)
        else:
            arms = (gains / pulls + np.sqrt(2 * math.log(t) / pulls)).argmax(axis=1)
        rewards = (rng.random((plays, n)) < means).astype(float)
        sums += rewards
        pulls[every, arms] += 1
        gains[every, arms] += rewards[every, arms]
        earned += rewards[every, arms]
        behind += means.max() - means[arms]
    return behind, sums.max(axis=1) - earned


def thompson(n: int, rounds: int, plays: int, seed: int) -> tuple[Floats, Floats]:
    """Thompson sampling, each play with means from the prior; both regrets."""
    rng = np.random.default_rng(seed)
    means, every = rng.random((plays, n)), np.arange(plays)
    good, bad = np.ones((plays, n)), np.ones((plays, n))
    sums, earned, behind = np.zeros((plays, n)), np.zeros(plays), np.zeros(plays)
    for _ in range(rounds):
        arms = rng.beta(good, bad).argmax(axis=1)
        rewards = (rng.random((plays, n)) < means).astype(float)
        sums += rewards
        good[every, arms] += rewards[every, arms]
        bad[every, arms] += 1 - rewards[every, arms]
        earned += rewards[every, arms]
        behind += means.max(axis=1) - means[every, arms]
    return behind, sums.max(axis=1) - earned
