"""Blocks of rows and rows of streams: the same rounds as one example at a time, without the GIL."""

from libc.math cimport fabs, isfinite, isnan
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

import numpy as np

from noregret.linear.engine.engine cimport BAD_INDICES, BAD_VALUE, FINE, OVERFLOWED, Row, noregret_ordered
from noregret.linear.engine.entry cimport ExampleEntry
from noregret.linear.engine.features cimport BY_NAME, BY_POSITION, LARGEST, UNKNOWN

from noregret.errors import BadExample


# Blocks of rows: the same rounds as one example at a time, with the GIL released.
#
# The numbers are checked on the way; a row that is refused ends the block.

cdef extern from "row_loops.h" nogil:
    void noregret_copy(double* out, const double* x, Py_ssize_t n) noexcept

cdef enum:
    AT_HAND = 4  # rows that have their constant: the first is read, the last was just written
# Blocks of at least this many numbers are recorded whole, not row by row, where a game is recorded.
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


cdef int check_positions(const int64_t[::1] starts, const int32_t[::1] indices, Py_ssize_t size) except -1:
    """Refuse rows, checked by ``check_starts``, of which an index is no position below the size."""
    cdef Py_ssize_t r
    cdef int64_t k
    for r in range(starts.shape[0] - 1):
        for k in range(starts[r], starts[r + 1]):
            if not 0 <= indices[k] < size:
                raise BadExample(f"row {r} of a block has the index {indices[k]}: indices are from 0 to {size - 1}")
    return 0


cdef int check_lengths(Py_ssize_t rows, const double[::1] y, const double[::1] out) except -1:
    if (y is not None and y.shape[0] != rows) or (out is not None and out.shape[0] != rows):
        raise BadExample(f"{rows} rows, but {y.shape[0] if y is not None else out.shape[0]} outcomes")
    return 0


