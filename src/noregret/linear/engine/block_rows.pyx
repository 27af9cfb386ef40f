"""Blocks of rows and rows of streams: the same rounds as one example at a time, without the GIL.

Every function takes the entry of the learner that plays.
"""

cimport cython
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t, uintptr_t
from libc.string cimport memcpy

import reprlib

import numpy as np

from noregret.linear.engine.engine cimport BAD_INDICES, BAD_VALUE, FINE, Row, noregret_ordered
from noregret.linear.engine.entry cimport Entry
from noregret.linear.engine.features cimport BY_NAME, BY_POSITION, MAX_VALUE, UNKNOWN

from noregret import limits
from noregret.errors import BadExample

# Numbers are checked in the same pass; a refused row ends the block.

cdef extern from "row_loops.h" nogil:
    void noregret_copy(double* out, const double* x, Py_ssize_t n) noexcept

cdef enum:
    CONSTANT_ROWS = 4  # buffers of rows with a constant: the first is read, the last just written


include "row_checks.pxi"


def play_dense(Entry entry not None, const double[:, :] X not None, const double[::1] y not None, double[::1] out=None,
               const double[::1] importances=None, double constant=0) -> None:
    """Play the rows of an array; raise at the first that is refused.

    With a constant, every row has one more column of that value.
    """
    cdef Py_ssize_t r = 0, rows = X.shape[0], columns = X.shape[1]
    cdef int status = FINE
    cdef bint longer = constant != 0
    cdef double[:, ::1] held = None
    cdef Py_ssize_t ready = 0
    cdef Row row
    if longer:
        held = np.full((CONSTANT_ROWS, columns + 1), constant)
    row.indices, row.count, row.spread = NULL, columns + longer, 0
    row.unseen, row.unseen_sum, row.unseen_norm2 = 0, 0, 0
    entry.enter(True)
    try:
        check_block(X, entry.engine.size - longer)
        check_lengths(rows, y, out)
        rows = until_refused(entry, importances, rows)
        while r < rows and status == FINE:
            with nogil:
                while r < rows and not entry.due:
                    if longer:
                        while ready < min(r + CONSTANT_ROWS, rows):
                            noregret_copy(&held[ready % CONSTANT_ROWS, 0], dense_row(X, ready), columns)
                            ready += 1
                        row.values = &held[r % CONSTANT_ROWS, 0]
                    else:
                        row.values = dense_row(X, r)
                    if importances is not None:
                        entry.engine.importance = importances[r]
                    status = play_row(entry, &row, y[r], &out[r] if out is not None else NULL)
                    if status != FINE:
                        break
                    r += 1
            if entry.due:
                entry.hand_over()
        if status != FINE:
            entry.refuse(status, y[r], &row)
        if rows < X.shape[0]:
            refuse_importance(entry, importances[rows])
    finally:
        entry.engine.importance = 1
        entry.leave()


def play_groups(list entries not None: list[Entry], const int64_t[::1] starts not None,
                const int64_t[::1] stops not None, const double[:, :] X not None, const double[::1] y not None,
                double[::1] out not None, Py_ssize_t first) -> tuple[int, int, float, int]:
    """Play ranges of rows, each with its own entry, from the one at ``first`` on, up to the first that refuses a row.

    Returns how many have played, the one that refused not counted; the row refused; and the loss and the mistakes of all.
    """
    cdef Py_ssize_t at, r
    cdef int status = FINE
    cdef double before, loss = 0
    cdef long long mistakes = 0
    cdef Entry entry
    cdef Row row
    row.indices, row.count, row.spread = NULL, X.shape[1], 0
    row.unseen, row.unseen_sum, row.unseen_norm2 = 0, 0, 0
    check_lengths(X.shape[0], y, out)
    if first < 0 or starts.shape[0] != len(entries) or stops.shape[0] != len(entries):
        raise ValueError("every entry needs a range of rows")
    for at in range(first, len(entries)):
        entry = <Entry?> entries[at]
        if not 0 <= starts[at] <= stops[at] <= X.shape[0]:
            raise ValueError("a range is not one of rows")
        entry.enter(True)
        try:
            check_block(X, entry.engine.size)
            before = entry.engine.loss_sum + entry.engine.loss_rest
            mistakes -= entry.engine.mistakes
            for r in range(starts[at], stops[at]):
                row.values = dense_row(X, r)
                status = play_row(entry, &row, y[r], &out[r])
                if status != FINE:
                    break
                if entry.due:
                    entry.hand_over()
            loss += entry.engine.loss_sum + entry.engine.loss_rest - before
            mistakes += entry.engine.mistakes
        finally:
            entry.leave()
        if status != FINE:
            return at, r, loss, mistakes
    return len(entries), X.shape[0], loss, mistakes


