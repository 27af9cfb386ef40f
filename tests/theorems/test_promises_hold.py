"""No stream that meets the assumptions of a theorem breaks its promise."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given, settings

import noregret as nr
from tests.theorems.cases import CASES
from tests.theorems.hostile import Plan, plans

BOUNDED = [name for name, (theorem, _) in nr.all_theorems().items() if theorem.bound is not None]


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=80)
@given(plan=plans())
@example(plan=Plan(0, 1, 1, "zeros", "nothing"))
@example(plan=Plan(0, 1, 1, "corners", "against"))
def test_what_is_promised_is_kept(name: str, plan: Plan) -> None:
    learner, stream = CASES[name](plan)
    promise = nr.play(learner, stream).certificate(name).theorem
    assert promise is not None
    assert promise.failed is None, promise.failed
    assert promise.bound is not None
    assert math.isfinite(promise.bound)
    assert promise.holds is True, promise


def test_every_bound_is_tried() -> None:
    """But for the one that needs a population: see test_online_to_batch."""
    assert set(BOUNDED) - set(CASES) == {"online-to-batch-high-probability"}
