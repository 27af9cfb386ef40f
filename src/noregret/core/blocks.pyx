"""Blocks of rows: the same rounds as one example at a time, with the GIL released.

The numbers are checked on the way; a row that is refused ends the block.
"""

from libc.math cimport isfinite, isnan
from libc.stdint cimport int32_t, int64_t

from noregret.core.door cimport Door
from noregret.core.engine cimport BAD_INDICES, BAD_VALUE, FINE, OVERFLOWED, Row, noregret_ordered

import numpy as np

from noregret.errors import BadExample

# Numbers in a block from which on its rows are not written down one by one, where a game is recorded.
cdef Py_ssize_t LARGE_BLOCK = 2**15


cdef int check_block(const double[:, :] X, Py_ssize_t size) except -1:
    """The core reads a row as a run of numbers, one a feature."""
    if X.shape[1] > 1 and X.strides[1] != sizeof(double):
        raise ValueError("the numbers of a row must follow each other in memory")
    if X.shape[1] != size:
        raise ValueError(f"expected {size} columns, got {X.shape[1]}")
    return 0


cdef int check_starts(const int64_t[::1] starts, Py_ssize_t indices, Py_ssize_t data) except -1:
    """Rows follow each other and end where the data do, at the latest."""
    cdef Py_ssize_t r
    cdef bint falls = starts.shape[0] == 0 or starts[0] < 0
    for r in range(1, starts.shape[0]):
        falls |= starts[r] < starts[r - 1]
    if falls or starts[starts.shape[0] - 1] > min(indices, data):
        raise BadExample("the rows of a sparse matrix do not follow each other within its data")
    return 0


cdef int check_lengths(Py_ssize_t rows, const double[::1] y, const double[::1] out) except -1:
    if (y is not None and y.shape[0] != rows) or (out is not None and out.shape[0] != rows):
        raise BadExample(f"{rows} rows, but {y.shape[0] if y is not None else out.shape[0]} outcomes")
    return 0


