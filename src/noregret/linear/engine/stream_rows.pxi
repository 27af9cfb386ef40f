# The rows of a stream: sparse, with features that join as they appear, and with importances.
#
# A stream gives each feature a position when it first appears. A row whose last position is new adds
# features: they join in that round and not before, as if the examples came one by one.

cdef Py_ssize_t MAX_COLUMNS = limits.MAX_COLUMNS


def play_pairs(Entry entry not None, pairs: Iterator[Any], Py_ssize_t most, double[::1] out=None) -> int:
    """Play up to ``most`` pairs (x, y) of an iterator, each drawn after those before are learned.

    Return their number. With ``out``, store the scores there.
    """
    cdef Py_ssize_t k
    cdef double score
    if out is not None and out.shape[0] < most:
        raise ValueError(f"there is room for {out.shape[0]} scores, not for {most}")
    for k in range(most):
        try:
            pair = next(pairs)
        except StopIteration:
            return k
        try:
            x, y = pair
        except (TypeError, ValueError):
            raise BadExample(
                f"a stream gives pairs (x, y): got {reprlib.repr(pair)}",
                round=entry.engine.rounds + 1,
            ) from None
        entry.play(x, y, &score)
        if out is not None:
            out[k] = score
    return most


def play_rows(Entry entry not None, const int64_t[::1] starts not None, const int32_t[::1] indices not None,
              const double[::1] data not None, const double[::1] y not None, const double[::1] importances=None,
              double[::1] out=None, names: Callable[[int, int], list[str]] | None = None) -> None:
    """Play sparse rows; raise at the first that is refused.

    ``names(start, stop)`` returns the names of positions; without it, features are columns.
    """
    cdef Py_ssize_t r = 0, rows, before = 0, needed
    cdef int status = FINE
    cdef bint growing = False
    cdef int kind
    cdef Row row
    row.unseen, row.unseen_sum, row.unseen_norm2, row.spread = 0, 0, 0, 0
    entry.enter(True)
    kind = entry.known.kind
    try:
        check_rows(starts, indices, data, y, importances, out)
        rows = until_refused(entry, importances, starts.shape[0] - 1)
        meet_stream(entry, names is not None)
        while r < rows and status == FINE:
            with nogil:
                while r < rows and not entry.due:
                    row.count = starts[r + 1] - starts[r]
                    point_at(&row, indices, data, starts[r])
                    if row.count and row.indices[row.count - 1] >= entry.engine.size:
                        break
                    status = play_ordered(entry, &row, y[r], 1.0 if importances is None else importances[r],
                                               &out[r] if out is not None else NULL)
                    if status != FINE:
                        break
                    r += 1
            if entry.due:
                entry.hand_over()
            elif r < rows and status == FINE:
                before, needed = entry.engine.size, <Py_ssize_t> row.indices[row.count - 1] + 1
                if needed > MAX_COLUMNS or not noregret_ordered(row.indices, row.count, needed):
                    status = BAD_INDICES
                    break
                growing = True
                entry.engine.resize(needed)
                status = play_ordered(entry, &row, y[r], 1.0 if importances is None else importances[r],
                                           &out[r] if out is not None else NULL)
                if status == FINE:
                    growing = False
                    r += 1
        if entry.due:  # a page filled by a row played after the engine had grown
            entry.hand_over()
        if r or growing:
            join(entry, names)
        if status != FINE:
            entry.refuse(status, y[r], &row)
        if rows < starts.shape[0] - 1:
            refuse_importance(entry, importances[rows])
    finally:
        try:
            if growing:  # only a refused row has these
                entry.drop(before, entry.known.kind if r else kind)
            elif entry.engine.size != entry.known.count:  # an interruption came before they could join
                join(entry, names)
        finally:
            entry.engine.importance = 1
            entry.leave()


cdef int check_rows(const int64_t[::1] starts, indices, data, y, importances, out) except -1:
    """Raise BadExample if the arrays of rows are inconsistent."""
    rows = starts.shape[0] - 1
    check_starts(starts, len(indices), len(data))
    if any(given is not None and len(given) != rows for given in (y, importances, out)):
        raise BadExample(f"{rows} rows, but not as many outcomes")
    return 0


cdef int meet_stream(Entry entry, bint named) except -1:
    """Raise BadExample if a stream has names and the learner positions, or vice versa."""
    if named:
        entry.meet_names()
    elif entry.known.kind == BY_NAME:
        entry.meet_columns(entry.known.count, True)
    return 0


cdef int play_ordered(Entry entry, Row* row, double y, double importance, double* out) noexcept nogil:
    entry.engine.importance = importance
    if not noregret_ordered(row.indices, row.count, entry.engine.size):
        return BAD_INDICES
    return play_row(entry, row, y, out)


cdef list names_from(Entry entry, names):
    """Return the names of the new positions."""
    found = list(names(len(entry.known.names), entry.engine.size))
    if len(found) != entry.engine.size - len(entry.known.names) or not all(isinstance(name, str) for name in found):
        raise BadExample(f"{len(found)} names for {entry.engine.size - len(entry.known.names)} features that joined")
    return found


cdef int join(Entry entry, names) except -1:
    """Add the names of features for which the engine has made room."""
    if names is None:
        entry.known.grow(entry.engine.size)
    elif len(entry.known.names) < entry.engine.size or entry.known.kind == UNKNOWN:
        entry.known.join(names_from(entry, names))
    return 0


def score_rows(Entry entry not None, const int64_t[::1] starts not None, const int32_t[::1] indices not None,
               const double[::1] data not None, double[::1] out not None) -> None:
    """Fill out with the scores of sparse rows; positions beyond the known ones are unseen features."""
    cdef Py_ssize_t r, rows = starts.shape[0] - 1
    cdef int status = FINE
    cdef bint by_position = entry.known.kind == BY_POSITION
    cdef Py_ssize_t width
    cdef Row row
    row.spread = 0
    entry.read_along()
    try:
        check_starts(starts, indices.shape[0], data.shape[0])
        width = scores_per_row(entry, rows, out)
        with nogil:
            for r in range(rows):
                point_at(&row, indices, data, starts[r])
                row.count = starts[r + 1] - starts[r]
                row.unseen, row.unseen_sum, row.unseen_norm2 = 0, 0, 0
                if not noregret_ordered(row.indices, row.count, MAX_COLUMNS):
                    status = BAD_INDICES
                    break
                if by_position and row.count and row.indices[row.count - 1] >= entry.engine.size:
                    # All columns up to the last join with it.
                    row.unseen = row.indices[row.count - 1] + 1 - entry.engine.size
                while row.count and row.indices[row.count - 1] >= entry.engine.size:
                    row.count -= 1
                    row.unseen += not by_position
                    row.unseen_sum += row.values[row.count]
                    row.unseen_norm2 += row.values[row.count] * row.values[row.count]
                    if not fabs(row.values[row.count]) < MAX_VALUE:
                        status = BAD_VALUE
                if status == FINE:
                    status = entry.score_into(&row, scores_at(out, r * width), width)
                if status != FINE:
                    break
        if status != FINE:
            entry.refuse(status, 0, &row)
    finally:
        entry.read_on()
