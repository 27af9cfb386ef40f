"""Examples to fit batch methods to, and every form in which they may come."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from noregret import Perceptron
from noregret.batch import Batch, Cycled, HardMarginSvm, LinearRegression, Ridge, SoftMarginSvm

Floats = NDArray[np.float64]
NAMES = ["age", "income", "rain", "sun"]
REGRESSIONS: list[Batch] = [
    LinearRegression(),
    LinearRegression("gradient-descent", intercept=True),
    Ridge(penalty=0.5),
    Ridge(penalty=2.0, intercept=True),
]
MACHINES: list[Batch] = [
    SoftMarginSvm(penalty=0.3),
    SoftMarginSvm(penalty=0.01, intercept=True),
    HardMarginSvm(intercept=True),
    Cycled(Perceptron()),
]
METHODS = REGRESSIONS + MACHINES


def is_machine(method: Batch) -> bool:
    """Return whether outcomes are labels."""
    return method in MACHINES or method.loss_name != "square"


def numbers(rows: int = 60, seed: int = 0) -> tuple[Floats, Floats]:
    """Return examples of a linear relation, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, len(NAMES)))
    return X, X @ [1.0, -2.0, 0.5, 3.0] + 0.3 * rng.normal(size=rows) + 0.7


def labels(rows: int = 60, seed: int = 0, noise: float = 0.0) -> tuple[Floats, Floats]:
    """Return examples on two sides of a plane, with a gap between them unless there is noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, len(NAMES)))
    score = X @ [1.0, -2.0, 0.5, 3.0]
    X += 0.1 * np.sign(score)[:, None] * np.array([1.0, -2.0, 0.5, 3.0])
    return X, np.where(score + noise * rng.normal(size=rows) > 0, 1.0, -1.0)


def examples_for(method: Batch, rows: int = 60) -> tuple[Floats, Floats]:
    """Return examples of the kind that a method takes."""
    return labels(rows) if is_machine(method) else numbers(rows)


def forms(X: Floats, y: Floats) -> Iterator[tuple[str, Any, Any]]:
    """Yield the same examples in every form: its name, X and y."""
    yield "array", X, y
    yield "rows in reverse memory order", np.asfortranarray(X), y
    yield "sparse", sparse.csr_array(X), y
    yield "sparse by columns", sparse.csc_matrix(X), y
    yield "pairs", list(zip(X, y, strict=True)), None
    yield "blocks", iter([(X[:7], y[:7]), (X[7:], y[7:])]), None
    dicts = [dict(zip(NAMES, row, strict=True)) for row in X.tolist()]
    yield "dicts", dicts, y
    yield "named pairs", list(zip(dicts, y.tolist(), strict=True)), None
    frame = pd.DataFrame(X, columns=NAMES)
    yield "pandas", frame, y
    yield "polars", pl.from_pandas(frame), y
    yield "arrow", pa.Table.from_pandas(frame), y


def clone(method: Batch) -> Any:
    """Return a fresh method with the same parameters."""
    return method.clone()


def short(method: Batch) -> str:
    """Return the name of a case."""
    return repr(method)
