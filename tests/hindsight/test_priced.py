"""The best of predictors that pay by the weight, against an independent search."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from noregret.base.compiled.losses import make_loss
from noregret.hindsight import Rows
from noregret.hindsight.solvers.priced import best_priced
from noregret.learners import coin_betting, scale_invariant
from tests.reference import VALUES, Floats

BETS = np.array([60.0, 60.0, 5.0, 0.0])
SIZES, ODDS = np.array([8.0, 8e3, 8e-3, 0.0]), np.array([3.0, 3.0, 1.0, 0.25])


def coin_prices(u: Floats) -> Floats:
    return np.asarray(coin_betting.price(u, BETS, 0.5))


def coin_bends(u: Floats) -> Floats:
    return coin_betting.bend(u, BETS, 0.5)


def unit_prices(u: Floats) -> Floats:
    return scale_invariant.price(u, SIZES, ODDS)


def unit_bends(u: Floats) -> Floats:
    return scale_invariant.bend(u, SIZES, ODDS)


@pytest.mark.parametrize("bets", [True, False])
def test_the_parabola_touches_the_price_and_lies_above_it(bets: bool) -> None:
    prices, bends = (coin_prices, coin_bends) if bets else (unit_prices, unit_bends)
    rng = np.random.default_rng(0)
    units = np.ones(4) if bets else np.append(1 / SIZES[:3], 1.0)
    for _ in range(300):
        u, v = (units * 10.0 ** rng.uniform(-3, 3, size=4) for _ in range(2))
        above = prices(u) + bends(u) * (v**2 - u**2)
        assert np.all((prices(v) <= above * (1 + 1e-9) + 1e-12)[:3])
        step = 1e-6 * u
        slope = (prices(u + step) - prices(u - step)) / (2 * step)
        np.testing.assert_allclose(2 * bends(u)[:3] * u[:3], slope[:3], rtol=1e-5)


@pytest.mark.parametrize("loss", ["logistic", "huber", "square", "absolute"])
@pytest.mark.parametrize("bets", [True, False])
def test_nobody_finds_a_lower_total(loss: str, bets: bool) -> None:
    prices, bends = (coin_prices, coin_bends) if bets else (unit_prices, unit_bends)
    rng = np.random.default_rng(1)
    units = np.ones(4) if bets else np.array([1.0, 1e3, 1e-3, 1.0])
    Z = rng.normal(size=(60, 4)) * [1.0, 1.0, 1.0, 0.0]
    score = Z @ np.array([4.0, -4.0, 0.1, 0.0]) + rng.normal(size=60)
    y = np.where(score > 0, 1.0, -1.0) if loss == "logistic" else 5 * score
    parameter = 1.0

    def total(v: Floats) -> float:
        paid = sum(VALUES[loss](s, t, parameter) for s, t in zip(Z @ v, y, strict=True))
        return float(paid + prices(v / units).sum())

    found = best_priced(Rows(Z * units, y), make_loss(loss), prices, bends, np.zeros(4))
    least = min(
        minimize(total, start, method="Nelder-Mead", options={"maxiter": 4000, "fatol": 1e-9}).fun
        for start in (np.ones(4), np.array([2.0, -2.0, 0.0, 0.0]))
    )
    assert total(found * units) <= least * (1 + 1e-3)
