from libc.stdint cimport int32_t, int64_t


cdef int check_starts(const int64_t[::1] starts, Py_ssize_t indices, Py_ssize_t data) except -1
cdef int check_positions(const int64_t[::1] starts, const int32_t[::1] indices, Py_ssize_t size) except -1
