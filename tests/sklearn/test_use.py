"""Where scikit-learn's users put an estimator, and what they read when something is wrong."""

from __future__ import annotations

import doctest
import inspect
import io
import pickle
import subprocess
import sys
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import noregret
import noregret.sklearn as ns
from noregret.sklearn.traits import Traits

REGRESSORS = [name for name in ns.__all__ if name.endswith("Regressor")]
CLASSIFIERS = [name for name in ns.__all__ if name.endswith("Classifier")]


def test_every_learner_is_there_once_for_every_kind_of_loss() -> None:
    for learner in noregret.all_learners().values():
        stem = learner.__name__
        if learner._for_classes == learner.name:  # the classifier of another has it
            continue
        kinds = [end for end in ("Regressor", "Classifier") if f"{stem}{end}" in ns.__all__]
        assert kinds
        if "loss" not in inspect.signature(learner).parameters:
            labels = learner(**{}).engine.loss.labels
            assert kinds == (["Classifier"] if labels else ["Regressor"])
    known = {
        "WidrowHoffRegressor",
        "GradientDescentRegressor",
        "GradientDescentClassifier",
        "PerceptronClassifier",
        "AutoRegressor",
        "AutoClassifier",
    }
    assert known <= set(ns.__all__) == set(dir(ns))
    assert not {"PerceptronRegressor", "WidrowHoffClassifier"} & set(ns.__all__)
    with pytest.raises(AttributeError, match="PerceptronRegressor"):
        _ = ns.PerceptronRegressor


@pytest.mark.parametrize("name", ns.__all__)
def test_parameters_are_the_learners_and_explained(name: str) -> None:
    estimator = getattr(ns, name)
    traits: Traits = estimator.traits
    given = estimator().get_params()
    for each, known in traits.parameters.items():
        assert given[each] == traits.kind.params.get(each, known.default)
        assert f"\n{each}\n    " in estimator.__doc__
    for each in given:
        assert f"\n{each}\n    " in estimator.__doc__
    assert estimator.__module__ == "noregret.sklearn"
    said = io.StringIO()
    runner = doctest.DocTestRunner(verbose=False)
    for example in doctest.DocTestFinder(recurse=False).find(estimator, name):
        runner.run(example, out=said.write)
    assert runner.tries > 2, name
    assert not runner.failures, said.getvalue()


def test_defaults_differ_only_where_raw_columns_would_diverge() -> None:
    changed = {name: getattr(ns, name).traits.kind.params for name in REGRESSORS}
    assert changed["WidrowHoffRegressor"] == {"step": "implicit"}
    assert changed["GradientDescentRegressor"] == {"step": "implicit"}
    assert changed["FtrlRegressor"] == {"loss": "huber"}
    assert changed["NlmsRegressor"] == changed["VawRegressor"] == {}
    X, y = load_diabetes(return_X_y=True, scaled=False)
    for name in REGRESSORS:
        assert np.isfinite(getattr(ns, name)(max_iter=1).fit(X, y).predict(X)).all()
    with pytest.raises(noregret.Diverged, match=r"row \d+: the weights are diverging.*implicit"):
        ns.WidrowHoffRegressor(step="explicit").fit(X, y)


def test_a_loss_of_the_other_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="predicts labels, and the square loss is not for them"):
        ns.GradientDescentClassifier(loss="square").fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="predicts numbers, and the hinge loss is not for them"):
        ns.GradientDescentRegressor(loss="hinge").fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize("name", ["AutoRegressor", "VawRegressor", "OnlineNewtonRegressor"])
def test_good_ones_come_close_to_least_squares_in_one_pass(name: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), getattr(ns, name)(max_iter=1, random_state=0))
    assert cross_val_score(pipeline, X, y).mean() > 0.4  # least squares has 0.48


