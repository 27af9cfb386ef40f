"""Four recursive least-squares filters on the same inputs, which differ in how fast they forget."""

cdef extern from "memory_filters_loops.h" nogil:
    enum:
        FOUR "NOREGRET_FILTERS"
        MAX_INPUTS "NOREGRET_MAX_INPUTS"  # the constant one included
        MAX_QUEUED_ROWS "NOREGRET_MAX_QUEUED_ROWS"

cdef class Filters:
    cdef readonly Py_ssize_t n             # inputs, the constant one included
    cdef readonly int variants             # sets of weights, each moved by errors of its own
    cdef readonly double rounds            # that they have learned from
    cdef readonly double[4] forget         # what each keeps of what it knew, a round
    cdef readonly double[4] most           # the variance that each grants to an input of spread 1
    cdef double constant                   # and to the constant input
    cdef object arrays                     # name -> NumPy array; the pointers below look into them
    cdef double* U
    cdef double* D
    cdef double* w
    cdef double* prior
    cdef double* count
    cdef double* total
    cdef double* squares
    cdef double* k                         # gains, and scratch
    cdef double* rows                      # that wait to be learned from,
    cdef double* told                      # outcome and importance of each,
    cdef double* unsure                    # and four by four, how unsure the filters were
    cdef double* worth                     # and what the observation is worth to them
    cdef readonly int waiting
    cdef readonly double looked            # rounds in which the inputs were looked at
    cdef Py_ssize_t granted                # inputs that were granted any variance

    cdef void scores(self, const double* x, double* out) noexcept nogil
    cdef void spread(self, const double* x, double* z) noexcept nogil
    cdef void observe(self, const double* x) noexcept nogil
    cdef void grant(self, Py_ssize_t i, double prior) noexcept nogil
    cdef bint queue(self, const double* x, double y, double importance, const double* z, const double* r) noexcept nogil
    cdef bint learn(self) noexcept nogil
    cdef void step(self, int row, const double* errors) noexcept nogil
    cdef void restart(self) noexcept nogil
    cdef void relocate(self)
    cdef double* at(self, str name)
    cdef void grow(self, Py_ssize_t n)
