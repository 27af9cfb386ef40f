"""Where an assumption fails, no bound is claimed, and the first round that broke it is named."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.proof.theorems.assumptions import CONVEX, Structural, Trusted
from noregret.proof.theorems.shards import ENDING
from tests.proof.theorems.breaks import BREAKS, Break
from tests.proof.theorems.cases import CASES, linear_theorems
from tests.proof.theorems.class_cases import CLASSES
from tests.proof.theorems.hostile import Plan

STARTS = "rounds learned before = 0"


@pytest.mark.parametrize("r", [1, 2, 3, 9])
@pytest.mark.parametrize(
    ("theorem", "finding", "make"),
    [(*key, make) for key, made in BREAKS.items() for make in made],
    ids=lambda part: part.__name__ if callable(part) else str(part),
)
def test_a_broken_assumption_is_named_with_its_round(
    theorem: str, finding: str, make: Break, r: int
) -> None:
    learner, rows = make(r)
    later = (
        "features that joined",
        "rounds <=",
        "rounds that the best AND",
        "support vectors removed",
    )
    if finding in later:
        r = max(2, r)  # the first round cannot break these
    elif finding == "rate < 1":
        r = 1
    elif make.__name__.startswith("contradicted"):
        r = max(3, r)
    given: dict[str, Any] = {"largest_loss": 1.0} if "probability" in theorem else {}
    promise = nr.play(learner, rows).certificate(theorem, **given).theorem
    assert promise is not None
    assert promise.bound is None
    assert promise.holds is None
    assert promise.tightness is None
    assert promise.failed is not None
    assert promise.failed.name.startswith(finding)
    assert promise.failed.first_violation == r
    others = [f for f in promise.assumptions if not f.name.startswith(finding)]
    assert all(found.holds is not False for found in others)


def test_every_assumption_that_can_fail_is_broken() -> None:
    """The explicit rate of widrow-hoff cannot: the learner refuses 1 and more.

    Those about several classes are broken in tests/learners/test_several_classes.py, that of
    auto-linear in tests/auto/test_linear.py. What
    delayed-gradient measures is no assumption, and those about shards are the learner's own.
    """
    others = {"auto-linear", "delayed-gradient"}
    others |= {name for name in linear_theorems() if name.endswith(ENDING)}
    for name in linear_theorems().keys() - CLASSES.keys() - others:
        theorem = linear_theorems()[name]
        measurable = [
            a
            for a in theorem.assumptions
            if not isinstance(a, Structural | Trusted) and a != CONVEX
        ]
        broken = {finding for of, finding in BREAKS if of == name}
        assert len(broken) == len(measurable) - (name == "widrow-hoff"), name


def test_a_range_that_was_not_told_is_on_trust() -> None:
    game = nr.play(nr.averaged(nr.WidrowHoff()), [([1.0], 0.5)] * 5)
    promise = game.certificate("online-to-batch-high-probability").theorem
    assert promise is not None
    found = next(found for found in promise.assumptions if "measured, not given" in found.name)
    assert found.holds is None
    assert found.limit == 0.25  # the first loss, of weights that are zero


def test_a_loss_that_can_be_negative_has_no_range() -> None:
    game = nr.play(nr.averaged(nr.GradientDescent(loss="linear", rate=0.1)), [([1.0], 0.5)] * 5)
    promise = game.certificate("online-to-batch-high-probability", largest_loss=1.0).theorem
    assert promise is not None
    assert promise.failed is not None
    assert promise.failed.name == "loss >= 0"


def test_the_mean_of_weights_has_no_promise_for_mistakes() -> None:
    game = nr.play(nr.averaged(nr.Perceptron()), [([1.0], 1)] * 5)
    promise = game.certificate("online-to-batch-high-probability", largest_loss=1.0).theorem
    assert promise is not None
    assert promise.failed is not None
    assert promise.failed.name == "the loss is convex"


@pytest.mark.parametrize("name", CASES)
def test_a_learner_that_knows_something_already_gets_no_promise(name: str) -> None:
    """The theorems speak of the first weights, so of games from the first round on."""
    learner, stream = CASES[name](Plan(5, 8, 3, "dense", "a rule"))
    rows = list(stream)
    learner.learn_one(*rows[0])
    promise = nr.play(learner, rows[1:]).certificate(name).theorem
    assert promise is not None
    assert promise.bound is None
    assert promise.holds is None
    assert promise.failed is not None
    assert promise.failed.name == STARTS
    assert promise.failed.first_violation == 1


def test_the_promise_is_of_the_first_theorem_whose_assumptions_held() -> None:
    """Data that cannot be separated: the perceptron's other theorem speaks."""
    certificate = nr.play(nr.Perceptron(), [([1.0], 1), ([1.0], -1)] * 3).certificate()
    assert certificate.theorem is not None
    assert certificate.theorem.name == "perceptron-any-data"
    assert certificate.theorem.holds is True


def test_a_loss_of_ones_own_is_taken_on_trust() -> None:
    own = nr.PythonLoss(lambda s, y: abs(s - y), lambda s, y: math.copysign(1.0, s - y), name="own")
    learner = nr.GradientDescent.tuned(loss=own, radius=1.0, lipschitz=1.0)
    rows = [([x], 0.3) for x in np.linspace(-1, 1, 20)]
    promise = nr.play(learner, rows).certificate().theorem
    assert promise is not None
    convex = next(f for f in promise.assumptions if "convex" in f.name)
    assert convex.holds is None
    assert promise.bound == pytest.approx(3 * np.sqrt(20))
