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
# How much closer than the tolerance the search is to come: weights are as sharp as its root.
TOLERANCE_SHARE = 1e-3


def tolerance_of(value: Any) -> float:
    """Return a tolerance, if it is one."""
    return positive("tolerance", value, below=1.0)


def closer(evidence: BatchEvidence) -> Limits:
    """Return how hard to search: harder than the tolerance asks for."""
    asked = min(evidence.limits.tolerance, evidence.params["tolerance"])
    return replace(evidence.limits, tolerance=max(TOLERANCE_SHARE * asked, 1e-12))


def resting_on(rows: Rows, weights: Floats, off: float) -> NDArray[np.int64]:
    """Return the rows that the best weights may rest on, which are at most so far from these.

    All others surely have a margin above 1, and could be left out without changing anything.
    """
    norms = np.concatenate([np.zeros(0), *(np.sqrt(row_squares(X)) for X, _ in rows.blocks())])
    margins = as_labels(rows.outcomes) * rows.scores(weights) - score_error(rows, weights)
    near = margins <= 1 + off * norms * (1 + 1e-9) + 1e-9
    return np.flatnonzero(near).astype(np.int64)


class Machine(Batch):
    """A support vector machine: labels, and rows that the weights rest on."""

    loss_name = "hinge"

    @property
    def support(self) -> NDArray[np.int64]:
        """The rows that the weights rest on, counted from 0; without the others, all is the same.

        It is known as surely as the weights are: all other rows have a margin above 1.
        """
        return np.array(self.solution.arrays["support"])

    def check_found(self, found: Solution) -> None:
        """Raise ValueError where what a file says was found makes no sense."""
        support = found.arrays["support"]
        if support.dtype != np.int64 or support.ndim != 1:
            raise ValueError("the support should be the numbers of rows")
        if not all(math.isfinite(value) for value in found.numbers.values()):
            raise ValueError("what was found should be numbers")
