"""Sums of outer products over rows, as fast as the machine multiplies."""

cdef extern from "gram.h" nogil:
    void noregret_gram(const double* rows, Py_ssize_t stride, Py_ssize_t count, Py_ssize_t n, double* gram)


def add_outer_products(const double[:, :] rows not None, double[:, ::1] gram not None):
    """Add Σ x xᵀ to a matrix, of which only the part on and above the diagonal is meaningful."""
    cdef Py_ssize_t n = rows.shape[1], stride = rows.strides[0] // <Py_ssize_t> sizeof(double)
    if gram.shape[0] != n or gram.shape[1] != n:
        raise ValueError(f"expected a matrix of {n} rows and columns")
    if n > 1 and rows.strides[1] != sizeof(double):
        raise ValueError("the numbers of a row must follow each other in memory")
    if rows.shape[0] > 1 and (stride < n or rows.strides[0] % <Py_ssize_t> sizeof(double)):
        raise ValueError("the rows must follow each other in memory")
    if rows.shape[0] and n:
        with nogil:
            noregret_gram(&rows[0, 0], max(stride, n), rows.shape[0], n, &gram[0, 0])


def depth_of(Py_ssize_t count):
    """Return how many additions that puts one after the other in each number, at most."""
    return count // 64 + 67
