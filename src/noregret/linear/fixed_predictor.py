"""A learner with fixed weights, through which rows are read and recorded."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noregret.base.compiled.losses import Loss
from noregret.linear.engine.engine import FixedWeights
from noregret.linear.learner import Learner

Floats = NDArray[np.float64]


class FixedPredictor(Learner):
    """A learner that records examples and does not learn; its weights are set from outside.

    Parameters
    ----------
    loss
        The loss, by name; it determines which outcomes are valid.
    intercept
        Whether the rows kept begin with a constant feature.
    """

    name = "scribe"
    engine: FixedWeights

    def __init__(self, loss: str | Loss = "square", intercept: bool = False) -> None:
        super().__init__(FixedWeights(loss))
        self.loss, self.intercept = loss, intercept

    def give(self, weights: Floats) -> None:
        """Predict with these weights, that of the constant first, if there is one."""
        if self.intercept:
            self.engine.give(weights[1:], float(weights[0]))
        else:
            self.engine.give(weights)

    def rest(self) -> None:
        """Predict zero again, so that no score of a later row can overflow."""
        self.engine.give(np.zeros(self.engine.size))
