"""Blocks of rows: the same rounds as one example at a time, with the GIL released.

The numbers are checked on the way; a row that is refused ends the block.
"""

from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t

from noregret.core.door cimport Door
from noregret.core.engine cimport BAD_VALUE, FINE, Row


cdef int check_contiguous(const double[:, :] X) except -1:
    """The core reads a row as a run of numbers."""
    if X.shape[1] > 1 and X.strides[1] != sizeof(double):
        raise ValueError("the numbers of a row must follow each other in memory")
    return 0


cdef class Blocks(Door):
    """A door that takes blocks of rows too, dense or sparse."""

    def play_dense(self, const double[:, :] X, const double[::1] y, double[::1] out=None):
        """Play the rows of an array, up to the first that is refused; raise why."""
        cdef Py_ssize_t r = 0, rows = X.shape[0]
        cdef int status = FINE
        cdef Row row
        check_contiguous(X)
        row.indices, row.count, row.unseen, row.unseen_sum, row.spread = NULL, X.shape[1], 0, 0, 0
        self.enter()
        with nogil:
            for r in range(rows):
                row.values = &X[r, 0]
                status = self.play_row(&row, y[r], &out[r] if out is not None else NULL)
                if status != FINE:
                    break
        self.leave()
        if status != FINE:
            self.refuse(status, y[r], &row)

    def play_sparse(self, const int64_t[::1] starts, const int32_t[::1] indices, const double[::1] data,
                    const double[::1] y, double[::1] out=None):
        """Play sparse rows: row r holds data[starts[r]:starts[r + 1]] at those indices, increasing."""
        cdef Py_ssize_t r = 0, rows = starts.shape[0] - 1
        cdef int status = FINE
        cdef Row row
        row.unseen, row.unseen_sum, row.spread = 0, 0, 0
        self.enter()
        with nogil:
            for r in range(rows):
                row.count = starts[r + 1] - starts[r]
                row.values, row.indices = &data[0] + starts[r], &indices[0] + starts[r]
                status = self.play_row(&row, y[r], &out[r] if out is not None else NULL)
                if status != FINE:
                    break
        self.leave()
        if status != FINE:
            self.refuse(status, y[r], &row)

    cdef int play_row(self, Row* row, double y, double* out) noexcept nogil:
        cdef int labels = self.labels, status = self.settle(&y)
        if status == FINE:
            if out != NULL:
                out[0] = self.score(row)
            status = self.engine.play(row, y)
        if status != FINE:
            self.labels = labels
        return status

    def score_dense(self, const double[:, :] X, double[::1] out):
        """Fill out with the scores of the rows of an array."""
        cdef Py_ssize_t r, rows = X.shape[0], bad = -1
        cdef Row row
        check_contiguous(X)
        row.indices, row.count, row.unseen, row.unseen_sum, row.spread = NULL, X.shape[1], 0, 0, 0
        self.wait()
        self.readers += 1
        with nogil:
            for r in range(rows):
                row.values = &X[r, 0]
                out[r] = self.score(&row)
                if not isfinite(row.norm2):
                    bad = r
                    break
        self.readers -= 1
        if bad >= 0:
            self.refuse(BAD_VALUE, 0, &row)

    def score_sparse(self, const int64_t[::1] starts, const int32_t[::1] indices, const double[::1] data,
                     const int64_t[::1] unseen, const double[::1] unseen_sums, double[::1] out):
        """Fill out with the scores of sparse rows; unseen counts features never learned from."""
        cdef Py_ssize_t r, rows = starts.shape[0] - 1, bad = -1
        cdef Row row
        row.spread = 0
        self.wait()
        self.readers += 1
        with nogil:
            for r in range(rows):
                row.count = starts[r + 1] - starts[r]
                row.values, row.indices = &data[0] + starts[r], &indices[0] + starts[r]
                row.unseen, row.unseen_sum = unseen[r], unseen_sums[r]
                out[r] = self.score(&row)
                if not isfinite(row.norm2):
                    bad = r
                    break
        self.readers -= 1
        if bad >= 0:
            self.refuse(BAD_VALUE, 0, &row)

    def positions(self, names):
        """Return the position of each name, −1 for those never learned from."""
        return [self.known.index.get(name, -1) for name in names]

    def admit_names(self, names):
        """Let new names join, in alphabetical order."""
        self.meet_names()
        self.known.unseen = [(name, 0.0) for name in names if name not in self.known.index]
        self.known.reserve(len(self.known.unseen))
        self.known.filled = 0
        self.known.admit()
        if self.known.count != self.engine.size:
            self.resize(self.known.count)
