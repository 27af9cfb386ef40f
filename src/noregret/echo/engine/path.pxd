cdef class HighPass:
    cdef double b, a1, a2
    cdef double[::1] first, second
    cdef void filter(self, ptrdiff_t line, const float* x, ptrdiff_t step, float* y, ptrdiff_t n) noexcept nogil
