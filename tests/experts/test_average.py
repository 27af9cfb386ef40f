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
        assert found.bound > 1.01 * average
        assert nr.verify(game.certificate(), X, y).confirmed


def drawn_losses(draw: np.random.Generator, rounds: int) -> Floats:
    """Return losses from the even to those with a heavy tail, above 0 or of both signs."""
    losses = np.exp(draw.normal(size=rounds) * draw.uniform(0, 3))
    return losses * draw.choice([-1.0, 1.0], rounds) if draw.random() < 0.3 else losses


def test_a_budget_is_kept_for_any_losses() -> None:
    draw = np.random.default_rng(3)
    for _ in range(sized(50, full=1000)):
        budget, rounds, jump = Budget(), 60, 0.0
        mixed, plain = drawn_losses(draw, rounds), drawn_losses(draw, rounds)
        paid = 0.0
        for t in range(rounds):
            rows, trust, more = slice(t, t + 1), budget.trust, mixed[t] - plain[t]
            before = max([0.0, *(mixed - plain)[:t], *np.abs(plain[:t])])
            jump = max(jump, max(0.0, trust - 0.25) * max(0.0, more - before))
            spent = budget.spend(mixed[rows], plain[rows], lambda losses, _: losses)
            paid += float(mixed[t] + (0.0 if spent is None else spent[1][0]))
            largest = max(0.0, (mixed - plain)[: t + 1].max(), np.abs(plain[: t + 1]).max())
            allowed = np.maximum(plain[: t + 1], 0).sum() / 100
            limit = plain[: t + 1].sum() + allowed + largest / 4 + jump
            assert jump <= 0.75 * largest
            assert paid <= limit + 1e-9 * np.abs(plain).sum()
            np.testing.assert_allclose(budget.limit, limit)
        whole = Budget()
        whole.spend(mixed, plain, lambda losses, _: losses)
        assert whole.numbers == budget.numbers


def test_what_may_be_lost_beyond_the_average_is_lost_to_an_adversary() -> None:
    """The constant cannot be smaller: some losses reach it, as near as one likes."""
    budget, paid, average = Budget(), 0.0, 0.0
    for t in range(200):
        mixed, plain = (1.0, 0.0) if t else (0.0, 0.0)
        spent = budget.spend(np.array([mixed]), np.array([plain]), lambda losses, _: losses)
        paid += mixed + (0.0 if spent is None else float(spent[1][0]))
        average += plain
    assert 0.999 * budget.limit <= paid <= budget.limit * (1 + 1e-12)
    assert average == 0
    np.testing.assert_allclose(budget.limit, 0.25)


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
    assert max(found) < 1.02
    assert np.mean(np.array(found) > 1.01) <= 1 / 40


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


def test_a_state_of_an_earlier_version_is_refused_as_such() -> None:
    master = Blend()
    master.learn_many([[0.2, 0.7], [0.4, 0.1]])
    arrays, numbers, names = master.get_state()
    before = master.weights().tolist()
    later = ("mean_loss", "typical_loss", "budget/allowed", "budget/jump")
    numbers = {name: value for name, value in numbers.items() if name not in later}
    with pytest.raises(ValueError, match="a blend of an earlier version"):
        master.set_state(arrays, numbers, names)
    assert master.weights().tolist() == before
