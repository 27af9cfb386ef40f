"""Weak learners: what AdaBoost asks for a classifier that does a little better than chance."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noregret.batch.stumps import Stump, Stumps
from noregret.errors import NoRegretError

Floats = NDArray[np.float64]
# Somebody else's: see ``Foreign``.
WeakLearner = Any


class Weak(Protocol):
    """Whoever finds a classifier for weighted examples, and asks it."""

    def find(self, weights: Floats) -> Any:
        """Return a classifier that does well on the examples of much weight."""

    def ask(self, found: Any) -> Floats:
        """Return what it says of every example: +1 or −1."""


class StumpFinder:
    """The best decision stump, by an exact search.

    Parameters
    ----------
    columns
        The examples, as a table that is read by columns.
    labels
        +1 or −1 each.
    """

    def __init__(self, columns: Any, labels: Floats) -> None:
        self.stumps, self.labels = Stumps(columns), labels

    def find(self, weights: Floats) -> Stump:
        """Return the stump of the smallest weighted error."""
        return self.stumps.best(weights * self.labels)

    def ask(self, found: Stump) -> Floats:
        """Return what it says of every example."""
        return found.predict(self.stumps.columns)


class Foreign:
    """Somebody else's learner.

    Parameters
    ----------
    learner
        What has ``fit(X, y, sample_weight=…)`` and ``predict(X)``, as in scikit-learn: a fresh
        copy is fitted each time. Or a function of (X, y, weights) that returns what predicts: a
        function of X, or something with ``predict(X)``.
    table
        The examples: an array, or a sparse one.
    labels
        +1 or −1 each.
    """

    def __init__(self, learner: Any, table: Any, labels: Floats) -> None:
        self.learner, self.table, self.labels = learner, table, labels.astype(np.int64)

    def find(self, weights: Floats) -> Any:
        """Fit a fresh one."""
        if not hasattr(self.learner, "fit"):
            return self.learner(self.table, self.labels.copy(), weights)
        fresh = copy.deepcopy(self.learner)
        fresh.fit(self.table, self.labels.copy(), sample_weight=weights)
        return fresh

    def ask(self, found: Any) -> Floats:
        """Return what it says of every example."""
        return said_by(found, self.table)


def said_by(found: Any, table: Any) -> Floats:
    """Return what somebody's classifier says of every row, or refuse what is no label."""
    predict: Callable[[Any], Any] = found.predict if hasattr(found, "predict") else found
    if not callable(predict):
        raise NoRegretError(
            "the weak learner must return a function that predicts, or something with predict(X):"
            f" got {type(found).__name__}"
        )
    said = np.asarray(predict(table))
    if said.dtype == bool:
        said = np.where(said, 1.0, -1.0)
    if said.shape != (table.shape[0],) or not np.isin(said, (-1, 1)).all():
        raise NoRegretError(
            "the weak learner must predict one label a row, 1 or -1 as it was given: got"
            f" {said.dtype} of shape {said.shape}"
        )
    return said.astype(np.float64)


def summed(found: Iterable[Any], votes: Iterable[float], table: Any) -> Floats:
    """Return the sum of the votes of somebody's classifiers for every row."""
    total = np.zeros(table.shape[0])
    for each, vote in zip(found, votes, strict=True):
        total += vote * said_by(each, table)
    return total


def check_again(found: list[Any], votes: list[float], table: Any, scores: Floats) -> None:
    """Refuse classifiers that say other things of the examples than when they were found."""
    if not np.array_equal(summed(found, votes, table), scores):
        raise NoRegretError(
            "the classifiers say other things of the same rows when they are asked again: a weak"
            " learner must return a new one each time, predict without chance, and leave X alone"
        )
