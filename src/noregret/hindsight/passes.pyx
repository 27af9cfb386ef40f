"""Passes over sparse rows without Python's lock: scores X w, combinations Xᵀ a, and curvature.

Rows are three arrays as in a CSR matrix: row t has the values starts[t] … starts[t + 1] − 1, each in
the column that ``at`` says, in ascending order. Every function works on the rows from ``first`` up to
``stop`` alone, so that threads can share them. Callers pass arrays that fit together.
"""

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t

cdef extern from "sparse_dot.h" nogil:
    double noregret_sparse_dot(const double* values, const int32_t* at, Py_ssize_t count, const double* w)
    void noregret_fetch_row(const int64_t* starts, const int32_t* at, const double* values, Py_ssize_t t)

# Rows are prefetched this many ahead: short ones end before the processor's own prefetching helps.
cdef enum:
    AHEAD = 4


def scores(const int64_t[::1] starts not None, const int32_t[::1] at not None, const double[::1] values not None,
           const double[::1] w not None, Py_ssize_t first, Py_ssize_t stop, bint absolute,
           double[::1] out not None) -> None:
    """Write x_t·w, or |x_t|·|w|, for every row."""
    cdef Py_ssize_t t, k
    cdef double sum
    with nogil:
        for t in range(first, stop):
            if t + AHEAD < stop:
                noregret_fetch_row(&starts[0], &at[0], &values[0], t + AHEAD)
            sum, k = 0, starts[t]
            if absolute:
                for k in range(starts[t], starts[t + 1]):
                    sum += fabs(values[k] * w[at[k]])
            elif k < starts[t + 1]:
                sum = noregret_sparse_dot(&values[k], &at[k], starts[t + 1] - k, &w[0])
            out[t] = sum


def lengths(const int64_t[::1] starts not None, const double[::1] values not None, Py_ssize_t first, Py_ssize_t stop,
            double[::1] out not None) -> None:
    """Write ‖x_t‖² for every row."""
    cdef Py_ssize_t t, k
    cdef double sum
    with nogil:
        for t in range(first, stop):
            sum = 0
            for k in range(starts[t], starts[t + 1]):
                sum += values[k] * values[k]
            out[t] = sum


def combine(const int64_t[::1] starts not None, const int32_t[::1] at not None, const double[::1] values not None,
            const double[::1] a not None, Py_ssize_t first, Py_ssize_t stop, int power,
            double[::1] out not None) -> None:
    """Add Σ a_t x_t to the numbers of each column; |a_t x_t| with power 0, a_t x_t² with power 2."""
    cdef Py_ssize_t t, k
    cdef double share
    with nogil:
        for t in range(first, stop):
            share = a[t]
            if share == 0:
                continue
            if t + AHEAD < stop:
                noregret_fetch_row(&starts[0], &at[0], &values[0], t + AHEAD)
            if power == 1:
                for k in range(starts[t], starts[t + 1]):
                    out[at[k]] += share * values[k]
            elif power == 0:
                for k in range(starts[t], starts[t + 1]):
                    out[at[k]] += fabs(share * values[k])
            else:
                for k in range(starts[t], starts[t + 1]):
                    out[at[k]] += share * (values[k] * values[k])


def combine_carefully(const int64_t[::1] starts not None, const int32_t[::1] at not None,
                      const double[::1] values not None, const double[::1] a not None, Py_ssize_t first,
                      Py_ssize_t stop, double[::1] high not None, double[::1] low not None,
                      double[::1] size not None) -> None:
    """Add Σ a_t x_t to high + low, with what rounding takes from a sum in low; and Σ |a_t x_t|."""
    cdef Py_ssize_t t, k, j
    cdef double share, product, rounded, shift
    with nogil:
        for t in range(first, stop):
            share = a[t]
            if t + AHEAD < stop:
                noregret_fetch_row(&starts[0], &at[0], &values[0], t + AHEAD)
            for k in range(starts[t], starts[t + 1]):
                j = at[k]
                product = share * values[k]
                rounded = high[j] + product
                shift = rounded - high[j]
                low[j] += (high[j] - (rounded - shift)) + (product - shift)
                high[j] = rounded
                size[j] += fabs(product)


def bend(const int64_t[::1] starts not None, const int32_t[::1] at not None, const double[::1] values not None,
         const double[::1] d not None, const double[::1] v not None, Py_ssize_t first, Py_ssize_t stop,
         double[::1] out not None) -> None:
    """Add Σ d_t x_t (x_t·v), in one pass."""
    cdef Py_ssize_t t, k
    cdef double sum
    with nogil:
        for t in range(first, stop):
            k = starts[t]
            if d[t] == 0 or k == starts[t + 1]:
                continue
            sum = d[t] * noregret_sparse_dot(&values[k], &at[k], starts[t + 1] - k, &v[0])
            for k in range(starts[t], starts[t + 1]):
                out[at[k]] += sum * values[k]


def gram(const int64_t[::1] starts not None, const int32_t[::1] at not None, const double[::1] values not None,
         const double[::1] d not None, Py_ssize_t first, Py_ssize_t stop, double[:, ::1] out not None) -> None:
    """Add Σ d_t x_t x_tᵀ on and above the diagonal."""
    cdef Py_ssize_t t, k, l
    cdef double share
    cdef double* line
    with nogil:
        for t in range(first, stop):
            if d[t] == 0:
                continue
            for k in range(starts[t], starts[t + 1]):
                share, line = d[t] * values[k], &out[at[k], 0]
                for l in range(k, starts[t + 1]):
                    line[at[l]] += share * values[l]


def cross(const int64_t[::1] starts not None, const int32_t[::1] at not None, const double[::1] values not None,
          const double[::1] d not None, const int32_t[::1] places not None, Py_ssize_t first, Py_ssize_t stop,
          int32_t[::1] own_places not None, double[::1] own_values not None, double[:, ::1] out not None) -> None:
    """Add Σ d_t x_t z_tᵀ for the numbers z_t of x_t that have a place; the others have −1.

    ``own_places`` and ``own_values`` are scratch space, one number per column of ``out``.
    """
    cdef Py_ssize_t t, k, l, count
    cdef double share
    cdef double* line
    with nogil:
        for t in range(first, stop):
            if d[t] == 0:
                continue
            count = 0
            for k in range(starts[t], starts[t + 1]):
                if places[at[k]] >= 0:
                    own_places[count], own_values[count] = places[at[k]], values[k]
                    count += 1
            if count == 0:
                continue
            for k in range(starts[t], starts[t + 1]):
                share, line = d[t] * values[k], &out[at[k], 0]
                for l in range(count):
                    line[own_places[l]] += share * own_values[l]
