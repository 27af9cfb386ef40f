"""Counts that no policy can have come by are refused."""

from __future__ import annotations

import numpy as np
import pytest

from noregret.bandits import Thompson


@pytest.mark.parametrize("key", ["successes", "failures"])
def test_counts_beyond_all_rounds_are_refused(key: str) -> None:
    policy = Thompson(arms=3)
    for reward in (1.0, 0.0, 1.0):
        policy.learn(policy.choose(), reward)
    arrays, numbers, names = policy.get_state()
    fresh = Thompson(arms=3)
    with pytest.raises(ValueError, match=f"{key} should be 1e.15 at most"):
        fresh.set_state(arrays | {key: np.array([1e300, 0.0, 0.0])}, numbers, names)
    assert fresh.rounds == 0
    fresh.set_state(arrays | {key: np.array([1e15, 0.0, 0.0])}, numbers, names)
    assert np.isfinite(fresh.propensities()).all()
