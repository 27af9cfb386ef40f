"""Blend is never much worse than the plain average, whatever the outcomes are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import noregret as nr
from noregret.base.expert_losses import expert_loss
from noregret.experts import Blend
from noregret.experts.engine.budget import Budget, averages
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
        y[t] = average - np.copysign(1.0, master.predict_one(row) - average)
        master.learn_one(row, float(y[t]))
    return X, y


@pytest.mark.parametrize("loss", ["square", "absolute"])
def test_the_bound_holds_against_an_adversary(loss: str) -> None:
    power = 2 if loss == "square" else 1
    for n in (2, 5):
        X, y = misled(n, sized(150, full=1000), n, loss)
        game = nr.play(Blend(loss=loss), X, y, predictions=True)
        paid = (np.abs(game.predictions - y) ** power).sum()
        average = np.abs(np.nanmean(X, axis=1) - y) ** power
        beyond = [part for part in game.certificate().further if part.name == "blend-average"]
        assert len(beyond) == 1
        (found,) = beyond
        assert found.holds
        assert found.bound is not None
        assert paid <= found.bound * (1 + 1e-12)
        assert paid > average.sum()
        assert found.bound >= (1.008 * average.sum() + 0.01 * average[:10].sum()) * (1 - 1e-12)
        assert nr.verify(game.certificate(), X, y).confirmed


LOSSES: dict[str, float | None] = {
    "square": None,
    "absolute": None,
    "quantile": 0.9,
    "percentage": None,
    "log": None,
}


def forecasts_of(draw: np.random.Generator, loss: str, rounds: int) -> Any:
    """Return two series of forecasts and outcomes, with jumps by orders of magnitude."""
    if loss == "log":
        a, b = draw.beta(0.5, 0.5, (2, rounds))
        return np.clip(a, 1e-9, 1 - 1e-9), b, (draw.random(rounds) < 0.5) * 1.0
    sizes = np.exp(draw.normal(size=(3, rounds)) * draw.uniform(0, 3))
    a, b, y = sizes * draw.normal(size=(3, rounds))
    return a, b, np.where(np.abs(y) < 1e-3, 1.0, y)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_budget_is_kept_for_any_forecasts_and_outcomes(loss: str) -> None:
    draw, cost = np.random.default_rng(3), expert_loss(loss, LOSSES[loss]).value
    for _ in range(sized(50, full=1000)):
        a, b, y = forecasts_of(draw, loss, 80)
        budget, said = Budget(loss, LOSSES[loss]), b.copy()
        plain, mixed, spent, jump, counted = cost(a, y), cost(b, y), 0.0, 0.0, 0
        for t in range(len(y)):
            row = slice(t, t + 1)
            trust, moved = budget.spend(said[row], a[row], y[row])
            assert 0 <= trust[0] <= 1
            np.testing.assert_allclose(said[t], a[t] + trust[0] * (b[t] - a[t]), 1e-9)
            own = float(cost(said[t], y[t]))
            assert moved[0] == pytest.approx(own - mixed[t], rel=1e-6, abs=1e-9)
            most = 0.008 * plain[: t + 1].sum() + 0.01 * plain[: min(10, t + 1)].sum()
            most += np.log(2) if loss == "log" else 0.0
            spent += own - plain[t]
            if spent > most * (1 + 1e-12):
                assert unforeseen(loss, a, b, y, plain, mixed, t)
                jump, spent, counted = jump + spent - most, most, counted + 1
            paid, limit = cost(said[: t + 1], y[: t + 1]).sum(), plain[: t + 1].sum() + most + jump
            assert paid <= limit * (1 + 1e-9)
            np.testing.assert_allclose(budget.limit, limit, rtol=1e-7)
        if loss == "square" and counted:
            errors, lows, highs = np.abs(a - y), np.minimum.accumulate(y), np.maximum.accumulate(y)
            widths = highs - lows
            growth = np.log(errors.max() / errors[0]) / np.log(1.25)
            assert counted <= 2 + growth + np.log(widths[-1] / widths[1]) / np.log(1.2)
        whole, at_once = Budget(loss, LOSSES[loss]), b.copy()
        whole.spend(at_once, a, y)
        assert whole.get_state() == budget.get_state()
        np.testing.assert_array_equal(at_once, said)


def unforeseen(
    loss: str, a: Floats, b: Floats, y: Floats, plain: Floats, mixed: Floats, t: int
) -> bool:
    """Return whether the theorem lets round t count among those that were not covered."""
    if loss != "square":
        slopes = np.abs(mixed - plain)[: t + 1] / np.abs(b - a)[: t + 1]
        certain = ("absolute", "quantile", "log")
        return loss not in certain and slopes[t] > 1.25 * slopes[:t].max(initial=0) * (1 - 1e-12)
    return bool(worst_error(a, b, y, t) < (a[t] - y[t]) * np.sign(b[t] - a[t]))


def worst_error(a: Floats, b: Floats, y: Floats, t: int) -> float:
    """Return the largest a - y that is foreseen in round t if b is above a; else y - a."""
    if t == 0:
        return 0.0
    error = float(np.abs(a - y)[:t].max())
    side = float(np.sign(b[t] - a[t]))
    low, high = (side * y[:t]).min(), (side * y[:t]).max()
    end = side * a[t] - (low - 0.2 * (1 + 4 / t) * (high - low))
    return 1.25 * error if end < -3 * error else min(1.25 * error, float(end))


SIZES = np.geomspace(1e-9, 10, 2001)


def worst(errors: Floats, step: float, part: float) -> float:
    """Return the most that a step from the average costs beyond what it adds to the budget."""
    return float(((errors + step) ** 2 - (1 + part) * errors**2).max())


def test_a_forecast_departs_as_far_as_the_worst_outcome_that_is_foreseen_allows() -> None:
    draw, steps = np.random.default_rng(5), 0
    for _ in range(sized(20, full=400)):
        a, b, y = forecasts_of(draw, "square", 40)
        budget = Budget()
        for t in range(len(y)):
            left = max(0.0, budget.allowed - budget.beyond)
            (trust, _), part = budget.spend(b[t : t + 1].copy(), a[t : t + 1], y[t : t + 1]), 0.008
            if t == 0:
                assert trust[0] == 0
                continue
            part += 0.01 if t < 10 else 0.0
            far, distance = worst_error(a, b, y, t), abs(b[t] - a[t])
            near = np.concatenate([[far, 0.0], np.outer([-1.0, 1.0], SIZES).ravel() * abs(far)])
            errors = near[near <= far]
            scale = left + far**2 + distance**2

            theta = float(trust[0])
            assert worst(errors, theta * distance, part) <= left + 1e-9 * scale
            if theta < 1:
                steps += 1
                more = worst(errors, 1.001 * theta * distance, part)
                assert more >= left * (1 - 1e-3) - 1e-9 * scale
    assert steps > 100


def test_an_average_dragged_far_away_by_one_expert_is_left_at_once() -> None:
    """Learners of unequal quality: one of them now and then far outside the outcomes."""
    draw, ratios = np.random.default_rng(7), []
    for _ in range(sized(8, full=100)):
        y = draw.normal(size=1000)
        good = y[:, None] + draw.normal(size=(1000, 2)) * [0.3, 0.5]
        wild = y + 5 * draw.standard_t(2, size=1000)
        X = np.column_stack([good, wild])
        said, best = np.empty(1000), np.empty(1000)
        Blend().play_block(X, y, said)
        nr.experts.AdaHedge().play_block(X, y, best)
        ratios.append(((said - y) ** 2).sum() / ((best - y) ** 2).sum())
    assert np.median(ratios) < 1.03
    assert np.mean(ratios) < 1.2


def test_a_budget_is_kept_for_any_losses_that_are_given() -> None:
    draw = np.random.default_rng(4)
    for _ in range(sized(50, full=1000)):
        mixed, plain = drawn_losses(draw, 60), drawn_losses(draw, 60)
        budget, said, paid = Budget(), mixed.copy(), 0.0
        for t in range(60):
            row, largest = slice(t, t + 1), np.abs(mixed - plain)[:t].max(initial=0.0)
            trust, _ = budget.spend(said[row], plain[row], None)
            paid += said[t]
            if t == 0:
                assert trust[0] == 0
            if abs(mixed[t] - plain[t]) <= 1.25 * largest:
                gains = np.maximum(plain[: t + 1], 0)
                limit = plain[: t + 1].sum() + gains.sum() * 0.008 + gains[:10].sum() * 0.01
                assert paid <= limit + budget.jump + 1e-9 * np.abs(plain).sum()
            assert paid <= budget.limit + 1e-9 * np.abs(plain).sum()


def drawn_losses(draw: np.random.Generator, rounds: int) -> Floats:
    """Return losses from the even to those with a heavy tail, above 0 or of both signs."""
    losses = np.exp(draw.normal(size=rounds) * draw.uniform(0, 3))
    return losses * draw.choice([-1.0, 1.0], rounds) if draw.random() < 0.3 else losses


def test_what_may_be_lost_beyond_the_average_is_lost_to_an_adversary() -> None:
    """The promise cannot be smaller: an adversary takes all of it, as near as one likes."""
    budget, draw, paid, average = Budget(), np.random.default_rng(0), 0.0, 0.0
    for t in range(400):
        error = draw.choice([-1.0, 1.0]) if t else 1.0
        a, b, y = np.array([0.0]), np.array([100.0 * error]), np.array([-error])
        budget.spend(b, a, y)
        paid, average = paid + float((b[0] - y[0]) ** 2), average + 1.0
    assert 1.0 < paid / average < budget.limit / average
    assert paid > average + 0.6 * (budget.limit - average)


def test_an_average_is_that_of_the_first_shares_unless_all_these_are_missing() -> None:
    X = np.array([[1.0, 3.0, 9.0], [np.nan, 3.0, 9.0], [np.nan, np.nan, 9.0], [np.nan] * 3])
    found = averages(X, np.array([3.0, 1.0, 0.0]), np.ones(3))
    np.testing.assert_array_equal(found, [1.5, 3.0, 9.0, np.nan])


def test_losses_below_zero_leave_the_promise_true() -> None:
    draw = np.random.default_rng(6)
    for level in (-10.0, 0.0, 10.0):
        losses = level + draw.normal(size=(300, 4)) * 0.01
        (beyond,) = nr.play(Blend(), losses).certificate().further
        assert beyond.holds


def test_few_rounds_cost_little_more_than_the_average() -> None:
    """Forecasters who are alike in 60 to 200 rounds leave nothing to gain, and little to lose."""
    draw, found = np.random.default_rng(8), []
    for _ in range(sized(40, full=400)):
        rounds, n = int(draw.integers(60, 200)), int(draw.integers(3, 40))
        y = np.cumsum(draw.normal(size=rounds))
        X = y[:, None] + draw.standard_t(4, size=(rounds, n)) + draw.standard_t(4, size=(rounds, 1))
        X[draw.random(X.shape) < draw.choice([0.0, 0.5])] = np.nan
        X[:, 0] = np.where(np.isnan(X).all(axis=1), y, X[:, 0])
        said = np.empty(rounds)
        Blend().play_block(X, y, said)
        average = np.nanmean(X, axis=1)
        found.append(((said - y) ** 2).sum() / ((average - y) ** 2).sum())
    assert max(found) < 1.03
    assert np.mean(np.array(found) > 1.01) <= 4 / 40
    assert np.mean(found) < 1.005


def test_the_average_leaves_out_what_is_derived_from_the_others() -> None:
    draw = np.random.default_rng(4)
    y = draw.normal(size=50)
    X = y[:, None] + draw.normal(size=(50, 3))
    table = np.column_stack([X, X.mean(axis=1) + 5])
    master = Blend()
    master.check_names(["a", "b", "c", "corrected"])
    master.play_block(table, y, None)
    expected = ((X.mean(axis=1) - y) ** 2).sum()
    np.testing.assert_allclose(master._budget.average, expected)


def test_a_state_of_an_earlier_version_is_refused_as_such() -> None:
    master = Blend()
    master.learn_many([[0.2, 0.7], [0.4, 0.1]])
    arrays, numbers, names = master.get_state()
    before = master.weights().tolist()
    later = ("budget/low", "budget/high", "guard/aside")
    numbers = {name: value for name, value in numbers.items() if name not in later}
    with pytest.raises(ValueError, match="a blend of an earlier version"):
        master.set_state(arrays, numbers, names)
    assert master.weights().tolist() == before