cdef class BlockEntry(ExampleEntry):
    """An entry for blocks of rows too, dense or sparse."""

    def play_dense(self, const double[:, :] X not None, const double[::1] y not None, double[::1] out=None,
                   const double[::1] importances=None, double constant=0):
        """Play the rows of an array, up to the first that is refused; raise why.

        With a constant every row ends in one more column of that value.
        """
        cdef Py_ssize_t r = 0, rows = X.shape[0], columns = X.shape[1], start, noted = 0
        cdef int status = FINE
        cdef bint longer = constant != 0, plain = importances is None and not longer
        cdef double[:, ::1] held = np.full((AT_HAND, columns + 1), constant)
        cdef Py_ssize_t ready = 0
        cdef Row row
        row.indices, row.count, row.spread = NULL, columns + longer, 0
        row.unseen, row.unseen_sum, row.unseen_norm2 = 0, 0, 0
        self.enter(True)
        try:
            check_block(X, self.engine.size - longer)
            check_lengths(rows, y, out)
            rows = self.until_refused(importances, rows)
            while r < rows and status == FINE:
                if plain and self.recorder is not None and not self.recorder.by_block and self.recorder.takes_blocks():
                    self.recorder.by_block = (rows - r) * columns >= LARGE_BLOCK
                    noted = r
                with nogil:
                    while r < rows and not self.due:
                        if longer:
                            while ready < min(r + AT_HAND, rows):
                                noregret_copy(&held[ready % AT_HAND, 0], &X[ready, 0], columns)
                                ready += 1
                            row.values = &held[r % AT_HAND, 0]
                        else:
                            row.values = &X[r, 0]
                        if importances is not None:
                            self.engine.importance = importances[r]
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
            if rows < X.shape[0]:
                self.refuse_importance(importances[rows])
        finally:
            self.engine.importance = 1
            try:
                if self.recorder is not None and self.recorder.by_block:
                    self.recorder.by_block = False
                    self.recorder.write_later(X[noted:r], y[noted:r])
            finally:
                self.leave()

    def play_sparse(self, const int64_t[::1] starts not None, const int32_t[::1] indices not None,
                    const double[::1] data not None, const double[::1] y not None, double[::1] out=None,
                    const double[::1] importances=None, double constant=0):
        """Play sparse rows: row r holds data[starts[r]:starts[r + 1]] at those indices, increasing.

        With a constant every row ends in one more column of that value.
        """
        cdef Py_ssize_t r = 0, rows = starts.shape[0] - 1, count, k
        cdef int status = FINE
        cdef bint longer = constant != 0
        cdef double[:, ::1] held
        cdef int32_t[:, ::1] places
        cdef Py_ssize_t ready = 0
        cdef Row row
        row.unseen, row.unseen_sum, row.unseen_norm2, row.spread = 0, 0, 0, 0
        self.enter(True)
        try:
            check_starts(starts, indices.shape[0], data.shape[0])
            check_lengths(rows, y, out)
            rows = self.until_refused(importances, rows)
            if longer:
                room = AT_HAND, np.diff(starts).max(initial=0) + 1
                held, places = np.empty(room), np.empty(room, np.int32)
            while r < rows and status == FINE:
                with nogil:
                    while r < rows and not self.due:
                        row.count = starts[r + 1] - starts[r] + longer
                        row.values, row.indices = &data[0] + starts[r], &indices[0] + starts[r]
                        if longer:
                            while ready < min(r + AT_HAND, rows):
                                k, count = ready % AT_HAND, starts[ready + 1] - starts[ready]
                                noregret_copy(&held[k, 0], &data[0] + starts[ready], count)
                                memcpy(&places[k, 0], &indices[0] + starts[ready], count * sizeof(int32_t))
                                held[k, count], places[k, count] = constant, self.engine.size - 1
                                ready += 1
                            row.values, row.indices = &held[r % AT_HAND, 0], &places[r % AT_HAND, 0]
                        if importances is not None:
                            self.engine.importance = importances[r]
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
            if rows < starts.shape[0] - 1:
                self.refuse_importance(importances[rows])
        finally:
            self.engine.importance = 1
            self.leave()

    def learn_weighted(self, x, y, double importance):
        """Learn from one example that stands for several."""
        self.hold()
        try:
            if self.until_refused(np.full(1, importance), 1) == 0:
                self.refuse_importance(importance)
            self.engine.importance = importance
            self.play(x, y, NULL)
        finally:
            self.engine.importance = 1
            self.let_go()

    cdef Py_ssize_t until_refused(self, const double[::1] importances, Py_ssize_t rows) except -1:
        """Return how many rows come before one whose importance cannot be taken."""
        cdef Py_ssize_t r
        if importances is None:
            return rows
        if importances.shape[0] != rows:
            raise BadExample(f"{rows} rows, but {importances.shape[0]} importances")
        cdef bint takes = self.engine.takes_importance
        for r in range(rows):
            if importances[r] != 1:
                if not (takes and 0 <= importances[r] < LARGEST):
                    return r
                if self.recorder is not None and self.recorder.weighted == 0:
                    self.recorder.weighted = self.engine.rounds + 1 + r
        return rows

    def refuse_importance(self, double importance):
        """Say why a row's importance cannot be taken."""
        round, what = self.engine.rounds + 1, f"the importance is {importance:g}"
        if self.engine.takes_importance:
            raise BadExample(f"round {round}: {what}: give a number of at least 0", round=round)
        raise BadExample(
            f"round {round}: {what}, and this learner takes none: that needs an implicit step, as widrow-hoff, nlms,"
            " logistic, hinge, gradient-descent and passive-aggressive have, and exponentiated-gradient if told, or"
            " corrections of mistakes, as the perceptron's",
            round=round,
        )

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

    def score_dense(self, const double[:, :] X not None, double[::1] out not None):
        """Fill out with the scores of the rows of an array."""
        cdef Py_ssize_t r, rows = X.shape[0]
        cdef int status = FINE
        cdef Row row
        row.indices, row.count, row.spread = NULL, X.shape[1], 0
        row.unseen, row.unseen_sum, row.unseen_norm2 = 0, 0, 0
        self.read_along()
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
            self.read_on()

    def score_sparse(self, const int64_t[::1] starts not None, const int32_t[::1] indices not None,
                     const double[::1] data not None, const int64_t[::1] unseen not None,
                     const double[::1] unseen_sums not None, const double[::1] unseen_squares not None,
                     double[::1] out not None):
        """Fill out with the scores of sparse rows; unseen counts features never learned from."""
        cdef Py_ssize_t r, rows = starts.shape[0] - 1
        cdef int status = FINE
        cdef Row row
        row.spread = 0
        self.read_along()
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
            self.read_on()

    cdef int score_row(self, Row* row, double* out) noexcept nogil:
        out[0] = self.score(row)
        return FINE if isfinite(out[0]) else BAD_VALUE if isnan(out[0]) else OVERFLOWED

    def positions(self, names):
        """Return the position of each name, −1 for those never learned from."""
        names = list(names)
        self.enter(False)
        try:
            self.known.catch_up()
            return [self.known.index.get(name, -1) for name in names]
        finally:
            self.leave()

    def check_starts(self, starts, Py_ssize_t indices, Py_ssize_t data):
        """Rows follow each other and end where the data do, at the latest."""
        check_starts(starts, indices, data)

    def admit_names(self, names):
        """Let new names join, in alphabetical order."""
        names = set(names)
        self.enter(True)
        try:
            self.meet_names()
            self.known.catch_up()
            self.known.unseen = [(name, 0.0) for name in names if name not in self.known.index]
            self.known.reserve(len(self.known.unseen))
            self.known.filled = 0
            self.known.admit()
            if self.known.count != self.engine.size:
                self.engine.resize(self.known.count)
        finally:
            self.known.unseen = []
            self.leave()


