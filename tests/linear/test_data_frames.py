"""Data frames of every make: the same as their rows given as dicts."""

from __future__ import annotations

import datetime
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import noregret as nr
from tests.variants import state

Y = [1.0, -1.0, 0.5, 2.0]
MAKES = [pd.DataFrame, pl.DataFrame, pa.table]


def make() -> nr.Learner:
    learner: nr.Learner = nr.WidrowHoff(rate=0.1)
    return learner


def taught(rows: Any, y: Any = Y) -> nr.Learner:
    learner = make()
    learner.learn_many(rows, y)
    return learner


def by_hand(columns: dict[str, list[Any]]) -> nr.Learner:
    """Return a learner that was given the rows one by one."""
    learner = make()
    for values, y in zip(zip(*columns.values(), strict=True), Y, strict=True):
        learner.learn_one(dict(zip(columns, values, strict=True)), y)
    return learner


MIXED: dict[str, list[Any]] = {
    "town": ["Rome", "Oslo", "Rome", "Bonn"],
    "size": [1.0, 2.5, -1.0, 0.0],
    "rooms": [1, 2, 3, 4],
    "new": [True, False, False, True],
    "kind": ["a", "a", "b", "a"],
}


@pytest.mark.parametrize("frame", MAKES)
def test_numbers_strings_and_booleans_are_read_as_dicts_are(frame: Any) -> None:
    learner = taught(frame(MIXED))
    expected = by_hand(MIXED)
    assert state(learner) == state(expected)
    rows = [dict(zip(MIXED, values, strict=True)) for values in zip(*MIXED.values(), strict=True)]
    scores = [expected.decision_one(row) for row in rows]
    assert np.asarray(learner.decision_many(frame(MIXED))).tolist() == scores
    assert np.asarray(learner.predict_many(frame(MIXED))).tolist() == scores


@pytest.mark.parametrize("columns", [1, 3, 4, 9, 70])
def test_columns_are_rows_wherever_their_numbers_lie(columns: int) -> None:
    X = np.random.default_rng(5).standard_normal((203, columns))
    y, names = X.sum(axis=1), [f"x{columns - k}" for k in range(columns)]
    packed = np.zeros(203, dtype=[("odd", "i1"), ("x", "f8", columns)])  # not aligned
    packed["x"] = X
    split = [pl.DataFrame(X[part], schema=names) for part in (slice(100), slice(100, None))]
    expected = nr.WidrowHoff(rate=1e-3)
    for row, outcome in zip(X, y, strict=True):
        expected.learn_one(dict(zip(names, row.tolist(), strict=True)), outcome)
    for frame in (
        pd.DataFrame(X, columns=names),
        pd.DataFrame(np.asfortranarray(X), columns=names),
        pd.DataFrame(packed["x"], columns=names, copy=False),
        pd.DataFrame(np.repeat(X, 2, axis=0), columns=names)[::2],
        pl.DataFrame(X, schema=names),
        pl.concat(split, rechunk=False),
        pa.table(dict(zip(names, X.T, strict=True))),
    ):
        learner = nr.WidrowHoff(rate=1e-3)
        learner.learn_many(frame, y)
        assert state(learner) == state(expected)
        scores = [expected.decision_one(dict(zip(names, x, strict=True))) for x in X.tolist()]
        assert np.asarray(learner.decision_many(frame)).tolist() == scores


@pytest.mark.parametrize("frame", MAKES)
def test_playing_a_data_frame_predicts_before_it_learns(frame: Any) -> None:
    one_by_one = make()
    rows = [dict(zip(MIXED, values, strict=True)) for values in zip(*MIXED.values(), strict=True)]
    guesses = [one_by_one.play_one(row, y) for row, y in zip(rows, Y, strict=True)]
    learner = make()
    np.testing.assert_allclose(learner.play_many(frame(MIXED), Y), guesses, rtol=1e-14)


