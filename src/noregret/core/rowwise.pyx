"""Rows put together from columns: numbers at fixed positions, and indicators where they fall."""

from libc.stdint cimport int32_t, int64_t, uintptr_t

import numpy as np

cdef Py_ssize_t TILE = 64


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


def stacked(columns, Py_ssize_t rows):
    """Return columns of float64 side by side as rows, and whether any number is NaN; None is a column of ones."""
    cdef Py_ssize_t n = len(columns), k, r, first = 0, last
    cdef double value
    cdef bint odd = False
    ones = np.ones(rows)
    held = [np.ascontiguousarray(ones if given is None else given, dtype=np.float64) for given in columns]
    if any(len(given) != rows for given in held):
        raise ValueError("the columns have different lengths")
    made = np.empty((rows, n))
    cdef double[:, ::1] X = made
    cdef double* out = &X[0, 0] if rows and n else NULL
    cdef uintptr_t[::1] starts = np.array([given.ctypes.data for given in held], dtype=np.uintp)
    with nogil:
        # A few rows at a time, so that those being written stay in cache.
        while first < rows:
            last = min(first + TILE, rows)
            for k in range(n):
                for r in range(first, last):
                    value = (<const double*> starts[k])[r]
                    out[r * n + k] = value
                    odd |= value != value
            first = last
    return made, bool(odd)


cdef inline void insert(int32_t* indices, double* data, Py_ssize_t at, Py_ssize_t end, int32_t place, double value) noexcept nogil:
    """Put an entry where it belongs, those after it moving on by one."""
    cdef Py_ssize_t k = end
    while k > at:
        indices[k], data[k] = indices[k - 1], data[k - 1]
        k -= 1
    indices[at], data[at] = place, value
