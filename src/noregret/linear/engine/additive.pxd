from noregret.linear.engine.engine cimport Engine, Rate, Row


cdef class Additive(Engine):
    cdef Rate rate
    cdef int domain, step
    cdef double radius, cushion
    cdef double norm2             # of the stored numbers, kept incrementally,
    cdef double doubt             # and a bound on its rounding error

    cdef double travel(self, Row* row, double score, double slope, double y) noexcept nogil
    cdef bint strays(self, const Row* row, double score, double slope, double y) noexcept nogil
    cdef int add(self, Row* row, double amount) noexcept nogil
    cdef void project(self, Row* row) noexcept nogil
    cdef void recount(self) noexcept nogil
    cdef void fold(self) noexcept nogil


cdef class Lazy(Additive):
    cdef void refactor(self) noexcept nogil
