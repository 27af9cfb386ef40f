"""River's own machinery around our estimators, and what they add to it."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import (
    base,
    compose,
    dummy,
    ensemble,
    evaluate,
    metrics,
    multiclass,
    preprocessing,
    stats,
    stream,
)

import noregret as nr
from noregret import river
from tests.river.data import Examples, approval, flights, played, scaled

POLLS = scaled(approval(300))
FLIGHTS = scaled(flights(300))
KINDS = ["walk", "ride", "fly"]


def three(x: dict[str, Any]) -> str:
    """A label of three that a linear classifier can tell."""
    return KINDS[0] if x["a"] > 0.3 else KINDS[1] if x["b"] > 0 else KINDS[2]


def table(rows: int = 60, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.normal(size=(rows, 2)).round(3), columns=["a", "b"])


def dicts(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.to_numpy().tolist()]


def error(model: Any, examples: Examples = POLLS) -> float:
    """Return the mean absolute error of a model on the way."""
    return float(evaluate.progressive_val_score(examples, model, metrics.MAE()).get())


def accuracy(model: Any, examples: Examples = FLIGHTS) -> float:
    """Return how often a model is right on the way."""
    return float(evaluate.progressive_val_score(examples, model, metrics.Accuracy()).get())


MEAN = error(dummy.StatisticRegressor(stats.Mean()))
COMMON = accuracy(dummy.PriorClassifier())


def test_a_pipeline_is_scored_as_river_scores_its_own() -> None:
    """Better than the mean, than the commonest label so far, and than a ranking by chance."""
    model = preprocessing.StandardScaler() | river.AutoRegressor()
    assert isinstance(model, compose.Pipeline)
    assert error(model, approval(300)) < MEAN
    model = preprocessing.StandardScaler() | river.ArowClassifier()
    assert accuracy(model, flights(300)) > COMMON
    model = preprocessing.StandardScaler() | river.LogisticClassifier()
    assert evaluate.progressive_val_score(flights(300), model, metrics.ROCAUC()).get() > 0.5


def test_ensembles_take_our_models() -> None:
    bagged = ensemble.BaggingRegressor(river.VawRegressor(), n_models=3, seed=1)
    hedged = ensemble.EWARegressor([river.NlmsRegressor(), river.VawRegressor()])
    for model in (bagged, hedged):
        assert error(model) < np.mean([y for _, y in POLLS])  # better than to say 0
    voting = ensemble.VotingClassifier([river.PerceptronClassifier(), river.ArowClassifier()])
    bagged = ensemble.BaggingClassifier(river.PerceptronClassifier(), n_models=3, seed=1)
    boosted = ensemble.AdaBoostClassifier(river.LogisticClassifier(), n_models=3, seed=1)
    for model in (voting, bagged, boosted):
        assert accuracy(model) > COMMON


@pytest.mark.parametrize("name", ["LogisticClassifier", "PerceptronClassifier", "ArowClassifier"])
def test_more_labels_than_two_are_told_one_from_the_rest(name: str) -> None:
    """As River's own wrapper does it, from the round in which each label first appears."""
    kind = getattr(river, name)
    ours, peer = kind(), multiclass.OneVsRestClassifier(kind())
    for x in dicts(table(200)):
        label = three(x)
        if len(ours.learners) > 1:
            assert ours.predict_one(x) == peer.predict_one(x)
            assert ours.predict_proba_one(x) == pytest.approx(peer.predict_proba_one(x))
        ours.learn_one(x, label)
        peer.learn_one(x, label)
    assert set(ours.learners) == set(KINDS)


def test_auto_has_all_labels_in_one_learner() -> None:
    rows = dicts(table(200))
    model, learner = river.AutoClassifier(), nr.AutoClasses()
    for x in rows:
        if learner.rounds:
            own = learner.predict_proba_one({**x, "intercept": 1.0})
            assert model.predict_proba_one(x) == own
            assert model.predict_one(x) == max(own, key=own.__getitem__)
        model.learn_one(x, three(x))
        learner.learn_one({**x, "intercept": 1.0}, three(x))
    assert isinstance(model.learner, nr.AutoClasses)
    assert set(model.learners) == set(KINDS)
    assert set(model.weights) == {"a", "b", "intercept"}
    with pytest.raises(nr.BadExample, match="write all classes as strings"):
        model.learn_one(rows[0], 3)


