"""Export of linear models to ONNX.

The graph computes the scores X w + b for X of N rows and one column per feature. Its outputs are
``variable`` for numbers, ``label`` and ``probabilities`` for labels with the logistic loss, and
``label`` and ``scores`` for labels with another loss.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from noregret._version import __version__
from noregret.base.atomic_files import write_whole
from noregret.checks import one_of
from noregret.errors import NoRegretError
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
    """A linear model with the scores weights · x + constant.

    Parameters
    ----------
    name
        The name of the algorithm.
    features, weights, constant
        The names and weights of the columns, and the intercept.
    labels
        The negative and the positive label; None for numbers.
    probable
        If True, 1/(1 + exp(−score)) is the probability of the positive label.
    """

    name: str
    features: list[str]
    weights: Floats
    constant: float
    labels: tuple[Any, Any] | None
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
    if fixed._notes():
        raise NoRegretError(
            f"{model.name} has several classes: only one row of weights times features can be"
            " written; noregret.load and pickle keep it whole"
        )
    if not fixed.engine.linear:
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
    scores = np.asarray(model.decision_many(as_known(rows, fixed)))
    weights, constant = np.asarray(model.weights, dtype=np.float64), float(scores[0])
    found = rows @ weights + constant
    if not np.allclose(found, scores, rtol=1e-9, atol=1e-9 * float(np.abs(weights).sum())):
        raise NoRegretError(f"the predictions of {model.name} are not its weights times features")
    loss = fixed.engine.loss
    labels = label_pair(fixed._entry) if loss.labels else None
    return Linear(model.name, model.features, weights, constant, labels, loss.name == "logistic")


def as_known(rows: Floats, fixed: Learner) -> Any:
    """Return rows with names or by position, as the learner has its features."""
    names = fixed._entry.known.names
    return [dict(zip(names, row, strict=True)) for row in rows.tolist()] if names else rows


def graph_of(model: Linear, dtype: np.dtype[Any]) -> Any:
    """Return the ONNX model."""
    from onnx import TensorProto, helper, numpy_helper

    kind = helper.np_dtype_to_tensor_dtype(dtype)
    known = {
        "weights": narrowed(model.weights[:, None], dtype, model.name),
        "constant": narrowed(np.array([model.constant]), dtype, model.name),
    }
    nodes = [
        helper.make_node("MatMul", ["X", "weights"], ["product"]),
        helper.make_node("Add", ["product", "constant"], ["score"]),
    ]
    if model.labels is None:
        results = [("variable", kind, ["N", 1])]
        nodes.append(helper.make_node("Identity", ["score"], ["variable"]))
    else:
        known["zero"], known["flat"] = np.zeros(1, dtype), np.array([-1], np.int64)
        nodes.append(helper.make_node("Greater", ["score", "zero"], ["above"]))
        if isinstance(model.labels[0], bool):
            results = [("label", TensorProto.BOOL, ["N"])]
            nodes.append(helper.make_node("Reshape", ["above", "flat"], ["label"]))
        else:
            results = [("label", TensorProto.INT64, ["N"])]
            known["negative"], known["positive"] = np.array(model.labels, np.int64)[:, None]
            nodes += [
                helper.make_node("Where", ["above", "positive", "negative"], ["labels"]),
                helper.make_node("Reshape", ["labels", "flat"], ["label"]),
            ]
        if model.probable:
            results.append(("probabilities", kind, ["N", 2]))
            nodes += probabilities()
        else:
            results.append(("scores", kind, ["N", 1]))
            nodes.append(helper.make_node("Identity", ["score"], ["scores"]))
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


def probabilities() -> list[Any]:
    """Return the nodes that convert scores to probabilities."""
    from onnx import helper

    return [
        helper.make_node("Neg", ["score"], ["below"]),
        helper.make_node("Sigmoid", ["below"], ["unlikely"]),
        helper.make_node("Sigmoid", ["score"], ["likely"]),
        helper.make_node("Concat", ["unlikely", "likely"], ["probabilities"], axis=1),
    ]
