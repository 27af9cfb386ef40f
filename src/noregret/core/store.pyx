"""Where the numbers of an echo's parts are kept."""

import numpy as np


cdef class Store:
    """Single-precision arrays of zeros by name, and where each begins."""

    def __cinit__(self):
        self.arrays = {}

    cdef float* room(self, str name, ptrdiff_t count) except NULL:
        """Make room for so many numbers; it stays where it is for as long as the store does."""
        if count < 1:
            raise ValueError(f"no room for {count} numbers")
        cdef float[::1] array = np.zeros(count, dtype=np.float32)
        self.arrays[name] = array
        return &array[0]
