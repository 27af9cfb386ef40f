cimport cython


cdef enum:  # Status
    FINE = 0
    BAD_INPUT        # the sample is NaN, infinite or too large
    BAD_OUTCOME      # what was to be predicted is
    DIVERGED


cdef class Sliding:
    cdef readonly Py_ssize_t taps
    cdef Py_ssize_t order               # K: the lags of which sums are kept, and steps not yet taken
    cdef Py_ssize_t span                # samples held: taps + K
    cdef Py_ssize_t room, start         # of the line, and where its newest sample is
    cdef object arrays                  # name -> NumPy array; the pointers below look into them
    cdef double* line                   # samples, the newest first
    cdef double* weights
    cdef double* amounts                # of the last K windows that are still to be added to the weights
    cdef double* past                   # for every lag, sums of products of the newest 0, 1, … old samples
    cdef double* fresh                  # for every lag, the sum of those since
    cdef double* undo                   # the same before the sample at hand
    cdef double most                    # no weight is larger
    cdef double share                   # of the squared error that the scaled loss counts
    cdef bint busy                      # another thread is playing
    cdef bint ready                     # all arrays are there
    cdef readonly long long rounds
    cdef Py_ssize_t phase               # rounds mod taps: how many new samples there are
    cdef double loss_sum, loss_rest     # compensated: loss_sum + loss_rest
    cdef double scaled_sum, scaled_rest

    cdef int begin(self, Py_ssize_t order) except -1
    cdef void locate(self)
    @cython.final
    cdef void enter(self, double x) noexcept nogil
    @cython.final
    cdef void leave(self) noexcept nogil
    @cython.final
    cdef void look_back(self, Py_ssize_t age) noexcept nogil
    cdef inline double correlation(self, Py_ssize_t lag) noexcept nogil:
        """x_t·x_{t−lag}, of the window at hand, which is not yet counted as a round."""
        return self.past[lag * self.taps + self.taps - 1 - self.phase] + self.fresh[lag]
    cdef double guess(self) noexcept nogil
    cdef double step(self, double error) noexcept nogil
    cdef int learn(self, double error) noexcept nogil
    @cython.final
    cdef bint may_move(self, double by, const double* amounts) noexcept nogil
    cdef double furthest(self, const double* amounts) noexcept nogil
    @cython.final
    cdef int check_free(self) except -1
    @cython.final
    cdef int play(self, double x, double d, double* out) noexcept nogil


cdef class Listener:
    cdef readonly Sliding _core
