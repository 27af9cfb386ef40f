"""The probability of each of some Beta variables to be the largest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv

Floats = NDArray[np.float64]
# Where each variable's distribution is cut, evenly in the logit from 1e-9 to 1 − 1e-9.
LEVELS = 1 / (1 + np.exp(-np.linspace(-20.72, 20.72, 121)))


def chances_of_best(good: Floats, bad: Floats) -> Floats:
    """Return P(θ_i is the largest) for independent θ_i ~ Beta(good_i, bad_i); their sum is 1.

    The largest has the distribution function H = Π F_j. Between two cuts it grows by ΔH, of which
    the part of variable i is nearly Δ ln F_i / Δ ln H.
    """
    if len(good) == 1:
        return np.ones(1)
    cuts = np.unique(betaincinv(good[:, None], bad[:, None], LEVELS).ravel())
    below = np.maximum(betainc(good[:, None], bad[:, None], np.append(cuts, 1.0)), 1e-300)
    logs = np.log(below)
    steps = np.diff(logs, axis=1)
    whole = np.add.reduce(steps, axis=0)
    growth = np.diff(np.exp(np.add.reduce(logs, axis=0)))
    parts = np.divide(growth, whole, out=np.zeros_like(whole), where=whole > 0)
    chances = np.maximum(steps @ parts, 1e-200)
    return np.asarray(chances / np.add.reduce(chances))
