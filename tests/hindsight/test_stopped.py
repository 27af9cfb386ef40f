"""A search that is stopped, whenever that is, states an interval that holds the minimum."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

import noregret as nr
from noregret.hindsight import (
    Answer,
    Limits,
    Rows,
    best_in_ball,
    best_in_box,
    best_in_simplex,
    best_linear,
    best_mistake_bound,
    best_penalised,
    largest_margin,
)
from noregret.hindsight.proofs.deadline import expired, time_limit
from tests.thorough import sized

Floats = NDArray[np.float64]
RANDOM = np.random.default_rng(5)


@dataclass
class Ticking:
    """A clock that goes on by one whenever it is looked at."""

    now: float = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def labels(X: Floats) -> Floats:
    scores = X @ RANDOM.standard_normal(X.shape[1]) + RANDOM.standard_normal(len(X))
    return np.where(scores > 0, 1.0, -1.0)


def shapes() -> dict[str, tuple[Any, Floats]]:
    """Return rows that are hard in one way or another."""
    plain = RANDOM.standard_normal((60, 5))
    heavy = plain * 10.0 ** RANDOM.integers(-4, 5, (60, 1))
    wide = sparse.random_array((50, 2_100), density=0.01, rng=RANDOM, format="csr")
    repeated = np.hstack([plain, plain, plain.sum(axis=1, keepdims=True)])
    huge = plain.copy()
    huge[7, 2] = 1e12
    return {
        "plain": (plain, labels(plain)),
        "collinear": (repeated, labels(plain)),
        "separable": (plain, np.sign(plain[:, 0])),
        "one row": (plain[:1], np.ones(1)),
        "one feature": (plain[:, :1], labels(plain)),
        "zeros": (np.zeros((20, 4)), RANDOM.choice([-1.0, 1.0], 20)),
        "heavy tails": (heavy, labels(plain)),
        "one huge value": (huge, labels(plain)),
        "duplicate rows": (np.repeat(plain[:6], 10, axis=0), np.repeat(labels(plain[:6]), 10)),
        "contradictions": (np.repeat(plain[:6], 10, axis=0), np.tile([-1.0, 1.0], 30)),
        "sparse": (sparse.csr_array(plain * (abs(plain) > 1.2)), labels(plain)),
        "wide": (wide, RANDOM.choice([-1.0, 1.0], 50)),
    }


SHAPES = shapes()
SEARCHES: dict[str, Callable[[Rows, Limits], Answer]] = {
    "logistic": lambda rows, limits: best_in_ball(rows, "logistic", 2.0, limits=limits),
    "hinge": lambda rows, limits: best_in_ball(rows, "hinge", 2.0, limits=limits),
    "absolute": lambda rows, limits: best_in_ball(rows, "absolute", 2.0, limits=limits),
    "box": lambda rows, limits: best_in_box(rows, "absolute", 0.5, limits=limits),
    "simplex": lambda rows, limits: best_in_simplex(rows, "logistic", limits=limits),
    "penalised": lambda rows, limits: best_penalised(rows, "logistic", 0.1, limits=limits),
    "square": lambda rows, limits: best_linear(rows, limits=limits),
    "mistakes": lambda rows, limits: best_mistake_bound(rows, limits=limits),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("search", SEARCHES)
def test_a_search_that_is_stopped_holds_the_minimum_between_its_ends(
    search: str, shape: str
) -> None:
    X, y = SHAPES[shape]
    sharp = SEARCHES[search](Rows(X, y), Limits())
    assert sharp.lower <= sharp.loss
    for seconds in (0.5, 3.5, 8.5, 20.5):
        clock = Ticking()
        found = SEARCHES[search](Rows(X, y), Limits(seconds=seconds, clock=clock))
        if math.isinf(found.reach):
            assert found.lower <= sharp.loss
        else:  # what is proven is about short weights alone
            assert found.lower <= best_in_ball(Rows(X, y), "square", found.reach).loss
        assert min(sharp.lower, sharp.loss) <= found.loss
        # Nobody went on after the time was over, but for finishing what has no end of its own.
        assert clock.now <= seconds + 45


@pytest.mark.parametrize("search", SEARCHES)
def test_very_many_features_do_not_keep_a_search_from_stopping(search: str) -> None:
    random, features = np.random.default_rng(5), sized(100_000, full=1_000_000)
    at = np.sort(random.integers(0, features, (20, 5)), axis=1).ravel()
    X = sparse.csr_array((np.ones(100), at, np.arange(0, 101, 5)), shape=(20, features))
    clock = Ticking()
    found = SEARCHES[search](
        Rows(X, random.choice([-1.0, 1.0], 20)), Limits(seconds=3.5, clock=clock)
    )
    assert found.lower <= found.loss < math.inf
    assert clock.now <= 3.5 + 45


def test_dual_ascent_that_is_stopped_early_states_the_loss_of_its_latest_predictor() -> None:
    X, y = SHAPES["wide"]
    for seconds in (0.5, 1.5, 2.5, 3.5, 4.5):
        limits = Limits(seconds=seconds, clock=Ticking())
        found = best_in_ball(Rows(X, y), "logistic", 2.0, limits=limits)
        assert found.loss < len(y) * math.log(2)


def test_a_margin_that_is_stopped_holds_the_largest() -> None:
    for X, y in (SHAPES["separable"], SHAPES["plain"], SHAPES["wide"]):
        sharp = largest_margin(Rows(X, y))
        for seconds in (0.5, 3.5, 8.5):
            found = largest_margin(Rows(X, y), limits=Limits(seconds=seconds, clock=Ticking()))
            assert found.lower <= sharp.upper
            assert sharp.lower <= found.upper


def test_more_time_never_widens_the_interval_of_one_search() -> None:
    X, y = SHAPES["plain"]
    gaps = [
        best_in_ball(Rows(X, y), "logistic", 2.0, limits=Limits(seconds=k, clock=Ticking())).gap
        for k in (0.5, 4.5, 8.5, 16.5, 99.5)
    ]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 1e-5 < gaps[0]


def test_inner_limits_never_reach_beyond_those_around_them() -> None:
    clock = Ticking()
    with time_limit(Limits(seconds=5, clock=clock)):
        with time_limit(Limits(seconds=1e9, clock=clock)):
            while not expired():
                assert clock.now < 20
        with time_limit(Limits(seconds=1e9, clock=Ticking())):  # by another clock
            assert not expired()
    assert not expired()


def test_after_some_patience_a_good_gap_is_enough() -> None:
    with time_limit(Limits(seconds=1e9, patience=3, clock=Ticking())):
        assert [expired(1e-4) for _ in range(4)] == [False, False, True, True]
        assert not expired(1e-2)


def test_the_gap_is_told_while_it_closes() -> None:
    X, y = SHAPES["plain"]
    told: list[float] = []
    best_in_ball(Rows(X, y), "logistic", 2.0, limits=Limits(told=told.append))
    assert told
    assert told == sorted(told, reverse=True)
    assert told[-1] <= 1e-6


# Certificates of whole games, as the command makes them.
LEARNERS: dict[str, tuple[str, dict[str, Any]]] = {
    "auto, labels": ("auto", {"loss": "logistic"}),
    "auto, numbers": ("auto", {}),
    "logistic": ("logistic", {"radius": 2.0}),
    "hinge": ("hinge", {}),
    "absolute": ("gradient-descent", {"loss": "absolute", "radius": 2.0}),
    "square": ("gradient-descent", {"loss": "square", "radius": 2.0}),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_certificate_stops_in_time_and_states_nothing_that_is_not_so(
    learner: str, shape: str
) -> None:
    X, y = SHAPES[shape]
    name, params = LEARNERS[learner]
    game = nr.play(nr.make(name, **params), X, y, progress=False)
    sharp = game.certificate().hindsight
    for seconds in (1.5, 12.5):
        clock = Ticking()
        found = game.certificate(limits=Limits(seconds=seconds, clock=clock)).hindsight
        assert found.loss >= sharp.loss - sharp.gap
        if found.comparator == sharp.comparator:
            assert found.loss - found.gap <= sharp.loss
        assert clock.now <= seconds + 45
