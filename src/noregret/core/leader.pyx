"""Follow the leader on the box: the corner that would have been best so far."""

import numpy as np

cimport numpy as cnp

from libc.math cimport fabs

from noregret.core.engine cimport DIVERGED, FINE, Engine, Row, position
from noregret.core.losses cimport as_loss

from noregret.checks import positive

cnp.import_array()


cdef class Leader(Engine):
    """The corner of the box [−radius, radius]ⁿ with the least linearised loss so far."""

    cdef double* sums               # of the gradients

    def __init__(self, loss="linear", radius=1.0, loss_parameter=None):
        self.loss = as_loss(loss, loss_parameter)
        self.factor = positive("radius", radius)
        self.arrays = {name: np.zeros(0) for name in ("stored", "sums")}
        self.relocate()

    cdef void relocate(self):
        Engine.relocate(self)
        if "sums" in self.arrays:
            self.sums = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["sums"])

    cdef void begin(self, Py_ssize_t start) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(start, self.size):
            if self.sums[i] != 0 or self.stored[i] != 0:  # zeros take no memory until they are written to
                self.sums[i] = self.stored[i] = 0

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef Py_ssize_t i, k
        for k in range(row.count):
            if not fabs(self.sums[position(row, k)] + slope * row.values[k]) < 1e300:
                return DIVERGED
        self.touch_row(row)
        for k in range(row.count):
            i = position(row, k)
            self.sums[i] += slope * row.values[k]
            self.stored[i] = -1 if self.sums[i] > 0 else 1 if self.sums[i] < 0 else 0
        return FINE
