"""Relatives, parameters and files that make no sense: refused, with what is wrong and where."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import noregret as nr
from noregret.base import model_file
from noregret.portfolios import EgPortfolio, make
from noregret.proof.game.price_relatives import relatives_of
from tests.portfolios.tables import VARIANTS, built, name_of, usual

variants = pytest.mark.parametrize("variant", VARIANTS, ids=name_of)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ([1.0, np.nan, 1.0], "column 'b' is missing"),
        ([1.0, 1.0, -0.5], "column 'c' is -0.5: a relative is"),
        ([np.inf, 1.0, 1.0], "column 'a' is inf"),
        ([0.0, 0.0, 0.0], "every relative is 0"),
    ],
)
@variants
def test_a_bad_round_is_named_and_not_learned(variant: Any, bad: list[float], words: str) -> None:
    strategy, before = built(variant), built(variant)
    frame = pd.DataFrame(usual(6, 3), columns=list("abc"))
    before.learn_many(frame[:4])
    frame.iloc[4] = bad
    with pytest.raises(nr.BadExample, match=f"^round 5: .*{words}") as refusal:
        strategy.learn_many(frame)
    assert refusal.value.round == 5
    assert strategy.rounds == 4
    assert (strategy.weights() == before.weights()).all()
    assert strategy.total_loss == before.total_loss
    with pytest.raises(nr.BadExample, match="round 5"):
        strategy.learn(dict(zip("abc", bad, strict=True)))


def test_what_is_no_round_is_refused() -> None:
    strategy = EgPortfolio()
    strategy.learn({"a": 1.0, "b": 1.1})
    for wrong, words in (
        ({"a": 1.0}, "round 2: column 'b' is missing"),
        ({"a": 1.0, "b": 1.0, "c": 1.0}, "column 'c' is new"),
        ({"a": 1.0, "b": "much"}, "column 'b' is 'much'"),
        ({"a": 1.0, "b": None}, "column 'b' is missing"),
        ({1: 1.0}, "names of assets are strings"),
        ([1.0, 1.0, 1.0], "3 assets, but there were 2 before"),
        ([[1.0, 1.0]], "a round is a 1-d array"),
        ("ab", "a round is a dict"),
        (1.0, "a round is a dict"),
    ):
        with pytest.raises(nr.BadExample, match=words):
            strategy.learn(wrong)
    assert strategy.rounds == 1
    with pytest.raises(nr.BadExample, match="no assets"):
        EgPortfolio().learn([])
    with pytest.raises(nr.NoRegretError, match="number of assets is not known"):
        EgPortfolio().weights()
    with pytest.raises(nr.NoRegretError, match="no outcomes"):
        nr.play(EgPortfolio(), usual(3, 2), np.ones(3))
    with pytest.raises(nr.BadExample, match="assets are a, b: got"):
        strategy.check_names(["b", "a"])


def test_all_is_lost_is_said_with_the_asset() -> None:
    strategy = make("follow-the-leader")
    strategy.learn({"north": 2.0, "south": 1.0})
    with pytest.raises(nr.BadExample, match="round 2: all wealth is in 'north'") as refusal:
        strategy.learn({"north": 0.0, "south": 1.0})
    assert refusal.value.feature == "north"
    strategy.learn({"north": 0.5, "south": 1.0})
    assert strategy.rounds == 2


@pytest.mark.parametrize("read", [pd.DataFrame, pl.DataFrame, list])
def test_tables_of_any_make_are_the_same(read: Callable[..., Any]) -> None:
    X = usual(30, 3)
    rows = [dict(zip("cab", row, strict=True)) for row in X.tolist()]
    strategy, one = EgPortfolio(rate=0.5), EgPortfolio(rate=0.5)
    strategy.learn_many(read(rows))
    for row in rows:
        one.learn(row)
    assert strategy.allocation() == one.allocation()
    assert strategy.assets == ["a", "b", "c"]
    game = nr.play(EgPortfolio(rate=0.5), read(rows))
    assert game.loss == one.total_loss


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("eg-portfolio", {"rate": 0}),
        ("eg-portfolio", {"rate": -1.0}),
        ("eg-portfolio", {"rate": "fast"}),
        ("eg-portfolio", {"cost": 1.0}),
        ("buy-and-hold", {"cost": -0.1}),
        ("ons-portfolio", {"rate": 1.5}),
        ("ons-portfolio", {"ridge": 0.0}),
        ("ons-portfolio", {"damping": float("nan")}),
        ("universal-portfolio", {"points": 0}),
        ("universal-portfolio", {"points": 1.5}),
        ("universal-portfolio", {"seed": -1}),
        ("uniform-rebalanced", {"rate": 1.0}),
    ],
)
def test_parameters_that_make_no_sense(name: str, params: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(params))):
        make(name, **params)


def harmed(name: str, change: Callable[[dict[str, Any], dict[str, Any]], Any]) -> Any:
    """Return the state of a strategy, changed."""
    strategy = make(name)
    strategy.learn_many(pd.DataFrame(usual(5, 3), columns=list("abc")))
    arrays, numbers, names = strategy.get_state()
    change(arrays, numbers)
    return arrays, numbers, names


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("eg-portfolio", lambda a, n: a.update(shares=np.array([0.5, 0.5, 0.5]))),
        ("eg-portfolio", lambda a, n: a.update(shares=np.array([2.0, -1.0, 0.0]))),
        ("eg-portfolio", lambda a, n: a.update(logs=np.array([1.0, 0.0, 0.0]))),
        ("eg-portfolio", lambda a, n: a.update(logs=np.array([np.nan, 0.0, 0.0]))),
        ("eg-portfolio", lambda a, n: a.update(logs=np.zeros(2))),
        ("eg-portfolio", lambda a, n: a.update(logs=np.zeros(3, dtype=np.float32))),
        ("eg-portfolio", lambda a, n: a.pop("drifted")),
        ("eg-portfolio", lambda a, n: a.update(more=np.zeros(3))),
        ("eg-portfolio", lambda a, n: n.update(rounds=-1)),
        ("eg-portfolio", lambda a, n: n.update(rounds=2.5)),
        ("eg-portfolio", lambda a, n: n.update(width=4)),
        ("eg-portfolio", lambda a, n: n.update(width=0)),
        ("eg-portfolio", lambda a, n: n.update(width=10**9)),
        ("eg-portfolio", lambda a, n: n.update(named=False)),
        ("eg-portfolio", lambda a, n: n.update(loss_sum=float("nan"))),
        ("eg-portfolio", lambda a, n: n.update(smallest=2.0)),
        ("eg-portfolio", lambda a, n: n.pop("spread_squares")),
        ("ons-portfolio", lambda a, n: a["curvature"].__setitem__((0, 1), 7.0)),
        ("ons-portfolio", lambda a, n: a.update(curvature=np.zeros((3, 3)))),
        ("ons-portfolio", lambda a, n: a.update(slope=np.full(3, np.inf))),
        ("buy-and-hold", lambda a, n: a.update(logs=np.full(3, -np.inf))),
        ("universal-portfolio", lambda a, n: a.update(logs=np.zeros(7))),
        ("universal-portfolio", lambda a, n: a.update(logs=np.full(4096, -1.0))),
        ("follow-the-leader", lambda a, n: a.update(past=np.zeros((5, 3)))),
        ("follow-the-leader", lambda a, n: n.update(rounds=6)),
        ("follow-the-leader", lambda a, n: n.update(rounds=2**61)),
    ],
)
def test_a_file_made_to_do_harm_is_refused(name: str, change: Any, tmp_path: Path) -> None:
    state = harmed(name, change)
    fresh = make(name)
    with pytest.raises((TypeError, ValueError)):
        fresh.set_state(*state)
    assert fresh.rounds == fresh.width == 0
    harmful = make(name)
    harmful.get_state = lambda: state
    model_file.save(harmful, tmp_path / "harm")
    with pytest.raises(nr.ModelFileError):
        nr.load(tmp_path / "harm")


def test_prices_become_relatives() -> None:
    prices = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]])
    assert relatives_of(prices).tolist() == [[2.0, 0.5], [0.5, 1.0]]
    for wrong, words in (
        (np.nan, "price 2: the price of 'b' is missing"),
        (0.0, "price 2: the price of 'b' is 0: a price is a positive number"),
        (-3.0, "price 2: the price of 'b' is -3"),
        (np.inf, "price 2: the price of 'b' is inf"),
        (1e-320, "price 3: the price of 'b'.*beyond all numbers"),
    ):
        bad = prices.copy()
        bad[1, 1] = wrong
        with pytest.raises(nr.BadExample, match=words):
            relatives_of(bad, ["a", "b"])
    with pytest.raises(nr.BadExample, match="fewer than two"):
        relatives_of(prices[:1])
