"""The best expert after the fact, and the best mixture of experts."""

from __future__ import annotations

from typing import Any

import numpy as np

from noregret.hindsight.answer import Answer
from noregret.hindsight.expert_losses import Given, expert_losses
from noregret.hindsight.rounding import downward, upward


def best_expert(given: Given, loss: Any = None, *, loss_parameter: float | None = None) -> Answer:
    """Return the expert of least cumulative loss; of several, the first.

    Parameters
    ----------
    given
        Advice and outcomes as ``Rows``; or a table of losses; or a function that returns a fresh
        iterator of blocks each time it is called, (advice, outcomes) or losses.
    loss
        By name, or one of your own; None where the table holds losses.
    loss_parameter
        The loss's quantile, where it was given by name.

    Examples
    --------
    >>> answer = best_expert([[1.0, 0.0, 0.5], [1.0, 1.0, 0.25]])
    >>> answer.witness, answer.loss
    (array([0., 0., 1.]), 0.75)
    """
    totals = expert_losses(given, loss, loss_parameter=loss_parameter)
    best = totals.best
    value, off = float(totals.values[best]), float(totals.off[best])
    witness = np.zeros(len(totals.off))
    witness[best] = 1.0
    lower = downward(float(totals.below.min()))
    return Answer("the best expert", upward(value + off), lower, witness, exact=True)
