"""Compiled sums over rows: outer products, and losses of experts with switches."""

from libc.math cimport INFINITY
from libc.stdint cimport uint32_t

import numpy as np

# Sums of outer products.


cdef extern from "gram.h" nogil:
    void noregret_gram(const double* rows, Py_ssize_t stride, Py_ssize_t count, Py_ssize_t n, double* gram)


def add_outer_products(const double[:, :] rows not None, double[:, ::1] gram not None) -> None:
    """Add Σ x xᵀ to a matrix; only its part on and above the diagonal is valid."""
    cdef Py_ssize_t n = rows.shape[1], stride = rows.strides[0] // <Py_ssize_t> sizeof(double)
    if gram.shape[0] != n or gram.shape[1] != n:
        raise ValueError(f"expected a matrix of {n} rows and columns")
    if n > 1 and rows.strides[1] != sizeof(double):
        raise ValueError("the numbers of a row must be contiguous in memory")
    if rows.shape[0] > 1 and (stride < n or rows.strides[0] % <Py_ssize_t> sizeof(double)):
        raise ValueError("the rows must not overlap and must be in increasing order in memory")
    if rows.shape[0] and n:
        with nogil:
            noregret_gram(&rows[0, 0], max(stride, n), rows.shape[0], n, &gram[0, 0])


def add_carefully(double[:, ::1] high not None, double[:, ::1] low not None,
                  const double[:, ::1] part not None) -> None:
    """Add a matrix to another one, and what rounding takes from each sum to a third one."""
    cdef Py_ssize_t k, numbers = high.shape[0] * high.shape[1]
    cdef double rounded, shift
    cdef double *sums
    cdef double *lost
    cdef const double *more
    if not (high.shape[0] == low.shape[0] == part.shape[0] and high.shape[1] == low.shape[1] == part.shape[1]):
        raise ValueError("expected three matrices of the same shape")
    if not numbers:
        return
    sums, lost, more = &high[0, 0], &low[0, 0], &part[0, 0]
    with nogil:
        for k in range(numbers):
            rounded = sums[k] + more[k]
            shift = rounded - sums[k]
            lost[k] += (sums[k] - (rounded - shift)) + (more[k] - shift)
            sums[k] = rounded


def mirrored(const double[:, ::1] upper not None) -> Floats:
    """Return the symmetric matrix with these numbers on and above its diagonal."""
    cdef Py_ssize_t i, j, n = upper.shape[0]
    if upper.shape[1] != n:
        raise ValueError("expected a square matrix")
    made = np.empty((n, n))
    cdef double[:, ::1] out = made
    for i in range(n):
        for j in range(i, n):
            out[i, j] = out[j, i] = upper[i, j]
    return made


def depth_of(Py_ssize_t count) -> int:
    """Return the largest number of consecutive additions in an element, for that many rows."""
    return count // 64 + 67


# Column sums of a table of losses, and the best paths through it with few switches.
#
# A path with at most k switches that ends at expert i after round t either stays with i or comes from
# the best path with at most k − 1 switches after round t − 1:
#
#     D_t[k, i] = loss[t, i] + min(D_{t−1}[k, i], min over j of D_{t−1}[k − 1, j]).
#
# Every D is a pair of numbers, the second of which holds the rounding error of the first.

cdef extern from "switching.h" nogil:
    void noregret_add_rows(const double* table, Py_ssize_t rows, Py_ssize_t n,
                           double* high, double* low, double* rest, double* lost)
    ctypedef struct noregret_paths:
        Py_ssize_t n, width
        double *high
        double *low
        double *start
        double *best_high
        double *best_low
        double *best_start
        double *best_expert
        double *from_high
        double *from_low
    void noregret_follow(const noregret_paths* p, const double* table, Py_ssize_t rows, double round,
                         Py_ssize_t layers, uint32_t* experts, uint32_t* starts)


cdef class ColumnSums:
    """Column sums: ``parts`` holds high, low and rest, and ``lost`` bounds their error."""

    cdef readonly object parts, lost  # type: Floats
    cdef readonly Py_ssize_t rows
    cdef double[:, ::1] held
    cdef double[::1] off

    def __cinit__(self, Py_ssize_t columns):
        self.parts, self.lost = np.zeros((3, columns)), np.zeros(columns)
        self.held, self.off = self.parts, self.lost
        self.rows = 0

    def add(self, const double[:, ::1] table not None) -> None:
        """Add the rows of a table."""
        cdef Py_ssize_t n = self.off.shape[0]
        if table.shape[1] != n:
            raise ValueError(f"expected {n} columns, got {table.shape[1]}")
        if table.shape[0] and n:
            with nogil:
                noregret_add_rows(&table[0, 0], table.shape[0], n, &self.held[0, 0], &self.held[1, 0],
                                  &self.held[2, 0], &self.off[0])
        self.rows += table.shape[0]


cdef class Paths:
    """The best paths through a table of losses, for every number of switches up to ``most``."""

    cdef readonly Py_ssize_t rounds, layers
    cdef double[:, :, ::1] state
    cdef double[:, ::1] best
    cdef noregret_paths paths

    def __cinit__(self, Py_ssize_t experts, Py_ssize_t most):
        if experts < 1 or most < 0:
            raise ValueError("there must be at least one expert and 0 switches")
        self.rounds, self.layers = 0, most + 1
        cdef Py_ssize_t width = (most + 4) // 4 * 4
        self.state, self.best = np.zeros((3, experts, width)), np.zeros((6, width))
        cdef Py_ssize_t k
        for k in range(width):
            self.best[4, k] = INFINITY
        self.paths = noregret_paths(
            experts, width, &self.state[0, 0, 0], &self.state[1, 0, 0], &self.state[2, 0, 0],
            &self.best[0, 0], &self.best[1, 0], &self.best[2, 0], &self.best[3, 0],
            &self.best[4, 0], &self.best[5, 0])

    def add(self, const double[:, ::1] table not None) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Extend the paths by more rounds.

        Returns, for every round and every number of switches, the expert at which the best path
        ends and the round, counted from 0, in which it switched to that expert.
        """
        if table.shape[1] != self.paths.n:
            raise ValueError(f"expected {self.paths.n} columns, got {table.shape[1]}")
        cdef Py_ssize_t rows = table.shape[0]
        experts = np.empty((rows, self.layers), np.uint32)
        starts = np.empty((rows, self.layers), np.uint32)
        cdef uint32_t[:, ::1] to_experts = experts
        cdef uint32_t[:, ::1] to_starts = starts
        if self.rounds + rows >= 2**32:
            raise ValueError("at most 4,294,967,295 rounds are supported")
        if rows:
            with nogil:
                noregret_follow(&self.paths, &table[0, 0], rows, <double>self.rounds, self.layers,
                                &to_experts[0, 0], &to_starts[0, 0])
        self.rounds += rows
        return experts, starts

    def losses(self) -> tuple[Floats, Floats]:
        """Return the smallest loss for every number of switches, as two parts to be added."""
        return (np.asarray(self.best)[0, : self.layers].copy(),
                np.asarray(self.best)[1, : self.layers].copy())
