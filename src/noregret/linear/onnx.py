"""Export of linear models to ONNX.

The graph computes the scores X W + b for X of N rows and one column per feature; W has one column,
or one per class if there are several. Its outputs are ``variable`` for numbers, ``label`` and
``probabilities`` for the logistic and the softmax loss, ``label`` and ``scores`` for other losses
over labels.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from noregret._version import __version__
from noregret.base.atomic_files import write_whole
from noregret.checks import one_of
from noregret.errors import NoRegretError
from noregret.linear.class_learner import ClassLearner
from noregret.linear.engine.class_weights import ClassWeights
from noregret.linear.learn_many import label_pair

if TYPE_CHECKING:
    from noregret.linear.learner import Learner

Floats = NDArray[np.float64]
DTYPES = ("float64", "float32")
# Versions that all recent runtimes support.
OPSET, IR = 17, 8
# Examples on which weights and scores of the model are compared before the export.
CHECKED_EXAMPLES = 16


class Linear(NamedTuple):
    """A linear model with the scores x · weights + constants.

    Parameters
    ----------
    name
        The name of the algorithm.
    features, weights, constants
        The names of the features, their weights (a row per feature, a column per score), and the
        intercept of each score.
    labels
        The negative and the positive label, or the classes; None for numbers.
    several
        If True, there is a score per class, and the highest one gives the label.
    probable
        If True, scores give probabilities: by 1/(1 + exp(−score)), or by the softmax of several.
    """

    name: str
    features: list[str]
    weights: Floats
    constants: Floats
    labels: Sequence[Any] | None
    several: bool
    probable: bool


class Predictor(Protocol):
    """A model with weights and scores."""

    @property
    def name(self) -> str:
        """The name of the algorithm."""
        ...

    @property
    def features(self) -> list[str]:
        """The names of the features."""
        ...

    @property
    def weights(self) -> Floats:
        """Their weights."""
        ...

    def decision_many(self, X: Any) -> Any:
        """Return the scores of many examples."""
        ...


def to_onnx(
    model: Predictor, fixed: Learner, path: str | Path | None = None, dtype: str = "float64"
) -> Any:
    """Return a linear model as an ONNX model, and write it to a file if a path is given.

    Parameters
    ----------
    model
        The model with weights, features and scores.
    fixed
        The learner that has the features and labels: the model itself, if it is a learner.
    path
        The file to write, if any.
    dtype
        ``float64``, or ``float32`` for runtimes that support nothing else.
    """
    one_of("dtype", dtype, DTYPES)
    try:
        import onnx
    except ImportError:
        raise ImportError("to_onnx needs the package onnx: pip install onnx") from None
    made = graph_of(linear_of(model, fixed), np.dtype(dtype))
    onnx.checker.check_model(made)
    if path is not None:
        write_whole(path, made.SerializeToString())
    return made


def linear_of(model: Predictor, fixed: Learner) -> Linear:
    """Return the weights of a model, or raise NoRegretError if its scores are not linear."""
    if not model.features:
        raise NoRegretError(f"{model.name} has met no feature yet: there is no model to write")
    several = isinstance(fixed.engine, ClassWeights)
    if not (several or fixed.engine.linear):
        raise NoRegretError(
            f"the predictions of {model.name} are more than weights times features, which is all"
            " that can be written: noregret.load and pickle keep it whole"
        )
    rows = (
        np.random.default_rng(0)
        .integers(0, 2, (CHECKED_EXAMPLES, len(model.features)))
        .astype(float)
    )
    rows[0] = 0.0
    scores = np.asarray(model.decision_many(as_known(rows, fixed))).reshape(len(rows), -1)
    weights = np.asarray(model.weights, dtype=np.float64).reshape(len(model.features), -1)
    found = rows @ weights + scores[0]
    if not np.allclose(found, scores, rtol=1e-9, atol=1e-9 * float(np.abs(weights).sum())):
        raise NoRegretError(f"the predictions of {model.name} are not its weights times features")
    loss = fixed.engine.loss
    labels: Sequence[Any] | None = None
    if isinstance(fixed, ClassLearner):
        labels = fixed.classes
    elif loss.labels:
        labels = label_pair(fixed._entry)
    probable = loss.name in ("logistic", "softmax")
    return Linear(model.name, model.features, weights, scores[0], labels, several, probable)


def as_known(rows: Floats, fixed: Learner) -> Any:
    """Return rows with names or by position, as the learner has its features."""
    names = fixed._entry.known.names
    return [dict(zip(names, row, strict=True)) for row in rows.tolist()] if names else rows


def graph_of(model: Linear, dtype: np.dtype[Any]) -> Any:
    """Return the ONNX model."""
    from onnx import helper, numpy_helper

    kind = helper.np_dtype_to_tensor_dtype(dtype)
    known = {
        "weights": narrowed(model.weights, dtype, model.name),
        "constants": narrowed(model.constants, dtype, model.name),
    }
    nodes = [
        helper.make_node("MatMul", ["X", "weights"], ["products"]),
        helper.make_node("Add", ["products", "constants"], ["sums"]),
    ]
    columns = len(model.constants)
    if model.labels is None:
        results = [("variable", kind, ["N", columns])]
        nodes.append(helper.make_node("Identity", ["sums"], ["variable"]))
    else:
        known["labels"], of_labels = tensor_of(model.labels)
        results = [("label", of_labels, ["N"])]
        nodes += [
            *best_of(model, known, dtype),
            helper.make_node("Gather", ["labels", "best"], ["label"]),
        ]
        if model.probable:
            results.append(("probabilities", kind, ["N", len(model.labels)]))
            nodes += probabilities(model.several)
        else:
            results.append(("scores", kind, ["N", columns]))
            nodes.append(helper.make_node("Identity", ["sums"], ["scores"]))
    graph = helper.make_graph(
        nodes,
        model.name,
        [helper.make_tensor_value_info("X", kind, ["N", len(model.features)])],
        [helper.make_tensor_value_info(*result) for result in results],
        [numpy_helper.from_array(array, name) for name, array in known.items()],
    )
    made = helper.make_model(
        graph,
        producer_name="noregret",
        producer_version=__version__,
        ir_version=IR,
        opset_imports=[helper.make_opsetid("", OPSET)],
    )
    helper.set_model_props(made, {"features": json.dumps(model.features, ensure_ascii=False)})
    return made


def narrowed(weights: Floats, dtype: np.dtype[Any], name: str) -> NDArray[Any]:
    """Convert weights to a type, or raise NoRegretError if they overflow."""
    with np.errstate(over="ignore", under="ignore"):
        found = weights.astype(dtype)
    if not np.isfinite(found).all():
        raise NoRegretError(f"a weight of {name} is too large for {dtype}", "write it as float64")
    return found


def tensor_of(labels: Sequence[Any]) -> tuple[NDArray[Any], int]:
    """Return labels as an array, and the type of an ONNX tensor of them."""
    from onnx import TensorProto

    if isinstance(labels[0], bool):
        return np.array(labels, np.bool_), TensorProto.BOOL
    if isinstance(labels[0], str):
        return np.array(labels, np.object_), TensorProto.STRING
    return np.array(labels, np.int64), TensorProto.INT64


def best_of(model: Linear, known: dict[str, NDArray[Any]], dtype: np.dtype[Any]) -> list[Any]:
    """Return the nodes that find the position of the predicted label, and add what they need."""
    from onnx import TensorProto, helper

    if model.several:
        return [helper.make_node("ArgMax", ["sums"], ["best"], axis=1, keepdims=0)]
    known["zero"], known["flat"] = np.zeros(1, dtype), np.array([-1], np.int64)
    return [
        helper.make_node("Greater", ["sums", "zero"], ["above"]),
        helper.make_node("Reshape", ["above", "flat"], ["positive"]),
        helper.make_node("Cast", ["positive"], ["best"], to=TensorProto.INT64),
    ]


def probabilities(several: bool) -> list[Any]:
    """Return the nodes that convert scores to probabilities."""
    from onnx import helper

    if several:
        return [helper.make_node("Softmax", ["sums"], ["probabilities"], axis=1)]
    return [
        helper.make_node("Neg", ["sums"], ["below"]),
        helper.make_node("Sigmoid", ["below"], ["unlikely"]),
        helper.make_node("Sigmoid", ["sums"], ["likely"]),
        helper.make_node("Concat", ["unlikely", "likely"], ["probabilities"], axis=1),
    ]
