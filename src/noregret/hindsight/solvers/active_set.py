"""Minimise a quadratic over the nonnegative weights of sum 1.

    min over w of  ½ wᵀA w − c·w      A symmetric, positive definite

The active-set method: some weights are held at zero, the others are free and solve a linear system;
a free weight that would become negative is held, a held one that would grow is freed. Every step
lowers the quadratic, so it ends at the minimum, up to rounding. The starting point is given, so
that a sequence of similar problems is solved quickly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# A held weight is freed if its slope is below minus this share of the terms it is a sum of.
SLOPE = 1e-11
# Most steps: per weight, and at least; then only rounding is left.
STEPS_PER_WEIGHT, MIN_STEPS = 20, 100


def least_quadratic(A: Floats, c: Floats, start: Floats) -> Floats:
    """Return the minimiser; ``start`` is a point of the simplex, and does not change.

    Examples
    --------
    >>> least_quadratic(np.eye(3), np.array([0.2, 0.9, 0.5]), np.full(3, 1 / 3)).round(3)
    array([0. , 0.7, 0.3])
    """
    w = start
    free = w > 0
    for _ in range(STEPS_PER_WEIGHT * len(c) + MIN_STEPS):
        held_in = np.flatnonzero(free)
        target, level = solved(A, c, held_in)
        if not np.isfinite(target).all():
            return w
        now = w[held_in]
        short = target < 0
        w = np.zeros_like(start)
        if not short.any():
            w[held_in] = target / target.sum()
            slopes = A @ w
            size = np.abs(slopes).max() + np.abs(c).max()
            slopes += level - c
            slopes[held_in] = 0.0
            freed = int(slopes.argmin())
            if not slopes[freed] < -SLOPE * size:
                return w
            free[freed] = True
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.where(short, now / (now - target), np.inf)
        first = int(steps.argmin())
        moved = np.maximum(now + steps[first] * (target - now), 0.0)
        moved[first] = 0.0
        w[held_in] = moved / moved.sum()
        free[held_in[first]] = False
    return w


def solved(A: Floats, c: Floats, at: NDArray[np.intp]) -> tuple[Floats, float]:
    """Return the minimiser over the free weights, with sum 1, and their common slope."""
    k = len(at)
    system = np.ones((k + 1, k + 1))
    system[:k, :k] = A[at[:, None], at]
    system[k, k] = 0.0
    right = np.ones(k + 1)
    right[:k] = c[at]
    try:
        found = np.asarray(np.linalg.solve(system, right), dtype=np.float64)
    except np.linalg.LinAlgError:
        found = np.full(k + 1, np.nan)
    return found[:k], float(found[k])
