from noregret.linear.engine.engine cimport Engine, Rate, Row


cdef class Scaled(Engine):
    cdef Py_ssize_t stride        # numbers stored per feature
    cdef double radius
    cdef public double norm2      # of the stored numbers, kept incrementally,
    cdef public double doubt      # and a bound on its rounding error

    cdef int grow(self, double moved, double grown) noexcept nogil
    cdef void project_on_ball(self) noexcept nogil
    cdef void recount(self) noexcept nogil
    cdef void fold(self) noexcept nogil


cdef class Additive(Scaled):
    cdef Rate rate
    cdef int domain, step
    cdef double cushion

    cdef double travel(self, Row* row, double score, double slope, double y) noexcept nogil
    cdef bint strays(self, const Row* row, double score, double slope, double y) noexcept nogil
    cdef int add(self, Row* row, double amount) noexcept nogil
    cdef void project(self, Row* row) noexcept nogil


cdef class Lazy(Additive):
    cdef void refactor(self) noexcept nogil