@pytest.mark.parametrize("certified", [False, True])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("first", [0, 1, 30])
def test_auto_begins_anew_with_a_third_label(make: Any, first: int, certified: bool) -> None:
    """Labels are 0 and 1 up to a row: many is one by one, also across that row."""
    frame, labels = table(60), [k % 2 if k < first else 2 - (k - first) % 3 for k in range(60)]
    one, many = (river.AutoClassifier(certified=certified) for _ in range(2))
    for x, y in zip(dicts(frame), labels, strict=True):
        one.learn_one(x, y)
    for part in (slice(0, 20), slice(20, 60)):
        many.learn_many(make(frame[part].to_dict("list")), labels[part])
    assert one.learner.rounds == 60 - first
    assert many.learner.rounds == 60 - first
    for x in dicts(frame):
        assert one.predict_proba_one(x) == many.predict_proba_one(x)
    if certified:
        assert one.certificate().to_json() == many.certificate().to_json()


def test_auto_refuses_what_is_no_class_and_goes_on() -> None:
    model = river.AutoClassifier()
    model.learn_one({"sun": 1.0}, True)
    model.learn_one({"sun": 0.0}, False)
    before = pickle.dumps(model)
    for x, y in (({"sun": 1.0}, (1, 2)), ({"sun": float("inf")}, "rain"), ({"sun": 1.0}, None)):
        with pytest.raises(nr.BadExample):
            model.learn_one(x, y)
        with pytest.raises(nr.BadExample):
            model.learn_many(pd.DataFrame([x]), [y])
        assert pickle.dumps(model) == before
    assert model.predict_one({"sun": 1.0}) is True


@given(
    labels=st.lists(
        st.sampled_from([True, False, 0, 1, 2, -1, "a", None]), min_size=1, max_size=30
    ),
    cut=st.integers(0, 30),
)
def test_many_is_one_after_the_other_whatever_the_labels(labels: list[Any], cut: int) -> None:
    frame = table(len(labels))
    one, many = river.LogisticClassifier(), river.LogisticClassifier()
    fine = labels.index(None) if None in labels else len(labels)
    for x, y in list(zip(dicts(frame), labels, strict=True))[:fine]:
        one.learn_one(x, y)
    y = pd.Series(labels, dtype=object)
    for part in (slice(0, cut), slice(cut, None)):
        try:
            many.learn_many(frame[part], y[part])
        except nr.BadExample:
            assert None in labels
            break
    assert list(one.learners) == list(many.learners)
    for label, learner in one.learners.items():
        assert learner.get_state()[1] == many.learners[label].get_state()[1]
        np.testing.assert_array_equal(learner.weights, many.learners[label].weights)
    assert many.predict_many(frame).tolist() == [one.predict_one(x) for x in dicts(frame)]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_any_make_give_series_of_their_own(make: Any) -> None:
    frame = table()
    y = [three(x) for x in dicts(frame)]
    model, other = river.LogisticClassifier(), river.LogisticClassifier()
    model.learn_many(make(frame.to_dict("list")), y)
    for x, label in zip(dicts(frame), y, strict=True):
        other.learn_one(x, label)
    said = model.predict_many(make(frame.to_dict("list")))
    assert type(said).__module__.partition(".")[0] == make.__module__.partition(".")[0]
    assert list(np.asarray(said)) == [other.predict_one(x) for x in dicts(frame)]
    chances = model.predict_proba_many(make(frame.to_dict("list")))
    assert type(chances) is type(make({"a": [1]}))
    numbers = river.WidrowHoffRegressor()
    numbers.learn_many(make(frame.to_dict("list")), list(range(len(y))))
    assert len(numbers.predict_many(make(frame.to_dict("list")))) == len(y)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("labels", [[2, "2"], [True, "True"], [1.5, 2, "x"], [(1, 2), "y"]])
def test_labels_of_several_kinds_stay_apart(labels: list[Any], make: Any) -> None:
    model = river.PerceptronClassifier(intercept=False)
    rows = [{"k": float(k), "1": 1.0} for k in range(len(labels))]
    for row, label in [*zip(rows, labels, strict=True)] * 60:
        model.learn_one(row, label)
    told = [model.predict_one(row) for row in rows]
    assert len(set(told)) > 1
    frame = make({"k": [row["k"] for row in rows], "1": [1.0] * len(rows)})
    chances = model.predict_proba_many(frame)
    names = chances.column_names if make is pa.table else list(chances.columns)
    assert len(set(names)) == len(labels)
    found = model.predict_many(frame)
    found = found.to_pylist() if make is pa.table else found.to_list()
    assert found == (told if make is pd.DataFrame else [names[labels.index(x)] for x in told])


def test_the_index_of_a_frame_is_kept() -> None:
    frame = table().set_index(pd.Index(range(100, 160)))
    model = river.LogisticClassifier()
    model.learn_many(frame, frame["a"] > 0)
    assert model.predict_many(frame).index.tolist() == frame.index.tolist()
    chances = model.predict_proba_many(frame)
    assert chances.columns.tolist() == [False, True]
    assert chances.index.tolist() == frame.index.tolist()


