"""Rows put together from columns, and what a row comes to: its mean and its median."""

from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t, uintptr_t

import numpy as np

cdef Py_ssize_t TILE = 64
# Up to so many numbers are sorted by insertion; among more the middle is searched for.
cdef Py_ssize_t FEW = 48


def assembled(const double[:, ::1] numbers not None, const int32_t[::1] places not None, const int32_t[:, ::1] indicators not None):
    """Return (starts, indices, data) of rows with numbers at their places and indicators of 1.

    An indicator of −1 is absent. What falls in one place is added up.
    """
    cdef Py_ssize_t rows = max(numbers.shape[0], indicators.shape[0]), n = places.shape[0], c = indicators.shape[1]
    cdef Py_ssize_t r, k, j, first, filled = 0
    cdef int32_t place
    cdef double value
    if numbers.shape[0] != (rows if n else numbers.shape[0]) or numbers.shape[1] < n or (c and indicators.shape[0] != rows):
        raise ValueError(f"{rows} rows, but not as many numbers and indicators as there are places for")
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
    columns = list(columns)
    cdef Py_ssize_t n = len(columns), k, r, first = 0, last
    cdef double value
    cdef bint odd = False
    ones = np.ones(rows)
    held = [np.ascontiguousarray(ones if given is None else given, dtype=np.float64) for given in columns]
    if any(given.shape != (rows,) for given in held):
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


def summarise(double[:, ::1] X not None, const int32_t[::1] columns not None, Py_ssize_t mean_at, Py_ssize_t median_at):
    """Write the mean and the median of some columns into others, −1 for nowhere.

    NaN does not count; of nothing but NaN both are NaN. Returns how many rows are so.
    """
    cdef Py_ssize_t rows = X.shape[0], width = X.shape[1], n = columns.shape[0], r, k, count, empty = 0
    cdef double value, total
    cdef double* x
    if not (-1 <= mean_at < width and -1 <= median_at < width):
        raise ValueError(f"there are no columns {mean_at} and {median_at} of {width}")
    for k in range(n):
        if not 0 <= columns[k] < width:
            raise ValueError(f"there is no column {columns[k]} of {width}")
    cdef double[::1] held = np.empty(n + 1)
    cdef double* awake = &held[0]
    with nogil:
        for r in range(rows):
            x = &X[r, 0]
            count, total = 0, 0.0
            for k in range(n):
                value = x[columns[k]]
                if value == value:
                    awake[count] = value
                    total += value
                    count += 1
            if mean_at >= 0:
                x[mean_at] = total / count if count else NAN
            if median_at >= 0:
                x[median_at] = median(awake, count) if count else NAN
            empty += count == 0
    return empty


cdef double median(double* x, Py_ssize_t count) noexcept nogil:
    """The middle number, or the mean of the two; their order changes."""
    cdef Py_ssize_t half = count // 2, k
    cdef double below
    if count <= FEW:
        sort_few(x, count)
        return x[half] if count % 2 else 0.5 * (x[half - 1] + x[half])
    part_at(x, count, half)
    if count % 2:
        return x[half]
    below = x[0]
    for k in range(1, half):
        below = max(below, x[k])
    return 0.5 * (below + x[half])


cdef inline void sort_few(double* x, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t k, j
    cdef double value
    for k in range(1, count):
        value, j = x[k], k
        while j > 0 and x[j - 1] > value:
            x[j] = x[j - 1]
            j -= 1
        x[j] = value


cdef void part_at(double* x, Py_ssize_t count, Py_ssize_t wanted) noexcept nogil:
    """Have no number before a place larger, and none after it smaller, than the one there."""
    cdef Py_ssize_t low = 0, high = count - 1, i, j
    cdef double pivot
    while low < high:
        pivot = x[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while x[i] < pivot:
                i += 1
            while x[j] > pivot:
                j -= 1
            if i <= j:
                x[i], x[j] = x[j], x[i]
                i += 1
                j -= 1
        if wanted <= j:
            high = j
        elif wanted >= i:
            low = i
        else:
            return


cdef inline void insert(int32_t* indices, double* data, Py_ssize_t at, Py_ssize_t end, int32_t place, double value) noexcept nogil:
    """Put an entry where it belongs, those after it moving on by one."""
    cdef Py_ssize_t k = end
    while k > at:
        indices[k], data[k] = indices[k - 1], data[k - 1]
        k -= 1
    indices[at], data[at] = place, value
