"""The blend of strategies: its wealth is the mean of theirs, and its promise holds."""

from __future__ import annotations

import math

import numpy as np
import pytest

import noregret as nr
from noregret.portfolios import BlendPortfolio, EgPortfolio, OnsPortfolio
from noregret.portfolios.strategies.blend_portfolio import strategies
from tests.portfolios.tables import usual


@pytest.mark.parametrize("seed", range(3))
def test_wealth_is_the_mean_of_the_strategies(seed: int) -> None:
    X = np.exp(0.1 * np.random.default_rng(seed).standard_normal((60, 4)))
    blend = BlendPortfolio()
    blend.learn_many(X)
    each = strategies()
    for member in each.values():
        member.learn_many(X)
    wealth = np.array([member.wealth for member in each.values()])
    assert blend.wealth == pytest.approx(wealth.mean(), rel=1e-10)
    np.testing.assert_allclose(list(blend.parts.values()), wealth / wealth.sum(), rtol=1e-9)
    held = np.array([member.weights() for member in each.values()])
    np.testing.assert_allclose(blend.weights(), wealth @ held / wealth.sum(), rtol=1e-9)


def test_the_promise_is_certified_and_verified() -> None:
    X = usual(50, 3)
    game = nr.play(BlendPortfolio(), X)
    certificate = game.certificate()
    assert certificate.theorem is not None
    assert certificate.theorem.name == "blend-portfolio"
    assert certificate.theorem.holds
    assert certificate.theorem.bound == pytest.approx(math.log(8))
    assert nr.verify(certificate, X).confirmed


def test_a_strategy_that_loses_everything_is_left_behind() -> None:
    rows = [[3.0, 1.0]] * 400 + [[0.0, 1.0]] * 2 + [[1.1, 1.0]] * 5
    blend = BlendPortfolio()
    blend.learn_many(rows)
    assert math.isfinite(blend.log_wealth)
    assert (blend.weights() >= 0).all()
    again = BlendPortfolio()
    again.set_state(*blend.get_state())
    np.testing.assert_array_equal(again.weights(), blend.weights())


def test_the_tighter_bound_of_exponentiated_gradient_is_stated() -> None:
    X = usual(200, 4)
    game = nr.play(EgPortfolio(), X)
    stated, other = game.certificate().theorem, game.certificate("eg-portfolio").theorem
    assert stated is not None
    assert other is not None
    assert stated.name == "eg-portfolio-spread"
    assert stated.bound is not None
    assert other.bound is not None
    assert stated.bound <= other.bound


def test_newton_has_the_published_parameters() -> None:
    assert OnsPortfolio().params | {"cost": 0.0} == {
        "rate": 1.0,
        "ridge": 1.0,
        "damping": 0.125,
        "cost": 0.0,
    }
