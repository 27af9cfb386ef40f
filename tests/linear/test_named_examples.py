"""Examples as dicts: every mapping and value, and what is refused by which name."""

from __future__ import annotations

import collections
import datetime
import random
import types
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from tests.thorough import draws
from tests.variants import state


def make() -> nr.Learner:
    learner: nr.Learner = nr.WidrowHoff(rate=0.1)
    return learner


class Lazy(collections.abc.Mapping[str, float]):
    """A mapping that is no dict."""

    def __getitem__(self, key: str) -> float:
        return {"a": 1.0, "b": 2.0}[key]

    def __iter__(self) -> Any:
        return iter(["a", "b"])

    def __len__(self) -> int:
        return 2


@pytest.mark.parametrize(
    "x",
    [
        collections.OrderedDict(b=2.0, a=1.0),
        collections.defaultdict(float, a=1.0, b=2.0),
        collections.Counter(a=1, b=2),
        types.MappingProxyType({"a": 1.0, "b": 2.0}),
        Lazy(),
        pd.Series({"a": 1.0, "b": 2.0}),
        {"a": 1, "b": 2},
        {"a": True, "b": np.int8(2)},
        {"a": np.True_, "b": np.float32(2)},
        {"a": np.float64(1), "b": Decimal("2")},
        {"a": Fraction(1), "b": np.array(2.0)},
    ],
    ids=lambda x: type(x).__name__,
)
def test_every_mapping_and_number_is_taken(x: Any) -> None:
    learner, expected = make(), make()
    expected.learn_one({"a": 1.0, "b": 2.0}, 1.0)
    learner.learn_one(x, 1.0)
    assert state(learner) == state(expected)
    assert learner.predict_one(x) == expected.predict_one({"a": 1.0, "b": 2.0})


def test_a_string_is_an_indicator() -> None:
    learner, expected = make(), make()
    for town in ("Paris", "Rome", "Paris", "3.5", "", "é", "a=b"):
        learner.learn_one({"town": town, "size": 1.0}, 2.0)
        expected.learn_one({f"town={town}": 1.0, "size": 1.0}, 2.0)
        assert state(learner) == state(expected)
        assert learner.predict_one({"town": np.str_(town)}) == expected.predict_one(
            {f"town={town}": True}
        )
    assert learner.features[:3] == ["size", "town=Paris", "town=Rome"]


def test_what_rows_before_looked_like_makes_no_difference() -> None:
    """Keys as numbers and as text by turns, in any order, as the same or as equal strings."""
    draw = random.Random(4)
    learner, expected = nr.WidrowHoff(rate=1e-38), nr.WidrowHoff(rate=1e-38)
    for _ in range(400):
        keys = draw.sample(["a", "b", "c", "ab", "d", "é", "ü€"], draw.randrange(8))
        if draw.random() < 0.5:
            keys = [
                key[:1] + key[1:] if len(key) > 1 else str(key.encode(), "utf-8") for key in keys
            ]
        values: list[Any] = [
            1.0,
            2.5,
            3,
            -(2**60),
            True,
            np.float64(0.5),
            "v",
            "w",
            str(draw.random())[:3],
        ]
        x = {key: draw.choice(values) for key in keys}
        plain = {
            f"{k}={v}" if isinstance(v, str) else k: 1.0 if isinstance(v, str) else float(v)
            for k, v in x.items()
        }
        assert learner.predict_one(x) == expected.predict_one(dict(sorted(plain.items())))
        learner.learn_one(x, 1.0)
        expected.learn_one(dict(sorted(plain.items())), 1.0)
        assert state(learner) == state(expected)


