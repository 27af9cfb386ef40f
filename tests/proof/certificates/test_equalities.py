"""Theorems that exact numbers meet with equality: rounding alone is no broken promise."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.proof.certificates.issue import within
from tests.proof.certificates.roster import Entry, every, is_fixed
from tests.thorough import picked, sized

OFFSETS = (1.0, 1e4, 1e8, 1e12)
FAMILIES = ("learners", "experts", "filters")
FOUND = [
    entry
    for entry in every()
    if entry.name.partition(":")[0] in FAMILIES and isinstance(entry.X, np.ndarray)
]
ENTRIES = sized(FOUND[::3], full=FOUND)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_no_certificate_says_that_a_theorem_failed(entry: Entry) -> None:
    offset = OFFSETS[ENTRIES.index(entry) % len(OFFSETS)]
    moved = []
    for change in (np.add, np.multiply):
        moved.append(replace(entry, X=change(entry.X, offset)))
        if not is_fixed(entry):
            moved.append(replace(moved[-1], y=change(entry.y, offset)))
    for one in picked(moved, entry.name):
        try:
            with np.errstate(all="ignore"):
                certificate = one.certificate()
        except (nr.NoRegretError, ValueError):
            continue
        promises = (certificate.theorem, *certificate.further)
        assert [p for p in promises if p is not None and p.holds is False] == []


def rounded(offset: float, rounds: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(7)
    Z = rng.normal(size=(rounds, 3))
    return Z + offset, Z @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=rounds)


@pytest.mark.parametrize("offset", [1e4, 1e6, 1e7, 1e8, 1e9])
@pytest.mark.parametrize("rounds", [5, 24, 300])
def test_online_newton_on_columns_with_offsets_exceeds_its_bound_by_rounding_alone(
    offset: float, rounds: int
) -> None:
    X, y = rounded(offset, rounds)
    game = nr.play(nr.make("online-newton"), X, y)
    certificate = game.certificate()
    promise = certificate.theorem
    assert promise is not None
    assert promise.bound is not None
    assert promise.measured is not None
    assert promise.holds is not False
    excess = promise.measured - promise.bound
    if promise.holds is None:
        assert excess > 1e-9 * promise.bound
    # What scores of weights w are off by, times the slopes of the losses.
    scores = 2.0**-53 * X.shape[1] * np.linalg.norm(game.learner.weights)
    assert excess <= scores * math.sqrt(rounds * game.ledger.books.gradient_squares)
    assert nr.verify(certificate, X, y).failed == ()


def test_a_figure_beyond_rounding_is_said_to_exceed_its_bound() -> None:
    assert within(1.0, 1.0, 1.0, 1.0) is True
    assert within(1.1, 1.1, 1.0, 1.0) is False
    assert within(1.1, 1.1, 1.0, 1.0, 0.2) is None
    assert within(1.3, 1.3, 1.0, 1.0, 0.2) is False
    assert within(0.9, 1.1, 1.0, 1.0) is None


def test_a_verdict_that_rounding_does_not_allow_is_refused() -> None:
    X, y = next((X, y) for X, y in (rounded(1e8, n) for n in range(5, 60)) if undecided(X, y))
    certificate = nr.play(nr.make("online-newton"), X, y).certificate()
    assert certificate.theorem is not None
    for verdict in (True, False):
        lie = replace(certificate, theorem=replace(certificate.theorem, holds=verdict))
        assert not nr.verify(lie, X, y).confirmed


def undecided(X: Any, y: Any) -> bool:
    promise = nr.play(nr.make("online-newton"), X, y).certificate().theorem
    return promise is not None and promise.bound is not None and promise.holds is None


@pytest.mark.parametrize("rate", [0.3, 0.5])
def test_the_promise_of_averaged_nlms_is_about_the_weights_being_averaged(rate: float) -> None:
    X, y = rounded(1.0, 40)
    plain = nr.play(nr.Nlms(rate=rate), X, y).certificate().theorem
    mean = nr.play(nr.averaged(nr.Nlms(rate=rate)), X, y).certificate().theorem
    assert plain == mean
    assert plain is not None
    assert plain.holds
