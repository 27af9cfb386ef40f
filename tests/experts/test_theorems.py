"""Every theorem about experts holds, on whatever games are drawn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.base.registry import all_of
from tests.experts.masters import (
    ALLOCATING,
    PLAIN,
    SLEEPING,
    VARIANTS,
    Floats,
    Shape,
    Variant,
    advice_of,
    losses_of,
    shapes,
)
from tests.thorough import few, in_turn


def check(game: Any) -> None:
    """Every theorem that speaks of this master holds, or says which assumption did not."""
    for theorem in game.player.theorems:
        if not theorem.covers(game.player.params) or theorem.warning:
            continue
        promise = game.certificate(theorem.name).theorem
        if promise.bound is None:
            assert any(found.holds is False for found in promise.assumptions), theorem.name
        else:
            assert promise.holds is True, (theorem.name, promise.measured, promise.bound)
            assert math.isfinite(promise.bound)


@few(shape=shapes(rounds=40))
@in_turn("variant", VARIANTS)
def test_with_advice(variant: Variant, shape: Shape) -> None:
    X, y = advice_of(variant, shape)
    prior = shape.rng.uniform(0.05, 1, shape.experts).tolist() if shape.seed % 2 else None
    check(nr.play(variant.make(prior=prior), X, y))


@few(shape=shapes(rounds=40, asleep=True))
@in_turn("variant", SLEEPING)
def test_with_advice_where_experts_sleep(variant: Variant, shape: Shape) -> None:
    X, y = advice_of(variant, shape)
    check(nr.play(variant.make(), X, y))


@few(shape=shapes(rounds=40, asleep=True))
@in_turn("variant", ALLOCATING)
def test_with_losses_alone(variant: Variant, shape: Shape) -> None:
    prior = shape.rng.uniform(0.05, 1, shape.experts).tolist() if shape.seed % 2 else None
    check(nr.play(variant.make(prior=prior), losses_of(shape)))
    check(nr.play(variant.make(), losses_of(shape._replace(asleep=0.0))))


def easy(variant: Variant) -> tuple[Floats, Floats]:
    """Return rounds that meet every assumption: in range, and one expert is never wrong."""
    X, y = advice_of(variant, Shape(5, 60, 4, "uniform"))
    X[:, 2] = np.round(y) if variant.votes else X[:, 2]
    return X, y


@in_turn("variant", PLAIN)
def test_a_bound_is_claimed_where_all_is_as_assumed(variant: Variant) -> None:
    certificate = nr.play(variant.make(), *easy(variant)).certificate()
    assert certificate.theorem is not None
    if variant.name == "follow-the-leader":
        assert certificate.theorem.bound is None
        return
    assert certificate.theorem.holds is True
    assert all(found.holds is not False for found in certificate.theorem.assumptions)


@in_turn("variant", VARIANTS)
def test_the_bound_on_the_way_is_the_one_at_the_end(variant: Variant) -> None:
    X, y = advice_of(variant, Shape(8, 80, 4, "walks"))
    game = nr.play(variant.make(), X, y)
    certificate = game.certificate()
    for point in game.points:
        if point.bound is not None and point.regret is not None:
            assert point.regret <= point.bound * (1 + 1e-9) + 1e-9 or not all(
                found.holds for found in certificate.theorem.assumptions
            )
    last = game.points[-1]
    promise = certificate.theorem
    same = (
        promise is not None and promise.quantity == "regret" and not game.player._round.linearised
    )
    if same and last.bound is not None and promise.bound is not None:
        assert last.regret == pytest.approx(certificate.regret.upper, rel=1e-9, abs=1e-9)
        if variant.params.get("schedule") != "horizon":  # whose first theorem is less sharp
            assert last.bound == pytest.approx(promise.bound, rel=1e-9)


# Formulas, as they are written in the theorems.


def test_tuned_masters_have_the_rates_and_bounds_of_the_books() -> None:
    T, n = 200, 6
    losses = np.random.default_rng(1).integers(0, 2, (T, n)).astype(float)
    log_n = math.log(n)
    known = {"horizon": T, "low": 0.0, "high": 1.0}
    for name, theorem, bound in (
        ("hedge", "hedge", math.sqrt(2 * T * log_n)),
        ("hedge", "hedge-hoeffding", math.sqrt(T * log_n / 2)),
    ):
        master = all_of("experts")[name].tuned(theorem, **known)
        promise = nr.play(master, losses).certificate().theorem
        assert promise.name == theorem
        assert promise.bound == pytest.approx(bound, rel=1e-12)
    promise = nr.play(nr.experts.Hedge(), losses).certificate().theorem
    assert promise.bound <= 2 * math.sqrt(T * log_n / 2) + math.sqrt(log_n / 8)
    promise = nr.play(nr.experts.AdaHedge(), losses).certificate().theorem
    spreads = np.ptp(losses, axis=1)
    expected = math.sqrt(log_n * (spreads**2).sum()) + 4 / 3 * log_n + 2
    assert promise.bound == pytest.approx(expected, rel=1e-12)


def test_the_bounds_of_averages_are_constants() -> None:
    X, y = np.random.default_rng(2).random((2, 300, 5))
    y = y[:, 0]
    for low, high in ((0.0, 1.0), (-2.0, 3.0)):
        wide = high - low
        rows = low + wide * X, low + wide * y
        for master, bound in (
            (nr.experts.WeightedAverage(low=low, high=high), 2 * wide**2 * math.log(5)),
            (nr.experts.Aggregating(low=low, high=high), wide**2 / 2 * math.log(5)),
        ):
            promise = nr.play(master, *rows).certificate().theorem
            assert promise.bound == pytest.approx(bound, rel=1e-12)
            assert promise.holds is True


def test_votes_cost_what_the_books_say() -> None:
    X, y = np.random.default_rng(3).integers(0, 2, (2, 100, 7)).astype(float)
    X[:, 3] = np.where(np.arange(100) % 9, y[:, 0], 1 - y[:, 0])
    wrong = (y[:, :1] != X).sum(axis=0).min()
    for beta in (0.2, 1 / math.e, 0.8):
        cost = math.log(1 / beta) * wrong + math.log(7)
        for name, by in (
            ("weighted-majority", math.log(2 / (1 + beta))),
            ("randomised-weighted-majority", 1 - beta),
        ):
            promise = nr.play(nr.experts.make(name, beta=beta), X, y[:, 0]).certificate().theorem
            assert promise.bound == pytest.approx(cost / by, rel=1e-12)
            assert promise.holds is True
    X[:, 3] = y[:, 0]
    promise = nr.play(nr.experts.Halving(), X, y[:, 0]).certificate().theorem
    assert promise.bound == pytest.approx(math.log2(7), rel=1e-12)
    assert promise.holds is True


def test_following_the_leader_fails_as_promised() -> None:
    losses = np.array([[0.5, 0.0]] + [[0.0, 1.0], [1.0, 0.0]] * 100)
    certificate = nr.play(nr.experts.FollowTheLeader(), losses).certificate()
    assert certificate.regret.lower >= len(losses) / 2 - 1
    assert certificate.theorem is not None
    assert certificate.theorem.bound is None
    cured = nr.play(nr.experts.AdaHedge(), losses).certificate()
    assert cured.regret.upper < 0.1 * certificate.regret.lower
