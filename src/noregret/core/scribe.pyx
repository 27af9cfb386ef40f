"""An engine that learns nothing: rows go by, are checked and measured, and can be written down.

Its weights are given to it, once somebody has found them.
"""

from noregret.core.engine cimport Engine
from noregret.core.losses cimport as_loss


cdef class Scribe(Engine):
    """Weights that only change when others are given."""

    def __init__(self, loss="square", loss_parameter=None):
        self.loss = as_loss(loss, loss_parameter)

    def give(self, weights, double offset=0.0):
        """Predict with these weights from now on, plus the offset."""
        if len(weights) != self.size:
            raise ValueError(f"{len(weights)} weights for {self.size} features")
        self.arrays["stored"][:self.size] = weights
        self.offset = offset

    def advice(self, norm):
        """Say what to change when the square of an outcome does not fit."""
        return "scale the outcomes down"