def test_names_may_be_numbers_as_rivers_arrays_have_them() -> None:
    X, y = np.eye(3)[[0, 1, 2, 0, 1]], [1.0, 2.0, 3.0, 1.0, 2.0]
    model, named = river.NlmsRegressor(), river.NlmsRegressor()
    said = played(model, list(stream.iter_array(X, y)))
    texts = [({str(k): v for k, v in x.items()}, y) for x, y in stream.iter_array(X, y)]
    assert said == played(named, texts)
    many = river.NlmsRegressor()
    many.learn_many(pd.DataFrame(X), pd.Series(y))
    assert many.weights == model.weights == named.weights
    with pytest.raises(nr.BadExample, match="two features are called '1'"):
        model.learn_one({1: 1.0, "1": 2.0}, 1.0)
    labels = river.PerceptronClassifier()
    for x, kind in stream.iter_array(X, ["a", "b", "c", "a", "b"]):
        labels.learn_one(x, kind)
    assert labels.predict_one({0: 1.0}) == "a"


def test_an_example_may_bring_its_own_constant() -> None:
    own, added = river.WidrowHoffRegressor(), river.WidrowHoffRegressor()
    for x, y in POLLS[:50]:
        own.learn_one({**x, "intercept": 1.0}, y)
        added.learn_one(x, y)
    assert own.weights == added.weights
    assert "intercept" not in POLLS[0][0]


def test_labels_come_back_as_they_were_written() -> None:
    model = river.PerceptronClassifier()
    assert model.predict_one({"x": 1.0}) is None
    assert model.predict_proba_one({"x": 1.0}) == {}
    model.learn_one({"x": 1.0}, np.True_)
    assert model.predict_one({"x": 1.0}) is True
    assert list(model.predict_proba_one({"x": 1.0})) == [False, True]
    model = river.PerceptronClassifier()
    model.learn_one({"x": 1.0}, 1)
    model.learn_one({"x": -1.0}, 0)
    assert [type(model.predict_one({"x": k})) for k in (1.0, -1.0)] == [int, int]
    for bad in (None, float("nan")):
        with pytest.raises(nr.BadExample, match="label"):
            model.learn_one({"x": 1.0}, bad)


@pytest.mark.parametrize("certified", [False, True])
@pytest.mark.parametrize("labels", [2, 3])
def test_copies_go_on_on_their_own(certified: bool, labels: int) -> None:
    rows = dicts(table(80))
    y = [three(x) if labels == 3 else x["a"] > 0 for x in rows]
    model = river.LogisticClassifier(certified=certified)
    for x, label in zip(rows[:40], y[:40], strict=True):
        model.learn_one(x, label)
    ways: list[Any] = [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), cloned]
    others = [way(model) for way in ways]
    for each in (model, *others):
        for x, label in zip(rows[40:], y[40:], strict=True):
            each.learn_one(x, label)
    expected = [model.predict_proba_one(x) for x in rows]
    for other in others:
        assert [other.predict_proba_one(x) for x in rows] == expected
        if certified:
            label = next(iter(model.learners))
            found = other.certificate(label=label).to_json()
            assert found == model.certificate(label=label).to_json()
    assert model.clone().predict_one(rows[0]) is None


def cloned(model: Any) -> Any:
    return model.clone(include_attributes=True)


def test_examples_count_as_much_as_they_are_said_to() -> None:
    """As importances do; where a learner has no such step, whole numbers are so many rounds."""
    weights = [0.5, 2.0, 1.0, 3.0, 0.25] * 60
    ours, many = river.WidrowHoffRegressor(rate=0.02), river.WidrowHoffRegressor(rate=0.02)
    learner = nr.WidrowHoff(rate=0.02, step="implicit")
    for (x, y), w in zip(POLLS, weights, strict=True):
        ours.learn_one(x, y, w=w)
        learner.learn_many([{**x, "intercept": 1.0}], [y], [w])
    assert ours.weights == dict(zip(learner.features, learner.weights.tolist(), strict=True))
    frame = pd.DataFrame([x for x, _ in POLLS])
    many.learn_many(frame, [y for _, y in POLLS], pd.Series(weights))
    assert many.weights == ours.weights
    triples = [(x, y, {"w": w}) for (x, y), w in zip(POLLS, weights, strict=True)]
    again = river.WidrowHoffRegressor(rate=0.02)
    evaluate.progressive_val_score(triples, again, metrics.MAE())
    assert again.weights == ours.weights
    heavy, often = river.ArowClassifier(), river.ArowClassifier()
    for x, y in FLIGHTS[:50]:
        heavy.learn_one(x, y, w=2)
        often.learn_one(x, y)
        often.learn_one(x, y)
    assert heavy.weights == often.weights
    with pytest.raises(nr.BadExample, match="importance"):
        ours.learn_one(*POLLS[0], w=-1.0)


