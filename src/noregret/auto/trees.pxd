from noregret.base.compiled.state_parts cimport Allocated, StateParts
from noregret.forests.forest cimport noregret_forest


cdef enum:
    FOREST_SAYS = 64           # room for the predictions within a forest, of two labels
    MAX_FOREST_FEATURES = 64


cdef class Trees:
    cdef readonly bint labels
    cdef readonly int trees
    # Of the state, in a row.
    cdef Allocated owned                   # the forest; NULL before it begins and with too many features
    cdef double unit                       # outcomes are divided by it

    cdef noregret_forest* forest(self) noexcept nogil
    cdef bint knows(self, Py_ssize_t size) noexcept nogil
    cdef bint speaks(self, Py_ssize_t size) noexcept nogil
    cdef double say(self, const double* x, double* said) noexcept nogil
    cdef bint make_room(self, Py_ssize_t size, double rounds, double extent) noexcept nogil
    cdef void learn(self, const double* x, Py_ssize_t size, const double* said, double y) noexcept nogil
    cdef int resize(self, Py_ssize_t size) except -1
    cdef void end(self) noexcept nogil
    cdef void list_state(self, StateParts* parts)
