"""Four recursive least-squares filters on the same inputs, with different memories."""

from noregret.base.compiled.state_parts cimport StateParts


cdef extern from "memory_filters_loops.h" nogil:
    enum:
        FOUR "NOREGRET_FILTERS"
        MAX_INPUTS "NOREGRET_MAX_INPUTS"  # the constant one included
        MAX_QUEUED_ROWS "NOREGRET_MAX_QUEUED_ROWS"

cdef enum:
    MAX_UNQUEUED_INPUTS = 16               # filters with more learn several rows at a time, as their matrix does not fit the cache
    MAX_UNQUEUED_GAINS = 64

cdef struct Shape:
    Py_ssize_t[12] sizes                   # the length of each array,
    Py_ssize_t[12] starts                  # and where it starts behind U
    Py_ssize_t total

cdef class Filters:
    cdef readonly Py_ssize_t n             # inputs, the constant one included
    cdef Py_ssize_t used                   # of them, the first; fewer only with one set of weights
    cdef readonly int variants             # sets of weights, each with its own errors
    cdef readonly bint direct              # whether rows are learned without a queue while inputs are few
    cdef int queue_rows                    # rows that there is room for
    cdef readonly double[4] forget         # share of the past that each keeps per round
    cdef readonly double[4] most           # initial variance of the weight of an input of spread 1
    cdef double constant                   # and of the constant input
    cdef double* block                     # memory of all arrays; the pointers below point into it
    cdef double* U
    cdef double* D
    cdef double* w
    cdef double* prior
    cdef double* count
    cdef double* total
    cdef double* squares
    cdef double* k                         # gains, and scratch: of the caller if there is no queue
    cdef double* rows                      # queued rows,
    cdef double* told                      # outcome and importance of each,
    cdef double* unsure                    # the variances of the four scores,
    cdef double* worth                     # and the four weights of the observation
    # The numbers of the state, in a row.
    cdef readonly double rounds            # learned so far
    cdef readonly double looked            # rounds in which the spreads were updated
    cdef Py_ssize_t granted                # inputs with nonzero variance
    cdef readonly Py_ssize_t waiting       # queued rows

    cdef void scores(self, const double* x, double* out) noexcept nogil
    cdef void scores_of(self, const double* x, double* out, Py_ssize_t sets) noexcept nogil
    cdef void spread(self, const double* x, double* z) noexcept nogil
    cdef void observe(self, const double* x) noexcept nogil
    cdef void grant(self, Py_ssize_t i, double prior) noexcept nogil
    cdef bint queue(self, const double* x, double y, double importance, const double* z, const double* r) noexcept nogil
    cdef int queue_length(self) noexcept nogil
    cdef bint learn(self, const double* rows, const double* worth, int count) noexcept nogil
    cdef double* gains(self, int row) noexcept nogil
    cdef void step(self, int row, const double* errors) noexcept nogil
    cdef void step_of(self, int row, const double* errors, Py_ssize_t sets) noexcept nogil
    cdef void restart(self) noexcept nogil
    cdef Shape shape(self) noexcept nogil
    cdef void list_state(self, StateParts* parts)
    cdef int allocate(self, Py_ssize_t n, int variants) except -1
    cdef object copy_of(self, int array)
    cdef void fill(self, int array, const double[::1] numbers)
    cdef void count_granted(self) noexcept nogil
    cdef int grow(self, Py_ssize_t n) except -1
    cdef int widen(self, int variants) except -1
