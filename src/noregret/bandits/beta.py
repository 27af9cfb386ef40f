"""The probability of each of several Beta variables to be the largest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv

Floats = NDArray[np.float64]
# The grid has these quantiles of each variable, evenly spaced in the logit from 1e-9 to 1 − 1e-9.
LEVELS = 1 / (1 + np.exp(-np.linspace(-20.72, 20.72, 61)))
MIN_DENSITY = 1e-200


def chances_of_best(good: Floats, bad: Floats) -> Floats:
    """Return P(θ_i is the largest) for independent θ_i ~ Beta(good_i, bad_i); their sum is 1.

    The error of ``parts_of`` decreases with the square of the distance between cuts, so Richardson
    extrapolation from two grids, the second with every cell halved, removes most of it.
    """
    if len(good) == 1:
        return np.ones(1)
    a, b = good[:, None], bad[:, None]
    cuts = np.append(np.unique(betaincinv(a, b, LEVELS)), 1.0)
    grid = np.empty(2 * len(cuts) - 1)
    grid[::2], grid[1::2] = cuts, (cuts[1:] + cuts[:-1]) / 2
    logs = np.log(np.maximum(betainc(a, b, grid), 1e-300))
    coarse, fine = parts_of(logs[:, ::2]), parts_of(logs)
    chances = np.maximum((4 * fine - coarse) / 3, fine / 2 + MIN_DENSITY)
    return np.asarray(chances / np.add.reduce(chances))


def parts_of(logs: Floats) -> Floats:
    """Return each variable's part in the growth of H = Π F_j, given ln F_j at the cuts.

    Between two cuts it is approximately ΔH · Δ ln F_i / Δ ln H.
    """
    steps = np.diff(logs, axis=1)
    whole = np.add.reduce(steps, axis=0)
    growth = np.diff(np.exp(np.add.reduce(logs, axis=0)))
    return np.asarray(steps @ np.divide(growth, whole, out=np.zeros_like(whole), where=whole > 0))
