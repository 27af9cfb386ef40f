"""Published results on real markets, if the data are installed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from noregret.hindsight.portfolio import best_asset, best_rebalanced
from noregret.portfolios import BuyAndHold, OnsPortfolio, UniformRebalanced
from tests.portfolios.tables import Floats
from tests.real_data import real_data


def market(name: str) -> Floats:
    """Return the relatives of a market; skip the test where they are not at hand."""
    contents = "a header, then price relatives, a row per day and a column per stock"
    return np.loadtxt(real_data(f"portfolio/{name}", contents), delimiter=",", skiprows=1)


@pytest.mark.parametrize(
    ("name", "asset", "uniform", "rebalanced", "held"),
    [("nyse_o.csv", 54.14, 27.08, 250.60, 14.50), ("djia.csv", 1.19, 0.81, 1.24, 0.76)],
)
def test_real_markets(
    name: str, asset: float, uniform: float, rebalanced: float, held: float
) -> None:
    X = market(name)
    assert math.exp(-best_asset(lambda: [X]).loss) == pytest.approx(asset, abs=0.005)
    best = best_rebalanced(lambda: [X])
    assert math.exp(-best.loss) == pytest.approx(rebalanced, abs=0.005)
    assert best.gap < 1e-6
    for strategy, known in ((UniformRebalanced(), uniform), (BuyAndHold(), held)):
        strategy.learn_many(X)
        assert strategy.wealth == pytest.approx(known, abs=0.005)


@pytest.mark.parametrize(("name", "known"), [("nyse_o.csv", 109.19), ("djia.csv", 1.53)])
def test_newton_as_it_was_published(name: str, known: float) -> None:
    strategy = OnsPortfolio(rate=1.0, ridge=1.0, damping=0.125)
    strategy.learn_many(market(name))
    assert strategy.wealth == pytest.approx(known, abs=0.005)
