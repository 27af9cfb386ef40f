from libc.stdint cimport int32_t, int64_t

from noregret.linear.engine.engine cimport Row
from noregret.linear.engine.entry cimport Entry


cdef int check_starts(const int64_t[::1] starts, Py_ssize_t indices, Py_ssize_t data) except -1
cdef int check_positions(const int64_t[::1] starts, const int32_t[::1] indices, Py_ssize_t size) except -1
cdef int play_row(Entry entry, Row* row, double y, double* out) noexcept nogil
