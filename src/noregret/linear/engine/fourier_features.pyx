"""Cosines and sines of the products of rows with frequencies, summed in the order of features.

BLAS is not used, because its sums depend on the block size.
"""

from libc.math cimport cos, sin, sqrt
from libc.stdint cimport int32_t, int64_t

import numpy as np

from noregret.linear.engine.block_rows cimport check_positions, check_starts
from noregret.linear.engine.engine cimport noregret_add_dense


def lift_dense(const double[:, ::1] X, const double[:, ::1] frequencies, double[:, ::1] out) -> None:
    """Write the cosines of every row into the first columns of the output, the sines into the last."""
    cdef Py_ssize_t r, k, half = frequencies.shape[1]
    cdef double[::1] angles = np.zeros(half)
    if X.shape[1] > frequencies.shape[0] or out.shape[0] != X.shape[0] or out.shape[1] < 2 * half:
        raise ValueError("not every column has its frequencies, or there is no room")
    if half == 0:
        return
    with nogil:
        for r in range(X.shape[0]):
            for k in range(half):
                angles[k] = 0
            for k in range(X.shape[1]):
                if X[r, k] != 0:
                    noregret_add_dense(&angles[0], X[r, k], &frequencies[k, 0], half)
            turn(&angles[0], half, &out[r, 0], out.shape[1])


def lift_sparse(const int64_t[::1] starts: NDArray[Any], const int32_t[::1] indices: NDArray[Any],
                const double[::1] data, const double[:, ::1] frequencies, double[:, ::1] out) -> None:
    """Do the same for sparse rows, whose indices are columns that have frequencies."""
    cdef Py_ssize_t r, half = frequencies.shape[1]
    cdef int64_t k
    cdef double[::1] angles = np.zeros(half)
    if out.shape[0] != starts.shape[0] - 1 or out.shape[1] < 2 * half:
        raise ValueError("there is no room")
    check_starts(starts, indices.shape[0], data.shape[0])
    check_positions(starts, indices, frequencies.shape[0])
    if half == 0:
        return
    with nogil:
        for r in range(out.shape[0]):
            for k in range(half):
                angles[k] = 0
            for k in range(starts[r], starts[r + 1]):
                if data[k] != 0:
                    noregret_add_dense(&angles[0], data[k], &frequencies[indices[k], 0], half)
            turn(&angles[0], half, &out[r, 0], out.shape[1])


cdef void turn(const double* angles, Py_ssize_t half, double* out, Py_ssize_t width) noexcept nogil:
    """Replace angles by their cosines and sines, scaled to norm 1."""
    cdef double size = 1 / sqrt(<double> half)
    cdef Py_ssize_t k
    for k in range(half):
        out[k] = size * cos(angles[k])
        out[width - half + k] = size * sin(angles[k])
