"""Proportional transaction costs: what is left of wealth after a portfolio is rebalanced.

A portfolio that held the shares w drifts in a round to v_i = w_i x_i / (w·x). To hold shares u in
the next, assets are sold and bought, and a share ``cost`` of all that is sold and of all that is
bought is paid. What is left of each unit of wealth is the α in (0, 1] with

    α  =  1 − cost · Σ |α u_i − v_i|.

The first portfolio is held from the start, so that buying it costs nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# Newton's steps on a convex function of straight pieces: one a piece at most, mostly two.
STEPS = 1000


def left_after(drifted: Floats, wanted: Floats, cost: float) -> float:
    """Return what is left of each unit of wealth.

    Examples
    --------
    Half of everything is sold, and as much is bought but for the costs:

    >>> left = left_after(np.array([1.0, 0.0]), np.array([0.5, 0.5]), 0.01)
    >>> round(left, 6), round(1 - 0.01 * (abs(0.5 * left - 1) + 0.5 * left), 6)
    (0.99, 0.99)
    """
    if cost == 0.0:
        return 1.0
    left = 1.0
    for _ in range(STEPS):
        traded = left * wanted - drifted
        excess = left + cost * float(np.abs(traded).sum()) - 1.0
        if excess <= 0.0:
            break
        lower = left - excess / (1.0 + cost * float(np.sign(traded) @ wanted))
        if not lower < left:
            break
        left = lower
    return left