@pytest.mark.parametrize("name", ["LogisticClassifier", "HingeClassifier", "AutoClassifier"])
def test_pipelines_and_searches(name: str) -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    words = np.where(y == 1, "benign", "malignant")
    pipeline = make_pipeline(StandardScaler(), getattr(ns, name)(random_state=0))
    pipeline.set_output(transform="pandas")
    search = GridSearchCV(pipeline, {f"{name.lower()}__max_iter": [1, 3]}, cv=3).fit(X, words)
    assert search.best_score_ > 0.95
    best = search.best_estimator_[-1]
    assert best.feature_names_in_.tolist() == X.columns.tolist()
    assert best.classes_.tolist() == ["benign", "malignant"]
    assert set(search.predict(X)) == {"benign", "malignant"}
    assert name in search._repr_html_()


@pytest.mark.parametrize("name", ns.__all__)
def test_clones_and_pickles(name: str) -> None:
    estimator = getattr(ns, name)(random_state=3, max_iter=2)
    X, y = load_iris(return_X_y=True)
    assert clone(estimator).get_params() == estimator.get_params()
    estimator.fit(X, y)
    again = pickle.loads(pickle.dumps(estimator))
    assert (again.predict(X) == estimator.predict(X)).all()
    more = estimator.partial_fit(X[:20], y[:20]).predict(X)
    assert (again.partial_fit(X[:20], y[:20]).predict(X) == more).all()


def test_threads(tmp_path: Any) -> None:
    X, y = load_iris(return_X_y=True)
    estimator = ns.ArowClassifier(random_state=0)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        both = cross_val_score(estimator, X, y)
    assert both.tolist() == cross_val_score(estimator, X, y).tolist()
    joblib.dump(estimator.fit(X, y), tmp_path / "model")
    assert (joblib.load(tmp_path / "model").predict(X) == estimator.predict(X)).all()


def test_multiclass_is_one_against_the_rest() -> None:
    X, y = load_iris(return_X_y=True)
    options = {"random_state": 5}
    all_of_them = ns.LogisticClassifier(**options).fit(X, y)
    assert all_of_them.coef_.shape == (3, 4)
    assert all_of_them.decision_function(X).shape == (150, 3)
    np.testing.assert_allclose(all_of_them.predict_proba(X).sum(axis=1), 1.0)
    np.testing.assert_allclose(
        np.exp(all_of_them.predict_log_proba(X)), all_of_them.predict_proba(X), atol=1e-12
    )
    for k in range(3):
        alone = ns.LogisticClassifier(**options).fit(X, y == k)
        assert alone.coef_[0].tobytes() == all_of_them.coef_[k].tobytes()
        assert alone.learner_.weights[:4].tobytes() == alone.coef_[0].tobytes()
    with pytest.raises(AttributeError, match="see learners_"):
        _ = all_of_them.learner_


def test_auto_has_all_classes_in_one_learner() -> None:
    X, y = load_iris(return_X_y=True)
    names = load_iris().target_names[y]
    fitted = ns.AutoClassifier(random_state=0).fit(X, names)
    assert isinstance(fitted.learner_, noregret.AutoClasses)
    chances = fitted.predict_proba(X)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert (fitted.classes_[chances.argmax(axis=1)] == fitted.predict(X)).all()
    assert fitted.decision_function(X).shape == (150, 3)
    order = np.random.default_rng(fitted._story.seed)
    mine = noregret.AutoClasses(recent=False, members="linear")
    for _ in range(10):
        rows = order.permutation(150)
        mine.learn_many(X[rows], names[rows])
    own = mine.predict_proba_many(X)[:, [mine.classes.index(k) for k in fitted.classes_]]
    np.testing.assert_allclose(chances, own, rtol=1e-9)
    certificate = fitted.certificate(X, names)
    assert certificate.theorem.name == "auto-classes"
    with pytest.raises(ValueError, match="more than two classes has no delay: leave it at 0"):
        ns.AutoClassifier(delay=3).fit(X, y)


def test_auto_with_two_classes_is_the_learner_for_two() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    words = np.array(["no", "yes"])[y]
    fitted = ns.AutoClassifier(max_iter=1, shuffle=False).fit(X, words)
    mine = noregret.Auto(loss="logistic", recent=False, members="linear")
    mine.learn_many(X, y)
    assert np.array_equal(fitted.decision_function(X), mine.decision_many(X))
    chances = 1 / (1 + np.exp(-mine.decision_many(X)))
    np.testing.assert_allclose(fitted.predict_proba(X)[:, 1], chances, rtol=1e-9)
    assert (fitted.predict(X) == np.where(mine.decision_many(X) > 0, "yes", "no")).all()


