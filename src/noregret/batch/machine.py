"""The base class of the support vector machines."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.batch.method import Batch, Solution
from noregret.checks import positive
from noregret.hindsight import Limits
from noregret.hindsight.blocks import row_squares
from noregret.hindsight.losses import as_labels
from noregret.hindsight.rows import score_error

if TYPE_CHECKING:
    from noregret.batch.evidence import BatchEvidence
    from noregret.hindsight import Rows

Floats = NDArray[np.float64]
# The search uses this fraction of the tolerance, as the error of the weights grows with its root.
TOLERANCE_SHARE = 1e-3


def tolerance_of(value: Any) -> float:
    """Return a tolerance, or raise ValueError."""
    return positive("tolerance", value, below=1.0)


def closer(evidence: BatchEvidence) -> Limits:
    """Return the limits of the search, with a smaller tolerance than requested."""
    requested = min(evidence.limits.tolerance, evidence.params["tolerance"])
    return replace(evidence.limits, tolerance=max(TOLERANCE_SHARE * requested, 1e-12))


def resting_on(rows: Rows, weights: Floats, off: float) -> NDArray[np.int64]:
    """Return the possible support vectors, for best weights within a distance of the given ones.

    All other rows surely have a margin above 1, and could be left out without a change.
    """
    norms = np.concatenate([np.zeros(0), *(np.sqrt(row_squares(X)) for X, _ in rows.blocks())])
    margins = as_labels(rows.outcomes) * rows.scores(weights) - score_error(rows, weights)
    near = margins <= 1 + off * norms * (1 + 1e-9) + 1e-9
    return np.flatnonzero(near).astype(np.int64)


class Machine(Batch):
    """A support vector machine."""

    loss_name = "hinge"

    @property
    def support(self) -> NDArray[np.int64]:
        """The support vectors: the numbers of their rows, counted from 0.

        All other rows have a margin above 1; without them, the result is the same.
        """
        return np.array(self.solution.arrays["support"])

    def _check_found(self, found: Solution) -> None:
        """Raise ValueError if the result in a file is invalid."""
        support = found.arrays["support"]
        if support.dtype != np.int64 or support.ndim != 1:
            raise ValueError("the support should be row numbers")
        if not all(math.isfinite(value) for value in found.numbers.values()):
            raise ValueError("the results should be finite numbers")
