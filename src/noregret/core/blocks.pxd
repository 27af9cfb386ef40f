"""A door for blocks of rows."""

from noregret.core.door cimport Door
from noregret.core.engine cimport Row


cdef class Blocks(Door):
    cdef int play_row(self, Row* row, double y, double* out) noexcept nogil
    cdef int score_row(self, Row* row, double* out) noexcept nogil
    cdef Py_ssize_t until_refused(self, const double[::1] importances, Py_ssize_t rows) except -1
