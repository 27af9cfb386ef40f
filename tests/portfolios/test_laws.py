"""Laws of every strategy: order, scale, blocks, copies and files."""

from __future__ import annotations

import contextlib
import copy
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import noregret as nr
from tests.portfolios.tables import (
    ADVERSARIES,
    RECKLESS,
    VARIANTS,
    Floats,
    alternating,
    built,
    name_of,
    tables,
    usual,
)
from tests.thorough import draws

variants = pytest.mark.parametrize("variant", VARIANTS, ids=name_of)


def state(strategy: Any) -> tuple[dict[str, bytes], dict[str, Any], list[str]]:
    arrays, numbers, names = strategy.get_state()
    return {key: value.tobytes() for key, value in arrays.items()}, numbers, names


@variants
@draws(15)
@given(X=tables())
def test_many_rounds_are_the_same_as_one_by_one(variant: Any, X: Floats) -> None:
    one, many, split = built(variant), built(variant), built(variant)
    for row in X:
        one.learn(row)
    many.learn_many(X)
    split.learn_many(X[: len(X) // 2])
    split.learn_many(X[len(X) // 2 :])
    assert state(one) == state(many) == state(split)


@variants
def test_a_file_goes_on_where_it_was(variant: Any, tmp_path: Path) -> None:
    X = usual(60, 3, width=0.2)
    whole, half = built(variant), built(variant)
    whole.learn_many(X)
    half.learn_many(X[:30])
    half.save(tmp_path / "strategy")
    for other in (
        nr.load(tmp_path / "strategy"),
        copy.deepcopy(half),
        pickle.loads(pickle.dumps(half)),
    ):
        assert type(other) is type(half)
        assert state(other) == state(half)
        other.learn_many(X[30:])
        assert state(other) == state(whole)


@variants
@draws(15)
@given(X=tables(), data=st.data())
def test_the_order_of_assets_makes_no_difference(variant: Any, X: Floats, data: Any) -> None:
    if variant[0] == "universal-portfolio" and X.shape[1] > 2:
        X = X[:, :2]  # portfolios that were drawn have an order
    order = data.draw(st.permutations(range(X.shape[1])))
    one, other = built(variant), built(variant)
    one.learn_many(X)
    other.learn_many(X[:, order])
    assert other.log_wealth == pytest.approx(one.log_wealth, abs=1e-3 if is_leader(one) else 1e-7)
    if not is_leader(one):  # of several leaders it holds any
        assert other.weights() == pytest.approx(one.weights()[order], abs=1e-6)


def is_leader(strategy: Any) -> bool:
    return bool(strategy.name == "follow-the-leader")


@variants
@draws(15)
@given(X=tables(), data=st.data())
def test_the_scale_of_a_round_makes_no_difference(variant: Any, X: Floats, data: Any) -> None:
    powers = data.draw(st.lists(st.integers(-300, 300), min_size=len(X), max_size=len(X)))
    scale = 2.0 ** np.array(powers)
    one, other = built(variant), built(variant)
    one.learn_many(X)
    other.learn_many(X * scale[:, None])
    gained, near = math.fsum(np.log(scale)), 1e-3 if is_leader(one) else 1e-9 * (1 + len(X))
    assert other.log_wealth == pytest.approx(one.log_wealth + gained, abs=abs(near))
    if not is_leader(one):
        assert other.weights() == pytest.approx(one.weights(), abs=1e-9)


def refused(strategy: Any, X: Floats) -> nr.BadExample | None:
    """Learn relatives; return why a round was refused, if one was."""
    try:
        strategy.learn_many(X)
    except nr.BadExample as error:
        return error
    return None


@variants
@draws(25)
@given(X=tables(least=1e-300, most=1e300, zeros=True))
def test_no_relatives_make_anything_unknown(variant: Any, X: Floats) -> None:
    strategy = built(variant)
    refusal = refused(strategy, X)
    if refusal is not None:
        assert strategy.name in RECKLESS
        assert refusal.round == strategy.rounds + 1
        assert "relative is 0" in str(refusal)
    shares = strategy.weights(X.shape[1])
    assert np.isfinite(shares).all()
    assert (shares >= 0).all()
    assert math.fsum(shares) == pytest.approx(1.0, abs=1e-12)
    assert math.isfinite(strategy.log_wealth)


@variants
@pytest.mark.parametrize("adversary", ADVERSARIES, ids=lambda a: str(a.__name__))
def test_no_promise_is_broken(variant: Any, adversary: Any) -> None:
    for rows, assets in ((1, 2), (40, 2), (90, 3)):
        game = nr.play(built(variant), adversary(rows, assets))
        for theorem in game.player.theorems:
            if not theorem.covers(game.player.params):
                continue
            promise = game.certificate(theorem.name).theorem
            assert promise is not None
            if promise.bound is None:
                failed = promise.failed
                assert theorem.warning or failed is not None
            else:
                assert promise.holds, (theorem.name, promise)


@variants
@draws(20)
@given(X=tables(least=1e-5, zeros=True))
def test_no_promise_is_broken_on_any_data(variant: Any, X: Floats) -> None:
    strategy = built(variant)
    with contextlib.suppress(nr.BadExample):
        strategy.learn_many(X)
    game = nr.play(built(variant), X[: strategy.rounds])
    assume(game.rounds)
    promise = game.certificate().theorem
    assert promise is None or promise.bound is None or promise.holds


@variants
def test_a_certificate_is_confirmed(variant: Any) -> None:
    X = usual(80, 3, width=0.1)
    certificate = nr.play(built(variant), X).certificate()
    found = nr.verify(certificate, X)
    assert found.confirmed, found
    changed = X.copy()
    changed[40, 1] *= 1.001
    assert not nr.verify(certificate, changed).confirmed


@variants
def test_costs_take_wealth_and_nothing_else(variant: Any) -> None:
    name, params = variant
    X = alternating(30, 3)
    free, paying = built((name, params | {"cost": 0.0})), built((name, params | {"cost": 0.01}))
    free.learn_many(X)
    paying.learn_many(X)
    assert (free.weights() == paying.weights()).all()
    assert paying.log_wealth <= free.log_wealth + 1e-12
    promise = nr.play(paying.clone(), X).certificate().theorem
    if name == "buy-and-hold":
        assert paying.log_wealth == pytest.approx(free.log_wealth, abs=1e-12)
        assert promise is not None
        assert promise.holds
    elif promise is not None:
        assert promise.bound is None


@variants
def test_shares_are_said_before_the_round(variant: Any) -> None:
    X = usual(25, 4, width=0.3)
    strategy, again = built(variant), built(variant)
    gains, held = np.empty(25), np.empty((25, 4))
    diary = strategy.keep_diary()
    strategy.play_block(X, None, gains, held)
    for k, row in enumerate(X):
        assert (again.weights(4) == held[k]).all()
        assert (diary[k] == held[k]).all()
        again.learn(row)
    assert np.log(gains).sum() == pytest.approx(strategy.log_wealth, abs=1e-12)
    if not strategy.cost:
        assert gains == pytest.approx((held * X).sum(axis=1), rel=1e-12)
    assert strategy.wealth == pytest.approx(math.exp(strategy.log_wealth))
    assert strategy.total_loss == -strategy.log_wealth
