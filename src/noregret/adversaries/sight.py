"""Helpers of adversaries: inspect the learner, and split its weights evenly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from noregret.linear.learner import Learner

Floats = NDArray[np.float64]

# A share of the sum below which its direction is that of the weights but for rounding.
_ROUNDING = 1e-9


def weights_of(learner: Learner, dimension: int) -> Floats:
    """Return the weights that predict the next round; none are known before the first."""
    w = np.zeros(dimension)
    known = learner.engine.weights()[:dimension]
    w[: len(known)] = known
    return w


def across(ahead: Floats, total: Floats, turn: int) -> Floats:
    """Return the unit vector at right angles to ``ahead``, in the plane, that lengthens ``total``.

    Where ``total`` points along ``ahead``, both sides do; they are taken in turn, so that rounding,
    which differs between processors, does not decide.
    """
    aside = np.array([-ahead[1], ahead[0]])
    gain = aside @ total
    if abs(gain) <= _ROUNDING * np.hypot(*total):
        return aside if turn % 2 else -aside
    return aside if gain > 0 else -aside


def balancing(weights: Floats, total: float = 0.0) -> Floats:
    """Return x in [−1, 1]ⁿ with total + weights·x = 0, the largest weights counted negative.

    All entries are ±1 but one. Where the weights are too small for it, all are counted negative.
    """
    size = np.abs(weights)
    order = np.argsort(-size, kind="stable")
    reached = np.cumsum(size[order])
    against = (reached[-1] + total) / 2  # how much of the weight has to be counted negative
    counted = np.clip(
        1 - 2 * (against - reached + size[order]) / np.maximum(size[order], 1e-300), -1, 1
    )
    x = np.empty(len(weights))
    x[order] = np.where(size[order] > 0, counted, 1.0)
    return np.asarray(np.where(weights < 0, -x, x))
