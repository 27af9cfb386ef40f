"""However rounds come in, the same is learned of them, to the bit."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import strategies as st

import noregret as nr
from noregret.experts.master import Master
from tests.experts.masters import (
    ALLOCATING,
    PLAIN,
    ROUTINE,
    VARIANTS,
    Floats,
    Shape,
    Variant,
    advice_of,
    losses_of,
    names_of,
    played,
    shapes,
    state,
)
from tests.thorough import few, in_turn


def rounds_of(variant: Variant, shape: Shape) -> tuple[Floats, Floats]:
    return advice_of(variant, shape if variant.sleeps else shape._replace(asleep=0.0))


@few(shape=shapes(asleep=True), cuts=st.lists(st.integers(0, 30), max_size=4))
@in_turn("variant", VARIANTS)
def test_one_by_one_is_all_at_once_is_any_cutting(
    variant: Variant, shape: Shape, cuts: list[int]
) -> None:
    X, y = rounds_of(variant, shape)
    whole = variant.make()
    said, used = played(whole, X, y)
    one, many, cut = variant.make(), variant.make(), variant.make()
    for t in range(len(X)):
        if t:
            guess = one.predict_one(X[t])
            assert guess == said[t]
        np.testing.assert_array_equal(one.weights_for(X[t]) if t else used[0], used[t], strict=True)
        one.learn_one(X[t], y[t])
    many.learn_many(X, y)
    ends = sorted({0, len(X), *(c for c in cuts if c < len(X))})
    for first, last in pairwise(ends):
        cut.play_block(X[first:last], y[first:last], None)
    assert state(one) == state(many) == state(cut) == state(whole)


@few(shape=shapes(asleep=True))
@in_turn("variant", ALLOCATING)
def test_losses_one_by_one_are_losses_all_at_once(variant: Variant, shape: Shape) -> None:
    losses = losses_of(shape)
    one, many, block = variant.make(), variant.make(), variant.make()
    for t, row in enumerate(losses):
        one.learn_losses(row)
        if t % 3:
            one.weights()
    many.learn_many(losses)
    played(block, losses)
    assert state(one) == state(many) == state(block)
    assert one.loss_name == "given"


@few(shape=shapes(asleep=True))
@in_turn("variant", VARIANTS)
def test_predicting_changes_nothing(variant: Variant, shape: Shape) -> None:
    X, y = rounds_of(variant, shape)
    plain, asked = variant.make(), variant.make()
    for row, outcome in zip(X, y, strict=True):
        asked.predict_one(row)
        asked.predict_one(row[::-1].copy())
        plain.learn_one(row, outcome)
        asked.learn_one(row, outcome)
        before = state(asked)
        asked.predict_one(row)
        asked.weights()
        asked.weights(~np.isnan(row))
        assert state(asked) == before
    assert state(plain) == state(asked)


@in_turn("variant", PLAIN)
def test_who_was_only_asked_about_is_not_settled(variant: Variant) -> None:
    """Until a round is learned, every row says anew who the experts are."""
    master = variant.make()
    master.predict_one({"a": 1.0, "b": 0.0})
    master.predict_one([1.0, 0.0, 1.0])
    master.predict_one({"c": 1.0, "b": 0.0, "a": 1.0})
    master.learn_one({"x": 1.0, "y": 0.0}, 1.0)
    fresh = variant.make()
    fresh.learn_one({"x": 1.0, "y": 0.0}, 1.0)
    assert state(master) == state(fresh)


def by_name(master: Master) -> list[tuple[float, float]]:
    """Return the loss and the weight of each expert, in the order of their names."""
    of = zip(master.names, master.expert_losses, master.weights(), strict=True)
    return [(float(paid), float(weight)) for _, paid, weight in sorted(of)]


@in_turn("variant", VARIANTS)
@pytest.mark.parametrize("asleep", [0.0, 0.4])
def test_dicts_lists_arrays_and_frames_agree(variant: Variant, asleep: float) -> None:
    X, y = rounds_of(variant, ROUTINE._replace(asleep=asleep))
    names = names_of(X.shape[1])
    gaps = [[None if np.isnan(v) else v for v in row] for row in X.tolist()]
    dicts = [{k: v for k, v in zip(names, row, strict=True) if v is not None} for row in gaps]
    dicts[0] = dict(zip(names, gaps[0], strict=True))
    ways: dict[str, Any] = {
        "array": X,
        "column by column": np.asfortranarray(X),
        "lists": gaps,
        "dicts": dicts,
        "pandas": pd.DataFrame(X, columns=names),
        "polars": pl.DataFrame(gaps, schema=names, orient="row"),
        "pandas, turned around": pd.DataFrame(X, columns=names)[names[::-1]],
    }
    expected = variant.make()
    expected.learn_many(X, y)
    for way, rows in ways.items():
        master = variant.make()
        master.learn_many(rows, y)
        assert by_name(master) == by_name(expected), way
        assert master._round.experts == (
            [] if way in ("array", "lists", "column by column") else names
        )
    one: dict[str, Master] = {way: variant.make() for way in ("lists", "dicts", "pandas")}
    series = ways["pandas"]
    for t, outcome in enumerate(y.tolist()):
        one["lists"].learn_one(gaps[t], outcome)
        one["dicts"].learn_one(dicts[t], outcome)
        one["pandas"].learn_one(series.iloc[t], outcome)
    for master in one.values():
        assert by_name(master) == by_name(expected)


@in_turn("variant", PLAIN)
def test_names_count_not_places(variant: Variant) -> None:
    """A row of a frame comes with its names, whatever the order of the columns."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(np.round(rng.random((30, 3))), columns=["b", "c", "a"])
    y = np.round(rng.random(30))
    whole, rows = variant.make(), variant.make()
    whole.learn_many(frame, y)
    for t in range(len(frame)):
        row = frame.iloc[t]
        rows.learn_one(row if t % 2 else row[["a", "b", "c"]], y[t])
    assert by_name(whole) == by_name(rows)
    row = frame.iloc[-1]
    assert whole.predict_one(row) == whole.predict_one(dict(row[::-1])) == rows.predict_one(row)


