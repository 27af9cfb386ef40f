"""Settings of the members of a bank, and statistics of features, for numbers and for classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The share of the past that filters keep per round, and the initial variance of a weight: smaller
# for filters that forget faster, which have less to learn from.
KEEP = (1.0, 0.9999, 0.999, 0.99)
GRANT = (1.0, 0.3, 0.3, 0.1)
LABEL_GRANT = (0.3, 0.1, 0.1, 0.03)
KEEP_ABOVE = (1.0, 0.9995, 0.998, 0.99)
GRANT_ABOVE = (1.0, 1.0, 1.0, 0.3)
# Rates of AdaGrad, in deviations of outcomes and features; the share that diagonal filters keep per
# round, and their initial variance.
STEPS = (0.03, 0.12, 0.5, 2.0)
LABEL_STEPS = (0.1, 0.4, 1.6, 6.4)
KEEP_FIRST = (1.0, 0.9999, 0.999, 0.99)
GRANT_FIRST = (1.0, 1.0, 1.0, 0.3)
# The share of the past that the combinations of each kind keep per round, with several classes.
KEEP_COMBINED = (1.0, 0.998)


def constant_feature(table: Floats, seen: Any, rounds: int) -> tuple[int, float] | None:
    """Return the place and the sum of the first feature that never varied, such as an intercept."""
    count, total, squares = table[seen, 16:19].T
    same = np.flatnonzero((count == rounds) & (squares * count <= total * total * (1 + 1e-12)))
    return (seen[same[0]], total[same[0]]) if len(same) else None


def check_features(table: Floats) -> None:
    """Raise ValueError if the statistics of features are invalid."""
    squares = [at for at in range(8, table.shape[1]) if at != 17]  # all but the sum of the values
    if any((table[:, at] < 0).any() for at in squares) or not table[0, 16] > 0:
        raise ValueError("array features holds a negative sum of squares or variance")
