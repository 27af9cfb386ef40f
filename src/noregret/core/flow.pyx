"""The rows of a stream: sparse, with features that join as they appear, and with importances.

A stream gives every feature a position when it first appears. A row whose last position is beyond
those known brings new features with it: they join in that round, and not before, as they would if
the examples came one by one.
"""

from libc.math cimport fabs, isfinite, isnan
from libc.stdint cimport int32_t, int64_t

from noregret.core.blocks cimport Blocks
from noregret.core.engine cimport BAD_INDICES, BAD_VALUE, FINE, OVERFLOWED, Row, noregret_ordered
from noregret.core.features cimport BY_NAME, BY_POSITION, LARGEST, UNKNOWN

from noregret.errors import BadExample

cdef Py_ssize_t MOST = 2**31 - 2


cdef class Flow(Blocks):
    """A door that takes the rows of streams too."""

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