cdef class Blocks(Door):
    """A door that takes blocks of rows too, dense or sparse."""

    def play_dense(self, const double[:, :] X, const double[::1] y, double[::1] out=None):
        """Play the rows of an array, up to the first that is refused; raise why."""
        cdef Py_ssize_t r = 0, rows = X.shape[0], start, noted = 0
        cdef int status = FINE
        cdef Row row
        row.indices, row.count, row.spread = NULL, X.shape[1], 0
        row.unseen, row.unseen_sum, row.unseen_norm2 = 0, 0, 0
        self.enter(True)
        try:
            check_block(X, self.engine.size)
            check_lengths(rows, y, out)
            while r < rows and status == FINE:
                if self.recorder is not None and not self.recorder.by_block and self.recorder.takes_blocks():
                    self.recorder.by_block = (rows - r) * X.shape[1] >= LARGE_BLOCK
                    noted = r
                with nogil:
                    while r < rows and not self.due:
                        row.values = &X[r, 0]
                        status = self.play_row(&row, y[r], &out[r] if out is not None else NULL)
                        if status != FINE:
                            break
                        r += 1
                if self.due and self.recorder.by_block:
                    self.due, start, noted = False, noted, r
                    self.recorder.hand_over_block(np.asarray(X)[start:r], np.asarray(y)[start:r])
                elif self.due:
                    self.hand_over()
            if status != FINE:
                self.refuse(status, y[r], &row)
        finally:
            try:
                if self.recorder is not None and self.recorder.by_block:
                    self.recorder.by_block = False
                    self.recorder.write_later(X[noted:r], y[noted:r])
            finally:
                self.leave()

    def play_sparse(self, const int64_t[::1] starts, const int32_t[::1] indices, const double[::1] data,
                    const double[::1] y, double[::1] out=None):
        """Play sparse rows: row r holds data[starts[r]:starts[r + 1]] at those indices, increasing."""
        cdef Py_ssize_t r = 0, rows = starts.shape[0] - 1
        cdef int status = FINE
        cdef Row row
        row.unseen, row.unseen_sum, row.unseen_norm2, row.spread = 0, 0, 0, 0
        self.enter(True)
        try:
            check_starts(starts, indices.shape[0], data.shape[0])
            check_lengths(rows, y, out)
            while r < rows and status == FINE:
                with nogil:
                    while r < rows and not self.due:
                        row.count = starts[r + 1] - starts[r]
                        row.values, row.indices = &data[0] + starts[r], &indices[0] + starts[r]
                        if not noregret_ordered(row.indices, row.count, self.engine.size):
                            status = BAD_INDICES
                        else:
                            status = self.play_row(&row, y[r], &out[r] if out is not None else NULL)
                        if status != FINE:
                            break
                        r += 1
                if self.due:
                    self.hand_over()
            if status != FINE:
                self.refuse(status, y[r], &row)
        finally:
            self.leave()

    cdef int play_row(self, Row* row, double y, double* out) noexcept nogil:
        cdef double given = y
        cdef int labels = self.labels, status = self.settle(&y)
        if status == FINE:
            if out != NULL and self.engine.mean_kept:
                out[0] = self.score(row)
            status = self.play_recorded(row, y, given)
            if out != NULL and not self.engine.mean_kept and status == FINE:
                out[0] = self.engine.last_score
        if status != FINE:
            self.labels = labels
        return status

    def score_dense(self, const double[:, :] X, double[::1] out):
        """Fill out with the scores of the rows of an array."""
        cdef Py_ssize_t r, rows = X.shape[0]
        cdef int status = FINE
        cdef Row row
        row.indices, row.count, row.spread = NULL, X.shape[1], 0
        row.unseen, row.unseen_sum, row.unseen_norm2 = 0, 0, 0
        self.wait(False)
        self.readers += 1
        try:
            check_block(X, self.engine.size)
            check_lengths(rows, None, out)
            with nogil:
                for r in range(rows):
                    row.values = &X[r, 0]
                    status = self.score_row(&row, &out[r])
                    if status != FINE:
                        break
            if status != FINE:
                self.refuse(status, 0, &row)
        finally:
            self.readers -= 1

    def score_sparse(self, const int64_t[::1] starts, const int32_t[::1] indices, const double[::1] data,
                     const int64_t[::1] unseen, const double[::1] unseen_sums,
                     const double[::1] unseen_squares, double[::1] out):
        """Fill out with the scores of sparse rows; unseen counts features never learned from."""
        cdef Py_ssize_t r, rows = starts.shape[0] - 1
        cdef int status = FINE
        cdef Row row
        row.spread = 0
        self.wait(False)
        self.readers += 1
        try:
            check_starts(starts, indices.shape[0], data.shape[0])
            check_lengths(rows, unseen_sums, out)
            if unseen.shape[0] != rows or unseen_squares.shape[0] != rows:
                raise ValueError("one count of unseen features a row")
            with nogil:
                for r in range(rows):
                    row.count = starts[r + 1] - starts[r]
                    row.values, row.indices = &data[0] + starts[r], &indices[0] + starts[r]
                    row.unseen, row.unseen_sum, row.unseen_norm2 = unseen[r], unseen_sums[r], unseen_squares[r]
                    if not noregret_ordered(row.indices, row.count, self.engine.size):
                        status = BAD_INDICES
                    else:
                        status = self.score_row(&row, &out[r])
                    if status != FINE:
                        break
            if status != FINE:
                self.refuse(status, 0, &row)
        finally:
            self.readers -= 1

    cdef int score_row(self, Row* row, double* out) noexcept nogil:
        out[0] = self.score(row)
        return FINE if isfinite(out[0]) else BAD_VALUE if isnan(out[0]) else OVERFLOWED

    def positions(self, names):
        """Return the position of each name, −1 for those never learned from."""
        self.known.catch_up()
        return [self.known.index.get(name, -1) for name in names]

    def check_starts(self, starts, Py_ssize_t indices, Py_ssize_t data):
        """Rows follow each other and end where the data do, at the latest."""
        check_starts(starts, indices, data)

    def admit_names(self, names):
        """Let new names join, in alphabetical order."""
        self.meet_names()
        self.known.catch_up()
        self.known.unseen = [(name, 0.0) for name in names if name not in self.known.index]
        self.known.reserve(len(self.known.unseen))
        self.known.filled = 0
        self.known.admit()
        if self.known.count != self.engine.size:
            self.engine.resize(self.known.count)
