
cdef int come_in() except -1
cdef void go_out() noexcept
cdef long generation() noexcept
