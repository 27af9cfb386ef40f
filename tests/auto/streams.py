"""Streams that the tests of ``auto`` are made of, and what its parts hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import noregret as nr
from noregret.auto.memory_filters import Filters
from noregret.learners.auto import Auto
from noregret.linear.engine.block_rows import play_rows
from noregret.linear.learn_many import play

Floats = NDArray[np.float64]
LOSSES = ("square", "absolute", "quantile", "logistic")
NUMBERS = ("square", "absolute", "quantile")


def auto(loss: str = "square", **options: object) -> Auto:
    """Return a fresh one; the quantile is 0.8."""
    if loss == "quantile":
        options["loss_parameter"] = 0.8
    made = nr.make("auto", loss=loss, **options)
    assert isinstance(made, Auto)
    return made


def played(learner: Auto, X: Floats, y: Floats) -> Floats:
    """Predict and learn row by row; return the predictions, as scores."""
    out = np.empty(len(y))
    play(learner._entry, X, y, out)
    return out


def weighted(learner: Auto, X: Floats, y: Floats, importances: Floats) -> Floats:
    """Learn rows with importances."""
    rows, columns = X.shape
    starts = np.arange(rows + 1) * columns
    places = np.tile(np.arange(columns, dtype=np.int32), rows)
    out = np.empty(rows)
    play_rows(learner._entry, starts, places, np.ascontiguousarray(X).ravel(), y, importances, out)
    return out


def labels(y: Floats) -> Floats:
    """Return −1 and 1."""
    return np.where(y > 0, 1.0, -1.0)


def stream(seed: int, rows: int, columns: int, loss: str = "square") -> tuple[Floats, Floats]:
    """Return a linear stream with noise: rows and outcomes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    y = X @ rng.normal(size=columns) + 0.5 * rng.normal(size=rows) + 3
    return X, labels(y - 3) if loss == "logistic" else y


def covariance(filters: Filters, lane: int) -> Floats:
    """Return what a filter holds of the covariance of its weights, multiplied out."""
    arrays, n = filters.get_state()[0], filters.n
    U, at = np.eye(n), 0
    for j in range(n):
        U[:j, j] = arrays["U"][4 * at + lane : 4 * (at + j) : 4]
        at += j
    return np.asarray(U * arrays["D"][lane::4] @ U.T)


def parts_of(learner: Auto) -> dict[str, Floats]:
    """Return every array of its state."""
    arrays, _ = learner.engine.get_state()
    return dict(arrays)


def same_state(one: Auto, other: Auto) -> bool:
    """Return whether two hold the same, to the bit."""
    a, b = one.engine.get_state(), other.engine.get_state()
    return (
        a[1] == b[1]
        and a[0].keys() == b[0].keys()
        and all(a[0][k].tobytes() == b[0][k].tobytes() for k in a[0])
    )


def member_names(learner: Auto) -> list[str]:
    """Return what each member is called."""
    return [member.name for member in learner.members]


def member_weights(learner: Auto) -> Floats:
    """Return the weight of each member."""
    return np.array([member.weight for member in learner.members])


def member_losses(learner: Auto) -> Floats:
    """Return what each member has lost."""
    return np.array([member.loss for member in learner.members])
