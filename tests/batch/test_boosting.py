"""AdaBoost: stumps by brute force, Hedge's weights, scikit-learn's errors, and its bounds."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

import noregret as nr
from noregret.batch.boosting import PERFECT, USELESS, boosted
from noregret.batch.methods.ada_boost import AdaBoost
from noregret.batch.stumps import Stump, Stumps
from noregret.batch.weak import StumpFinder
from noregret.errors import BadExample, NoRegretError
from noregret.experts import Hedge
from tests.thorough import draws

Floats = NDArray[np.float64]


def clouds(seed: int, m: int = 300, n: int = 5) -> tuple[Floats, Floats]:
    """Return points inside and outside of a shape that no stump fits, some of them mislabelled."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    y = np.where(X[:, 0] ** 2 + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=m) > 0.4, 1.0, -1.0)
    return X, y


# Stumps.

tables = arrays(
    np.float64,
    st.tuples(st.integers(1, 9), st.integers(0, 4)),
    elements=st.sampled_from([-2.0, -1e-200, 0.0, 5e-324, 0.3, 1.0, 1.0 + 3e-16, 1e149]),
)


def best_gain(X: Floats, pull: Floats) -> float:
    """Return the largest Σ pull h(x) over all stumps h, tried one by one."""
    gains = [abs(pull.sum())]
    for column in X.T:
        gains += [abs((pull * np.where(column > value, 1, -1)).sum()) for value in column]
    return float(max(gains))


@draws(80)
@given(X=tables, data=st.data())
def test_no_stump_is_better_than_the_best(X: Floats, data: st.DataObject) -> None:
    weights = st.floats(-1, 1).filter(lambda value: abs(value) > 1e-6 or value == 0)
    pull = data.draw(arrays(np.float64, len(X), elements=weights))
    for table in (np.asfortranarray(X), sparse.csc_array(X)):
        found = Stumps(table).best(pull)
        assert (pull * found.predict(table)).sum() == pytest.approx(best_gain(X, pull), abs=1e-9)


@draws(30)
@given(X=tables, data=st.data())
def test_dense_and_sparse_columns_give_the_same_stump(X: Floats, data: st.DataObject) -> None:
    pull = data.draw(arrays(np.float64, len(X), elements=st.floats(-1, 1)))
    assert Stumps(X).best(pull) == Stumps(sparse.csc_array(X)).best(pull)


def test_columns_that_tell_nothing_apart_leave_the_constant_stump() -> None:
    stumps = Stumps(np.full((4, 3), 7.0))
    assert stumps.best(np.array([0.1, 0.2, -0.4, 0.0])) == Stump(0, -math.inf, -1.0)


# Boosting.


@pytest.mark.parametrize("rate", [0.05, 0.4, 3.0])
def test_its_weights_are_those_of_hedge_over_the_examples(rate: float) -> None:
    """Each example is an expert whose loss is 1 when it is classified rightly; its rate is 2η."""
    X, y = clouds(1)
    weak = Remembering(X, y)
    boosted(weak, y, 12, rate)
    hedge = Hedge(schedule="constant", rate=2 * rate)
    for weights, said in zip(weak.weights, weak.said, strict=True):
        if hedge.rounds:
            np.testing.assert_allclose(weights, hedge.weights(), rtol=1e-9)
        hedge.learn_losses((said == y).astype(float))


class Remembering(StumpFinder):
    """Finds stumps, and records the requests and the answers."""

    def __init__(self, X: Floats, y: Floats) -> None:
        super().__init__(np.asfortranarray(X), y)
        self.weights: list[Floats] = []
        self.said: list[Floats] = []

    def find(self, weights: Floats) -> Stump:
        self.weights.append(weights)
        found = super().find(weights)
        self.said.append(found.predict(self.stumps.columns))
        return found


class StumpClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Our stump, as scikit-learn wants its classifiers."""

    def fit(self, X: Any, y: Any, sample_weight: Any) -> StumpClassifier:
        self.classes_ = np.array([-1, 1])
        self.found_ = Stumps(np.asfortranarray(X)).best(sample_weight * y)
        return self

    def predict(self, X: Any) -> Any:
        return self.found_.predict(np.asfortranarray(X)).astype(int)


@pytest.mark.parametrize("seed", range(3))
def test_as_many_mistakes_in_every_round_as_in_scikit_learn(seed: int) -> None:
    X, y = clouds(seed)
    theirs = AdaBoostClassifier(StumpClassifier(), n_estimators=30).fit(X, y)
    staged = [int(np.count_nonzero(said != y)) for said in theirs.staged_predict(X)]
    ours = nr.batch.AdaBoost(members=30).fit(X, y)
    assert ours.staged_mistakes == staged
    np.testing.assert_allclose(ours.errors, theirs.estimator_errors_, rtol=1e-9)
    np.testing.assert_allclose(2 * ours.votes, theirs.estimator_weights_, rtol=1e-9)


@pytest.mark.parametrize("seed", range(2))
def test_any_weak_learner_as_in_scikit_learn(seed: int) -> None:
    X, y = clouds(seed)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    ours = AdaBoost(members=10, weak=tree).fit(X, y)
    theirs = AdaBoostClassifier(tree, n_estimators=10, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.errors, theirs.estimator_errors_, rtol=1e-6)
    np.testing.assert_array_equal(ours.predict_many(X), theirs.predict(X))


def test_the_weak_learner_may_be_a_function() -> None:
    X, y = clouds(4)

    def stump(X: Floats, y: Floats, weights: Floats) -> Any:
        found = Stumps(X).best(weights * y)
        return found.predict

    np.testing.assert_array_equal(
        AdaBoost(members=9, weak=stump).fit(X, y).decision_many(X),
        AdaBoost(members=9).fit(X, y).decision_many(X),
    )


@draws(25)
@given(
    X=tables.filter(lambda X: X.shape[1] > 0),
    data=st.data(),
    rate=st.sampled_from([None, 0.1, 2.0]),
)
def test_the_training_mistakes_are_within_the_bound(
    X: Floats, data: st.DataObject, rate: float | None
) -> None:
    y = data.draw(arrays(np.float64, len(X), elements=st.sampled_from([-1.0, 1.0])))
    method = AdaBoost(members=6, rate=rate).fit(X, y)
    wrong = int(np.count_nonzero(y * method.decision_many(X) <= 0))
    given: dict[str, Any] = {} if rate else {"margin": 0.25}
    certificate = method.certificate(**given)
    promise = certificate.theorem
    assert promise is not None
    assert promise.measured == wrong == certificate.loss.mistakes
    if not len(method.votes):
        assert promise.bound is None
        return
    e, v = method.errors, np.abs(method.votes)
    if rate is None:
        expected = np.prod(2 * np.sqrt(e * (1 - e)))
        assert expected <= math.exp(-2 * float(np.sum((0.5 - e) ** 2))) * (1 + 1e-9)
    else:
        e = np.minimum(e, 1 - e)
        expected = np.prod((1 - e) * np.exp(-rate) + e * np.exp(rate))
    if method.stopped != PERFECT:
        assert promise.bound == pytest.approx(len(X) * expected, rel=1e-9)
    assert promise.holds
    assert promise.bound is not None
    assert wrong <= promise.bound * (1 + 1e-9)
    for margins in certificate.further:
        small = np.count_nonzero(y * method.decision_many(X) <= 0.25 * v.sum())
        assert margins.measured == small
        assert margins.holds


def test_the_margin_bound_is_that_of_the_paper() -> None:
    X, y = clouds(7)
    method = AdaBoost(members=20).fit(X, y)
    (margins,) = method.certificate(margin=0.15).further
    e = method.errors
    assert margins.bound == pytest.approx(
        min(1.0, float(np.prod(2 * np.sqrt(e**0.85 * (1 - e) ** 1.15)))) * len(y)
    )


def test_no_weight_is_lost_where_it_is_tiny() -> None:
    """One example is never right: beside it the others weigh next to nothing, and count still."""
    X = np.array([[0.0], [0.0], [1.0]])
    y = np.array([1.0, -1.0, 1.0])

    def always(X: Floats, y: Floats, weights: Floats) -> Any:
        return lambda rows: np.where(rows[:, 0] > 0.5, 1, 1)

    run = AdaBoost(members=2000, weak=always, rate=1.0).fit(X, y)
    assert np.isfinite(run.errors).all()
    assert np.isfinite(run.decision_many(X)).all()


# What weak learners may be.


def test_a_perfect_classifier_decides_alone() -> None:
    X, y = np.array([[1.0], [2.0], [3.0]]), [False, True, True]
    method = AdaBoost().fit(X, y)
    assert method.classifiers == [Stump(0, 1.5, 1.0)]
    assert method.stopped == PERFECT
    assert method.predict_many(X).tolist() == y
    assert method.certificate().theorem.bound == 0  # type: ignore[union-attr]


def test_a_classifier_that_is_always_wrong_votes_against_itself() -> None:
    X, y = clouds(2, m=20)
    method = AdaBoost(weak=lambda X, y, weights: lambda rows: -y).fit(X, y)
    np.testing.assert_array_equal(method.predict_many(X), y)


def test_a_classifier_that_is_mostly_wrong_votes_against_itself() -> None:
    X, y = clouds(3)

    def wrong(X: Floats, y: Floats, weights: Floats) -> Any:
        found = Stumps(X).best(weights * y)
        return lambda rows: -found.predict(rows)

    against, straight = AdaBoost(members=8, weak=wrong).fit(X, y), AdaBoost(members=8).fit(X, y)
    np.testing.assert_allclose(against.votes, -straight.votes, rtol=1e-9)
    assert against.staged_mistakes == straight.staged_mistakes


def test_where_nothing_is_better_than_chance_there_is_no_vote_and_no_promise() -> None:
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), [1, -1, -1, 1]
    method = AdaBoost().fit(X, y)
    assert method.stopped == USELESS
    assert len(method.votes) == 0
    certificate = method.certificate()
    assert certificate.theorem is not None
    assert certificate.theorem.bound is None
    assert certificate.loss.mistakes == 4  # a zero score is wrong
    assert nr.verify(certificate, X, y).confirmed


@pytest.mark.parametrize("label", [1, -1])
def test_labels_that_are_all_equal_are_learned_at_once(label: int) -> None:
    method = AdaBoost().fit([[1.0], [2.0]], [label, label])
    assert method.predict_many([[5.0]]).tolist() == [label]


@pytest.mark.parametrize("said", [np.nan, 0.0, 2.0])
def test_what_is_no_label_is_refused_with_its_round(said: float) -> None:
    X, y = clouds(5, m=10)
    method = AdaBoost(weak=lambda X, y, weights: lambda rows: np.full(len(rows), said))
    with pytest.raises(NoRegretError, match="boosting round 1: the weak learner must predict"):
        method.fit(X, y)


THE_SAME = DecisionTreeClassifier(max_depth=1)


def same_one_again(X: Any, y: Any, weights: Any) -> Any:
    """Fit one and the same tree each time."""
    return THE_SAME.fit(X, y, weights)


def in_place(X: Any, y: Any, weights: Any) -> Any:
    """Move the examples themselves."""
    X += 1.0
    return DecisionTreeClassifier(max_depth=1).fit(X, y, weights)


def by_chance(X: Any, y: Any, weights: Any) -> Any:
    """Return what says something else each time."""
    rng = np.random.default_rng(0)
    return lambda rows: rng.choice([-1, 1], len(rows))


@pytest.mark.parametrize("weak", [same_one_again, in_place, by_chance])
@pytest.mark.parametrize("n", [1, 5])
def test_classifiers_that_change_their_minds_are_refused(weak: Any, n: int) -> None:
    X, y = clouds(7, m=40)
    X = np.asfortranarray(X[:, :n])
    kept = X.copy()
    with pytest.raises(NoRegretError, match="predictions for the same rows have changed"):
        AdaBoost(members=5, weak=weak).fit(X, y)
    np.testing.assert_array_equal(X, kept)


def test_a_weak_learner_that_writes_over_its_labels_hurts_nobody() -> None:
    X, y = clouds(8, m=40)

    def turned(X: Any, labels: Any, weights: Any) -> Any:
        labels *= -1
        return DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, labels, weights)

    method = AdaBoost(members=6, weak=turned).fit(X, y)
    assert (method.votes < 0).all()
    assert method.risk(X, y) == method.staged_mistakes[-1] / 40


@pytest.mark.parametrize("found", [None, np.ones(10), 3])
def test_what_cannot_predict_is_refused(found: Any) -> None:
    X, y = clouds(9, m=10)
    with pytest.raises(NoRegretError, match=r"boosting round 1: .* must return a function"):
        AdaBoost(weak=lambda X, y, weights: found).fit(X, y)


def test_what_is_refused_changes_nothing() -> None:
    X, y = clouds(6, m=30)
    method = AdaBoost(members=4).fit(X, y)
    before = method.decision_many(X)
    with pytest.raises(BadExample):
        method.fit([[1.0, np.nan, 0, 0, 0]], [1])
    with pytest.raises(BadExample, match="label"):
        method.fit(X, np.arange(30.0))
    np.testing.assert_array_equal(method.decision_many(X), before)
    with pytest.raises(BadExample):
        method.predict_many([[np.nan] * 5])


@pytest.mark.parametrize(
    ("params", "said"),
    [({"members": 0}, "members"), ({"rate": -1.0}, "rate"), ({"rate": math.nan}, "rate")],
)
def test_parameters_out_of_range_are_refused(params: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        AdaBoost(**params)
    with pytest.raises(TypeError, match="weak must be a learner with fit"):
        AdaBoost(weak=3)
    with pytest.raises(TypeError, match="weak must be a learner with fit"):
        AdaBoost(weak=DecisionTreeClassifier)


# Inputs, copies and files.


def test_rows_of_every_kind_give_the_same_votes() -> None:
    import pandas as pd

    X, y = clouds(8)
    X[np.abs(X) < 0.4] = 0.0
    names = [str(k) for k in range(X.shape[1])]
    dicts = [dict(zip(names, row, strict=True)) for row in X.tolist()]
    frame = pd.DataFrame(X, columns=names)
    plain = AdaBoost(members=15).fit(X, y)
    for rows in (sparse.csr_array(X), dicts, frame):
        method = AdaBoost(members=15).fit(rows, y)
        np.testing.assert_array_equal(method.votes, plain.votes)
        np.testing.assert_array_equal(method.decision_many(rows), plain.decision_many(X))
    named = AdaBoost(members=15).fit(dicts, y)
    for k in range(5):
        assert named.decision_one(dicts[k]) == plain.decision_one(X[k])
        assert named.predict_one(dicts[k]) == plain.predict_many(X)[k]
    assert named.decision_one({**dicts[0], "never seen": 3.0}) == plain.decision_one(X[0])
    assert plain.risk(X, y) == plain.staged_mistakes[-1] / len(y)


def test_copies_and_files_vote_alike(tmp_path: Path) -> None:
    X, y = clouds(9)
    method = AdaBoost(members=12).fit(X, y)
    method.save(tmp_path / "model")
    for other in (nr.load(tmp_path / "model"), pickle.loads(pickle.dumps(method)), method.copy()):
        np.testing.assert_array_equal(other.decision_many(X), method.decision_many(X))
        assert other.staged_mistakes == method.staged_mistakes
        assert other.feature_use == method.feature_use


@pytest.mark.parametrize(
    ("array", "value", "said"),
    [
        ("feature", np.int64(5), "unknown feature"),
        ("feature", np.int64(-1), "unknown feature"),
        ("sign", 2.0, "invalid sign or threshold"),
        ("threshold", math.nan, "invalid sign or threshold"),
        ("votes", math.inf, "a vote is not finite"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(array: str, value: Any, said: str) -> None:
    X, y = clouds(9, m=40)
    method = AdaBoost(members=3).fit(X, y)
    arrays, numbers, names = method.get_state()
    changed = {key: kept.copy() for key, kept in arrays.items()}
    changed[f"found.{array}"][1] = value
    with pytest.raises(ValueError, match=said):
        method.clone().set_state(changed, numbers, names)
    del changed[f"found.{array}"]
    with pytest.raises(ValueError, match="expected the arrays"):
        method.clone().set_state(changed, numbers, names)


def test_somebody_elses_classifiers_are_pickled_but_not_saved(tmp_path: Path) -> None:
    X, y = clouds(10)
    method = AdaBoost(members=4, weak=DecisionTreeClassifier(max_depth=2)).fit(X, y)
    with pytest.raises(NoRegretError, match="pickle it, or boost stumps"):
        method.save(tmp_path / "model")
    again = pickle.loads(pickle.dumps(method))
    np.testing.assert_array_equal(again.decision_many(X), method.decision_many(X))
    stated = method.certificate().to_dict()["learner"]["params"]["weak"]
    assert stated == {"python": "DecisionTreeClassifier"}


def test_a_certificate_is_confirmed_from_the_data_and_not_when_it_is_changed() -> None:
    X, y = clouds(11)
    certificate = AdaBoost(members=10).fit(X, y).certificate(margin=0.05)
    assert nr.verify(certificate, X, y).confirmed
    for part in ("theorem", "further"):
        contents = certificate.to_dict()
        promise = contents[part] if part == "theorem" else contents[part][0]
        promise["bound"] *= 0.9
        failed = {line.name for line in nr.verify(contents, X, y).failed}
        assert f"{part}.bound" in failed or f"{part}.1.bound" in failed
    assert not nr.verify(certificate, X, -y).confirmed


def test_the_features_that_count_are_named() -> None:
    X, y = clouds(12)
    use = AdaBoost(members=40).fit(X, y).feature_use
    assert next(iter(use)) == "0"
    assert sum(use.values()) <= 1 + 1e-9
    with pytest.raises(NoRegretError, match="without weights"):
        AdaBoost(members=2).fit(X, y).weights  # noqa: B018