@pytest.mark.parametrize(
    "x",
    [
        {"town": "Rome", "town=Rome": 1.0},
        {"town=Rome": 0.0, "town": "Rome"},
        {"a=b": "c", "a": "b=c"},
    ],
    ids=str,
)
def test_a_feature_given_twice_is_refused(x: Any) -> None:
    learner = make()
    for _ in range(2):  # while it is unknown, and when it is known
        with pytest.raises(nr.BadExample, match="given twice") as caught:
            learner.learn_one(x, 1.0)
        assert caught.value.feature in ("town=Rome", "a=b=c")
        with pytest.raises(nr.BadExample, match="given twice"):
            learner.predict_one(x)
        learner.learn_one({"town": "Rome", "a": "b=c"}, 1.0)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (float("-inf"), "is -inf"),
        (b"x", "bytes"),
        ([1.0], "list"),
        ([], "list"),
        ((1.0,), "tuple"),
        ({}, "dict"),
        (1j, "complex"),
        (10**400, "int"),
        (datetime.timedelta(1), "timedelta"),
        (np.float64("inf"), "inf"),
        (object(), "object"),
        (np.array([1.0, 2.0]), "ndarray"),
        (np.array([1.0]), "ndarray"),
        (1e200, "too large"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_of_no_use_is_refused_by_name(value: Any, words: str) -> None:
    for x in ({"size": value}, {"other": 1.0, "size": value}):
        learner = make()
        with pytest.raises(nr.BadExample, match=words) as caught:
            learner.learn_one(x, 1.0)
        assert "'size'" in str(caught.value)
        assert "round 1" in str(caught.value)
        assert caught.value.feature == "size"
        assert caught.value.round == 1
        if words != "too large":
            with pytest.raises(nr.BadExample, match=words):
                learner.predict_one(x)


GAPS = [None, float("nan"), Decimal("NaN"), pd.NA, pd.NaT, np.float32("nan"), np.datetime64("NaT")]


@pytest.mark.parametrize("value", GAPS, ids=lambda value: type(value).__name__)
def test_a_missing_value_is_an_indicator(value: Any) -> None:
    learner, expected = make(), make()
    rows = [
        ({"a": 1.0, "b": 2.0}, 1.0),
        ({"a": 1.0, "b": value}, 2.0),
        ({"b": 1.0, "a": value}, 3.0),
    ]
    for x, y in rows:
        plain = {
            f"{k}=missing" if v is value else k: 1.0 if v is value else v for k, v in x.items()
        }
        assert learner.predict_one(x) == expected.predict_one(plain)
        learner.learn_one(x, y)
        expected.learn_one(plain, y)
    assert state(learner) == state(expected)
    assert learner.features == ["a", "b", "b=missing", "a=missing"]


@draws(60)
@given(st.datetimes(datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31)))
def test_times_have_the_features_of_a_column_of_a_file(when: datetime.datetime) -> None:
    from noregret.base.calendar_features import VALUES, calendar

    forms: list[tuple[Any, bool]] = [(when, False), (when.date(), True)]
    forms += [(np.datetime64(when), False), (np.datetime64(when.date()), True)]
    forms.append((when.replace(tzinfo=datetime.UTC), False))
    for value, dates in forms:
        exact = datetime.datetime(when.year, when.month, when.day) if dates else when
        seconds = (exact - datetime.datetime(1970, 1, 1)) / datetime.timedelta(seconds=1)
        numbers, codes = calendar("t", np.array([seconds]), dates)
        expected = {name: found[0] for name, found in numbers.items()}
        expected |= {f"t.{p}={VALUES[p][codes[p][0]]}": 1.0 for p in codes}
        learner = make()
        learner.learn_one({"t": value, "a": 1.0}, 1.0)
        other = make()
        other.learn_one({**expected, "a": 1.0}, 1.0)
        assert learner.features == other.features
        np.testing.assert_allclose(learner.weights, other.weights, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("key", [1, None, ("a", "b"), b"a", 1.5, True], ids=str)
def test_names_are_strings(key: Any) -> None:
    for value in (1.0, "text"):
        with pytest.raises(nr.BadExample, match="names are strings"):
            make().learn_one({key: value}, 1.0)
        with pytest.raises(nr.BadExample, match="names are strings"):
            make().predict_one({key: value})


def test_a_prediction_is_a_number_however_large_unseen_values_are() -> None:
    learner = make()
    learner.learn_one({"a": 1.0}, 1.0)
    for x in ({"b": 1e308, "c": 1e308}, {"b": 1e200}, {"a": 1.0, "b": 1e308, "c": -1e308}):
        try:
            assert np.isfinite(learner.predict_one(x))
            assert np.isfinite(learner.predict_many([x])).all()
            assert np.isfinite(learner.predict_many(pd.DataFrame([x]))).all()
        except nr.BadExample:
            pass


def test_names_and_columns_do_not_mix() -> None:
    by_name, by_column = make(), make()
    by_name.learn_one({"a": 1.0}, 1.0)
    by_column.learn_one([1.0], 1.0)
    for rows in ([1.0], np.ones(1), sp.csr_array(np.ones((1, 1)))):
        with pytest.raises(nr.BadExample, match="by name"):
            by_name.predict_one(rows)
    with pytest.raises(nr.BadExample, match="by position"):
        by_column.predict_one({"a": 1.0})
    with pytest.raises(nr.BadExample, match="by position"):
        by_column.learn_many(pd.DataFrame({"a": [1.0]}), [1.0])
    with pytest.raises(nr.BadExample, match="by position"):
        by_column.predict_many(pl.DataFrame({"a": [1.0]}))