def test_the_certificate_is_that_of_a_game() -> None:
    model = river.WidrowHoffRegressor(rate=0.02, intercept=False, certified=True)
    for x, y in POLLS[:100]:
        model.learn_one(x, y)
    early = model.certificate()
    for x, y in POLLS[100:]:
        model.predict_one(x)
        model.learn_one(x, y)
    game = nr.play(nr.WidrowHoff(rate=0.02, step="implicit"), POLLS)
    assert model.certificate().to_json() == game.certificate().to_json()
    assert early.data.rounds == 100
    plain = river.WidrowHoffRegressor()
    with pytest.raises(ValueError, match="certified=True"):
        plain.certificate()


def test_a_label_has_its_own_certificate() -> None:
    model = river.PerceptronClassifier(certified=True)
    for x in dicts(table()):
        model.learn_one(x, three(x))
    assert model.certificate(label="fly").data.rounds <= 60
    with pytest.raises(ValueError, match="pass one of the labels"):
        model.certificate()
    with pytest.raises(ValueError, match="no learner"):
        model.certificate(label="swim")
    with pytest.raises(AttributeError, match="learners"):
        _ = model.learner


def test_what_is_refused_changes_nothing() -> None:
    model = river.PerceptronClassifier()
    for x in dicts(table()):
        model.learn_one(x, three(x))
    before = pickle.dumps(model)
    for x, y in (({"a": float("inf")}, "fly"), ({"a": b"x"}, "new"), ({"a": 1.0}, None)):
        with pytest.raises(nr.BadExample):
            model.learn_one(x, y)
        assert pickle.dumps(model) == before
    with pytest.raises(nr.BadExample, match="2 rows, but 1 outcomes"):
        model.learn_many(table(2), ["fly"])
    with pytest.raises(nr.BadExample, match="data frame"):
        model.learn_many(np.eye(2), ["fly", "ride"])


MISSING = [None, np.nan, np.float32("nan"), Decimal("nan"), pd.NA, pd.NaT]


@pytest.mark.parametrize("label", [*MISSING, [1], np.ones(2), {}, ([],)])
def test_what_is_no_label_is_refused(label: Any) -> None:
    for labels in ([False, True], ["a", "b"], []):
        model = river.PerceptronClassifier()
        for known in labels:
            model.learn_one({"sun": 1.0}, known)
        before = model.predict_proba_one({"sun": 1.0})
        with pytest.raises(nr.BadExample, match="label must"):
            model.learn_one({"sun": 1.0}, label)
        with pytest.raises(nr.BadExample, match="label must"):
            model.learn_many(pd.DataFrame({"sun": [1.0]}), [label])
        assert model.predict_proba_one({"sun": 1.0}) == before


def test_importances_that_are_too_few_teach_nothing() -> None:
    model = river.LogisticClassifier()
    with pytest.raises(nr.BadExample, match="2 rows, but importances of shape"):
        model.learn_many(pd.DataFrame({"sun": [1.0, 2.0]}), ["a", "b"], w=[1.0])
    assert model.predict_one({"sun": 1.0}) is None


def test_parameters_are_the_learners_and_a_few_more() -> None:
    model = river.GradientDescentClassifier(rate=0.3, loss="hinge")
    assert model.clone({"rate": 0.5}).rate == 0.5
    assert model._get_params()["loss"] == "hinge"
    assert isinstance(model, base.MiniBatchClassifier)
    with pytest.raises(ValueError, match="predicts numbers"):
        river.GradientDescentRegressor(loss="hinge")
    with pytest.raises(TypeError, match="speed"):
        river.WidrowHoffRegressor(speed=1.0)
    with pytest.raises(ValueError, match="intercept"):
        river.WidrowHoffRegressor(intercept="yes")
    with pytest.raises(ValueError, match="rate"):
        river.WidrowHoffRegressor(rate=-1.0)
    with pytest.raises(AttributeError, match="Nonsense"):
        _ = river.Nonsense


def test_without_river_it_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['river'] = None\n"
        "import noregret.river\n"
        "try: noregret.river.WidrowHoffRegressor\n"
        "except ImportError as e: print(e)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install river" in done.stdout


@pytest.mark.parametrize("name", ["WidrowHoffRegressor", "LogisticClassifier"])
def test_an_unknown_parameter_is_told_with_the_nearest(name: str) -> None:
    kind = getattr(river, name)
    with pytest.raises(TypeError, match=rf"^{name} has no parameter 'rat': did you mean rate\?"):
        kind(rat=1)
    with pytest.raises(TypeError, match=f"^{name}: .* give them by name: rate, "):
        kind(*range(20))
