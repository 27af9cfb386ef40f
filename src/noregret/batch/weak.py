"""Weak learners, which find classifiers slightly better than chance for AdaBoost."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noregret.batch.stumps import Stump, Stumps
from noregret.errors import NoRegretError

Floats = NDArray[np.float64]
# A learner of another library, or a function: see ``Foreign``.
WeakLearner = Any


class Weak(Protocol):
    """A weak learner on given examples."""

    def find(self, weights: Floats) -> Any:
        """Return a classifier with a small weighted error."""

    def predictions(self, found: Any) -> Floats:
        """Return the classifier's prediction for each example: +1 or −1."""


class StumpFinder:
    """The best decision stump, by an exact search.

    Parameters
    ----------
    columns
        The examples as a column-major table.
    labels
        +1 or −1 each.
    """

    def __init__(self, columns: Any, labels: Floats) -> None:
        self.stumps, self.labels = Stumps(columns), labels

    def find(self, weights: Floats) -> Stump:
        """Return the stump with the smallest weighted error."""
        return self.stumps.best(weights * self.labels)

    def predictions(self, found: Stump) -> Floats:
        """Return the prediction for each example."""
        return found.predict(self.stumps.columns)


class Foreign:
    """A learner of another library, or a function.

    Parameters
    ----------
    learner
        An object with ``fit(X, y, sample_weight=…)`` and ``predict(X)``, as in scikit-learn, of
        which a new copy is fitted each time. Or a function of (X, y, weights) that returns a
        classifier: a function of X, or an object with ``predict(X)``.
    table
        The examples: an array, or a sparse one.
    labels
        +1 or −1 each.
    """

    def __init__(self, learner: Any, table: Any, labels: Floats) -> None:
        self.learner, self.table, self.labels = learner, table, labels.astype(np.int64)

    def find(self, weights: Floats) -> Any:
        """Fit a new classifier."""
        if not hasattr(self.learner, "fit"):
            return self.learner(self.table, self.labels.copy(), weights)
        fresh = copy.deepcopy(self.learner)
        fresh.fit(self.table, self.labels.copy(), sample_weight=weights)
        return fresh

    def predictions(self, found: Any) -> Floats:
        """Return the prediction for each example."""
        return predictions_of(found, self.table)


def predictions_of(found: Any, table: Any) -> Floats:
    """Return a classifier's prediction for each row; raise an error if it is not a label."""
    predict: Callable[[Any], Any] = found.predict if hasattr(found, "predict") else found
    if not callable(predict):
        raise NoRegretError(
            "the weak learner must return a function, or an object with predict(X): got"
            f" {type(found).__name__}"
        )
    labels = np.asarray(predict(table))
    if labels.dtype == bool:
        labels = np.where(labels, 1.0, -1.0)
    if labels.shape != (table.shape[0],) or not np.isin(labels, (-1, 1)).all():
        raise NoRegretError(
            "the weak learner must predict one label per row, 1 or -1: got"
            f" {labels.dtype} of shape {labels.shape}"
        )
    return labels.astype(np.float64)


def summed(found: Iterable[Any], votes: Iterable[float], table: Any) -> Floats:
    """Return the sum of the votes of the classifiers for each row."""
    total = np.zeros(table.shape[0])
    for each, vote in zip(found, votes, strict=True):
        total += vote * predictions_of(each, table)
    return total


def check_again(found: list[Any], votes: list[float], table: Any, scores: Floats) -> None:
    """Raise an error if classifiers predict differently from when they were found."""
    if not np.array_equal(summed(found, votes, table), scores):
        raise NoRegretError(
            "the classifiers' predictions for the same rows have changed",
            "use a weak learner that returns a new classifier each time, predicts deterministically"
            " and does not modify X",
        )