def play_columns(Entry entry not None, columns: Sequence[Floats], const double[::1] y not None, double[::1] out=None,
                 const double[::1] importances=None) -> None:
    """Play rows that lie in columns of float64, one per feature in the order of positions, as ``play_dense`` does."""
    cdef Columns table = Columns(columns)
    cdef Py_ssize_t r = 0, rows = table.rows, first = 0, ready = 0
    cdef Py_ssize_t tile = tile_rows(table.count)
    cdef int status = FINE
    cdef double[:, ::1] held = np.empty((tile, max(1, table.count)))
    cdef Row row
    row.indices, row.count, row.spread = NULL, table.count, 0
    row.unseen, row.unseen_sum, row.unseen_norm2 = 0, 0, 0
    entry.enter(True)
    try:
        if table.count != entry.engine.size:
            raise ValueError(f"expected {entry.engine.size} columns, got {table.count}")
        check_lengths(rows, y, out)
        rows = until_refused(entry, importances, rows)
        while r < rows and status == FINE:
            with nogil:
                while r < rows and not entry.due:
                    if r == ready:
                        first, ready = r, min(r + tile, rows)
                        table.copy_rows(first, ready, &held[0, 0])
                    row.values = &held[0, 0] + (r - first) * table.count
                    if importances is not None:
                        entry.engine.importance = importances[r]
                    status = play_row(entry, &row, y[r], &out[r] if out is not None else NULL)
                    if status != FINE:
                        break
                    r += 1
            if entry.due:
                entry.hand_over()
        if status != FINE:
            entry.refuse(status, y[r], &row)
        if rows < table.rows:
            refuse_importance(entry, importances[rows])
    finally:
        entry.engine.importance = 1
        entry.leave()


def rows_of_columns(columns: Sequence[Floats], Py_ssize_t rows) -> Floats:
    """Return columns of float64, of equal lengths, side by side as rows of an array."""
    cdef Columns table = Columns(columns)
    made = np.empty((rows, table.count))
    cdef double[:, ::1] X = made
    cdef Py_ssize_t first = 0, last, tile = tile_rows(table.count)
    if table.count and rows:
        if rows != table.rows:
            raise ValueError(f"{rows} rows, but columns of {table.rows}")
        with nogil:
            while first < rows:
                last = min(first + tile, rows)
                table.copy_rows(first, last, &X[first, 0])
                first = last
    return made