@pytest.mark.parametrize("frame", MAKES)
def test_columns_may_be_absent_later_and_new_ones_may_come(frame: Any) -> None:
    learner, expected = make(), make()
    for columns in ({"a": [1.0, 2.0]}, {"b": [1.0, 1.0], "t": ["x", "y"]}, {"a": [3.0, 0.0]}):
        learner.learn_many(frame(columns), [1.0, 2.0])
        for values in zip(*columns.values(), strict=True):
            y = 1.0 if expected.rounds % 2 == 0 else 2.0
            expected.learn_one(dict(zip(columns, values, strict=True)), y)
    assert state(learner) == state(expected)
    unseen = frame({"z": [1.0], "t": ["never"], "a": [2.0]})
    expected_score = expected.decision_one({"z": 1.0, "t": "never", "a": 2.0})
    assert np.asarray(learner.decision_many(unseen)).tolist() == [expected_score]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, 2, 3, 4], dtype="int8"),
        pd.Series([1, 2, 3, 4], dtype="Int64"),
        pd.Series([1, 2, 3, 4], dtype="Float32"),
        pd.Series([1, 2, 3, 4], dtype="int64[pyarrow]"),
        pd.Series([1, 2, 3, 4], dtype="float32"),
        pl.Series([1, 2, 3, 4], dtype=pl.UInt8),
        pl.Series(["1", "2", "3", "4"]).cast(pl.Decimal(10, 2)),
        pa.array([1, 2, 3, 4], pa.int16()),
        pa.chunked_array([[1.0, 2.0], [3.0, 4.0]]),
    ],
    ids=lambda column: f"{type(column).__module__.split('.')[0]} {getattr(column, 'dtype', '')}",
)
def test_columns_of_every_number_are_taken(column: Any) -> None:
    frames = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
    frame = frames[type(column).__module__.split(".")[0]]({"a": column})
    assert state(taught(frame)) == state(by_hand({"a": [1.0, 2.0, 3.0, 4.0]}))


TOWNS = ["Rome", "Oslo", "Rome", "Bonn"]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"town": pd.Series(TOWNS, dtype="category")}),
        pd.DataFrame({"town": pd.Series(TOWNS, dtype=object)}),
        pd.DataFrame({"town": pd.Series(TOWNS, dtype="string")}),
        pd.DataFrame({"town": pd.Series(TOWNS, dtype="string[pyarrow]")}),
        pl.DataFrame({"town": pl.Series(TOWNS, dtype=pl.Categorical)}),
        pl.DataFrame({"town": pl.Series(TOWNS, dtype=pl.Enum(["Bonn", "Oslo", "Rome"]))}),
        pa.table({"town": pa.array(TOWNS).dictionary_encode()}),
        pa.table({"town": pa.array(TOWNS, pa.large_string())}),
    ],
    ids=str,
)
def test_strings_of_every_kind_are_taken(frame: Any) -> None:
    assert state(taught(frame)) == state(by_hand({"town": TOWNS}))


GAPS = ["Rome", "Oslo", None, "Bonn"]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"town": GAPS}),
        pd.DataFrame({"town": ["Rome", "Oslo", float("nan"), "Bonn"]}),
        pd.DataFrame({"town": pd.Series(GAPS, dtype=object)}),
        pd.DataFrame({"town": pd.Series(GAPS, dtype="category")}),
        pd.DataFrame({"town": pd.Series(GAPS, dtype="string")}),
        pd.DataFrame({"town": pd.Series(GAPS, dtype="string[pyarrow]")}),
        pl.DataFrame({"town": GAPS}),
        pl.DataFrame({"town": pl.Series(GAPS, dtype=pl.Categorical)}),
        pa.table({"town": GAPS}),
        pa.table({"town": pa.array(GAPS).dictionary_encode()}),
    ],
    ids=str,
)
def test_a_missing_string_is_that_of_a_dict(frame: Any) -> None:
    learner, expected = taught(frame), by_hand({"town": GAPS})
    assert state(learner) == state(expected)
    assert "town=missing" in learner.features
    rows = [{"town": town} for town in GAPS]
    told = np.asarray(learner.predict_many(frame))
    np.testing.assert_allclose(told, expected.predict_many(rows), rtol=1e-12)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1.0, 2.0, None, 4.0]}),
        pd.DataFrame({"a": pd.Series([1, 2, None, 4], dtype="Int64")}),
        pd.DataFrame({"a": pd.Series([True, False, None, True], dtype="boolean")}),
        pl.DataFrame({"a": [1, 2, None, 4]}),
        pl.DataFrame({"a": [True, False, None, True]}),
        pa.table({"a": [1.0, 2.0, None, 4.0]}),
        pa.table({"a": [True, False, None, True]}),
        pl.DataFrame({"a": [1.0, 2.0, float("nan"), 4.0]}),
    ],
    ids=str,
)
def test_a_missing_number_is_that_of_a_dict(frame: Any) -> None:
    found = nw.from_native(frame)["a"].to_list()
    values = [None if pd.isna(value) else float(value) for value in found]
    library = nw.get_native_namespace(frame)
    cases: list[dict[str, list[Any]]] = [{}, {"b": [1.0, None, None, 2.0], "town": TOWNS}]
    for others in cases:
        added = [nw.new_series(name, column, backend=library) for name, column in others.items()]
        native = nw.from_native(frame).with_columns(*added).to_native()
        columns = {"a": values, **others}
        learner, expected = taught(native), by_hand(columns)
        assert state(learner) == state(expected)
        assert "a=missing" in learner.features
        rows = [{name: column[k] for name, column in columns.items()} for k in range(4)]
        for each in (learner, make()):
            told = np.asarray(each.predict_many(native))
            np.testing.assert_allclose(told, each.predict_many(rows), rtol=1e-12)


