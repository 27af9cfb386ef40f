from noregret.linear.engine.additive cimport Scaled
from noregret.linear.engine.engine cimport Row


cdef class ClassEngine(Scaled):
    cdef readonly Py_ssize_t classes  # known so far
    cdef Py_ssize_t labelled          # those that the entry has a label for
    cdef bint probable                # whether the softmax of the scores are probabilities
    cdef object failure               # what kept a class from joining
    cdef double* scores               # of the round at hand,
    cdef double* pull                 # the gradient by score,
    cdef double* spare                # and what steps need besides
    cdef double[::1] chances          # room for the chance of each round's prediction, or None
    cdef Py_ssize_t chances_noted

    cdef void measure(self, Row* row) noexcept nogil
    cdef void class_scores(self, Row* row, double* out, Py_ssize_t count) noexcept nogil
    cdef void class_scores_noting(self, Row* row, double* out, Py_ssize_t count, double* note) noexcept nogil
    cdef double judge(self, Py_ssize_t y) noexcept nogil
    cdef int learn_class(self, Row* row, Py_ssize_t y, double value, double length2) noexcept nogil
    cdef int admit_class(self) except -1
    cdef int admit(self) noexcept with gil
    cdef int widen(self, Py_ssize_t stride) except -1
    cdef int buffers(self, Py_ssize_t stride) except -1


cdef Py_ssize_t stride_for(object classes) except -1
