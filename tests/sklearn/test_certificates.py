"""The certificate of a fit is about the very rounds that it played."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

import noregret
import noregret.sklearn as ns


def small(kind: Any = np.asarray) -> tuple[Any, Any]:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3)) * (rng.random((60, 3)) < 0.8)
    return kind(X), X @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=60) + 1.0


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shuffle", [False, True])
def test_a_certificate_tells_what_the_fit_lost(kind: Any, shuffle: bool) -> None:
    X, y = small(kind)
    fitted = ns.NlmsRegressor(shuffle=shuffle, max_iter=2).fit(X, y)
    certificate = fitted.certificate(X, y)
    assert certificate.loss.total == fitted.learner_.total_loss
    assert certificate.data.rounds == 120
    assert certificate.data.features == 4  # one of them constant
    assert certificate.theorem is not None
    assert certificate.theorem.holds is True
    told = list(fitted.rounds(X, y))
    rows = np.vstack([block.toarray() if sparse.issparse(block) else block for block, _ in told])
    outcomes = np.concatenate([each for _, each in told])
    best = np.linalg.lstsq(rows, outcomes, rcond=None)[0]
    assert certificate.hindsight.loss == pytest.approx(((rows @ best - outcomes) ** 2).sum())
    assert noregret.verify(certificate, rows, outcomes).confirmed


def test_explicit_steps_on_scaled_rows_have_their_theorem() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    scaled = make_pipeline(StandardScaler(), Normalizer()).fit_transform(X)
    estimator = ns.WidrowHoffRegressor(rate=0.2, step="explicit", fit_intercept=False, max_iter=1)
    certificate = estimator.fit(scaled, y).certificate(scaled, y)
    assert certificate.theorem is not None
    assert certificate.theorem.name == "widrow-hoff"
    assert certificate.theorem.holds is True


def test_other_examples_or_another_order_are_refused() -> None:
    X, y = small()
    fitted = ns.VawRegressor(random_state=0).fit(X, y)
    for other in ((X[::-1], y[::-1]), (X[:-1], y[:-1]), (X, y + 1)):
        with pytest.raises(noregret.NoRegretError, match="not the examples that the estimator"):
            fitted.certificate(*other)


def test_parts_are_certified_as_a_whole() -> None:
    X, y = small()
    fitted = ns.NlmsRegressor()
    for part in (slice(0, 20), slice(20, 60)):
        fitted.partial_fit(X[part], y[part])
    assert fitted.certificate(X, y).data.rounds == 60
    fitted.fit(X, y).partial_fit(X, y)
    with pytest.raises(noregret.NoRegretError, match="continued from another"):
        fitted.certificate(X, y)
    fitted.fit(X, y, sample_weight=np.arange(60))
    with pytest.raises(noregret.NoRegretError, match="fit with weights"):
        fitted.certificate(X, y)


def test_every_class_has_its_certificate() -> None:
    X, y = load_iris(return_X_y=True)
    words = np.array(["setosa", "versicolor", "virginica"])[y]
    fitted = ns.PerceptronClassifier(random_state=0).fit(X, words)
    certificate = fitted.certificate(X, words, label="setosa")
    assert certificate.theorem is not None
    assert certificate.theorem.name == "perceptron"
    assert certificate.theorem.holds is True
    assert certificate.loss.mistakes == fitted.learners_[0].mistakes
    for wrong in (None, "rose"):
        with pytest.raises(ValueError, match=r"one of .*setosa"):
            fitted.certificate(X, words, label=wrong)
    with pytest.raises(ValueError, match="label is only for classifiers"):
        ns.NlmsRegressor().fit(X, y).certificate(X, y, label=1)


def test_risk_is_promised_for_the_mean_of_the_weights() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    scaled = StandardScaler().fit_transform(X)
    estimator = ns.LogisticClassifier(average=True, max_iter=1, random_state=0, radius=2.0)
    certificate = estimator.fit(scaled, y).certificate(
        scaled, y, theorem="online-to-batch-high-probability", largest_loss=60.0
    )
    assert certificate.theorem is not None
    assert certificate.theorem.bound is not None
