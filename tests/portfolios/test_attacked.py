"""Numbers and parameters at the edge of what float64 holds: nothing false is said of them."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.portfolios import (
    BuyAndHold,
    EgPortfolio,
    OnsPortfolio,
    UniformRebalanced,
    UniversalPortfolio,
)
from tests.portfolios.tables import usual

LEAP = np.array([[1000.0, 1.0, 1.0]])


# The universal portfolio, by few points or by very many.


@pytest.mark.parametrize("points", [2, 3, 10, 99])
@pytest.mark.parametrize("seed", range(4))
def test_the_error_of_few_points_is_not_known(points: int, seed: int) -> None:
    game = nr.play(UniversalPortfolio(points=points, seed=seed), LEAP)
    assert game.player.error == math.inf
    assert game.player.bound_so_far() is None
    certificate = game.certificate()
    assert certificate.theorem is not None
    assert certificate.theorem.name == "universal-portfolio-drawn"
    assert certificate.theorem.holds
    refused = game.certificate("universal-portfolio")
    assert refused.theorem is not None
    assert refused.theorem.bound is None
    assert nr.verify(json.loads(refused.to_json()), LEAP).confirmed


def test_one_point_is_refused() -> None:
    with pytest.raises(ValueError, match="points must be 2 at least"):
        UniversalPortfolio(points=1)


def test_fewer_points_than_assets_say_nothing_of_all_portfolios() -> None:
    strategy = UniversalPortfolio(points=200)
    strategy.learn_many(usual(3, 200))
    assert strategy.error == math.inf
    assert UniversalPortfolio(points=200).copy().error == 0.0


def test_a_hundred_points_are_enough_for_one_leap() -> None:
    for seed in range(10):
        promise = nr.play(UniversalPortfolio(points=100, seed=seed), LEAP).certificate().theorem
        assert promise is not None
        assert promise.holds


def test_points_do_not_matter_where_none_are_drawn() -> None:
    for assets in (1, 2):
        promise = nr.play(UniversalPortfolio(points=2), usual(9, assets)).certificate().theorem
        assert promise is not None
        assert promise.name == "universal-portfolio"
        assert promise.holds


def test_points_that_would_fill_memory_are_refused() -> None:
    with pytest.raises(nr.NoRegretError, match="fewer points, 1000000 at most"):
        UniversalPortfolio(points=44_000_000).learn(np.ones(3))


def test_one_of_two_points_may_have_all_the_wealth() -> None:
    for rounds in (20, 60, 200, 1000):
        X = np.tile([1000.0, 1.0, 1.0], (rounds, 1))
        certificate = nr.play(UniversalPortfolio(points=2, seed=1), X).certificate()
        assert certificate.theorem is not None
        assert certificate.theorem.bound == math.log(2)
        assert certificate.theorem.holds
        assert nr.verify(certificate, X).confirmed


# Buying and holding what has become too little for a number.


@pytest.mark.parametrize("cost", [0.0, 0.1])
def test_shares_that_vanish_come_back(cost: float) -> None:
    X = np.array([[1e200, 1e-200], [1e-300, 1e300]])
    game = nr.play(BuyAndHold(cost=cost), X, predictions=True)
    wanted = math.log(0.5) + 100 * math.log(10)
    assert game.player.log_wealth == pytest.approx(wanted, rel=1e-12)
    assert game.player.weights().tolist() == [pytest.approx(0.0, abs=1e-80), 1.0]
    assert math.log(game.predictions[1]) == pytest.approx(-100 * math.log(10), rel=1e-12)
    if cost:
        assert game.player._drifted.tolist() == [pytest.approx(0.0, abs=1e-80), 1.0]
    certificate = game.certificate()
    assert certificate.theorem is not None
    assert certificate.theorem.holds
    assert nr.verify(certificate, X).confirmed


def test_wealth_held_is_the_mean_of_the_assets_whatever_they_do() -> None:
    rng = np.random.default_rng(5)
    X = 10.0 ** rng.uniform(-300, 300, (40, 4))
    strategy = BuyAndHold()
    strategy.learn_many(X)
    logs = np.log(X).sum(axis=0)
    wanted = logs.max() + math.log(np.exp(logs - logs.max()).mean())
    assert strategy.log_wealth == pytest.approx(wanted, rel=1e-11)


# Parameters of the online Newton step, and of exponentiated gradient.


@pytest.mark.parametrize(
    "params",
    [
        {"damping": 1e30},
        {"damping": 1e-30},
        {"rate": 1e-90},
        {"rate": 5e-324},
        {"ridge": 1e99},
        {"ridge": 5e-324},
    ],
)
def test_parameters_of_which_only_rounding_is_left(params: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(params))} must be a number from 1e-"):
        OnsPortfolio(**params)


@pytest.mark.parametrize("rate", [1e-12, 0.5, 1.0])
@pytest.mark.parametrize("ridge", [1e-12, 16.0, 1e30])
@pytest.mark.parametrize("damping", [1e-9, 1.0, 1e9])
def test_shares_are_shares_at_the_ends_of_the_ranges(
    rate: float, ridge: float, damping: float
) -> None:
    for X in (np.array([[1.1, 1.0, 0.9]]), usual(60, 3, width=3.0), usual(60, 4, width=1e-9)):
        strategy = OnsPortfolio(rate=rate, ridge=ridge, damping=damping)
        strategy.learn_many(X)
        assert (strategy.weights() >= 0).all()
        assert strategy.weights().sum() == pytest.approx(1.0)
        bound = strategy.bound_so_far()
        assert bound is None or math.isfinite(bound)


def test_a_strong_pull_is_the_same_as_to_hold_the_leader() -> None:
    strategy = OnsPortfolio(damping=1e9)
    strategy.learn([1.0, 1.2, 1.2])
    assert strategy.weights().tolist() == pytest.approx([0.0, 0.5, 0.5])


def test_a_file_cannot_hold_more_than_its_rounds_bring() -> None:
    strategy = OnsPortfolio()
    strategy.learn_many(usual(5, 3))
    arrays, numbers, names = strategy.get_state()
    for key, value in (("slope", np.full(3, 1e300)), ("curvature", np.full((3, 3), 1e300))):
        with pytest.raises(ValueError, match="too large for the number of rounds"):
            OnsPortfolio().set_state(arrays | {key: value}, numbers, names)


def test_ratios_of_the_tuning_have_an_end() -> None:
    assert OnsPortfolio.tuned(ratio=1e12, assets=3).rate >= 1e-12
    with pytest.raises(ValueError, match="ratio must be a number from 1 to 1e"):
        OnsPortfolio.tuned(ratio=1e13, assets=3)


def test_no_bound_is_infinite() -> None:
    strategy = EgPortfolio(rate=5e-324)
    strategy.learn([1.0, 1.1])
    bound = strategy.bound_so_far()
    assert bound is not None
    assert math.isfinite(bound)


# Equal shares, where an asset comes to nothing.


@pytest.mark.parametrize("cost", [0.0, 0.1])
def test_a_mean_that_does_not_exist_is_not_measured(cost: float) -> None:
    X = np.array([[1.0, 0.0, 2.0], [1.0, 2.0, 1.0]])
    certificate = nr.play(UniformRebalanced(cost=cost), X).certificate("uniform-rebalanced")
    assert certificate.theorem is not None
    assert certificate.theorem.measured is None
    assert nr.verify(json.loads(certificate.to_json()), X).confirmed
