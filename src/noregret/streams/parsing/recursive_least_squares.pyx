"""Recursive least squares on forecasts, row by row: the same to the bit however rows come in blocks.

The matrix of all rows so far is kept as its triangular factor, turned by Givens rotations, so that
nothing drifts. No BLAS: its sums differ from machine to machine.
"""

from libc.math cimport NAN, fmax, fmin, isfinite, sqrt
from libc.stdint cimport int32_t, int64_t

import numpy as np

cdef extern from "rotations.h" nogil:
    Py_ssize_t NOREGRET_LANES
    double noregret_forecast(const double* factor, const double* given, double* row, Py_ssize_t d, Py_ssize_t stride) noexcept
    double noregret_rotate(double* factor, double* given, double* row, double outcome, Py_ssize_t d, Py_ssize_t stride) noexcept

# What is kept besides the factor: rows learned, mean outcome, sum of squared errors of the average,
# least and largest outcome.
cdef enum:
    ROWS
    MEAN
    SQUARES
    LEAST
    MOST
    NUMBERS

# Of more experts than this, only their average is corrected: a row costs the square of the number.
MAX_CORRECTED_EXPERTS: int = 100


def fresh(Py_ssize_t n, double ridge) -> tuple[Floats, Floats, Floats]:
    """Return the state for n experts that has seen nothing: the factor, what it is to give, and numbers."""
    numbers = np.zeros(NUMBERS)
    numbers[LEAST], numbers[MOST] = np.inf, -np.inf
    d = terms(n)
    return np.eye(d, room(d)) * sqrt(ridge), np.zeros(d), numbers


def terms(n):
    """Return how many coefficients there are for n experts: a constant, the average's, and theirs."""
    return 2 + n if n <= MAX_CORRECTED_EXPERTS else 2


cdef Py_ssize_t room(Py_ssize_t d) noexcept nogil:
    """Return how many numbers there is room for in a row: whole vectors."""
    return (d + NOREGRET_LANES - 1) // NOREGRET_LANES * NOREGRET_LANES


def correct(double[:, ::1] X not None, const int32_t[::1] columns not None, Py_ssize_t at, const double[::1] y not None,
            const int64_t[::1] rows not None, double[:, ::1] factor not None, double[::1] given not None,
            double[::1] numbers not None) -> None:
    """Write a corrected forecast into a column of each of some rows, and learn from its outcome, if any.

    The columns hold forecasts, NaN where there is none. A row without any gets NaN.
    """
    cdef Py_ssize_t n = columns.shape[0], d = terms(columns.shape[0]), k, r
    for k in range(n):
        if not 0 <= columns[k] < X.shape[1]:
            raise ValueError(f"there is no column {columns[k]} of {X.shape[1]}")
    if not (0 <= at < X.shape[1] and y.shape[0] == X.shape[0] and factor.shape[0] == given.shape[0] == d and factor.shape[1] == room(d) and numbers.shape[0] == NUMBERS):
        raise ValueError(f"no state for {n} experts, or no column {at}")
    for k in range(rows.shape[0]):
        if not 0 <= rows[k] < X.shape[0]:
            raise ValueError(f"there is no row {rows[k]} of {X.shape[0]}")
    if n == 0:
        raise ValueError("there are no experts to correct")
    cdef double[::1] z = np.empty(room(d))
    with nogil:
        for k in range(rows.shape[0]):
            r = rows[k]
            X[r, at] = one(&X[r, 0], &columns[0], n, d, y[r], &factor[0, 0], &given[0], &numbers[0], &z[0])


cdef double one(const double* row, const int32_t* columns, Py_ssize_t n, Py_ssize_t d, double y, double* factor, double* given, double* numbers, double* z) noexcept nogil:
    """Return the corrected forecast of one row, and learn from it."""
    cdef Py_ssize_t k, awake = 0, stride = room(d)
    cdef bint learned
    cdef double total = 0.0, least = numbers[LEAST], most = numbers[MOST], spread = 0.0, x, off, average, size, found, error
    for k in range(n):
        x = row[columns[k]]
        if x == x:
            total += x
            awake += 1
            least, most = fmin(least, x), fmax(most, x)
    if awake == 0:
        return NAN
    average = total / awake
    for k in range(n):
        x = row[columns[k]]
        off = x - average if x == x else 0.0
        spread += off * off
        if d > 2:
            z[k + 2] = off
    size = sqrt(numbers[SQUARES] / numbers[ROWS]) if numbers[ROWS] > 0 and numbers[SQUARES] > 0 else sqrt(spread / awake)
    if not size > 0:
        size = 1.0
    z[0], z[1] = 1.0, (average - numbers[MEAN]) / size if numbers[ROWS] > 0 else 0.0
    for k in range(2, d):
        z[k] /= size
    for k in range(d, stride):
        z[k] = 0.0
    error = y - average
    learned = isfinite(error / size) and isfinite(error * error + spread)
    if learned:
        found = noregret_rotate(factor, given, z, error / size, d, stride)
    else:
        found = noregret_forecast(factor, given, z, d, stride)
    found = fmin(fmax(average + size * found, least), most) if isfinite(found) else average
    if learned:
        numbers[ROWS] += 1
        numbers[MEAN] += (y - numbers[MEAN]) / numbers[ROWS]
        numbers[SQUARES] += error * error
        numbers[LEAST], numbers[MOST] = fmin(numbers[LEAST], y), fmax(numbers[MOST], y)
    return found
