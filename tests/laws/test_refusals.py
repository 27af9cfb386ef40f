"""A refused example leaves the learner as it was, to the bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st

import noregret as nr
from tests.thorough import fewer, in_turn
from tests.variants import (
    ROUTINE,
    VARIANTS,
    Floats,
    Shape,
    Variant,
    as_dicts,
    examples,
    learned,
    names,
    shapes,
    state,
)

NAN, INF = math.nan, math.inf
BAD_ALWAYS: list[Any] = [
    {"x00": INF},
    {"x01": INF, "x00": 1.0},
    {"x00": 1.0, "new": -INF},
    {"new": 1.0, "x00": -INF},
    {"another": 1.0, "new": "text", "x03": ()},
    {"x00": 1e200},
    {"new": 1e200},
    {"new": 1.0, "newer": "town", 5: 1.0},
    {"new": 1.0, None: 1.0},
    {"new": 1.0, "x02": b"bytes"},
    {"new": 1.0, "x02": [1.0]},
    {"new": 1.0, "x02": 1j},
    {"town": "Oslo", "town=Oslo": 1.0},
    {"x00": 10**400},
    "x00",
    None,
    3.0,
    np.ones((1, 11)),
    {"x00", "x01"},
]
BAD_AMONG_NAMES: list[Any] = [[1.0, 0.0, 1.0], np.ones(11), sp.csr_array(np.ones((1, 11)))]
BAD_OUTCOMES: list[Any] = [NAN, INF, -INF, None, "1", "spam", b"1", [1.0], 1j, 10**400, {}]
BAD_CLASSES: list[Any] = [NAN, INF, -INF, None, b"1", [1.0], 1j, 10**400, {}, 0.5, 1e300]
BAD_LABELS: list[Any] = [0.5, 2, -2, 1e300, 1 + 1e-15]


def new_outcome(y: Any) -> Any:
    """Return an outcome like these, of a class that none of them has if they are classes."""
    return f"not {y[0]}" if y.dtype.kind == "U" else 12345 if y.dtype.kind == "i" else 1.0


def refuse(learner: nr.Learner, x: Any, y: Any) -> None:
    """Check that an example is refused, however it is offered, and changes nothing."""
    before, looks = state(learner), repr(learner)
    for offer in (learner.learn_one, learner.play_one):
        with pytest.raises(nr.NoRegretError) as caught:
            offer(x, y)
        assert str(caught.value)
        assert state(learner) == before, (x, y)
    assert repr(learner) == looks


@in_turn("variant", VARIANTS)
def test_a_bad_named_example_changes_nothing(variant: Variant) -> None:
    X, y = examples(variant, ROUTINE)
    for learner in (variant.make(), learned(variant, as_dicts(X), y)):
        for x in [*BAD_ALWAYS, *(BAD_AMONG_NAMES if learner.rounds else [])]:
            refuse(learner, x, y[0])
            refuse(learner, x, new_outcome(y))
        if variant.boolean:
            refuse(learner, {"x00": 0.5, "new": 1.0}, 1.0)
            refuse(learner, {"x00": 1.0, "new": -1.0}, 1.0)
        learner.learn_many(as_dicts(X), y)  # and it goes on
        assert learner.features == names(X.shape[1])


@in_turn("variant", VARIANTS)
def test_a_bad_outcome_changes_nothing(variant: Variant) -> None:
    X, y = examples(variant, ROUTINE)
    for learner in (variant.make(), learned(variant, as_dicts(X), y)):
        bad = BAD_CLASSES if variant.classes else BAD_OUTCOMES
        for outcome in [*bad, *(BAD_LABELS if variant.labels else [])]:
            refuse(learner, {"x00": 1.0, "new": 1.0}, outcome)
        if variant.labels and learner.rounds:
            refuse(learner, {"x00": 1.0, "new": 1.0}, 0)  # −1 was seen
            refuse(learner, {"x00": 1.0, "new": 1.0}, False)
        assert learner.features == (names(X.shape[1]) if learner.rounds else [])


@in_turn("variant", VARIANTS)
@fewer(shape=shapes(), at=st.integers(0, 2**30), bad=st.sampled_from([NAN, INF, -INF, 1e200]))
def test_a_bad_number_at_any_place_changes_nothing(
    variant: Variant, shape: Shape, at: int, bad: float
) -> None:
    X, y = examples(variant, shape)
    x = X[0].copy()
    x[at % len(x)] = bad
    for learner in (variant.make(), learned(variant, X, y)):
        for row in (x, sp.csr_array(x[None]), x.tolist()):
            refuse(learner, row, y[0])
            refuse(learner, row, new_outcome(y))
        if math.isinf(bad) or math.isnan(bad):
            with pytest.raises(nr.BadExample):
                learner.predict_one(x)
            with pytest.raises(nr.BadExample):
                learner.predict_many(x[None])


@in_turn("variant", VARIANTS)
def test_a_wrong_width_changes_nothing(variant: Variant) -> None:
    X, y = examples(variant, ROUTINE)
    learner = learned(variant, X, y)
    for width in (0, 1, X.shape[1] - 1, X.shape[1] + 1):
        refuse(learner, np.ones(width), y[0])
        refuse(learner, sp.csr_array(np.ones((1, width))), new_outcome(y))
        for rows in (np.ones((2, width)), sp.csr_array(np.ones((2, width)))):
            before = state(learner)
            with pytest.raises(nr.BadExample, match=f"expected {X.shape[1]} columns, got {width}"):
                learner.learn_many(rows, [y[0], new_outcome(y)])
            with pytest.raises(nr.BadExample):
                learner.predict_many(rows)
            assert state(learner) == before
    refuse(learner, {"x00": 1.0}, y[0])


def kinds(X: Floats) -> dict[str, Any]:
    columns = dict(zip(names(X.shape[1]), X.T.tolist(), strict=True))
    return {
        "array": X,
        "float32": X.astype(np.float32),
        "CSR": sp.csr_array(X),
        "dicts": as_dicts(X),
        "pandas": pd.DataFrame(columns),
        "polars": pl.DataFrame(columns),
    }


@in_turn("variant", VARIANTS)
@fewer(shape=shapes(), row=st.integers(0, 100), column=st.integers(0, 100))
def test_rows_before_a_bad_number_are_learned(
    variant: Variant, shape: Shape, row: int, column: int
) -> None:
    X, y = examples(variant, shape)
    row, column = row % len(X), column % X.shape[1]
    spoiled = X.copy()
    spoiled[row, column] = INF
    good = kinds(X)
    for kind, bad in kinds(spoiled).items():
        learner = variant.make()
        with pytest.raises(nr.BadExample) as caught:
            learner.learn_many(bad, y)
        assert caught.value.round == row + 1, kind
        assert caught.value.feature in (str(column), names(X.shape[1])[column]), kind
        assert state(learner) == state(learned(variant, good[kind][:row], y[:row])), kind


@in_turn("variant", VARIANTS)
@fewer(shape=shapes(), row=st.integers(0, 100), bad=st.sampled_from([NAN, INF, None, "spam", 7.5]))
def test_rows_before_a_bad_outcome_are_learned(
    variant: Variant, shape: Shape, row: int, bad: Any
) -> None:
    X, y = examples(variant, shape)
    if bad == 7.5 and not (variant.labels or variant.classes):
        bad = NAN  # where any number is an outcome
    if bad == "spam" and variant.classes:
        bad = b"spam"
    row %= len(X)
    spoiled = y.tolist()
    spoiled[row] = bad
    for kind, rows in kinds(X).items():
        learner = variant.make()
        with pytest.raises(nr.BadExample) as caught:
            learner.learn_many(rows, spoiled)
        assert caught.value.round == row + 1, kind
        assert state(learner) == state(learned(variant, rows[:row], y[:row])), kind


@in_turn("variant", VARIANTS)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names_of_a_refused_row_of_a_data_frame_do_not_stay(variant: Variant, frame: Any) -> None:
    y = [1.0, 1.0, -1.0, 1.0]
    numbers = frame({"a": [1.0, 0.0, INF, 0.0], "town": ["Oslo", "Oslo", "Rome", "Bonn"]})
    learner = variant.make()
    with pytest.raises(nr.BadExample) as caught:
        learner.learn_many(numbers, y)
    assert caught.value.round == 3
    assert caught.value.feature == "a"
    assert learner.features == ["a", "town=Oslo"]

    fresh = variant.make()
    with pytest.raises(nr.BadExample):
        fresh.learn_many(frame({"a": [INF], "town": ["Oslo"]}), [1.0])
    assert state(fresh) == state(variant.make())
    fresh.learn_one([1.0], 1.0)  # it may still become one of columns


@in_turn("variant", VARIANTS)
def test_a_feature_given_twice_in_a_later_row_stops_there(variant: Variant) -> None:
    rows = pd.DataFrame({"town=Rome": [1.0, 0.0, 1.0], "town": ["Oslo", "Bonn", "Rome"]})
    learner = variant.make()
    with pytest.raises(nr.BadExample, match="given twice") as caught:
        learner.learn_many(rows, [1.0, -1.0, 1.0])
    assert caught.value.round == 3
    assert caught.value.feature == "town=Rome"
    kept = rows.to_dict("records")[:2]
    assert state(learner) == state(learned(variant, kept, [1.0, -1.0]))


@in_turn("variant", VARIANTS)
def test_an_enormous_example_is_learned_or_refused_but_never_ruins(variant: Variant) -> None:
    for size in (1e30, 1e76, 1e100, 1e140):
        offer_an_enormous_one(variant, size)


def offer_an_enormous_one(variant: Variant, size: float) -> None:
    X, y = examples(variant, ROUTINE)
    learner = learned(variant, X, y)
    large = [(X[0] * size, y[0]), (X[1] * size, new_outcome(y))]
    if not variant.classes:
        large += [(X[1], y[1] * size), (X[2] * size, -y[2] * size)]
    for x, outcome in large:
        before = state(learner)
        try:
            learner.learn_one(x, outcome)
        except nr.NoRegretError:
            assert state(learner) == before
        assert np.isfinite(learner.weights).all()
        assert np.isfinite(learner.decision_many(X)).all()
        assert math.isfinite(learner.total_loss)


def broken_value(score: float, outcome: float) -> float:
    if outcome > 90:
        raise KeyError("no such outcome")
    return NAN if outcome > 80 else INF if outcome > 70 else abs(score - outcome)


def broken_slope(score: float, outcome: float) -> float:
    if 60 < outcome < 70:
        raise ZeroDivisionError
    return NAN if 50 < outcome < 60 else float(np.sign(score - outcome))


@pytest.mark.parametrize("step", ["explicit", "implicit"])
@pytest.mark.parametrize("name", ["gradient-descent", "exponentiated-gradient"])
@pytest.mark.parametrize("outcome", [95.0, 85.0, 75.0, 65.0, 55.0])
def test_a_loss_that_fails_changes_nothing(name: str, step: str, outcome: float) -> None:
    learner = nr.make(name, loss=nr.PythonLoss(broken_value, broken_slope), step=step)
    learner.learn_one({"a": 1.0, "b": 0.5}, 2.0)
    before = state(learner)
    own = {95.0: KeyError, 65.0: ZeroDivisionError}
    with pytest.raises(own.get(outcome, nr.NoRegretError)):
        learner.learn_one({"a": 1.0, "new": 1.0}, outcome)
    assert state(learner) == before
    with pytest.raises(own.get(outcome, nr.NoRegretError)):
        learner.learn_many([{"a": 1.0}, {"new": 1.0}], [2.0, outcome])
    copy = learner.copy()
    assert learner.rounds == 2
    learner.learn_one({"a": 1.0}, 2.0)  # the failure is not remembered
    copy.learn_one({"a": 1.0}, 2.0)
    assert state(learner) == state(copy)
