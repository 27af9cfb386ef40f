"""Sums of outer products over rows, as fast as the machine multiplies."""

import numpy as np

cdef extern from "gram.h" nogil:
    void noregret_gram(const double* rows, Py_ssize_t stride, Py_ssize_t count, Py_ssize_t n, double* gram)

# Rows in one sum: what the error bound counts with.
DEPTH = 4_096


def outer_products(const double[:, :] rows):
    """Yield (Σ x xᵀ, count) for parts of the rows, each row a run of numbers in memory."""
    cdef Py_ssize_t start = 0, count, n = rows.shape[1], stride = rows.strides[0] // sizeof(double)
    cdef double[:, ::1] gram
    if n > 1 and rows.strides[1] != sizeof(double):
        raise ValueError("the numbers of a row must follow each other in memory")
    while start < rows.shape[0] and n:
        made = np.zeros((n, n))
        gram = made
        count = min(<Py_ssize_t> DEPTH, rows.shape[0] - start)
        with nogil:
            noregret_gram(&rows[start, 0], max(stride, n), count, n, &gram[0, 0])
        start += count
        yield np.triu(made) + np.triu(made, 1).T, count
