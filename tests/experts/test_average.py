"""Blend is never much worse than the plain average, whatever the outcomes are."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import noregret as nr
from noregret.experts import Blend
from noregret.experts.budget import Budget
from tests.thorough import sized

Floats = NDArray[np.float64]


def misled(n: int, rounds: int, seed: int, loss: str = "square") -> tuple[Floats, Floats]:
    """Return forecasts and outcomes chosen, knowing the forecast, to favour the average."""
    draw, master = np.random.default_rng(seed), Blend(loss=loss)
    X, y = draw.normal(size=(rounds, n)), np.empty(rounds)
    X[draw.random(X.shape) < 0.2] = np.nan
    X[:, 0] = np.where(np.isnan(X).all(axis=1), 0.0, X[:, 0])
    for t in range(rounds):
        row = [None if np.isnan(x) else float(x) for x in X[t]]
        average = float(np.nanmean(X[t]))
        y[t] = average - 3 * (master.predict_one(row) - average)
        master.learn_one(row, float(y[t]))
    return X, y


@pytest.mark.parametrize("loss", ["square", "absolute"])
def test_the_bound_holds_against_an_adversary_and_is_nearly_reached(loss: str) -> None:
    power = 2 if loss == "square" else 1
    for n in (2, 5):
        X, y = misled(n, sized(150, full=1000), n, loss)
        game = nr.play(Blend(loss=loss), X, y, predictions=True)
        paid = (np.abs(game.predictions - y) ** power).sum()
        average = (np.abs(np.nanmean(X, axis=1) - y) ** power).sum()
        beyond = [part for part in game.certificate().further if part.name == "blend-average"]
        assert len(beyond) == 1
        (found,) = beyond
        assert found.holds
        assert found.bound is not None
        assert paid <= found.bound * (1 + 1e-12)
        assert paid > average
        largest = (found.bound - 1.01 * average) / 2
        assert largest > 0
        assert nr.verify(game.certificate(), X, y).confirmed


def test_a_budget_is_kept_for_any_losses() -> None:
    draw = np.random.default_rng(3)
    for _ in range(sized(50, full=1000)):
        budget, rounds = Budget(), 60
        mixed = np.exp(draw.normal(size=rounds) * draw.uniform(0, 3))
        plain = np.exp(draw.normal(size=rounds) * draw.uniform(0, 3))
        paid = 0.0
        for t in range(rounds):
            rows = slice(t, t + 1)
            spent = budget.spend(mixed[rows], plain[rows], lambda losses, _: losses)
            paid += float(mixed[t] + (0.0 if spent is None else spent[1][0]))
            largest = max(0.0, float((mixed - plain)[: t + 1].max()))
            limit = 1.01 * plain[: t + 1].sum() + 2 * largest
            assert paid <= limit * (1 + 1e-12)
            np.testing.assert_allclose(budget.limit, limit)
        whole = Budget()
        whole.spend(mixed, plain, lambda losses, _: losses)
        assert whole.numbers == budget.numbers


def test_the_average_leaves_out_what_is_derived_from_the_others() -> None:
    draw = np.random.default_rng(4)
    y = draw.normal(size=50)
    X = y[:, None] + draw.normal(size=(50, 3))
    table = np.column_stack([X, X.mean(axis=1) + 5])
    master = Blend()
    master.check_names(["a", "b", "c", "corrected"])
    master.play_block(table, y, None)
    expected = ((X.mean(axis=1) - y) ** 2).sum()
    np.testing.assert_allclose(master._budget.numbers["average"], expected)
