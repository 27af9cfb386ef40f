"""A model file of a master made to do harm: well-formed and with a valid digest, but wrong.

Always ``ModelFileError``, or a master that goes on with finite weights that add up to 1.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

import noregret as nr
from noregret.base.model_file import UNUSABLE
from noregret.experts.master import Master
from tests.base.test_hostile_model_file import parts, refused, write
from tests.experts.masters import PLAIN, Shape, Variant, advice_of, state
from tests.thorough import in_turn

FILED = [*PLAIN, Variant("fixed-share", {"variable": True}), Variant("hedge", {"play": "sampled"})]


def contents(variant: Variant) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the header and the arrays of a master that has learned something."""
    master = learned(variant)
    header, arrays = parts(master)  # type: ignore[arg-type]
    return header | {"family": "experts"}, arrays


def learned(variant: Variant) -> Master:
    X, y = advice_of(variant, Shape(1, 25, 3, "uniform"))
    master = variant.make()
    master.check_names(["a", "b", "c"])
    master.learn_many(X, y)
    return master


def check_goes_on(variant: Variant, master: Master) -> None:
    """A state that is accepted is one that works."""
    X, y = advice_of(variant, Shape(2, 25, master.width, "uniform"))
    used = np.empty(X.shape)
    try:
        master.play_block(X, y, None, used)
    except nr.BadExample:  # it learned from losses, says the state
        return
    assert np.isfinite(used).all()
    assert (used >= 0).all()
    np.testing.assert_allclose(used.sum(axis=1), 1, rtol=1e-9)


def accepts(variant: Variant, arrays: Any, numbers: Any, names: Any) -> bool:
    """Return whether a state is accepted and then works; files are read by the same code."""
    master = variant.make()
    try:
        master.set_state(arrays, numbers, names)
    except UNUSABLE:
        assert master.rounds == 0
        return False
    check_goes_on(variant, master)
    return True


@in_turn("variant", FILED)
def test_the_parts_put_together_are_a_model(variant: Variant, tmp_path: Path) -> None:
    header, arrays = contents(variant)
    write(tmp_path / "m", json.dumps(header), arrays)
    assert state(nr.load(tmp_path / "m")) == state(learned(variant))
    alterations: list[dict[str, Any]] = [
        {"numbers": {}},
        {"features": None},
        {"features": ["a"]},
        {"learner": "os"},
    ]
    for alter in alterations:
        write(tmp_path / "m", json.dumps(header | alter), arrays)
        refused(tmp_path / "m")
    write(tmp_path / "m", json.dumps(header), arrays | {"more": np.ones(3)})
    refused(tmp_path / "m")


WRONG: list[Any] = [None, "text", math.nan, math.inf, -math.inf, [], {}, 1.5, True, -1, 2**70, -1.0]


@in_turn("variant", FILED)
def test_wrong_numbers_are_refused_or_harmless(variant: Variant) -> None:
    """Of the wrong kind they are refused; another number of the same kind may stand."""
    arrays, numbers, names = learned(variant).get_state()
    for name, true in numbers.items():
        for wrong in WRONG:
            if accepts(variant, arrays, numbers | {name: wrong}, names):
                assert type(wrong) is type(true), (name, wrong)
                assert math.isfinite(wrong)
        left = {k: v for k, v in numbers.items() if k != name}
        assert not accepts(variant, arrays, left, names)
    assert not accepts(variant, arrays, numbers | {"x": 1}, names)


def wrong_arrays() -> list[Any]:
    return [
        np.array([np.nan, 1.0, 1.0]),
        np.array([np.inf, 1.0, 1.0]),
        np.array([1.0, 1.0]),
        np.array([1.0] * 4),
        np.array([[1.0, 1.0, 1.0]]),
        np.array([], dtype=np.float64),
        np.array(1.0),
        np.array([1, 1, 1]),
        np.array([1.0, 1.0, 1.0], dtype=np.float32),
        np.array([True, True, True]),
    ]


@in_turn("variant", FILED)
def test_wrong_arrays_are_refused(variant: Variant) -> None:
    arrays, numbers, names = learned(variant).get_state()
    for name in arrays:
        for wrong in wrong_arrays():
            assert not accepts(variant, arrays | {name: wrong}, numbers, names), (name, wrong)
        for odd in (-1.0, 1e308, 5e-324, 0.0):
            changed = np.array(arrays[name])
            changed[0] = odd
            accepts(variant, arrays | {name: changed}, numbers, names)
        left = {k: v for k, v in arrays.items() if k != name}
        assert not accepts(variant, left, numbers, names)


@in_turn("variant", FILED)
def test_priors_that_are_none_are_refused(variant: Variant) -> None:
    arrays, numbers, names = learned(variant).get_state()
    for name in (key for key in arrays if key.endswith("prior")):
        for wrong in ([0.0, 0.5, 0.5], [-0.5, 1.0, 0.5], [0.5, 0.5, 0.5], [1.0, 1e-300, 5e-324]):
            held = np.append(np.zeros(len(arrays[name]) - 3), wrong)
            assert not accepts(variant, arrays | {name: held}, numbers, names)


@in_turn("variant", FILED)
def test_wrong_names_are_refused(variant: Variant) -> None:
    arrays, numbers, _ = learned(variant).get_state()
    for names in (None, ["a"], ["a", "a", "b"], ["a", "b", 1], "abc", {"a": 1}):
        assert not accepts(variant, arrays, numbers, names)


def test_parameters_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    header, arrays = contents(Variant("hedge", {}))
    for change in (
        {"prior": [1.0, math.nan, 1.0]},
        {"prior": "abc"},
        {"rate": -1.0},
        {"schedule": ["anytime"]},
        {"horizon": 10**400},
        {"high": "nan"},
        {"loss": {"python": "os.system"}},
        {"seed": [1]},
        {"nonsense": 1},
    ):
        write(tmp_path / "m", json.dumps(header | {"params": header["params"] | change}), arrays)
        refused(tmp_path / "m")
    for family in ("learners", "bandits", "singers", 5, ["experts"]):
        write(tmp_path / "m", json.dumps(header | {"family": family}), arrays)
        refused(tmp_path / "m")


def test_a_state_of_another_master_is_refused(tmp_path: Path) -> None:
    for variant in FILED:
        header, _ = contents(variant)
        other = next(
            v for v in FILED if v.name == ("squint" if variant.name != "squint" else "boa")
        )
        _, arrays = contents(other)
        write(tmp_path / "m", json.dumps(header), arrays)
        refused(tmp_path / "m")
