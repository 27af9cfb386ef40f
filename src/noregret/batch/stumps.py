"""Decision stumps: one feature against one threshold, and the best of all for weighted examples.

A stump predicts +1 if x_j > θ and −1 otherwise, or the reverse; a stump with threshold −∞ is
constant. The columns are sorted once. After that, finding the best stump for any weights takes one
pass over the nonzero numbers: the weight left of each threshold is a running sum, and the weight of
the zeros of a column is the rest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Stump(NamedTuple):
    """A stump: ``sign`` where the feature is above the threshold, and −``sign`` elsewhere."""

    feature: int
    threshold: float
    sign: float

    def predict(self, columns: Any) -> Floats:
        """Return +1 or −1 for every row of a table, dense or sparse by columns."""
        if self.threshold == -math.inf:
            return np.full(columns.shape[0], self.sign)
        return np.where(column(columns, self.feature) > self.threshold, self.sign, -self.sign)


def column(columns: Any, feature: int) -> Floats:
    """Return a column of a table; zeros if the table does not have it."""
    if feature >= columns.shape[1]:
        return np.zeros(columns.shape[0])
    if not hasattr(columns, "indptr"):
        return np.asarray(columns[:, feature])
    part = slice(columns.indptr[feature], columns.indptr[feature + 1])
    values = np.zeros(columns.shape[0])
    values[columns.indices[part]] = columns.data[part]
    return values


class Stumps:
    """All stumps that separate some rows.

    Parameters
    ----------
    columns
        A table: an array, or a sparse array by columns.

    Examples
    --------
    >>> stumps = Stumps(np.array([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0]]))
    >>> stumps.best(np.array([-0.5, 0.25, 0.25]))  # labels −1, +1, +1, times their weights
    Stump(feature=0, threshold=1.5, sign=1.0)
    """

    def __init__(self, columns: Any) -> None:
        from scipy import sparse

        self.columns = columns
        count, features = columns.shape
        table = sparse.csc_array(columns)
        table.eliminate_zeros()
        starts = table.indptr.astype(np.intp)
        feature = np.repeat(np.arange(features), np.diff(starts))
        order = np.lexsort((table.data, feature))
        values = table.data[order]
        self.rows = table.indices[order].astype(np.intp)
        self.starts, self.stops = starts[:-1], starts[1:]
        zeros = count - np.diff(starts)
        edges = [ends_of_ties(values, feature, starts, zeros), ends_of_zeros(values, starts, zeros)]
        end, low, high, at = (np.concatenate(parts) for parts in zip(*edges, strict=True))
        order = np.lexsort((low, at))
        self.end, self.feature = end[order], at[order].astype(np.intp)
        self.threshold = between(low[order], high[order])
        # The zeros are also left of a threshold of 0 or above.
        self.kind = 2 * self.feature + ((self.threshold >= 0) & (zeros[self.feature] > 0))

    def best(self, pull: Floats) -> Stump:
        """Return the stump h for which  Σ pull_i h(x_i)  is largest; the first of ties.

        If ``pull`` is weight times label, it is the stump with the smallest weighted error.
        """
        total = float(pull.sum())
        constant = Stump(0, -math.inf, 1.0 if total >= 0 else -1.0)
        if not len(self.end):
            return constant
        running = np.concatenate([[0.0], np.cumsum(pull[self.rows])])
        left = np.empty(2 * len(self.starts))
        left[::2] = -running[self.starts]
        left[1::2] = total - running[self.stops]
        gain = total - 2 * (running[self.end] + left[self.kind])
        k = int(np.argmax(np.abs(gain)))
        # Running sums have rounding errors: a stump must be better than a constant by more.
        if abs(gain[k]) <= abs(total) * (1 + 1e-12):
            return constant
        sign = 1.0 if gain[k] > 0 else -1.0
        return Stump(int(self.feature[k]), float(self.threshold[k]), sign)


Edges = tuple[NDArray[Any], Floats, Floats, NDArray[Any]]


def ends_of_ties(
    values: Floats, feature: NDArray[Any], starts: NDArray[Any], zeros: NDArray[Any]
) -> Edges:
    """Return the ends of runs of equal values: their positions, values, next values and columns.

    The next value after the negative ones is 0 in a column that has zeros.
    """
    if not len(values):
        return np.zeros(0, np.intp), np.zeros(0), np.zeros(0), np.zeros(0, np.intp)
    after = np.append(values[1:], math.inf)
    after[starts[1:][starts[1:] > starts[:-1]] - 1] = math.inf  # the last of its column
    over_zero = (values < 0) & (after > 0) & (zeros[feature] > 0)
    after[over_zero] = 0.0
    ends = np.flatnonzero((after > values) & (after < math.inf))
    return ends + 1, values[ends], after[ends], feature[ends]


def ends_of_zeros(values: Floats, starts: NDArray[Any], zeros: NDArray[Any]) -> Edges:
    """Return the same for the zeros of each column that has zeros and positive values."""
    below = np.append(0, np.cumsum(values < 0))
    first = starts[:-1] + below[starts[1:]] - below[starts[:-1]]
    at = np.flatnonzero((zeros > 0) & (first < starts[1:]))
    return first[at], np.zeros(len(at)), values[first[at]], at


def between(low: Floats, high: Floats) -> Floats:
    """Return thresholds halfway between values: never below the lower, always below the higher."""
    middle = low + (high - low) / 2
    return np.where(middle < high, middle, low)


# Stumps in files.

PARTS = {"feature": np.int64, "threshold": np.float64, "sign": np.float64}


def as_arrays(stumps: list[Stump]) -> dict[str, NDArray[Any]]:
    """Return stumps as arrays."""
    return {
        part: np.array([getattr(stump, part) for stump in stumps], dtype=kind)
        for part, kind in PARTS.items()
    }


def from_arrays(arrays: Mapping[str, NDArray[Any]]) -> list[Stump]:
    """Return stumps from arrays."""
    return [Stump(*each) for each in zip(*(arrays[part].tolist() for part in PARTS), strict=True)]


def check_arrays(arrays: Mapping[str, NDArray[Any]], features: int) -> None:
    """Raise ValueError if arrays are not those of stumps with a number of features."""
    for part, kind in PARTS.items():
        if arrays[part].dtype != kind:
            raise ValueError(f"{part} should be of type {np.dtype(kind)}")
    # A constant stump has feature 0, even if there are no features.
    if ((arrays["feature"] < 0) | (arrays["feature"] >= max(1, features))).any():
        raise ValueError("a stump has an unknown feature")
    if not (np.abs(arrays["sign"]) == 1).all() or not (arrays["threshold"] < math.inf).all():
        raise ValueError("a stump has an invalid sign or threshold")
