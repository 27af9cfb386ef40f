from noregret.linear.engine.class_engine cimport ClassEngine
from noregret.linear.engine.engine cimport Rate, Row


cdef class ClassWeights(ClassEngine):
    cdef Rate rate
    cdef int kind, form
    cdef bint implicit
    cdef double l1, l2, beta
    cdef double* squares              # of gradients, for each weight
    cdef double* sums                 # of FTRL-Proximal
    cdef public double farthest       # the largest norm of the weights, for gradient steps,
    cdef public double stepped        # and the sum of the rates times the squared norms of the gradients

    cdef void implicit_pull(self, Py_ssize_t y, double reach) noexcept nogil
    cdef void project_shortfalls(self, Py_ssize_t y, double reach) noexcept nogil
    cdef int step(self, Row* row, double rate) noexcept nogil
    cdef int step_by_coordinate(self, Row* row) noexcept nogil
    cdef double weight_at(self, Py_ssize_t at) noexcept nogil
