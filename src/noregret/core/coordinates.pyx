"""Engines that keep a few numbers of their own for every feature, beside its weight.

What is kept changes only in rounds in which the feature is present, so that a round costs no more
than the row has entries, and a feature that comes late starts as if it had always been absent.
"""

import numpy as np

cimport numpy as cnp

from noregret.core.engine cimport Engine

from noregret.core.paged import any_negative, copied

cnp.import_array()

# Arrays of a state that may hold negative numbers.
SIGNED = ("stored", "mean_sum", "mean_clock", "pull", "anchor", "coins")


cdef class Coordinates(Engine):
    """The base: named arrays that grow with the features."""

    cdef int keep(self, tuple names) except -1:
        """Keep these arrays from now on."""
        self.kept_names = names
        self.arrays = {name: np.zeros(0) for name in ("stored", *names)}
        self.relocate()
        return 0

    cdef void relocate(self):
        cdef Py_ssize_t j
        Engine.relocate(self)
        if self.kept_names is not None:
            for j in range(len(self.kept_names)):
                self.kept[j] = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays[self.kept_names[j]])

    cdef void begin(self, Py_ssize_t start) noexcept nogil:
        cdef Py_ssize_t i
        cdef int j
        for i in range(start, self.size):
            if self.stored[i] != 0:  # what is zero already takes no memory until it is written to
                self.stored[i] = 0
            for j in range(MOST_KEPT):
                if self.kept[j] != NULL and self.kept[j][i] != self.newborn[j]:
                    self.kept[j][i] = self.newborn[j]

    def accounts(self):
        """Return copies of what is kept of every feature, by name."""
        return {name: copied(self.arrays[name][:self.size]) for name in self.kept_names}

    def set_state(self, arrays, numbers):
        """Take a state over, or raise ValueError where it does not fit."""
        for name, array in arrays.items():
            if name not in SIGNED and array.dtype == np.float64 and array.ndim == 1 and any_negative(array):
                raise ValueError(f"array {name} holds a negative number")
        Engine.set_state(self, arrays, numbers)

    def advice(self, norm):
        """Say what to change when the weights diverge."""
        return "scale the examples and outcomes down"
