"""A certificate whose search was cut short: confirmed as far as it is proven, and no further."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from noregret import Certificate, play, verify
from noregret.base.registry import built, find
from noregret.hindsight import Limits
from noregret.proof.certificates.certificate import Interval
from tests.hindsight.test_stopped import Ticking
from tests.thorough import paired, sized

RANDOM = np.random.default_rng(11)
ROWS = 120
WIDE_ROWS = sized(40, full=ROWS)
WIDE = sparse.random_array((WIDE_ROWS, 2_100), density=0.01, rng=RANDOM, format="csr")
NARROW = RANDOM.standard_normal((ROWS, 6))
LABELS = np.where(NARROW @ np.arange(6) + 3 * RANDOM.standard_normal(ROWS) > 0, 1.0, -1.0)
GAMES: dict[str, tuple[str, dict[str, Any], Any, Any]] = {
    "logistic": ("auto", {"loss": "logistic"}, NARROW, LABELS),
    "absolute": ("auto", {"loss": "absolute"}, NARROW, LABELS),
    "square, wide": ("auto", {}, WIDE, RANDOM.standard_normal(WIDE_ROWS)),
    "logistic, wide": ("auto", {"loss": "logistic"}, WIDE, LABELS[:WIDE_ROWS]),
    "perceptron": ("perceptron", {}, NARROW, LABELS),
    "descent": ("gradient-descent", {"loss": "logistic", "radius": 2.0}, NARROW, LABELS),
}


def stopped(name: str, seconds: float) -> Certificate:
    learner, params, X, y = GAMES[name]
    game = play(built(find(learner, "learners"), params), X, y, keep="rows")
    found: Certificate = game.certificate(limits=Limits(seconds=seconds, clock=Ticking()))
    return found


def regretting(certificate: Certificate, loss: float, gap: float) -> Certificate:
    """Return a certificate of another interval, with the regret that follows."""
    best = replace(certificate.hindsight, loss=loss, gap=gap)
    paid = certificate.loss.total
    return replace(certificate, hindsight=best, regret=Interval(paid - loss, paid - (loss - gap)))


@pytest.mark.parametrize(("name", "seconds"), paired(GAMES, [1.5, 6.5, 20.5]))
def test_an_honest_interval_is_confirmed_however_wide(name: str, seconds: float) -> None:
    found = stopped(name, seconds)
    _, _, X, y = GAMES[name]
    assert found.hindsight.seconds in (seconds, None)  # some end before
    assert Certificate.from_dict(found.to_dict()) == found
    seen = verify(found, X, y)
    assert seen.confirmed, [line for line in seen.lines if not line.confirmed]


@pytest.mark.parametrize("name", ["logistic", "absolute", "logistic, wide", "descent"])
def test_an_interval_made_narrower_is_not(name: str) -> None:
    found = stopped(name, 4.5)
    _, _, X, y = GAMES[name]
    best = found.hindsight
    assert not verify(regretting(found, best.loss, 1e-9 * best.loss), X, y).confirmed
    # A witness that pays less than it does.
    assert not verify(regretting(found, 0.9 * best.loss, best.gap), X, y).confirmed


def test_a_wide_interval_is_not_confirmed_as_one_that_was_searched_to_the_end() -> None:
    found = stopped("logistic", 1.5)
    unsaid = replace(found, hindsight=replace(found.hindsight, seconds=None))
    assert not verify(unsaid, NARROW, LABELS).confirmed


def test_more_than_is_proven_of_all_linear_predictors_is_not_confirmed() -> None:
    found = stopped("square, wide", 6.5)
    _, _, X, y = GAMES["square, wide"]
    all_of_them = replace(found.hindsight, comparator="all linear predictors", gap=1e-3)
    lie = replace(found, hindsight=all_of_them)
    lie = replace(lie, regret=Interval(found.regret.lower, found.regret.lower + 1e-3))
    assert not verify(lie, X, y).confirmed


def test_a_certificate_that_is_asked_for_again_says_the_same() -> None:
    learner, params, X, y = GAMES["logistic"]
    game = play(built(find(learner, "learners"), params), X, y, keep="rows")
    limits = Limits(seconds=1.5, clock=Ticking())
    assert game.certificate(limits=limits) == game.certificate(limits=limits)


def test_a_search_that_came_to_its_end_says_nothing_of_seconds() -> None:
    learner, params, X, y = GAMES["logistic"]
    game = play(built(find(learner, "learners"), params), X, y)
    assert game.certificate().hindsight.seconds is None
    assert "seconds" not in game.certificate().to_dict()["hindsight"]


def test_the_time_of_a_search_is_not_checked_and_says_so() -> None:
    found = stopped("logistic", 1.5)
    checked = verify(found, NARROW, LABELS)
    marks = {line.name: line.mark for line in checked.lines}
    assert marks.pop("hindsight.seconds") == "not checked"
    assert set(marks.values()) == {"confirmed"}
    assert f"{len(marks)} of {len(marks)} lines confirmed" in repr(checked)
    assert "not checked" in str(checked)
