"""No stream that meets the assumptions of a theorem breaks its promise."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given

import noregret as nr
from noregret.proof.theorems.shards import ENDING
from tests.proof.theorems.cases import CASES, linear_theorems
from tests.proof.theorems.hostile import Plan, plans
from tests.thorough import draws, fewer, in_turn
from tests.variants import VARIANTS, Shape, Variant, examples, shapes

BOUNDED = [name for name, theorem in linear_theorems().items() if theorem.bound is not None]


@pytest.mark.parametrize("name", CASES)
@draws(120, quick=3)
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
    """But for those of a population, of late labels and of shards.

    These are in test_online_to_batch, tests/service and tests/scale/test_shard_theorems.
    """
    others = {"delayed-gradient", "online-to-batch-high-probability"}
    left = set(BOUNDED) - set(CASES)
    assert {name for name in left if not name.endswith(ENDING)} == others


@in_turn("variant", VARIANTS)
@fewer(shape=shapes())
def test_no_learner_in_any_form_is_told_to_have_broken_a_promise(
    variant: Variant, shape: Shape
) -> None:
    """Whatever the parameters: a bound is claimed where it holds, and else none."""
    certificate = nr.play(variant.make(), *examples(variant, shape)).certificate()
    promise = certificate.theorem
    covering = [t for t in variant.make().theorems if t.covers(variant.make().params)]
    assert (promise is None) == (not covering)
    if promise is not None:
        assert promise.holds is not False, promise
        assert (promise.bound is None) <= (promise.failed is not None or promise.name in UNBOUNDED)


# A warning, and a bound on the mean over samples: they claim no number.
UNBOUNDED = {"ftl-fails", "online-to-batch"}
