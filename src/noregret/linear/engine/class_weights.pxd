from noregret.linear.engine.additive cimport Scaled
from noregret.linear.engine.engine cimport Rate, Row


cdef class ClassWeights(Scaled):
    cdef readonly Py_ssize_t classes  # known so far
    cdef Py_ssize_t labelled          # those that the entry has a label for
    cdef Rate rate
    cdef int kind, form
    cdef bint implicit
    cdef object failure               # what kept a class from joining
    cdef double l1, l2, beta
    cdef double* squares              # of gradients, for each weight
    cdef double* sums                 # of FTRL-Proximal
    cdef double* scores               # of the round at hand,
    cdef double* pull                 # the gradient by score,
    cdef double* spare                # and what steps need besides
    cdef double[::1] chances          # room for the chance of each round's prediction, or None
    cdef Py_ssize_t chances_noted

    cdef void class_scores(self, Row* row, double* out, Py_ssize_t count) noexcept nogil
    cdef double chance_of(self, Py_ssize_t best, Py_ssize_t y, Py_ssize_t before) noexcept nogil
    cdef double judge(self, Py_ssize_t y) noexcept nogil
    cdef void implicit_pull(self, Py_ssize_t y, double reach) noexcept nogil
    cdef void project_shortfalls(self, Py_ssize_t y, double reach) noexcept nogil
    cdef int step(self, Row* row, double rate) noexcept nogil
    cdef int step_by_coordinate(self, Row* row) noexcept nogil
    cdef double weight_at(self, Py_ssize_t at) noexcept nogil
    cdef int admit_class(self) except -1
    cdef int buffers(self, Py_ssize_t stride) except -1
