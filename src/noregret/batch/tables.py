"""Rows of any kind as one column-major table, for predictors that are not linear."""

from __future__ import annotations

from typing import Any

import numpy as np

from noregret.errors import NoRegretError
from noregret.hindsight import Rows
from noregret.linear import inputs
from noregret.linear.fixed_predictor import FixedPredictor
from noregret.proof.game.game import Game

# The largest number of cells of a table that is passed to another library as a dense array.
MAX_DENSE_NUMBERS = 2**26


def by_columns(rows: Rows) -> Any:
    """Return all rows as one column-major table."""
    table = rows.pick(np.ones(rows.shape[0], dtype=bool))
    return table.tocsc() if hasattr(table, "tocsc") else np.asfortranarray(table)


def many_rows(fixed: FixedPredictor, X: Any) -> Any:
    """Return rows of any kind as one table, or raise the errors of a learner.

    Its columns are the features that the predictor knows, then new ones.
    """
    fixed.decision_many(X)
    if not inputs.row_count(X):
        return np.empty((0, fixed.engine.size))
    if inputs.is_named(X):
        return by_columns(written(fixed, X))
    if hasattr(X, "tocsc"):
        return X.tocsc()
    return np.asfortranarray(inputs.as_array(X), dtype=np.float64)


def one_row(fixed: FixedPredictor, x: Any) -> Any:
    """Return one example as a table of one row, or raise the errors of a learner."""
    fixed.decision_one(x)
    if hasattr(x, "tocsr"):
        return (x if x.ndim == 2 else x.reshape(1, -1)).tocsc()
    example = inputs.as_example(x)
    if isinstance(example, dict):
        return by_columns(written(fixed, [example]))
    assert isinstance(example, np.ndarray)
    return example.reshape(1, -1)


def written(fixed: FixedPredictor, X: Any) -> Rows:
    """Record named rows through a copy of the predictor."""
    rows = played(fixed, X, np.ones(inputs.row_count(X))).ledger.rows()
    assert rows is not None
    return rows


def played(fixed: FixedPredictor, X: Any, y: Any, target: str | None = None) -> Game:
    """Record examples through a copy of the predictor, with the losses of its weights."""
    copied = FixedPredictor(fixed.loss, fixed.intercept)
    copied.set_state(*fixed.get_state())
    game = Game(copied, keep="rows", progress=False).play(X, y, target=target)
    if not game.rounds:
        raise NoRegretError("there are no examples")
    return game


def as_rows(columns: Any, features: int) -> Any:
    """Return a table with a number of columns for another library, dense unless it is huge."""
    from scipy import sparse

    count, width = columns.shape
    if count * features > MAX_DENSE_NUMBERS:
        made = sparse.csr_array(columns)[:, :features]
        made.resize((count, features))
        return made
    dense = columns.toarray() if hasattr(columns, "toarray") else columns
    if width < features:
        dense = np.hstack([dense, np.zeros((count, features - width))])
    return np.array(dense[:, :features], order="C")  # a copy, which the library may change
