"""Who is in the middle of changing something, so that no process is copied in between."""

cdef int come_in() except -1
cdef void go_out() noexcept
cdef long generation() noexcept
