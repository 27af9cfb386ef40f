"""What counts as a mistake: one rule for learners, batch methods, hindsight and reports."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def are_mistakes(labels: NDArray[np.float64], scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which labels, −1 or +1, the scores get wrong.

    A score of zero, which is a chance of exactly ½, is a mistake whatever the label: theorems on
    mistakes count it so, and so does the core (``Engine``).

    >>> are_mistakes(np.array([1.0, 1.0, -1.0]), np.array([0.5, 0.0, 0.0])).tolist()
    [False, True, True]
    """
    return np.asarray(labels * scores <= 0)
