"""A filter over all rounds that predicts forward, as Vovk, Azoury and Warmuth do: the member with a promise."""

from noregret.base.compiled.state_parts cimport StateParts


cdef class Forward:
    cdef readonly Py_ssize_t n             # inputs, the constant one included
    cdef double* block                     # memory of all arrays; the pointers below point into it
    cdef double* w
    cdef double* first                     # the first row, from which inputs are counted
    cdef double* penalty                   # of the square of each weight; 0 until its input first differs
    cdef double* d
    cdef double* u                         # packed by columns
    # The numbers of the state, in a row.
    cdef readonly double rounds            # learned so far
    cdef readonly double least             # loss of the best affine predictor, penalty included
    cdef readonly double price             # of not knowing it: Σ y² xᵀA⁻¹x
    cdef readonly double lost              # rounds that it did not take part in, or lost its digits in

    cdef int grow(self, Py_ssize_t n) except -1
    cdef double score(self, const double* x, double* through, double* plain, double* z) noexcept nogil
    cdef void learn(self, const double* x, const double* through, double plain, double z, double said, double y, double importance) noexcept nogil
    cdef void centre(self, const double* x, double* centred) noexcept nogil
    cdef void fill(self, Py_ssize_t start, const double[::1] numbers)
    cdef void list_state(self, StateParts* parts)
