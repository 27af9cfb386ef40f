"""Rows put together from columns: numbers at fixed positions, and indicators where they fall."""

from libc.stdint cimport int32_t, int64_t

import numpy as np


def assembled(const double[:, ::1] numbers, const int32_t[::1] places, const int32_t[:, ::1] indicators):
    """Return (starts, indices, data) of rows with numbers at their places and indicators of 1.

    An indicator of −1 is absent. What falls in one place is added up.
    """
    cdef Py_ssize_t rows = max(numbers.shape[0], indicators.shape[0]), n = places.shape[0], c = indicators.shape[1]
    cdef Py_ssize_t r, k, j, first, filled = 0
    cdef int32_t place
    cdef double value
    made_starts = np.zeros(rows + 1, dtype=np.int64)
    made_indices, made_data = np.empty(rows * (n + c), dtype=np.int32), np.empty(rows * (n + c))
    cdef int64_t[::1] starts = made_starts
    cdef int32_t[::1] indices = made_indices
    cdef double[::1] data = made_data
    with nogil:
        for r in range(rows):
            first = filled
            for k in range(n + c):
                if k < n:
                    place, value = places[k], numbers[r, k]
                else:
                    place, value = indicators[r, k - n], 1.0
                    if place < 0:
                        continue
                j = filled
                while j > first and indices[j - 1] > place:
                    j -= 1
                if j > first and indices[j - 1] == place:
                    data[j - 1] += value
                    continue
                insert(&indices[0], &data[0], j, filled, place, value)
                filled += 1
            starts[r + 1] = filled
    return made_starts, made_indices[:filled], made_data[:filled]


cdef inline void insert(int32_t* indices, double* data, Py_ssize_t at, Py_ssize_t end, int32_t place, double value) noexcept nogil:
    """Put an entry where it belongs, those after it moving on by one."""
    cdef Py_ssize_t k = end
    while k > at:
        indices[k], data[k] = indices[k - 1], data[k - 1]
        k -= 1
    indices[at], data[at] = place, value
