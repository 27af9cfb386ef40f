"""Proportional transaction costs: the wealth that is left after rebalancing a portfolio.

A portfolio that held the shares w drifts in a round to v_i = w_i x_i / (w·x). To hold shares u in
the next, assets are sold and bought, at a ``cost`` per unit of wealth sold and bought. The fraction
of wealth that is left is the α in (0, 1] with

    α  =  1 − cost · Σ |α u_i − v_i|.

The first portfolio is held from the start, so buying it costs nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# Newton steps on a convex piecewise linear function: at most one per piece, mostly two.
MAX_STEPS = 1000


def left_after(drifted: Floats, wanted: Floats, cost: float) -> float:
    """Return the fraction of wealth that is left after the costs of rebalancing.

    Examples
    --------
    Half of everything is sold, and as much is bought minus the costs:

    >>> left = left_after(np.array([1.0, 0.0]), np.array([0.5, 0.5]), 0.01)
    >>> round(left, 6), round(1 - 0.01 * (abs(0.5 * left - 1) + 0.5 * left), 6)
    (0.99, 0.99)
    """
    if cost == 0.0:
        return 1.0
    left = 1.0
    for _ in range(MAX_STEPS):
        traded = left * wanted - drifted
        excess = left + cost * float(np.abs(traded).sum()) - 1.0
        if excess <= 0.0:
            break
        lower = left - excess / (1.0 + cost * float(np.sign(traded) @ wanted))
        if not lower < left:
            break
        left = lower
    return left