def test_columns_that_begin_with_gaps_join_where_they_are_known() -> None:
    columns: dict[str, list[Any]] = {"b": [None, None, 1.0, 2.0], "a": [1.0, 2.0, None, 3.0]}
    for frame in (pl.DataFrame(columns), pd.DataFrame(columns), pa.table(columns)):
        assert state(taught(frame)) == state(by_hand(columns))


@pytest.mark.parametrize("dates", [True, False])
def test_columns_of_times_are_the_times_of_dicts(dates: bool) -> None:
    start = datetime.datetime(2024, 2, 28, 21, 30)
    times: list[Any] = [start + datetime.timedelta(hours=13 * k) for k in range(4)]
    times = [t.date() for t in times] if dates else times
    times[2] = None
    columns = {"t": times, "a": [1.0, 2.0, 3.0, 4.0]}
    expected = nr.Nlms()
    for k in range(4):
        expected.learn_one({name: column[k] for name, column in columns.items()}, Y[k])
    frames = [pl.DataFrame(columns), pa.table(columns)]
    frames += [] if dates else [pd.DataFrame(columns)]
    for frame in frames:
        learner = nr.Nlms()
        learner.learn_many(frame, Y)
        assert learner.features == expected.features
        np.testing.assert_allclose(learner.weights, expected.weights, rtol=1e-9)


@pytest.mark.parametrize("value", [float("inf"), -1e200])
def test_a_number_without_use_is_refused_where_it_is(value: float) -> None:
    frame = pl.DataFrame({"a": [1.0, 2.0, value, 4.0]})
    learner = make()
    with pytest.raises(nr.BadExample, match="'a'") as caught:
        learner.learn_many(frame, Y)
    assert caught.value.round == 3
    assert caught.value.feature == "a"
    assert learner.rounds == 2
    with pytest.raises(nr.BadExample, match="'a'"):
        learner.predict_many(frame)
    with pytest.raises(nr.BadExample, match="'a'"):
        make().predict_many(frame)


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"when": [datetime.timedelta(1)] * 4}),
        pl.DataFrame({"when": [[1.0]] * 4}),
        pl.DataFrame({"when": [{"a": 1}] * 4}),
        pl.DataFrame({"when": [b"x"] * 4}),
        pa.table({"when": [[1.0]] * 4}),
        pd.DataFrame({"when": [object()] * 4}),
        pd.DataFrame({"when": [1j] * 4}),
        pl.DataFrame({"when": [None] * 4}),
    ],
    ids=lambda frame: type(frame).__module__.split(".")[0],
)
def test_columns_of_no_use_are_refused_by_name(frame: Any) -> None:
    learner = make()
    with pytest.raises(nr.BadExample, match="'when'") as caught:
        learner.learn_many(frame, Y)
    assert caught.value.feature == "when"
    with pytest.raises(nr.BadExample, match="'when'"):
        learner.predict_many(frame)
    assert state(learner) == state(make())