cdef inline Py_ssize_t tile_rows(Py_ssize_t columns) noexcept:
    """Return the rows to copy at a time: they stay in cache, and whole lines of a column are read."""
    return max(8, min(64, 4096 // max(1, columns)))


cdef class Columns:
    """Columns of float64 of equal length, read where they lie."""

    cdef Py_ssize_t count, rows
    cdef list held
    cdef uintptr_t[::1] starts
    cdef Py_ssize_t[::1] strides
    cdef bint packed  # whether the numbers of each column follow each other

    def __cinit__(self, columns):
        self.held = [np.require(column, np.float64, "A") for column in columns]
        self.count = len(self.held)
        self.rows = len(self.held[0]) if self.held else 0
        for column in self.held:
            if column.shape != (self.rows,):
                raise ValueError("the columns have different lengths")
        self.starts = np.array([column.ctypes.data for column in self.held], dtype=np.uintp)
        self.strides = np.array([column.strides[0] for column in self.held], dtype=np.intp)
        self.packed = all(column.flags.c_contiguous for column in self.held)

    cdef void copy_rows(self, Py_ssize_t first, Py_ssize_t last, double* out) noexcept nogil:
        cdef Py_ssize_t k = 0, r, n = self.count
        cdef const char* at
        cdef const double* a
        cdef const double* b
        cdef const double* c
        cdef const double* d
        while k + 4 <= n and self.packed:  # four at a time: one wide write instead of four
            a, b = <const double*> self.starts[k] + first, <const double*> self.starts[k + 1] + first
            c, d = <const double*> self.starts[k + 2] + first, <const double*> self.starts[k + 3] + first
            for r in range(last - first):
                out[r * n + k], out[r * n + k + 1] = a[r], b[r]
                out[r * n + k + 2], out[r * n + k + 3] = c[r], d[r]
            k += 4
        while k < n:
            at = <const char*> self.starts[k] + first * self.strides[k]
            for r in range(last - first):
                out[r * n + k] = (<const double*> at)[0]
                at += self.strides[k]
            k += 1


def play_sparse(Entry entry not None, const int64_t[::1] starts not None, const int32_t[::1] indices not None,
                const double[::1] data not None, const double[::1] y not None, double[::1] out=None,
                const double[::1] importances=None, double constant=0) -> None:
    """Play sparse rows: row r holds data[starts[r]:starts[r + 1]] at those indices, increasing.

    With a constant, every row has one more column of that value. Indices are copied before they are
    checked, so that another thread cannot change them in between.
    """
    cdef Py_ssize_t r = 0, rows = starts.shape[0] - 1, count, k
    cdef int status = FINE
    cdef bint longer = constant != 0
    cdef double[:, ::1] held
    cdef int32_t[:, ::1] places
    cdef Py_ssize_t ready = 0
    cdef Row row
    row.unseen, row.unseen_sum, row.unseen_norm2, row.spread = 0, 0, 0, 0
    entry.enter(True)
    try:
        check_starts(starts, indices.shape[0], data.shape[0])
        check_lengths(rows, y, out)
        rows = until_refused(entry, importances, rows)
        room = CONSTANT_ROWS, np.diff(starts).max(initial=0) + 1
        held, places = np.empty(room if longer else (0, 0)), np.empty(room, np.int32)
        while r < rows and status == FINE:
            with nogil:
                while r < rows and not entry.due:
                    while ready < min(r + CONSTANT_ROWS, rows):
                        k, count = ready % CONSTANT_ROWS, starts[ready + 1] - starts[ready]
                        point_at(&row, indices, data, starts[ready])
                        memcpy(&places[k, 0], row.indices, count * sizeof(int32_t))
                        if longer:
                            noregret_copy(&held[k, 0], row.values, count)
                            held[k, count], places[k, count] = constant, entry.engine.size - 1
                        ready += 1
                    point_at(&row, indices, data, starts[r])
                    row.count, row.indices = starts[r + 1] - starts[r] + longer, &places[r % CONSTANT_ROWS, 0]
                    if longer:
                        row.values = &held[r % CONSTANT_ROWS, 0]
                    if importances is not None:
                        entry.engine.importance = importances[r]
                    if not noregret_ordered(row.indices, row.count, entry.engine.size):
                        status = BAD_INDICES
                    else:
                        status = play_row(entry, &row, y[r], &out[r] if out is not None else NULL)
                    if status != FINE:
                        break
                    r += 1
            if entry.due:
                entry.hand_over()
        if status != FINE:
            entry.refuse(status, y[r], &row)
        if rows < starts.shape[0] - 1:
            refuse_importance(entry, importances[rows])
    finally:
        entry.engine.importance = 1
        entry.leave()


def learn_weighted(Entry entry not None, x, y, double importance) -> None:
    """Learn from one example with an importance."""
    entry.hold()
    try:
        if until_refused(entry, np.full(1, importance), 1) == 0:
            refuse_importance(entry, importance)
        entry.engine.importance = importance
        entry.play(x, y, NULL)
    finally:
        entry.engine.importance = 1
        entry.let_go()


cdef Py_ssize_t until_refused(Entry entry, const double[::1] importances, Py_ssize_t rows) except -1:
    """Return the number of rows before the first with an invalid importance."""
    cdef Py_ssize_t r
    if importances is None:
        return rows
    if importances.shape[0] != rows:
        raise BadExample(f"{rows} rows, but {importances.shape[0]} importances")
    cdef bint takes = entry.engine.takes_importance
    for r in range(rows):
        if importances[r] != 1:
            if not (takes and 0 <= importances[r] < MAX_VALUE):
                return r
            if entry.recorder is not None and entry.recorder.weighted == 0:
                entry.recorder.weighted = entry.engine.rounds + 1 + r
    return rows


cdef int refuse_importance(Entry entry, double importance) except -1:
    """Raise BadExample for an invalid importance."""
    round, what = entry.engine.rounds + 1, f"the importance is {importance:g}"
    if entry.engine.takes_importance:
        raise BadExample(what, "give a number of at least 0", round=round)
    raise BadExample(
        f"{what}, and this learner takes none",
        "use auto, a learner with an implicit step, or one that corrects mistakes",
        round=round,
    )


cdef int play_row(Entry entry, Row* row, double y, double* out) noexcept nogil:
    cdef double given = y
    cdef int labels = entry.labels, status = entry.settle(&y)
    if status == FINE:
        if out != NULL and entry.engine.mean_kept:
            out[0] = entry.score(row)
        status = entry.play_recorded(row, y, given)
        if out != NULL and not entry.engine.mean_kept and status == FINE:
            out[0] = entry.engine.last_score
    if status != FINE:
        entry.labels = labels
    return status


cdef Py_ssize_t scores_per_row(Entry entry, Py_ssize_t rows, const double[::1] out) except -1:
    """Return for how many scores per row there is room: one, or one per class known when it was made."""
    cdef Py_ssize_t width = entry.width()
    if rows and width:
        width = max(1, min(width, out.shape[0] // rows))
    check_lengths(rows * width, None, out)
    return width


def score_dense(Entry entry not None, const double[:, :] X not None, double[::1] out not None) -> None:
    """Fill out with the scores of the rows of an array."""
    cdef Py_ssize_t r, rows = X.shape[0]
    cdef int status = FINE
    cdef Py_ssize_t width
    cdef Row row
    row.indices, row.count, row.spread = NULL, X.shape[1], 0
    row.unseen, row.unseen_sum, row.unseen_norm2 = 0, 0, 0
    entry.read_along()
    try:
        check_block(X, entry.engine.size)
        width = scores_per_row(entry, rows, out)
        with nogil:
            for r in range(rows):
                row.values = dense_row(X, r)
                status = entry.score_into(&row, scores_at(out, r * width), width)
                if status != FINE:
                    break
        if status != FINE:
            entry.refuse(status, 0, &row)
    finally:
        entry.read_on()


def score_columns(Entry entry not None, columns: Sequence[Floats], double[::1] out not None) -> None:
    """Fill out with the scores of rows that lie in columns, as ``play_columns`` takes them."""
    cdef Columns table = Columns(columns)
    cdef Py_ssize_t r, rows = table.rows, first = 0, last = 0
    cdef Py_ssize_t tile = tile_rows(table.count), width
    cdef int status = FINE
    cdef double[:, ::1] held = np.empty((tile, max(1, table.count)))
    cdef Row row
    row.indices, row.count, row.spread = NULL, table.count, 0
    row.unseen, row.unseen_sum, row.unseen_norm2 = 0, 0, 0
    entry.read_along()
    try:
        width = scores_per_row(entry, rows, out)
        if table.count != entry.engine.size:
            raise ValueError(f"expected {entry.engine.size} columns, got {table.count}")
        with nogil:
            for r in range(rows):
                if r == last:
                    first, last = r, min(r + tile, rows)
                    table.copy_rows(first, last, &held[0, 0])
                row.values = &held[0, 0] + (r - first) * table.count
                status = entry.score_into(&row, scores_at(out, r * width), width)
                if status != FINE:
                    break
        if status != FINE:
            entry.refuse(status, 0, &row)
    finally:
        entry.read_on()


def score_sparse(Entry entry not None, const int64_t[::1] starts not None, const int32_t[::1] indices not None,
                 const double[::1] data not None, const int64_t[::1] unseen not None,
                 const double[::1] unseen_sums not None, const double[::1] unseen_squares not None,
                 double[::1] out not None) -> None:
    """Fill out with the scores of sparse rows; ``unseen`` counts their unknown features."""
    cdef Py_ssize_t r, rows = starts.shape[0] - 1
    cdef int status = FINE
    cdef Py_ssize_t width
    cdef Row row
    row.spread = 0
    entry.read_along()
    try:
        check_starts(starts, indices.shape[0], data.shape[0])
        check_lengths(rows, unseen_sums, None)
        width = scores_per_row(entry, rows, out)
        if unseen.shape[0] != rows or unseen_squares.shape[0] != rows:
            raise ValueError("expected one count of unseen features per row")
        with nogil:
            for r in range(rows):
                row.count = starts[r + 1] - starts[r]
                point_at(&row, indices, data, starts[r])
                row.unseen, row.unseen_sum, row.unseen_norm2 = unseen[r], unseen_sums[r], unseen_squares[r]
                if not noregret_ordered(row.indices, row.count, entry.engine.size):
                    status = BAD_INDICES
                else:
                    status = entry.score_into(&row, scores_at(out, r * width), width)
                if status != FINE:
                    break
        if status != FINE:
            entry.refuse(status, 0, &row)
    finally:
        entry.read_on()


def positions(Entry entry not None, names: Iterable[str | None]) -> list[int]:
    """Return the position of each name, −1 for unknown ones."""
    names = list(names)
    entry.enter(False)
    try:
        entry.known.catch_up()
        return [entry.known.index.get(name, -1) for name in names]
    finally:
        entry.leave()


def admit_names(Entry entry not None, names: Iterable[str]) -> None:
    """Add new names, in alphabetical order."""
    names = set(names)
    entry.enter(True)
    try:
        entry.meet_names()
        entry.known.catch_up()
        entry.known.unseen = [(name, 0.0) for name in names if name not in entry.known.index]
        entry.known.reserve(len(entry.known.unseen))
        entry.known.filled = 0
        entry.known.admit()
        if entry.known.count != entry.engine.size:
            entry.engine.resize(entry.known.count)
    finally:
        entry.known.unseen = []
        entry.leave()


include "stream_rows.pxi"
