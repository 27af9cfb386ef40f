"""The definition of a mistake, for learners, batch methods, hindsight and reports."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def are_mistakes(labels: NDArray[np.float64], scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return a mask of the labels, −1 or +1, that the scores get wrong.

    A score of zero, a probability of exactly ½, is a mistake whatever the label, as in the theorems
    on mistakes and in ``Engine``.

    >>> are_mistakes(np.array([1.0, 1.0, -1.0]), np.array([0.5, 0.0, 0.0])).tolist()
    [False, True, True]
    """
    return np.asarray(labels * scores <= 0)
