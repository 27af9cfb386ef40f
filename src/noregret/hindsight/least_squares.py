"""The best linear predictor in hindsight for the square loss, from sums alone.

All that matters of T rows is the Gram matrix Σ x xᵀ, the vector Σ y x and the number Σ y²: they
fit in memory whatever T is, and the sums of two parts add up to the sums of the whole.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Best(NamedTuple):
    """The best fixed predictor: its weights and its cumulative loss over the rows seen."""

    weights: Floats
    loss: float


class LeastSquares:
    """Sums over a stream of rows, and the linear predictor that minimises the square loss on them.

    Parameters
    ----------
    features
        n, the number of columns.

    Examples
    --------
    >>> sums = LeastSquares(2)
    >>> sums.add([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [1.0, 2.0, 3.0])
    >>> sums.best().weights.round(6)
    array([1., 1.])
    """

    def __init__(self, features: int) -> None:
        self.rows = 0
        self.gram = np.zeros((features, features))
        self.moment = np.zeros(features)
        self.energy = 0.0

    def add(self, X: Any, y: Any) -> None:
        """Take more rows into account."""
        rows, outcomes = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        self.rows += len(outcomes)
        self.gram += rows.T @ rows
        self.moment += rows.T @ outcomes
        self.energy += float(outcomes @ outcomes)

    def best(self) -> Best:
        """Return the best predictor so far; of several, the one of least norm."""
        scale = np.sqrt(np.diag(self.gram))
        scale[scale == 0] = 1.0
        # Columns of unit norm, so that the cut-off of the pseudoinverse is one for all units.
        values, vectors = np.linalg.eigh(self.gram / np.outer(scale, scale))
        kept = values > values.max(initial=0.0) * len(values) * np.finfo(float).eps
        along = vectors[:, kept].T @ (self.moment / scale)
        weights = vectors[:, kept] @ (along / values[kept]) / scale
        residue = self.energy - 2 * weights @ self.moment + weights @ self.gram @ weights
        return Best(weights, max(0.0, float(residue)))