@in_turn("variant", PLAIN)
def test_playing_is_learning(variant: Variant) -> None:
    X, y = advice_of(variant, ROUTINE)
    frame = pd.DataFrame(X, columns=names_of(X.shape[1]))
    alone = variant.make()
    alone.learn_many(frame, y)
    game = nr.play(variant.make(), frame, y, predictions=True)
    assert state(game.player) == state(alone)
    said, _ = played(variant.make(), X, y)
    np.testing.assert_array_equal(game.predictions, said)
    assert game.loss == alone.total_loss
    assert game.points[-1].regret == alone.regret_so_far()


def test_booleans_and_whole_numbers_are_numbers() -> None:
    master, other = nr.experts.Halving(), nr.experts.Halving()
    master.learn_one([True, False, 1], True)
    other.learn_one(np.array([1, 0, 1], dtype=np.uint8), 1)
    assert state(master) == state(other)


def test_adding_an_expert_is_as_if_it_had_slept() -> None:
    """For a rate that does not depend on how many there are."""
    rng = np.random.default_rng(0)
    losses = rng.random((40, 3))
    late = nr.experts.Hedge(schedule="constant", rate=0.4)
    late.learn_many(losses[:20, :2])
    late.add_expert(share=1 / 3)
    late.learn_many(losses[20:])
    losses[:20, 2] = np.nan
    asleep = nr.experts.Hedge(schedule="constant", rate=0.4)
    asleep.learn_many(losses)
    np.testing.assert_allclose(late.weights(), asleep.weights(), rtol=1e-12)
    np.testing.assert_allclose(late.expert_losses, asleep.expert_losses, rtol=1e-12)