def test_column_names_are_strings_and_differ() -> None:
    for columns in ([0, 1], ["a", "a"], ["a", 1], [("a", "b"), ("a", "c")]):
        frame = pd.DataFrame(np.ones((4, 2)))
        frame.columns = pd.Index(columns, dtype=object, tupleize_cols=False)
        learner = make()
        with pytest.raises(nr.BadExample):
            learner.learn_many(frame, Y)
        with pytest.raises(nr.BadExample):
            learner.predict_many(frame)
        assert state(learner) == state(make())


@pytest.mark.parametrize("frame", MAKES)
def test_a_column_and_an_indicator_of_one_name_are_refused(frame: Any) -> None:
    rows = frame({"city=Paris": [1.0], "city": ["Paris"]})
    learner = make()
    for _ in range(2):
        with pytest.raises(nr.BadExample, match="'city=Paris' is given twice") as caught:
            learner.learn_many(rows, [1.0])
        assert caught.value.feature == "city=Paris"
        with pytest.raises(nr.BadExample, match="given twice"):
            learner.predict_many(rows)
        learner.learn_one({"city": "Paris"}, 1.0)
    assert learner.rounds == 2


def test_a_query_that_was_not_run_is_refused() -> None:
    with pytest.raises(nr.BadExample):
        make().learn_many(pl.DataFrame({"a": [1.0]}).lazy(), [1.0])


def test_boolean_rules_read_boolean_columns() -> None:
    columns = {"sun": [True, True, False], "wind": [True, False, False]}
    learner = nr.make("conjunction")
    learner.learn_many(pd.DataFrame(columns), [True, True, False])
    assert learner.predict_many(pl.DataFrame(columns)).to_list() == [True, True, False]
    with pytest.raises(nr.BadExample, match="only 0 and 1") as caught:
        learner.learn_many(pd.DataFrame({"sun": [1.0, 0.5], "wind": [0.0, 1.0]}), [True, False])
    assert caught.value.feature == "sun"
    assert caught.value.round == 5


# Series and frames come out as data frames came in.

SERIES = [
    (pd.DataFrame, pd.Series, pd.DataFrame),
    (pl.DataFrame, pl.Series, pl.DataFrame),
    (pa.table, pa.ChunkedArray, pa.Table),
    (lambda columns: nw.from_native(pl.DataFrame(columns)), nw.Series, nw.DataFrame),
    (lambda columns: nw.from_native(pd.DataFrame(columns)), nw.Series, nw.DataFrame),
]


@pytest.mark.parametrize(("frame", "series", "table"), SERIES)
def test_a_frame_in_a_series_of_its_library_out(frame: Any, series: Any, table: Any) -> None:
    rows = [dict(zip(MIXED, values, strict=True)) for values in zip(*MIXED.values(), strict=True)]
    labels = [True, False, False, True]
    learner, by_rows = nr.Logistic(), nr.Logistic()
    played, expected = learner.play_many(frame(MIXED), labels), by_rows.play_many(rows, labels)
    for ask in ("predict_many", "decision_many", "predict_proba_many"):
        said = getattr(learner, ask)(frame(MIXED))
        assert isinstance(said, table if ask == "predict_proba_many" else series)
        assert isinstance(getattr(by_rows, ask)(rows), np.ndarray)
        np.testing.assert_array_equal(np.asarray(said), getattr(by_rows, ask)(rows))
    assert isinstance(played, series)
    np.testing.assert_array_equal(np.asarray(played), expected)


def test_a_series_has_a_name_and_the_frame_s_index() -> None:
    learner = nr.Logistic()
    frame = pd.DataFrame({"a": [1.0, -1.0]}, index=pd.Index(["Monday", "Tuesday"], name="day"))
    assert learner.play_many(frame, [1, 0]).name == "prediction"
    said = learner.decision_many(frame)
    assert said.name == "decision"
    assert learner.predict_many(frame).name == "prediction"
    chances = learner.predict_proba_many(frame)
    assert chances.columns.tolist() == [0, 1]
    for each in (said, chances):
        assert each.index.equals(frame.index)
    assert learner.predict_proba_many(pl.DataFrame({"a": [1.0]})).columns == ["0", "1"]
    assert frame.columns.tolist() == ["a"]
