"""Decision stumps: one feature against one threshold, and the best of all for weighted examples.

A stump says +1 where x_j > θ and −1 elsewhere, or the other way round; one whose threshold is −∞
says the same everywhere. The columns are sorted once. After that the best stump for any weights
takes one pass over the numbers that are not zero: what stands left of every threshold is a running
sum, and the zeros of a column are all that its other rows leave over.
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
    """Return a column of a table; those that a table does not have are zero."""
    if feature >= columns.shape[1]:
        return np.zeros(columns.shape[0])
    if not hasattr(columns, "indptr"):
        return np.asarray(columns[:, feature])
    part = slice(columns.indptr[feature], columns.indptr[feature + 1])
    values = np.zeros(columns.shape[0])
    values[columns.indices[part]] = columns.data[part]
    return values


class Stumps:
    """All stumps that tell some rows apart.

    Parameters
    ----------
    columns
        A table: an array, or a sparse one by columns.

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
        # Left of a threshold from 0 on stand the zeros, too.
        self.kind = 2 * self.feature + ((self.threshold >= 0) & (zeros[self.feature] > 0))

    def best(self, pull: Floats) -> Stump:
        """Return the stump h for which  Σ pull_i h(x_i)  is largest: the first of equals.

        Where ``pull`` is weight times label, it is the stump of the smallest weighted error.
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
        # A running sum is off by some roundings: what says the same everywhere has to be beaten.
        if abs(gain[k]) <= abs(total) * (1 + 1e-12):
            return constant
        sign = 1.0 if gain[k] > 0 else -1.0
        return Stump(int(self.feature[k]), float(self.threshold[k]), sign)


Edges = tuple[NDArray[Any], Floats, Floats, NDArray[Any]]


def ends_of_ties(
    values: Floats, feature: NDArray[Any], starts: NDArray[Any], zeros: NDArray[Any]
) -> Edges:
    """Return where equal values of a column end: how many come before, them, the next, and where.

    The next value is 0 between the negative and the positive ones of a column that has zeros.
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
    """Return the same for the zeros of every column that has some, and positive values above."""
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
    """Return the stumps that arrays stand for."""
    return [Stump(*each) for each in zip(*(arrays[part].tolist() for part in PARTS), strict=True)]


def check_arrays(arrays: Mapping[str, NDArray[Any]], features: int) -> None:
    """Raise ValueError where arrays do not stand for stumps of so many features."""
    for part, kind in PARTS.items():
        if arrays[part].dtype != kind:
            raise ValueError(f"{part} should be of type {np.dtype(kind)}")
    # One that says the same everywhere has feature 0, whether or not there is one.
    if ((arrays["feature"] < 0) | (arrays["feature"] >= max(1, features))).any():
        raise ValueError("a stump looks at a feature that is not there")
    if not (np.abs(arrays["sign"]) == 1).all() or not (arrays["threshold"] < math.inf).all():
        raise ValueError("a stump says neither yes nor no, or asks nothing")
