"""Scaling as the rows come: each by what has been seen up to and including it.

A row that the learner would refuse, as a value is not finite or too large, is passed on as it is
and leaves no trace here.
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t

import numpy as np

from noregret.linear.engine.block_rows cimport check_starts
from noregret.linear.engine.engine cimport noregret_ordered
from noregret.linear.engine.features cimport MAX_VALUE

from noregret import limits
from noregret.errors import BadExample

KEPT = {"max": ["largest"], "standard": ["mean", "squares", "rows", "left"], "unit": []}
KINDS: tuple[str, ...] = tuple(KEPT)
cdef Py_ssize_t MAX_POSITIONS = limits.MAX_POSITIONS

cdef enum:  # Kind
    MAX
    STANDARD
    UNIT


cdef int check_outcomes(Py_ssize_t rows, const double[::1] y) except -1:
    if y is not None and y.shape[0] != rows:
        raise ValueError(f"{rows} rows, but {y.shape[0]} outcomes")
    return 0


cdef class Scaler:
    """A scaling method and its running statistics.

    Parameters
    ----------
    kind
        ``max``: by the largest absolute value of the feature so far. ``standard``: to mean 0 and
        standard deviation 1, by those of the rows so far that have the feature. ``unit``: the whole
        row to norm 1.
    """

    cdef readonly str kind
    cdef int how
    cdef readonly dict arrays       # what it has seen, an array a name: the views below look into them
    cdef double[::1] most, means, sums, rows
    cdef uint8_t[::1] skipped       # positions that are not standardised

    def __cinit__(self, str kind not None):
        self.kind, self.how = kind, KINDS.index(kind)
        self.set_arrays({name: np.zeros(0, np.uint8 if name == "left" else np.float64) for name in KEPT[kind]})

    def set_arrays(self, arrays):
        """Use these arrays, with one number per feature."""
        cdef double[::1] means, sums, rows
        cdef uint8_t[::1] skipped
        if self.how == MAX:
            self.most = arrays["largest"]
        elif self.how == STANDARD:
            means, sums, rows, skipped = [arrays[name] for name in KEPT["standard"]]
            self.means, self.sums, self.rows, self.skipped = means, sums, rows, skipped
        self.arrays = arrays

    cdef int make_room(self, Py_ssize_t size) except -1:
        """Allocate numbers for this many features."""
        cdef Py_ssize_t room = size
        if self.how == MAX:
            room = self.most.shape[0]
        elif self.how == STANDARD:
            room = min(self.means.shape[0], self.sums.shape[0], self.rows.shape[0], self.skipped.shape[0])
        if size > room:
            more = max(size, 2 * room, 16) - room
            self.set_arrays({
                name: np.concatenate([array[:room], np.zeros(more, array.dtype)]) for name, array in self.arrays.items()
            })
        return 0

    def leave_out(self, positions: Sequence[int] | NDArray[np.integer]) -> None:
        """Leave some positions as they are, when standardising: indicators and the intercept."""
        if len(positions) and self.how == STANDARD:
            if min(positions) < 0:
                raise ValueError(f"there is no position {min(positions)}")
            self.make_room(int(max(positions)) + 1)
            self.arrays["left"][np.asarray(positions)] = 1

    def scale_dense(self, double[:, ::1] X not None, bint learning=True, const double[::1] y=None) -> None:
        """Scale the rows of an array in place; rows whose outcome in ``y`` is NaN leave no trace."""
        cdef Py_ssize_t r, n = X.shape[1]
        check_outcomes(X.shape[0], y)
        self.make_room(n)
        with nogil:
            for r in range(X.shape[0]):
                if n:
                    self.scale(&X[r, 0], NULL, n, learning and (y is None or y[r] == y[r]))

    def scale_sparse(self, const int64_t[::1] starts not None, const int32_t[::1] indices not None,
                     double[::1] data not None, bint learning=True, const double[::1] y=None) -> None:
        """Scale sparse rows in place; a position never seen in learning is left as it is.

        Rows whose outcome in ``y`` is NaN leave no trace.
        """
        cdef Py_ssize_t r, rows = starts.shape[0] - 1
        cdef int32_t last = -1
        check_starts(starts, indices.shape[0], data.shape[0])
        check_outcomes(rows, y)
        for r in range(rows):
            if starts[r + 1] > starts[r]:
                if not noregret_ordered(&indices[starts[r]], starts[r + 1] - starts[r], MAX_POSITIONS):
                    raise BadExample(f"row {r} of a block: its positions must increase, and be from 0 on")
                last = max(last, indices[starts[r + 1] - 1])
        self.make_room(last + 1)
        with nogil:
            for r in range(rows):
                if starts[r + 1] > starts[r]:
                    self.scale(&data[starts[r]], &indices[starts[r]], starts[r + 1] - starts[r],
                               learning and (y is None or y[r] == y[r]))

    cdef void scale(self, double* x, const int32_t* at, Py_ssize_t n, bint learning) noexcept nogil:
        cdef Py_ssize_t k
        cdef double peak = 0, total = 0
        for k in range(n):
            if not fabs(x[k]) < MAX_VALUE:
                return
            peak = max(peak, fabs(x[k]))
        if self.how == UNIT:
            if peak > 0:  # divided by first, as squares of small numbers would be lost
                for k in range(n):
                    x[k] /= peak
                    total += x[k] * x[k]
                total = sqrt(total)
                for k in range(n):
                    x[k] /= total
            return
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
            self.rows[i] += 1
            off = x - self.means[i]
            self.means[i] += off / self.rows[i]
            self.sums[i] += off * (x - self.means[i])
        spread = sqrt(self.sums[i] / max(1.0, self.rows[i]))
        return (x - self.means[i]) / spread if spread > 1e-14 * fabs(self.means[i]) else 0.0

    def get_state(self, Py_ssize_t size) -> dict[str, NDArray[np.generic]]:
        """Return the statistics of the first features, as named arrays."""
        self.make_room(size)
        return {name: array[:size].copy() for name, array in self.arrays.items()}

    def set_state(self, arrays: dict[str, NDArray[np.generic]]) -> None:
        """Restore a state; raise ValueError if it is not valid."""
        if arrays.keys() != self.arrays.keys() or len({array.shape for array in arrays.values()}) > 1:
            raise ValueError(f"scaling by {self.kind} keeps {list(self.arrays)}, of one length")
        for name, array in arrays.items():
            if array.ndim != 1 or array.dtype != self.arrays[name].dtype or not np.isfinite(array).all():
                raise ValueError(f"{name}: not what scaling keeps")
            if name != "mean" and (array < 0).any():
                raise ValueError(f"{name}: no count, no sum of squares and no size is negative")
        self.set_arrays({name: arrays[name].copy() for name in self.arrays})