# The rows of a stream: sparse, with features that join as they appear, and with importances.
#
# A stream gives every feature a position when it first appears. A row whose last position is beyond
# those known brings new features with it: they join in that round, and not before, as they would if
# the examples came one by one.

cdef Py_ssize_t MOST = 2**31 - 2


cdef class StreamEntry(BlockEntry):
    """An entry for the rows of streams too."""

    def play_rows(
        self, const int64_t[::1] starts not None, const int32_t[::1] indices not None, const double[::1] data not None,
        const double[::1] y not None, const double[::1] importances=None, double[::1] out=None, names=None,
    ):
        """Play sparse rows, up to the first that is refused; raise why.

        ``names(start, stop)`` gives the names of positions; without it, features are columns.
        """
        cdef Py_ssize_t r = 0, rows, before = 0, needed
        cdef int status = FINE
        cdef bint growing = False
        cdef int kind
        cdef Row row
        row.unseen, row.unseen_sum, row.unseen_norm2, row.spread = 0, 0, 0, 0
        self.enter(True)
        kind = self.known.kind
        try:
            self.check_rows(starts, indices, data, y, importances, out)
            rows = self.until_refused(importances, starts.shape[0] - 1)
            self.meet_stream(names is not None)
            while r < rows and status == FINE:
                with nogil:
                    while r < rows and not self.due:
                        row.count = starts[r + 1] - starts[r]
                        row.values, row.indices = &data[0] + starts[r], &indices[0] + starts[r]
                        if row.count and row.indices[row.count - 1] >= self.engine.size:
                            break
                        status = self.play_ordered(&row, y[r], 1.0 if importances is None else importances[r],
                                                   &out[r] if out is not None else NULL)
                        if status != FINE:
                            break
                        r += 1
                if self.due:
                    self.hand_over()
                elif r < rows and status == FINE:
                    before, needed = self.engine.size, <Py_ssize_t> row.indices[row.count - 1] + 1
                    if needed > MOST or not noregret_ordered(row.indices, row.count, needed):
                        status = BAD_INDICES
                        break
                    growing = True
                    self.engine.resize(needed)
                    status = self.play_ordered(&row, y[r], 1.0 if importances is None else importances[r],
                                               &out[r] if out is not None else NULL)
                    if status == FINE:
                        growing = False
                        r += 1
            if self.due:  # by a row that was played after the engine had grown
                self.hand_over()
            if r or growing:
                self.join(names)
            if status != FINE:
                self.refuse(status, y[r], &row)
            if rows < starts.shape[0] - 1:
                self.refuse_importance(importances[rows])
        finally:
            try:
                if growing:  # only a refused row brought these
                    self.drop(before, self.known.kind if r else kind)
                elif self.engine.size != self.known.count:  # an interruption came before they could join
                    self.join(names)
            finally:
                self.engine.importance = 1
                self.leave()

    def check_rows(self, const int64_t[::1] starts, indices, data, y, importances, out):
        """Check that the arrays of some rows fit together."""
        rows = starts.shape[0] - 1
        self.check_starts(starts, len(indices), len(data))
        if any(given is not None and len(given) != rows for given in (y, importances, out)):
            raise BadExample(f"{rows} rows, but not as many outcomes")

    def meet_stream(self, bint named):
        """Refuse a stream that knows its features in another way than this learner."""
        if named:
            self.meet_names()
        elif self.known.kind == BY_NAME:
            self.meet_columns(self.known.count, True)

    cdef int play_ordered(self, Row* row, double y, double importance, double* out) noexcept nogil:
        self.engine.importance = importance
        if not noregret_ordered(row.indices, row.count, self.engine.size):
            return BAD_INDICES
        return self.play_row(row, y, out)

    def names_from(self, names):
        """Return the names of the positions that joined, one each."""
        found = list(names(len(self.known.names), self.engine.size))
        if len(found) != self.engine.size - len(self.known.names) or not all(isinstance(name, str) for name in found):
            raise BadExample(f"{len(found)} names for {self.engine.size - len(self.known.names)} features that joined")
        return found

    cdef int join(self, names) except -1:
        """Let the features by name that the engine has made room for."""
        if names is None:
            self.known.grow(self.engine.size)
        elif len(self.known.names) < self.engine.size or self.known.kind == UNKNOWN:
            self.known.join(self.names_from(names))
        return 0

    def score_rows(self, const int64_t[::1] starts not None, const int32_t[::1] indices not None,
                   const double[::1] data not None, double[::1] out not None):
        """Fill out with the scores of sparse rows; positions beyond those known are features never learned from."""
        cdef Py_ssize_t r, rows = starts.shape[0] - 1
        cdef int status = FINE
        cdef bint by_position = self.known.kind == BY_POSITION
        cdef Row row
        row.spread = 0
        self.read_along()
        try:
            self.check_starts(starts, indices.shape[0], data.shape[0])
            if out.shape[0] != rows:
                raise ValueError("one score a row")
            with nogil:
                for r in range(rows):
                    row.values, row.indices = &data[0] + starts[r], &indices[0] + starts[r]
                    row.count = starts[r + 1] - starts[r]
                    row.unseen, row.unseen_sum, row.unseen_norm2 = 0, 0, 0
                    if not noregret_ordered(row.indices, row.count, MOST):
                        status = BAD_INDICES
                        break
                    if by_position and row.count and row.indices[row.count - 1] >= self.engine.size:
                        # All columns up to the last join with it.
                        row.unseen = row.indices[row.count - 1] + 1 - self.engine.size
                    while row.count and row.indices[row.count - 1] >= self.engine.size:
                        row.count -= 1
                        row.unseen += not by_position
                        row.unseen_sum += row.values[row.count]
                        row.unseen_norm2 += row.values[row.count] * row.values[row.count]
                        if not fabs(row.values[row.count]) < LARGEST:
                            status = BAD_VALUE
                    if status == FINE:
                        status = self.score_row(&row, &out[r])
                    if status != FINE:
                        break
            if status != FINE:
                self.refuse(status, 0, &row)
        finally:
            self.read_on()