def test_probabilities_are_of_the_logistic_loss_only() -> None:
    X, y = load_iris(return_X_y=True)
    assert not hasattr(ns.HingeClassifier(), "predict_proba")
    assert hasattr(ns.GradientDescentClassifier(), "predict_proba")
    assert not hasattr(ns.GradientDescentClassifier(loss="hinge").fit(X, y), "predict_proba")


def test_what_is_not_linear_has_no_coefficients() -> None:
    X, y = load_diabetes(return_X_y=True)
    auto = ns.AutoRegressor().fit(X, y)
    assert not hasattr(auto, "coef_")
    assert not hasattr(auto, "intercept_")
    linear = ns.NlmsRegressor().fit(X, y)
    np.testing.assert_allclose(linear.predict(X), X @ linear.coef_ + linear.intercept_)
    np.testing.assert_allclose(
        linear.predict(X), linear.learner_.decision_many(np.c_[X, np.ones(len(X))])
    )


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_columns_have_names(make: Any) -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    frame = make({name: X[name].to_numpy() for name in X})
    fitted = ns.VawRegressor(random_state=0).fit(frame, y)
    assert fitted.feature_names_in_.tolist() == X.columns.tolist()
    spoiled = X.copy()
    spoiled.iloc[7, 2] = np.nan
    table = make({name: spoiled[name].to_numpy() for name in X})
    message = "row 7: Input X contains NaN in column 'bmi'"
    with pytest.raises(noregret.BadExample, match=message):
        fitted.predict(table)
    with pytest.raises(noregret.BadExample, match=message):
        clone(fitted).fit(table, y)
    with pytest.raises(noregret.BadExample, match=message):
        clone(fitted).partial_fit(table, y)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_named_and_changes_nothing(kind: Any, value: float) -> None:
    X, y = load_iris(return_X_y=True)
    fitted = ns.HingeClassifier(random_state=0).fit(X, y)
    before = fitted.coef_.tobytes()
    bad = X.copy()
    bad[90, 1] = value
    what = "NaN" if np.isnan(value) else "infinity"
    for act in (fitted.fit, fitted.partial_fit):
        with pytest.raises(
            noregret.BadExample, match=f"row 90: Input X contains {what} in column 1"
        ):
            act(kind(bad), y)
        assert fitted.coef_.tobytes() == before
    with pytest.raises(noregret.BadExample, match=f"row 90: Input X contains {what} in column 1"):
        fitted.predict(kind(bad))


def test_the_calls_of_partial_fit_agree_on_classes() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="must be given in the first call"):
        ns.HingeClassifier().partial_fit(X, y)
    fitted = ns.HingeClassifier().partial_fit(X[:10], y[:10], classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"classes \[5\], which are not among"):
        fitted.partial_fit(X[:2], [0, 5])
    with pytest.raises(ValueError, match="in the first call: got"):
        fitted.partial_fit(X[:2], y[:2], classes=[0, 1])
    assert fitted.partial_fit(X, y).predict(X).shape == (150,)


def test_a_warm_start_goes_on() -> None:
    X, y = load_iris(return_X_y=True)
    options = {"shuffle": False, "schedule": "constant", "rate": 0.1}
    twice = ns.LogisticClassifier(max_iter=2, **options).fit(X, y)
    warm = ns.LogisticClassifier(max_iter=1, warm_start=True, **options).fit(X, y)
    assert warm.fit(X, y).coef_.tobytes() == twice.coef_.tobytes()
    with pytest.raises(ValueError, match="same classes as before"):
        warm.fit(X[:100], y[:100])


