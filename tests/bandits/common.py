"""Every policy, ready to play, and a way to play it without a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.bandits import Exp3, Exp3Ix, Exp4, Thompson, Ucb1
from noregret.bandits.policy import Policy

Floats = NDArray[np.float64]
# Every policy, in all its forms, for a number of arms or their names.
FORMS: dict[str, Callable[..., Policy]] = {
    "exp3": Exp3,
    "exp3 horizon": lambda **p: Exp3(horizon=200, **p),
    "exp3 rate": lambda **p: Exp3(rate=0.7, **p),
    "exp3-ix": Exp3Ix,
    "exp3-ix horizon": lambda **p: Exp3Ix(horizon=200, chance=0.01, **p),
    "ucb1": Ucb1,
    "thompson": Thompson,
    "thompson prior": lambda **p: Thompson(prior_successes=0.5, prior_failures=2.5, **p),
    "exp4": lambda **p: Exp4(experts=3, **p),
    "exp4 horizon": lambda **p: Exp4(experts=3, horizon=200, **p),
}
WITHOUT_EXPERTS = [form for form in FORMS if not form.startswith("exp4")]


def context_of(policy: Policy, round: int) -> Any:
    """Advice for exp4, nothing for the others; the same for the same round."""
    if not isinstance(policy, Exp4):
        return None
    n = len(policy.names)
    return [round % n, [1.0 / n] * n, (round * 7 + 1) % n]


def feed(policy: Policy, rewards: Floats, start: int = 0) -> list[int]:
    """Choose and learn, row by row; return the arms."""
    arms = []
    for k, row in enumerate(rewards):
        arm = policy.choose(context_of(policy, start + k))
        index = policy.names.index(arm) if isinstance(arm, str) else arm
        policy.learn(arm, float(row[index]))
        arms.append(index)
    return arms


def same_state(one: Policy, other: Policy) -> bool:
    """Return whether two policies are the same to the bit."""
    a, b = one.get_state(), other.get_state()
    equal = all(
        np.array_equal(a[0][key], b[0][key], equal_nan=key == "waiting_chances") for key in a[0]
    )
    return equal and a[0].keys() == b[0].keys() and a[1:] == b[1:]


def rewards_of(rounds: int, arms: int, seed: int = 0) -> Floats:
    """Rewards in [0, 1], some of them at the ends."""
    rng = np.random.default_rng(seed)
    table = rng.random((rounds, arms)) * np.linspace(0.4, 1.0, arms)
    return np.where(rng.random((rounds, arms)) < 0.3, np.round(table), table)
