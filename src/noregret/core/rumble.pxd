cdef class Rumble:
    cdef double b, a1, a2
    cdef double[::1] first, second
    cdef void take_away(self, ptrdiff_t line, const float* x, ptrdiff_t step, float* y, ptrdiff_t n) noexcept nogil
