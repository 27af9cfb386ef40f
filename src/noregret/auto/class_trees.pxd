from noregret.forests.forest cimport Grove
from noregret.linear.engine.engine cimport Row


cdef class ClassTrees:
    cdef Grove grove                       # None before it begins and after it ended

    cdef bint knows(self, Py_ssize_t size, Py_ssize_t classes) noexcept nogil
    cdef bint say(self, const Row* row, Py_ssize_t size, Py_ssize_t classes, bint learning, double* out) noexcept nogil
    cdef bint make_room(self, Py_ssize_t size, Py_ssize_t classes, double rounds) noexcept nogil
    cdef bint begin(self, Py_ssize_t size, Py_ssize_t classes) noexcept with gil
    cdef void learn(self, const Row* row, Py_ssize_t size, Py_ssize_t classes, Py_ssize_t y) noexcept nogil
    cdef void end(self) noexcept with gil
    cdef int admit(self, Py_ssize_t classes) except -1
    cdef void start_round(self) noexcept nogil
    cdef void withdraw(self, Py_ssize_t classes) noexcept nogil
    cdef int resize(self, Py_ssize_t size) except -1