def test_averages_and_binary_columns() -> None:
    X, y = load_iris(return_X_y=True)
    fitted = ns.NlmsRegressor(average=True, max_iter=1, shuffle=False, fit_intercept=False)
    mean = noregret.averaged(noregret.Nlms())
    mean.learn_many(X, y)
    assert fitted.fit(X, y).coef_.tobytes() == mean.weights.tobytes()
    truths = np.array([[i & 1, i >> 1 & 1, i >> 2 & 1] for i in range(8)], dtype=float)
    label = np.where((truths[:, 0] > 0) & (truths[:, 2] == 0), "yes", "no")
    learned = ns.ConjunctionClassifier(max_iter=1).fit(truths * 5 - 2, label)
    assert (learned.predict(truths * 5 - 2) == label).all()
    table = sparse.csr_array(truths)
    assert (learned.fit(table, label).predict(table) == label).all()


def test_weights_are_routed() -> None:
    X, y = load_iris(return_X_y=True)
    weights = np.arange(150) % 4 + 0.5
    options = {"cv": 3, "return_estimator": True}
    with sklearn.config_context(enable_metadata_routing=True):
        estimator = ns.HingeClassifier(random_state=0).set_fit_request(sample_weight=True)
        estimator.set_score_request(sample_weight=False)
        told = cross_validate(estimator, X, y, params={"sample_weight": weights}, **options)
        plain = cross_validate(ns.HingeClassifier(random_state=0), X, y, params={}, **options)
    weighted, alike = told["estimator"][0].coef_, plain["estimator"][0].coef_
    assert not np.array_equal(weighted, alike)


def test_columns_may_be_transformed_apart() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    columns = ColumnTransformer([("scaled", StandardScaler(), X.columns[:2].tolist())])
    fitted = make_pipeline(columns, ns.PerceptronClassifier(random_state=0)).fit(X, y)
    assert fitted.predict(X).shape == (150,)


def run(code: str) -> str:
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return ended.stdout


def test_scikit_learn_is_imported_where_it_is_needed_only() -> None:
    assert (
        run("import sys, noregret; noregret.Nlms(); print('sklearn' in sys.modules)") == "False\n"
    )
    said = run(
        "import sys; sys.modules['sklearn'] = None\n"
        "try:\n    import noregret.sklearn\n"
        "except ImportError as missing:\n    print(missing)"
    )
    assert said == "noregret.sklearn needs scikit-learn: pip install 'noregret[sklearn]'\n"


@pytest.mark.parametrize("classes", [2, 3])
def test_only_recent_makes_predictions_depend_on_the_last_class(classes: int) -> None:
    """Columns are noise and classes take turns, so that the last class foretells the next."""
    X = np.random.default_rng(0).normal(size=(600, 2))
    y = np.arange(600) % classes
    known = np.arange(classes)
    usual, latest = ns.AutoClassifier(), ns.AutoClassifier(recent=True)
    chances = [
        each.partial_fit(X, y, classes=known).predict_proba(X)[:, 0].mean()
        for each in (usual, latest)
    ]
    assert chances[0] < 0.7
    assert chances[1] > 0.9
    assert "recent=False" in (ns.AutoClassifier.__doc__ or "")


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_fit_does_not_mind_rows_sorted_by_class(load: Any) -> None:
    """For partial_fit, which keeps the order, they are a hard case."""
    X, y = load(return_X_y=True)
    in_order = np.argsort(y, kind="stable")
    mixed = np.random.default_rng(0).permutation(len(y))
    for seed in range(3):
        one, other = (
            ns.AutoClassifier(random_state=seed).fit(X[rows], y[rows]).score(X, y)
            for rows in (in_order, mixed)
        )
        assert abs(one - other) < 0.021
        assert min(one, other) > 0.94
    same = {"shuffle": False, "max_iter": 1}
    fitted = ns.AutoClassifier(**same).fit(X[in_order], y[in_order])
    partly = ns.AutoClassifier().partial_fit(X[in_order], y[in_order], classes=np.unique(y))
    assert np.array_equal(fitted.decision_function(X), partly.decision_function(X))


@pytest.mark.parametrize("name", ["WidrowHoffRegressor", "LogisticClassifier"])
def test_an_unknown_parameter_is_told_with_the_nearest(name: str) -> None:
    with pytest.raises(TypeError, match=rf"^{name} has no parameter 'rat': did you mean rate\?"):
        getattr(ns, name)(rat=1)
    with pytest.raises(TypeError, match=f"^{name}: .* give them by name: rate, "):
        getattr(ns, name)(0.1)
