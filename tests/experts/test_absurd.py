"""One wrong cell, or many in one expert, changes the rows after it by little."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import noregret as nr
from noregret.base.plausible import Plausible
from noregret.experts import Blend
from noregret.streams.corrected_forecast import Correcting
from tests.thorough import sized

Floats = NDArray[np.float64]
ROWS = sized(1500, full=6000)


def with_added(X: Floats, y: Floats) -> Floats:
    """Add the average, the median and the corrected forecast, as ``noregret mix`` does."""
    n = X.shape[1]
    added = np.nanmean(X, axis=1), np.nanmedian(X, axis=1), np.zeros(len(y))
    table = np.column_stack([X, *added])
    Correcting(n).correct(table, list(range(n)), n + 2, y)
    return table


def mixed(X: Floats, y: Floats) -> Floats:
    said, master = np.empty(len(y)), Blend()
    master.check_names([*map(str, range(X.shape[1])), "average", "median", "corrected"])
    master.play_block(with_added(X, y), y, said)
    return said


def ensemble(kind: str, seed: int) -> tuple[Floats, Floats]:
    """Draw an ensemble: temperatures, rain, a trend with two experts, or biased experts."""
    draw = np.random.default_rng(seed)
    walk = np.cumsum(draw.normal(size=ROWS))
    if kind == "rain":
        y = np.maximum(0.0, draw.gamma(0.3, 8, ROWS) - 1.5)
        X = y[:, None] * draw.lognormal(0, 0.5, (ROWS, 15)) + draw.gamma(0.2, 5, (ROWS, 15))
    elif kind == "two":
        y = 40_000 + 30 * np.arange(ROWS) + 20 * walk
        X = y[:, None] + draw.normal(size=(ROWS, 2)) * [200, 400] + [-300, 500]
    elif kind == "biased":
        y = 15 + 10 * np.sin(np.arange(ROWS) / 30) + 0.1 * walk
        X = 1.8 * y[:, None] + 32 + draw.normal(size=(ROWS, 5))
    else:
        y = 15 + 10 * np.sin(np.arange(ROWS) / 30) + 0.1 * walk
        X = y[:, None] + draw.normal(size=(ROWS, 8)) * [1, 1.1, 1.2, 1.5, 2, 3, 4, 5]
    return np.ascontiguousarray(X), y


def rmse(said: Floats, y: Floats, rows: Any) -> float:
    return float(np.sqrt(np.mean((said[rows] - y[rows]) ** 2)))


@pytest.mark.parametrize("kind", ["temperature", "rain", "two", "biased"])
def test_one_wrong_cell_does_no_lasting_harm(kind: str) -> None:
    for seed in range(sized(1, full=5)):
        X, y = ensemble(kind, seed)
        plain = mixed(X, y)
        for row in (10, 60, 200):
            for factor in (100.0, 1e4, -1e4):
                wrong = X.copy()
                wrong[row, np.argmax(np.abs(X[row]))] *= factor
                after = slice(row + 1, None)
                assert rmse(mixed(wrong, y), y, after) <= 1.02 * rmse(plain, y, after)


@pytest.mark.parametrize("kind", ["temperature", "rain", "two", "biased"])
def test_one_wrong_outcome_does_no_lasting_harm(kind: str) -> None:
    for seed in range(sized(1, full=5)):
        X, y = ensemble(kind, seed)
        plain = mixed(X, y)
        for row in (10, 60, ROWS // 2):
            for factor in (100.0, 1e4, -1e4):
                wrong = y.copy()
                wrong[row] = factor * np.abs(y[: row + 1]).max()
                after = slice(row + 1, None)
                assert rmse(mixed(X, wrong), y, after) <= 1.03 * rmse(plain, y, after)


@pytest.mark.parametrize("loss", ["square", "absolute"])
def test_a_wrong_outcome_counts_in_all_losses_and_the_promises_hold(loss: str) -> None:
    power = 2 if loss == "square" else 1
    X, y = ensemble("temperature", 4)
    y[11] *= 1e4
    y[700] = -1e6
    X[11, 2], X[11, 3] = 1e9, np.nan
    game = nr.play(Blend(loss=loss), X, y, predictions=True)
    said, master = np.asarray(game.predictions), game.player
    paid = np.abs(said - y) ** power
    losses = np.where(np.isnan(X), paid[:, None], np.abs(X - y[:, None]) ** power)
    assert master._guard.numbers["aside"] == 2
    np.testing.assert_allclose(master.total_loss, paid.sum(), rtol=1e-12)
    np.testing.assert_allclose(master.regrets, paid.sum() - losses.sum(axis=0), rtol=1e-7)
    certificate = game.certificate()
    assert certificate.theorem is not None
    assert certificate.theorem.holds
    (beside,) = certificate.further
    assert beside.holds
    awake = np.where(X == 1e9, np.nan, X)
    average = np.abs(np.nanmean(awake, axis=1) - y) ** power
    usual = np.ones(len(y), bool)
    usual[[11, 700]] = False
    assert beside.bound is not None
    assert beside.bound <= average.sum() + 0.01 * average[usual].sum() + 0.01 * average.sum()
    assert nr.verify(certificate, X, y).confirmed


def test_an_absurd_outcome_is_judged_alike_however_rows_come() -> None:
    X, y = ensemble("two", 5)
    X, y = X[:400], y[:400].copy()
    y[[10, 150, 151, 300]] *= 1e3
    at_once, cut, single = Blend(), Blend(), Blend()
    said, piece = np.empty(400), np.empty(400)
    at_once.play_block(X, y, said)
    for part in (slice(0, 10), slice(10, 11), slice(11, 151), slice(151, None)):
        made = np.empty(len(y[part]))
        cut.play_block(X[part], y[part], made)
        piece[part] = made
    np.testing.assert_array_equal(said, piece)
    for row, outcome, expected in zip(X.tolist(), y.tolist(), said.tolist(), strict=True):
        assert single.predict_one(row) == expected
        single.learn_one(row, outcome)
    for other in (cut, single):
        assert str(other.get_state()) == str(at_once.get_state())
    assert at_once._guard.numbers["aside"] >= 2


def test_outcomes_that_jump_for_good_are_learned_from_the_second_on() -> None:
    y = np.concatenate([np.sin(np.arange(40.0)), 1e4 + np.sin(np.arange(40.0))])
    X = np.column_stack([y + 0.1, np.concatenate([[0.0], y[:-1]])])
    far = np.column_stack([np.concatenate([[0.0], y[:-1]])] * 2)
    assert not Plausible(2).judge(X, y)[1].any()  # one forecast saw it come
    guard = Plausible(2)
    assert np.flatnonzero(guard.judge(far, y)[1]).tolist() == [40]
    assert guard.numbers["high"] > 1e4
    assert not Plausible(2).judge(far[:40], np.where(np.arange(40) == 3, 1e4, y[:40]))[1].any()
    zeros = np.zeros(60)
    zeros[[20, 30]] = 7.0  # demand that is rare, and never foreseen
    assert np.flatnonzero(Plausible(2).judge(np.zeros((60, 2)), zeros)[1]).size <= 1


@pytest.mark.parametrize("kind", ["temperature", "rain", "two"])
def test_many_wrong_cells_in_one_expert_are_nearly_as_if_missing(kind: str) -> None:
    X, y = ensemble(kind, 7)
    hit = np.random.default_rng(8).random(ROWS) < 0.1
    hit[:5] = False
    missing = np.where(hit[:, None] & (np.arange(X.shape[1]) == 0), np.nan, X)
    # A temperature near 0, times 1,000, need not be absurd.
    for factor, most in ((1e3, 1.2), (1e4, 1.05)):
        wrong = X.copy()
        wrong[hit, 0] *= factor
        assert rmse(mixed(wrong, y), y, ~hit) <= most * rmse(mixed(missing, y), y, ~hit)


def test_the_regret_counts_what_was_set_aside_and_the_certificate_holds() -> None:
    X, y = ensemble("temperature", 1)
    X[10, 2] *= 1e4
    X[50, 4] = np.nan
    game = nr.play(Blend(), X, y, predictions=True)
    said = np.asarray(game.predictions)
    losses = np.where(np.isnan(X), ((said - y) ** 2)[:, None], (X - y[:, None]) ** 2)
    master = game.player
    expected = ((said - y) ** 2).sum() - losses.sum(axis=0)
    np.testing.assert_allclose(master.regrets, expected, rtol=1e-9)
    assert (master.regrets <= master.price + 1e-6).all()
    certificate = game.certificate()
    assert certificate.theorem is not None
    assert certificate.theorem.holds
    assert nr.verify(certificate, X, y).confirmed


def test_where_most_forecasts_jump_or_outcomes_have_been_equal_none_is_set_aside() -> None:
    y = np.concatenate([np.full(4, 50.0), [55.0], np.full(20, 50.0), np.full(5, 900.0)])
    X = np.column_stack([y, y + 1, np.full(len(y), 50.0), y - 1])
    assert not Plausible(4).absurd(X, y).any()
    X[25, 0], X[25:, 1], X[25:, 3] = 1e5, 51.0, 50.0
    # The first outcome after a jump that only this forecast tells of is not believed yet.
    assert np.argwhere(Plausible(4).absurd(X, y)).tolist() == [[25, 0], [26, 0]]


def test_columns_that_are_derived_are_not_counted_among_those_left() -> None:
    y = np.sin(np.arange(30.0))
    X = np.column_stack([y + 1, y - 1, y, y])
    X[20, [0, 2, 3]] = 1e5  # the average and the median with the first
    derived = np.array([False, False, True, True])
    assert not Plausible(4).absurd(X, y).any()
    assert Plausible(4).absurd(X, y, derived=derived)[20].tolist() == [True, False, True, True]


def test_an_expert_in_another_unit_is_not_set_aside() -> None:
    X, y = ensemble("temperature", 2)
    X[:, 1] = X[:, 1] * 1000 + 5e4
    assert not Plausible(8).absurd(X, y)[10:].any()


def test_rows_may_come_in_any_blocks_and_one_by_one() -> None:
    X, y = ensemble("rain", 3)
    X[20, 3] *= 1e4
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    X[:, 0] = np.where(np.isnan(X).all(axis=1), 0.0, X[:, 0])
    at_once, cut, single = Blend(), Blend(), Blend()
    said = np.empty(len(y))
    at_once.play_block(X, y, said)
    for rows in (slice(0, 1), slice(1, 21), slice(21, 150), slice(150, None)):
        cut.play_block(X[rows], y[rows], None)
    for t in range(250):
        row = [None if np.isnan(x) else float(x) for x in X[t]]
        assert single.predict_one(row) == said[t]
        single.learn_one(row, float(y[t]))
    np.testing.assert_array_equal(at_once.regrets, cut.regrets)
    arrays, numbers, names = at_once.get_state()
    again = Blend()
    again.set_state(arrays, numbers, names)
    np.testing.assert_array_equal(again.regrets, at_once.regrets)


@pytest.mark.parametrize("seed", range(sized(6, full=40)))
def test_an_expert_that_diverges_costs_no_more_than_its_first_steps_do(seed: int) -> None:
    draw = np.random.default_rng(seed)
    y = draw.normal(size=400)
    good = y[:, None] + draw.normal(size=(400, 3)) * [0.5, 1, 2]
    growth, rows = draw.choice([1.1, 1.3, 2.0]), np.arange(400)
    wild = y + np.where(rows % 2, 1, -1) * np.minimum(growth ** np.minimum(rows, 300), 1e9)
    wild[np.abs(wild) > 1e4] = np.nan  # by then, it has stopped
    plain, said = np.empty(400), np.empty(400)
    Blend().play_block(np.ascontiguousarray(good), y, plain)
    Blend().play_block(np.column_stack([good, wild]), y, said)
    # While it was not yet absurd, it was at most 10 to 55 times the range of the outcomes off.
    assert ((said - y) ** 2).sum() <= ((plain - y) ** 2).sum() + 200
