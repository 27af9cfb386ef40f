from noregret.linear.engine.engine cimport Engine, Row


cdef enum:
    MOST_KEPT = 5

cdef class Coordinates(Engine):
    cdef readonly tuple kept_names              # of the arrays, in the order of kept
    cdef double newborn                         # the wealth that a feature starts with, if it has one
    cdef double *kept[5]

    cdef int keep(self, tuple names) except -1
    cdef double wealth_of(self, Py_ssize_t i) noexcept nogil
    cdef dict told(self, dict arrays)
