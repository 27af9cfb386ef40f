"""Copies, pickles and files go on exactly where they stopped."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.experts.master import Master
from tests.experts.masters import (
    ALLOCATING,
    PLAIN,
    SLEEPING,
    VARIANTS,
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


def copies_of(variant: Variant, master: Master, file: Path) -> list[Master]:
    """Every way to have another one that is the same."""
    master.save(file)
    loaded = nr.load(file, loss=variant.python_loss) if variant.python_loss else nr.load(file)
    found = [loaded, master.copy(), copy.deepcopy(master)]
    if variant.python_loss is None:
        found.append(pickle.loads(pickle.dumps(master)))
    return found


def check_goes_on(variant: Variant, master: Master, rest: Any, file: Path) -> None:
    others = copies_of(variant, master, file)
    for other in others:
        assert type(other) is type(master)
        assert other.params == master.params
        assert state(other) == state(master)
        np.testing.assert_array_equal(other.weights(), master.weights())
    if len(rest[0]):
        said = played(master, *rest)
        for other in others:
            for again, before in zip(played(other, *rest), said, strict=True):
                np.testing.assert_array_equal(again, before)
            assert state(other) == state(master)
            assert other.bound_so_far() == master.bound_so_far()


@few(shape=shapes(asleep=True))
@in_turn("variant", VARIANTS)
def test_half_way(variant: Variant, tmp_path_factory: pytest.TempPathFactory, shape: Shape) -> None:
    shape = shape if variant.sleeps else shape._replace(asleep=0.0)
    X, y = advice_of(variant, shape)
    half, master = len(X) // 2, variant.make(prior=shape.rng.uniform(1, 2, shape.experts).tolist())
    if shape.seed % 2:
        master.check_names(names_of(shape.experts))
    master.play_block(X[:half], y[:half], None)
    check_goes_on(variant, master, (X[half:], y[half:]), tmp_path_factory.mktemp("m") / "file")


@few(shape=shapes(asleep=True))
@in_turn("variant", ALLOCATING)
def test_half_way_through_losses(
    variant: Variant, tmp_path_factory: pytest.TempPathFactory, shape: Shape
) -> None:
    losses = losses_of(shape)
    half, master = len(losses) // 2, variant.make()
    master.play_block(losses[:half], None, None)
    check_goes_on(variant, master, (losses[half:], None), tmp_path_factory.mktemp("m") / "file")


@in_turn("variant", VARIANTS)
def test_before_the_first_round(variant: Variant, tmp_path: Path) -> None:
    X, y = advice_of(variant, Shape(1, 20, 4, "uniform"))
    check_goes_on(variant, variant.make(), (X, y), tmp_path / "file")


@few(shape=shapes(asleep=True))
@in_turn("variant", SLEEPING)
def test_after_letting_an_expert_in(
    variant: Variant, tmp_path_factory: pytest.TempPathFactory, shape: Shape
) -> None:
    shape = shape._replace(rounds=max(6, shape.rounds), experts=max(4, shape.experts))
    X, y = advice_of(variant, shape._replace(asleep=0.0))
    X[1::2, 0] = np.nan
    third, master = len(X) // 3, variant.make()
    master.check_names(names_of(shape.experts - 2))
    master.learn_many(X[:third, :-2], y[:third])
    master.add_expert("late")
    master.learn_many(X[third : 2 * third, :-1], y[third : 2 * third])
    master.add_expert("latest", share=0.3)
    weights = master.weights()
    assert weights.shape == (shape.experts,)
    np.testing.assert_allclose(weights.sum(), 1, rtol=1e-12)
    assert master.names[-2:] == ["late", "latest"]
    rest = (X[2 * third :], y[2 * third :])
    check_goes_on(variant, master, rest, tmp_path_factory.mktemp("m") / "file")


@in_turn("variant", PLAIN)
def test_a_state_that_is_refused_leaves_all_as_it_was(variant: Variant) -> None:
    X, y = advice_of(variant, Shape(1, 20, 4, "uniform"))
    master, wider = variant.make(), variant.make()
    master.learn_many(X, y)
    wider.learn_many(np.tile(X, 2), y)
    before = state(master)
    arrays, numbers, names = wider.get_state()
    for wrong in (["a"], ["a"] * 8, None, "abcdefgh", [1] * 8):
        with pytest.raises(ValueError, match="name"):
            master.set_state(arrays, numbers, wrong)  # type: ignore[arg-type]
    for name in arrays:
        for bad in (np.full(8, np.nan), np.ones(3), np.full(8, -np.inf), np.ones((8, 1))):
            with pytest.raises(
                ValueError, match=r"numbers of type float64|not finite|other experts"
            ):
                master.set_state(arrays | {name: bad}, numbers, names)
    assert state(master) == before
    master.learn_many(X, y)
    assert np.isfinite(master.weights()).all()
