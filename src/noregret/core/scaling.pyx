"""Scaling as the rows come: each by what has been seen up to and including it.

A row that the learner would refuse, as a value is not finite or too large, is passed on as it is
and leaves no trace here.
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t

import numpy as np

from noregret.core.features cimport LARGEST

KINDS = ("max", "standard", "unit")

cdef enum:  # Kind
    MAX
    STANDARD
    UNIT


cdef class Scaler:
    """One way of scaling, and what it has seen.

    Parameters
    ----------
    kind
        ``max``: by the largest absolute value of the feature so far. ``standard``: to mean 0 and
        standard deviation 1, by those so far. ``unit``: the whole row to norm 1.
    """

    cdef readonly str kind
    cdef int how
    cdef readonly object largest, mean, squares, left
    cdef double[::1] most, means, sums
    cdef uint8_t[::1] skipped       # positions that are not standardised
    cdef readonly long long rows

    def __init__(self, str kind):
        self.kind, self.how = kind, KINDS.index(kind)
        self.set_arrays(np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.uint8))

    def set_arrays(self, largest, mean, squares, left):
        """Go on with these numbers, one a feature."""
        self.largest, self.mean, self.squares, self.left = largest, mean, squares, left
        self.most, self.means, self.sums, self.skipped = largest, mean, squares, left

    cdef int make_room(self, Py_ssize_t size) except -1:
        """Have numbers for so many features."""
        cdef Py_ssize_t room = self.most.shape[0]
        if size > room:
            more = max(size, 2 * room, 16) - room
            self.set_arrays(*[
                np.concatenate([array, np.zeros(more, array.dtype)])
                for array in (self.largest, self.mean, self.squares, self.left)
            ])
        return 0

    def leave_out(self, positions):
        """Leave some positions as they are, when standardising: indicators and the intercept."""
        if len(positions):
            self.make_room(int(max(positions)) + 1)
            self.left[np.asarray(positions)] = 1

    def scale_dense(self, double[:, ::1] X, bint learning=True):
        """Scale the rows of an array in place."""
        cdef Py_ssize_t r, n = X.shape[1]
        self.make_room(n)
        with nogil:
            for r in range(X.shape[0]):
                if n:
                    self.scale(&X[r, 0], NULL, n, learning)

    def scale_sparse(self, const int64_t[::1] starts, const int32_t[::1] indices, double[::1] data, bint learning=True):
        """Scale sparse rows in place; a position never seen in learning is left as it is."""
        cdef Py_ssize_t r, rows = starts.shape[0] - 1
        cdef int32_t last = -1
        for r in range(rows):
            if starts[r + 1] > starts[r]:
                last = max(last, indices[starts[r + 1] - 1])
        self.make_room(last + 1)
        with nogil:
            for r in range(rows):
                if starts[r + 1] > starts[r]:
                    self.scale(&data[starts[r]], &indices[starts[r]], starts[r + 1] - starts[r], learning)

    cdef void scale(self, double* x, const int32_t* at, Py_ssize_t n, bint learning) noexcept nogil:
        cdef Py_ssize_t k
        cdef double total = 0
        for k in range(n):
            if not fabs(x[k]) < LARGEST:
                return
        if self.how == UNIT:
            for k in range(n):
                total += x[k] * x[k]
            total = sqrt(total)
            if total > 0:
                for k in range(n):
                    x[k] /= total
            return
        self.rows += learning
        for k in range(n):
            if self.how == MAX:
                x[k] = self.by_largest(x[k], at[k] if at != NULL else k, learning)
            else:
                x[k] = self.standardised(x[k], at[k] if at != NULL else k, learning)

    cdef double by_largest(self, double x, Py_ssize_t i, bint learning) noexcept nogil:
        if learning and fabs(x) > self.most[i]:
            self.most[i] = fabs(x)
        return x / self.most[i] if self.most[i] > 0 else x

    cdef double standardised(self, double x, Py_ssize_t i, bint learning) noexcept nogil:
        """Welford's recursion; a feature that has not varied is 0."""
        cdef double off, spread
        if self.skipped[i]:
            return x
        if learning:
            off = x - self.means[i]
            self.means[i] += off / self.rows
            self.sums[i] += off * (x - self.means[i])
        spread = sqrt(self.sums[i] / max(1, self.rows))
        return (x - self.means[i]) / spread if spread > 1e-14 * fabs(self.means[i]) else 0.0

    def get_state(self, Py_ssize_t size):
        """Return what was seen of the first features: named arrays, and the number of rows."""
        self.make_room(size)
        arrays = {"largest": self.largest, "mean": self.mean, "squares": self.squares, "left": self.left}
        wanted = {"max": ["largest"], "standard": ["mean", "squares", "left"], "unit": []}[self.kind]
        return {name: arrays[name][:size].copy() for name in wanted}, self.rows

    def set_state(self, arrays, rows):
        """Take a state over, or raise ValueError where it makes no sense."""
        if not isinstance(rows, int) or rows < 0:
            raise ValueError("the number of rows that were scaled makes no sense")
        kept = {"largest": self.largest, "mean": self.mean, "squares": self.squares, "left": self.left}
        wanted = {"max": {"largest"}, "standard": {"mean", "squares", "left"}, "unit": set()}[self.kind]
        if arrays.keys() != wanted or len({array.shape for array in arrays.values()}) > 1:
            raise ValueError(f"scaling by {self.kind} keeps {sorted(wanted)}, of one length")
        for name, array in arrays.items():
            if array.ndim != 1 or array.dtype != kept[name].dtype or not np.isfinite(array).all():
                raise ValueError(f"{name}: not what scaling keeps")
            if name != "mean" and (array < 0).any():
                raise ValueError(f"{name}: no sum of squares and no size is negative")
            kept[name] = array.copy()
        size = max(len(array) for array in kept.values())
        padded = [np.concatenate([array, np.zeros(size - len(array), array.dtype)]) for array in kept.values()]
        self.set_arrays(*padded)
        self.rows = rows
