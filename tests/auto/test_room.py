"""Memory that grows with what is learned: not to be seen in predictions and files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.base.model_file import dumps, loads

ROUNDS = 300


@pytest.mark.parametrize("learner", [nr.Auto(), nr.AutoClasses()], ids=lambda each: each.name)
def test_a_learner_restored_at_any_time_is_the_one_that_went_on(learner: Any) -> None:
    rng = np.random.default_rng(3)
    one, other = learner.clone(), learner.clone()
    for t in range(ROUNDS):
        # More features come until rows are queued.
        x = {f"x{k}": float(v) for k, v in enumerate(rng.normal(size=3 if t < 40 else 18))}
        y = f"class {x['x0'] > 0}" if learner.name == "auto-classes" else x["x0"] + rng.normal()
        one.learn_one(x, y)
        other.learn_one(x, y)
        if t < 10 or t % 32 < 2 or t > ROUNDS - 4:
            kept = dumps(other)
            assert kept == dumps(one), t
            other = loads(kept, "a copy")


def test_a_small_learner_has_room_for_few_snapshots_at_first() -> None:
    learner = nr.Auto()
    lengths = []
    for t in range(200):
        learner.learn_one({"a": float(t % 3)}, float(t % 5))
        lengths.append(len(learner.engine.mixer.snapshots.table))
    assert lengths == sorted(lengths)
    assert lengths[3] * 32 == lengths[-1] == learner.engine.mixer.snapshots.length
