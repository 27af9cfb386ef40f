"""Invalid rounds are refused by name, and nothing is learned from them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.experts.master import Master
from tests.experts.masters import (
    PLAIN,
    VARIANTS,
    Shape,
    Variant,
    advice_of,
    names_of,
    state,
)
from tests.thorough import in_turn

ROUNDS = Shape(2, 12, 3, "uniform")
NO_NUMBERS: list[Any] = ["1", b"1", 1j, [1.0], {}, object(), "", 10**400, np.datetime64(0, "D")]


def learned(variant: Variant, named: bool = False) -> tuple[Master, Any, Any]:
    """Return a master after some rounds, and a round that it takes."""
    X, y = advice_of(variant, ROUNDS)
    master = variant.make()
    if named:
        master.check_names(names_of(3))
    master.learn_many(X[:-1], y[:-1])
    return master, X[-1], float(y[-1])


def check_refused(master: Master, x: Any, y: Any, kind: Any = Exception) -> str:
    before, weights = state(master), master.weights().tobytes()
    with pytest.raises(kind) as caught:
        master.learn_one(x, y)
    assert state(master) == before
    assert master.weights().tobytes() == weights
    if isinstance(caught.value, nr.BadExample) and caught.value.round is not None:
        assert caught.value.round == master.rounds + 1
    return str(caught.value)


@in_turn("variant", VARIANTS)
def test_numbers_that_are_none(variant: Variant) -> None:
    for named in (False, True):
        master, x, y = learned(variant, named)
        for bad in (math.inf, -math.inf, 1e151, -1e200):
            row = x.copy()
            row[1] = bad
            said = check_refused(master, row, y, nr.BadExample)
            assert ("'e01'" if named else "'1'") in said
            check_refused(master, x, bad, nr.BadExample)
        check_refused(master, x, math.nan, nr.BadExample)
        for bad in NO_NUMBERS:
            check_refused(master, [x[0], bad, x[2]], y, nr.BadExample)
            check_refused(master, x, bad, (nr.BadExample, OverflowError))
            if named:
                check_refused(master, dict(zip(names_of(3), [x[0], bad, x[2]], strict=True)), y)
        check_refused(master, np.array(["1", "2", "3"]), y, nr.BadExample)
        check_refused(master, np.array([1j, 0, 0]), y, nr.BadExample)
        assert "the outcome must be a number: it is None" in check_refused(master, x, None)


@in_turn("variant", PLAIN)
def test_rows_of_another_shape(variant: Variant) -> None:
    master, x, y = learned(variant)
    for wrong in (x[:2], [*x, 0.0], [], x[None], np.float64(1.0), np.zeros((3, 1))):
        check_refused(master, wrong, y, nr.BadExample)
    for wrong in (None, 5, "abc", b"abc", object(), {1, 2, 3}):
        check_refused(master, wrong, y, TypeError)
    assert "without names" in check_refused(master, {"a": 1.0, "b": 0.0, "c": 1.0}, y)


@in_turn("variant", PLAIN)
def test_names_that_change(variant: Variant) -> None:
    master, x, y = learned(variant, named=True)
    row = dict(zip(names_of(3), x.tolist(), strict=True))
    assert "add_expert('new')" in check_refused(master, row | {"new": 1.0}, y, nr.BadExample)
    check_refused(master, {"new": 1.0}, y, nr.BadExample)
    before = state(master)
    with pytest.raises(nr.BadExample, match="the experts are e00, e01, e02: got"):
        master.check_names(["a", "b", "c"])
    with pytest.raises(nr.BadExample, match="the experts are"):
        master.check_names(names_of(2))
    assert state(master) == before


@in_turn("variant", PLAIN)
def test_a_first_round_that_is_refused_settles_nothing(variant: Variant) -> None:
    fresh = variant.make()
    fresh.learn_one({"x": 1.0, "y": 0.0}, 1.0)
    for first in (
        {"a": "text", "b": 1.0},
        {"a": math.inf, "b": 1.0, "c": 0.0},
        [math.inf, 1.0],
        [math.nan, math.nan],
        {},
        [],
        {1: 0.0, "1": 1.0},
    ):
        master = variant.make()
        with pytest.raises(nr.BadExample):
            master.learn_one(first, 1.0)
        assert master.rounds == 0
        master.learn_one({"x": 1.0, "y": 0.0}, 1.0)
        assert state(master) == state(fresh)


@in_turn("variant", PLAIN)
def test_losses_after_advice_and_advice_after_losses(variant: Variant) -> None:
    master, x, y = learned(variant)
    before = state(master)
    with pytest.raises((nr.BadExample, TypeError)):
        master.learn_losses(x)
    with pytest.raises((nr.BadExample, TypeError)):
        master.learn_many(x[None])
    assert state(master) == before
    if variant.takes_losses:
        master = variant.make()
        master.learn_losses([0.0, 1.0, 0.5])
        check_refused(master, x, y, nr.BadExample)


@in_turn("variant", PLAIN)
def test_everyone_asleep(variant: Variant) -> None:
    master, _, y = learned(variant)
    asleep = [math.nan, None, math.nan]
    check_refused(master, asleep, y, nr.BadExample)
    with pytest.raises(nr.BadExample):
        master.predict_one(asleep)
    if not variant.sleeps:
        said = check_refused(master, [1.0, None, 0.0], y, nr.BadExample)
        assert "always awake" in said
        with pytest.raises(nr.NoRegretError):
            master.add_expert()


@in_turn("variant", VARIANTS)
def test_rows_before_a_bad_one_are_learned(variant: Variant) -> None:
    X, y = advice_of(variant, ROUNDS)
    expected = variant.make()
    expected.learn_many(X[:7], y[:7])
    for place, outcome in ((7, False), (7, True)):
        X_bad, y_bad = X.copy(), y.copy()
        if outcome:
            y_bad[place] = math.inf
        else:
            X_bad[place, 2] = math.inf
        master = variant.make()
        with pytest.raises(nr.BadExample, match="round 8") as caught:
            master.play_block(X_bad, y_bad, None)
        assert caught.value.round == 8
        assert state(master) == state(expected)


def test_votes_are_zeros_and_ones() -> None:
    for name in ("halving", "weighted-majority", "randomised-weighted-majority"):
        master = nr.experts.make(name)
        for advice, outcome in (([0.5, 1.0], 1.0), ([0.0, 1.0], 0.5), ([0.0, 2.0], 1.0)):
            with pytest.raises(nr.BadExample, match="0 or 1"):
                master.learn_one(advice, outcome)
        with pytest.raises(TypeError, match="votes"):
            nr.play(nr.experts.make(name), np.zeros((3, 2)))


def test_probabilities_and_percentages() -> None:
    log, share = nr.experts.Hedge(loss="log"), nr.experts.Hedge(loss="percentage")
    for advice, outcome in (([0.5, 1.1], 1.0), ([-0.1, 0.5], 1.0), ([0.5, 0.5], 1.5)):
        with pytest.raises(nr.BadExample, match="from 0 to 1"):
            log.learn_one(advice, outcome)
    with pytest.raises(nr.BadExample, match="percentage error is undefined"):
        share.learn_one([1.0, 2.0], 0.0)
    assert log.rounds == share.rounds == 0


def test_a_loss_of_ones_own_that_fails() -> None:
    def fails(x: float, y: float) -> float:
        if x > 2:
            raise RuntimeError("too far")
        return math.nan if x < 0 else (x - y) ** 2

    for slope_fails in (False, True):
        value = (lambda x, y: (x - y) ** 2) if slope_fails else fails
        slope = fails if slope_fails else (lambda x, y: 2 * (x - y))
        master = nr.experts.MlPoly(loss=nr.PythonLoss(value, slope))
        master.learn_one([0.5, 1.0], 1.0)
        check_refused(master, [9.0, 9.0], 1.0, RuntimeError)
        check_refused(master, [-1.0, -1.0], 1.0, nr.BadExample)
        master.learn_one([0.5, 1.0], 1.0)
        assert master.rounds == 2


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"schedule": "soon"}, "unknown schedule"),
        ({"schedule": "constant"}, "go together"),
        ({"rate": 0.1}, "go together"),
        ({"schedule": "horizon"}, "go together"),
        ({"schedule": "horizon", "horizon": 0}, "horizon"),
        ({"schedule": "constant", "rate": -1.0}, "rate"),
        ({"schedule": "constant", "rate": math.nan}, "rate"),
        ({"low": 1.0, "high": 1.0}, "range"),
        ({"low": math.nan}, "range"),
        ({"high": math.inf}, "range"),
        ({"high": "1"}, "range"),
        ({"prior": []}, "prior"),
        ({"prior": [1.0, 0.0]}, "prior"),
        ({"prior": [1.0, -1.0]}, "prior"),
        ({"prior": [1.0, math.nan]}, "prior"),
        ({"prior": [1.0, 1e-300]}, "too far apart"),
        ({"prior": "ab"}, "prior"),
        ({"play": "both"}, "unknown play"),
        ({"gradient": 1}, "gradient"),
        ({"gradient": True, "play": "sampled"}, "mixture"),
        ({"gradient": True, "loss": "zero-one"}, "no gradient"),
        ({"loss": "hinge"}, "unknown loss"),
        ({"loss": "square", "loss_parameter": 0.5}, "parameter"),
        ({"loss": "quantile", "loss_parameter": 1.5}, "between 0 and 1"),
        ({"seed": -1}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"seed": "one"}, "seed"),
        ({"seed": 2**70}, "seed"),
    ],
    ids=str,
)
def test_parameters_that_make_no_sense(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        nr.experts.Hedge(**wrong)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("fixed-share", {"share": 0.0}),
        ("fixed-share", {"share": 1.0}),
        ("fixed-share", {"variable": 1}),
        ("fixed-share", {"loss": "absolute"}),
        ("weighted-majority", {"beta": 0.0}),
        ("weighted-majority", {"beta": 1.0}),
        ("randomised-weighted-majority", {"beta": math.nan}),
        ("randomised-weighted-majority", {"seed": -3}),
        ("aggregating", {"loss": "absolute"}),
        ("weighted-average", {"loss": "quantile"}),
        ("weighted-average", {"rate": 0.0}),
    ],
    ids=str,
)
def test_other_parameters_that_make_no_sense(name: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"|".join([*wrong, "rate"])):
        nr.experts.make(name, **wrong)


def test_experts_that_cannot_be_let_in() -> None:
    master = nr.experts.Hedge()
    with pytest.raises(nr.NoRegretError, match="the first round"):
        master.add_expert()
    master.learn_losses({"a": 1.0, "b": 0.0})
    before = state(master)
    for name, share in (("a", None), (None, None), ("c", 0.0), ("c", 1.0), ("c", 1e-300)):
        with pytest.raises(ValueError, match=r"already|names|share|apart"):
            master.add_expert(name, share)
    assert state(master) == before
    with pytest.raises(ValueError, match="none can be drawn"):
        nr.experts.Hedge(play="sampled")._round.drawn_expert()


def test_names_that_were_tampered_with_read_nothing_they_should_not() -> None:
    master = nr.experts.Hedge()
    master.learn_losses({"a": 1.0, "b": 0.0})
    master._round.experts.append("c")
    with pytest.raises((IndexError, ValueError)):
        master.learn_losses({"a": 1.0, "b": 0.0, "c": 1.0})
    master._round.experts.clear()
    master.learn_losses([0.5, 0.5])
    assert master.rounds == 2
