"""Models for ONNX: what onnxruntime makes of them is what they predict."""

from __future__ import annotations

import builtins
import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

import noregret as nr
from noregret.base.registry import all_algorithms
from tests.thorough import in_turn
from tests.variants import VARIANTS, Floats, Shape, Variant, examples, learned

RUN = onnxruntime.SessionOptions()
RUN.intra_op_num_threads = 1


def answers(model: Any, X: Any) -> dict[str, Any]:
    """Return what the runtime makes of a model, by the names of its outputs."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), RUN)
    kind = {"tensor(double)": np.float64, "tensor(float)": np.float32}[session.get_inputs()[0].type]
    said = session.run(None, {"X": np.asarray(X, dtype=kind)})
    return dict(zip([output.name for output in session.get_outputs()], said, strict=True))


def taught(variant: Variant) -> tuple[nr.Learner, Floats]:
    """Return a learner, and the rows from which it has learned."""
    X, y = examples(variant, Shape(seed=8, rows=30, columns=5, density=0.9))
    return learned(variant, X, y), X


def follows_from_weights(variant: Variant) -> bool:
    """Return whether scores are weights times features and a constant."""
    learner, X = taught(variant)
    if variant.classes:
        return bool(np.allclose(learner.decision_many(X), X @ learner.weights, atol=1e-12))
    if not learner.engine.linear:
        return False
    found = X @ learner.weights + learner.decision_one(np.zeros(X.shape[1]))
    return bool(np.allclose(learner.decision_many(X), found, rtol=1e-9, atol=1e-12))


EXPORTED = [variant for variant in VARIANTS if follows_from_weights(variant)]


@in_turn("variant", [v for v in VARIANTS if v not in EXPORTED])
def test_what_does_not_follow_from_weights_is_refused(variant: Variant) -> None:
    learner, _ = taught(variant)
    with pytest.raises(nr.NoRegretError, match="weights times features"):
        learner.to_onnx()


@in_turn("variant", [v for v in EXPORTED if not (v.labels or v.classes)])
def test_the_runtime_predicts_the_numbers_of_the_model(variant: Variant) -> None:
    learner, X = taught(variant)
    scores = learner.decision_many(X)
    near = 1e-12 * (1 + np.abs(scores).max())
    said = answers(learner.to_onnx(), X)["variable"][:, 0]
    np.testing.assert_allclose(said, scores, rtol=1e-12, atol=near)


@in_turn("variant", [v for v in EXPORTED if v.labels or v.classes])
def test_the_runtime_predicts_the_labels_of_the_model(variant: Variant) -> None:
    learner, X = taught(variant)
    scores = np.asarray(learner.decision_many(X)).reshape(len(X), -1)
    near = {"rtol": 1e-12, "atol": 1e-12 * (1 + np.abs(scores).max())}
    said = answers(learner.to_onnx(), X)
    ranked = np.sort(scores if variant.classes else np.hstack([scores, np.zeros_like(scores)]))
    sure = ranked[:, -1] - ranked[:, -2] > 1e-9
    assert said["label"].shape == (len(X),)
    np.testing.assert_array_equal(said["label"][sure], learner.predict_many(X)[sure])
    if learner.engine.loss.name in ("logistic", "softmax"):
        np.testing.assert_allclose(said["probabilities"], learner.predict_proba_many(X), **near)
    else:
        np.testing.assert_allclose(said["scores"], scores, **near)


def test_labels_are_those_of_the_data() -> None:
    X = np.array([[1.0], [-1.0]])
    for y in ([1, -1], [1, 0], [True, False]):
        learner = nr.Logistic()
        learner.learn_many(X, y)
        said = answers(learner.to_onnx(), X)
        assert said["label"].tolist() == y
        assert said["label"].dtype == (np.bool_ if y[0] is True else np.int64)


@pytest.mark.parametrize("classes", [["ash", "fir", "élm"], [7, -3, 10**15], [True, False, True]])
def test_several_classes_keep_their_names(classes: list[Any]) -> None:
    learner = nr.Softmax()
    learner.learn_many(np.repeat(np.eye(3), 5, axis=0), [y for y in classes for _ in range(5)])
    said = answers(learner.to_onnx(), np.eye(3))
    assert said["label"].tolist() == classes
    assert said["probabilities"].shape == (3, len(learner.classes))


def test_columns_are_features_in_their_order(tmp_path: Path) -> None:
    learner = nr.Nlms()
    rows = [{"size": 1.0, "town": "Rome"}, {"size": 2.0, "town": "Oslo"}, {"size": 0.5}]
    learner.learn_many(rows, [1.0, 3.0, 0.2])
    path = tmp_path / "model.onnx"
    model = learner.to_onnx(path)
    assert path.read_bytes() == model.SerializeToString()
    names = json.loads({each.key: each.value for each in model.metadata_props}["features"])
    assert names == learner.features == ["size", "town=Rome", "town=Oslo"]
    X = [[1.0, 1.0, 0.0], [2.0, 0.0, 1.0], [0.5, 0.0, 0.0]]
    said = answers(model, X)["variable"][:, 0]
    np.testing.assert_allclose(said, [learner.predict_one(row) for row in rows], rtol=1e-14)


def test_single_precision_for_those_who_know_no_other() -> None:
    learner = nr.Logistic()
    rng = np.random.default_rng(9)
    X = rng.normal(size=(50, 3))
    learner.learn_many(X, X[:, 0] > 0)
    said = answers(learner.to_onnx(dtype="float32"), X)
    np.testing.assert_allclose(said["probabilities"], learner.predict_proba_many(X), atol=1e-6)
    with pytest.raises(ValueError, match="dtype"):
        learner.to_onnx(dtype="float16")


def test_weights_too_large_for_single_precision_are_refused() -> None:
    learner = nr.GradientDescent(loss="absolute", rate=1e50, schedule="constant")
    learner.learn_one([1.0, 1e-100], 1.0)
    with pytest.raises(nr.NoRegretError, match="too large for float32: write it as float64"):
        learner.to_onnx(dtype="float32")
    assert answers(learner.to_onnx(), [[1.0, 0.0]])["variable"].item() == learner.weights[0]


def test_without_features_there_is_nothing_to_write() -> None:
    learner = nr.Logistic()
    learner.learn_one({}, True)
    with pytest.raises(nr.NoRegretError, match="logistic has met no feature yet"):
        learner.to_onnx()


def test_averaged_weights_are_the_ones_written() -> None:
    learner = nr.averaged(nr.WidrowHoff(rate=0.5))
    for _ in range(3):
        learner.learn_one([1.0], 1.0)
    assert answers(learner.to_onnx(), [[1.0]])["variable"].item() == learner.predict_one([1.0])


BATCH = [kind for kind in all_algorithms() if kind.family == "batch"]


@pytest.mark.parametrize("kind", BATCH, ids=lambda kind: kind.name)
@pytest.mark.parametrize("intercept", [False, True])
def test_batch_methods_too(kind: Any, intercept: bool) -> None:
    with_intercept = "intercept" in inspect.signature(kind).parameters
    method = kind(**({"intercept": intercept} if with_intercept else {}))
    rng = np.random.default_rng(10)
    X = rng.normal(size=(40, 3))
    X = X[np.abs(X[:, 0]) > 0.3]
    names = [dict(zip("abc", row, strict=True)) for row in X.tolist()]
    method.fit(names, np.where(X[:, 0] > 0, 1, -1))
    try:
        said = answers(method.to_onnx(), X)
    except nr.NoRegretError:
        with pytest.raises((nr.NoRegretError, AttributeError)):
            _ = method.weights
        return
    score = said["variable"] if "variable" in said else said.get("scores")
    if score is not None:
        expected = np.asarray(method.decision_many(names))
        np.testing.assert_allclose(score[:, 0], expected, rtol=1e-9, atol=1e-12)
    if "label" in said:
        np.testing.assert_array_equal(said["label"], method.predict_many(names))


def test_what_is_not_linear_is_refused() -> None:
    for learner in (nr.Auto(), nr.ScaleInvariant()):
        learner.learn_many(np.eye(3), [1.0, 2.0, 3.0])
        with pytest.raises(nr.NoRegretError, match="more than weights times features"):
            learner.to_onnx()
    with pytest.raises(nr.NoRegretError, match="no feature yet"):
        nr.WidrowHoff().to_onnx()


def test_without_onnx_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    there = builtins.__import__

    def gone(name: str, *rest: Any) -> Any:
        if name == "onnx":
            raise ImportError(name)
        return there(name, *rest)

    learner = nr.WidrowHoff()
    learner.learn_one([1.0], 1.0)
    monkeypatch.setattr(builtins, "__import__", gone)
    with pytest.raises(ImportError, match="pip install onnx"):
        learner.to_onnx()
