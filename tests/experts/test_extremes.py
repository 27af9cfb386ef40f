"""Sizes at the ends of what numbers hold, and games that are long: the weights are still right."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import strategies as st

import noregret as nr
from tests.experts.masters import (
    ALLOCATING,
    PLAIN,
    SCALE_FREE,
    Floats,
    Shape,
    Variant,
    losses_of,
    played,
    shapes,
)
from tests.experts.test_laws import check_shares
from tests.thorough import few, in_turn, sized

AWAKE = [variant for variant in PLAIN if variant.takes_losses]


def exact_shares(losses: Floats, rate: float) -> Floats:
    """Return exp(−rate · loss) brought to sum 1, sums being exact."""
    totals = [sum(map(Fraction, column), Fraction(0)) for column in losses.T.tolist()]
    least = min(totals)
    logs = [-Fraction(rate) * (total - least) for total in totals]
    weights = np.array([math.exp(float(max(log, Fraction(-800)))) for log in logs])
    return np.asarray(weights / weights.sum())


@few(shape=shapes(), size=st.sampled_from([1e-300, 1e-150, 1e-9, 1e9, 1e150, 1e299]))
@in_turn("variant", ALLOCATING)
def test_losses_of_any_size_leave_weights(variant: Variant, shape: Shape, size: float) -> None:
    losses = size * losses_of(shape)
    master = variant.make()
    _, used = played(master, losses)
    check_shares(used)
    check_shares(master.weights()[None])
    assert np.isfinite(master.total_loss)
    assert np.isfinite(master.expert_losses).all()
    if variant in SCALE_FREE and master.price is not None:
        assert (master.regrets <= np.asarray(master.price) * (1 + 1e-9)).all()


@in_turn("variant", ALLOCATING)
def test_one_enormous_loss(variant: Variant) -> None:
    """The expert with that loss is out, or refuses it; the others are weighed as before."""
    rng = np.random.default_rng(1)
    losses = rng.random((60, 4))
    losses[20, 3] = 1e300
    _, used = played(variant.make(), losses)
    check_shares(used)
    if not variant.scale_free and variant.name != "fixed-share":
        assert (used[21:, 3] == 0).all()
    if variant.params.get("schedule") == "constant" or variant.name == "weighted-average":
        _, others = played(variant.make(), losses[:, :3].copy())
        np.testing.assert_allclose(used[21:, :3], others[21:], rtol=1e-12)


def test_weights_after_two_enormous_losses_are_those_of_what_came_after() -> None:
    losses = np.array([[1e300, 0.0], [0.0, 1e300]] + [[0.0, 0.5]] * 7)
    master = nr.experts.Hedge(schedule="constant", rate=1.0)
    master.learn_many(losses)
    ratio = master.weights()[1] / master.weights()[0]
    assert ratio == pytest.approx(math.exp(-3.5), rel=1e-14)


def test_weights_come_back_from_nothing() -> None:
    """Losses beyond the range of exp can be made up for: weights are never products."""
    master = nr.experts.Hedge(schedule="constant", rate=1.0)
    master.learn_losses([5000.0, 0.0])
    assert master.weights().tolist() == [0.0, 1.0]
    master.learn_losses([0.0, 5001.0])
    assert master.weights()[1] == pytest.approx(1 / (1 + math.e), rel=1e-12)


@pytest.mark.parametrize("rate", [1e-6, 1e-3, 1.0])
def test_many_rounds(rate: float) -> None:
    rng = np.random.default_rng(2)
    losses = rng.random((sized(100_000, full=1_000_000), 4))
    losses[:, 0] += 3e-6
    master = nr.experts.Hedge(schedule="constant", rate=rate)
    master.learn_many(losses)
    exact = [math.fsum(column) for column in losses.T]
    expected = np.exp(-rate * (np.array(exact) - min(exact)))
    np.testing.assert_allclose(
        master.weights(), expected / expected.sum(), rtol=1e-7 * rate + 1e-11
    )
    np.testing.assert_allclose(master.expert_losses, exact, rtol=1e-12)


@in_turn("variant", AWAKE)
def test_a_long_game_keeps_its_books(variant: Variant) -> None:
    losses = np.random.default_rng(3).random((sized(10_000, full=100_000), 3))
    master = variant.make()
    _, used = played(master, losses)
    check_shares(used[::1000])
    own = math.fsum(np.einsum("ij,ij->i", used, losses))
    assert master.total_loss == pytest.approx(own, rel=1e-11)
    exact = [math.fsum(column) for column in losses.T]
    np.testing.assert_allclose(master.expert_losses, exact, rtol=1e-11)


@in_turn("variant", SCALE_FREE)
def test_ranges_of_subnormal_numbers(variant: Variant) -> None:
    rng = np.random.default_rng(4)
    losses = rng.integers(0, 50, (60, 3)).astype(np.float64) * 5e-324
    master = variant.make()
    _, used = played(master, losses)
    check_shares(used)
    check_shares(master.weights()[None])
    if master.price is not None:  # means of such numbers are rounded to multiples of the smallest
        assert (master.regrets <= np.asarray(master.price) + 60 * 5e-324).all()


@in_turn("variant", AWAKE)
def test_from_one_end_of_the_numbers_to_the_other(variant: Variant) -> None:
    sizes = [5e-324, 1e-310, 1e-290, 1e-150, 1.0, 1e150, 1e299, 1e-300, 1.0]
    rng = np.random.default_rng(5)
    losses = np.concatenate([size * rng.random((7, 3)) for size in sizes])
    master = variant.make()
    _, used = played(master, losses)
    check_shares(used)
    price = master.price
    if variant.scale_free and price is not None:
        assert (master.regrets <= np.asarray(price) * (1 + 1e-9)).all()


@in_turn("variant", AWAKE)
def test_a_prior_of_next_to_nothing(variant: Variant) -> None:
    """Even where only such an expert is regretted, and by next to nothing."""
    losses = np.array([[1.0, 2.0], [2.0, 1.0], [1e-25, 0.0], [1e-25, 0.0], [1.0, 0.0]])
    _, used = played(variant.make(prior=[1.0, 1e-289]), losses)
    check_shares(used)


@pytest.mark.parametrize("wide", [1e-300, 1e-30, 1e30, 1e299])
def test_hedge_over_any_range(wide: float) -> None:
    losses = wide * np.random.default_rng(6).random((50, 4))
    for how in ({}, {"schedule": "horizon", "horizon": 50}):
        game = nr.play(nr.experts.Hedge(high=wide, **how), losses)
        promise = game.certificate().theorem
        assert promise is not None
        assert promise.holds is True
        plain, used = nr.experts.Hedge(**how), np.empty(losses.shape)
        plain.play_block(losses / wide, None, None, used)
        np.testing.assert_allclose(game.player.weights(), plain.weights(), rtol=1e-9)


@pytest.mark.parametrize("name", ["weighted-average", "aggregating", "fixed-share"])
@pytest.mark.parametrize(("low", "high"), [(0.0, 1e200), (0.0, 1e-200), (-1.7e308, 1.7e308)])
def test_ranges_whose_squares_are_no_numbers_are_refused(
    name: str, low: float, high: float
) -> None:
    with pytest.raises(ValueError, match="range"):
        nr.experts.make(name, low=low, high=high)


@pytest.mark.parametrize("name", ["weighted-average", "aggregating"])
@pytest.mark.parametrize("wide", [1e-100, 1e-9, 1e9, 1e100])
def test_averages_over_any_range(name: str, wide: float) -> None:
    X = wide * np.random.default_rng(7).random((50, 4))
    y = wide * np.random.default_rng(8).random(50)
    promise = nr.play(nr.experts.make(name, high=wide), X, y).certificate().theorem
    assert promise is not None
    assert promise.holds is True


def test_hedge_is_exact_to_the_last_digits() -> None:
    for seed in range(20):
        losses = losses_of(Shape(seed, 50, 5, ("uniform", "any scale", "walks")[seed % 3]))
        for rate in (0.1, 1.0, 30.0):
            master = nr.experts.Hedge(schedule="constant", rate=rate)
            master.learn_many(losses)
            expected = exact_shares(losses, rate)
            np.testing.assert_allclose(master.weights(), expected, rtol=1e-12, atol=1e-290)


# Forecasts that are certain.


@pytest.mark.parametrize(
    "name", ["weighted-average", "aggregating", "fixed-share", "hedge", "blend"]
)
def test_certain_and_wrong_is_out_and_certain_and_right_is_free(name: str) -> None:
    master = nr.experts.make(name, loss="log")
    for _ in range(10):
        master.learn_one([1.0, 0.0, 0.6], 1.0)
    weights = master.weights()
    check_shares(weights[None])
    assert weights[1] < 0.02
    assert weights.argmax() == 0
    assert np.isfinite(master.total_loss)
    game = nr.play(nr.experts.make(name, loss="log"), [[1.0, 0.0, 0.6]] * 10, [1.0] * 10)
    found = game.certificate()
    assert found.hindsight.loss <= 1e-14
    assert found.theorem is None or found.theorem.holds is not False


@in_turn("variant", PLAIN)
def test_an_infinite_loss_of_the_mixture_is_refused(variant: Variant) -> None:
    if variant.votes:
        pytest.skip("votes are never sure of anything but a mistake")
    if "loss" not in variant.make().params:
        pytest.skip("it has no log loss")
    master = variant.make(loss="log")
    with pytest.raises(nr.BadExample, match="probability 0 to what happened"):
        master.learn_one([0.0, 0.0], 1.0)
    assert master.rounds == 0


def test_forecasts_as_large_as_can_be() -> None:
    for name in ("ml-poly", "boa", "squint", "ada-hedge", "blend"):
        for loss in ("square", "absolute"):
            master = nr.experts.make(name, loss=loss)
            size = 1e149 if loss == "square" else 1e150
            for t in range(20):
                master.learn_one([size, -size, size * (t % 3 - 1)], size / 3)
            check_shares(master.weights()[None])
            assert math.isfinite(master.total_loss)
