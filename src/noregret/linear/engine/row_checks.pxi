# The addresses of rows, and the checks that they need.
#
# The address of an empty row, and of scores of no class, is taken without a bounds check.

@cython.boundscheck(False)
cdef inline const double* dense_row(const double[:, :] X, Py_ssize_t r) noexcept nogil:
    """Return the address of a row that ``check_block`` has checked."""
    return &X[r, 0]


@cython.boundscheck(False)
cdef inline double* scores_at(double[::1] out, Py_ssize_t at) noexcept nogil:
    """Return the address of scores that ``scores_per_row`` has checked."""
    return &out[at]


@cython.boundscheck(False)
cdef inline void point_at(Row* row, const int32_t[::1] indices, const double[::1] data, int64_t start) noexcept nogil:
    """Point a row to its part of a sparse matrix that ``check_starts`` has checked."""
    row.values, row.indices = &data[0] + start, &indices[0] + start


cdef int check_block(const double[:, :] X, Py_ssize_t size) except -1:
    """Raise ValueError unless rows are contiguous, with one number per feature."""
    if X.shape[1] > 1 and X.strides[1] != sizeof(double):
        raise ValueError("the numbers of a row must follow each other in memory")
    if X.shape[1] != size:
        raise ValueError(f"expected {size} columns, got {X.shape[1]}")
    return 0


cdef int check_starts(const int64_t[::1] starts, Py_ssize_t indices, Py_ssize_t data) except -1:
    """Raise BadExample unless rows are consecutive and end within the data."""
    cdef Py_ssize_t r
    cdef bint falls = starts.shape[0] == 0 or starts[0] < 0
    for r in range(1, starts.shape[0]):
        falls |= starts[r] < starts[r - 1]
    if falls or starts[starts.shape[0] - 1] > min(indices, data):
        raise BadExample("the rows of a sparse matrix do not follow each other within its data")
    return 0


cdef int check_positions(const int64_t[::1] starts, const int32_t[::1] indices, Py_ssize_t size) except -1:
    """Raise BadExample for an index beyond the size, in rows checked by ``check_starts``."""
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
