cimport cython


cdef enum:  # Status
    FINE = 0
    BAD_INPUT        # the sample is NaN, infinite or too large
    BAD_OUTCOME      # the outcome is
    DIVERGED


cdef class Sliding:
    cdef readonly Py_ssize_t taps
    cdef Py_ssize_t order               # K: the number of lags with sums, and of pending steps
    cdef Py_ssize_t span                # samples held: taps + K
    cdef Py_ssize_t room, start         # length of the buffer, and the position of its newest sample
    cdef object arrays                  # name -> NumPy array; the pointers below are to their data
    cdef double* line                   # samples, the newest first
    cdef double* weights
    cdef double* amounts                # multiples of the last K windows that are pending
    cdef double* past                   # per lag, sums of products of the newest 0, 1, … old samples
    cdef double* fresh                  # per lag, the sum over new samples
    cdef double* undo                   # the same before the latest sample
    cdef double most                    # upper bound on the weights
    cdef double share                   # factor of the squared error in the scaled loss
    cdef bint busy                      # another thread is playing
    cdef bint ready                     # all arrays are allocated
    cdef readonly long long rounds
    cdef Py_ssize_t phase               # rounds mod taps: the number of new samples
    cdef double loss_sum, loss_rest     # compensated: loss_sum + loss_rest
    cdef double scaled_sum, scaled_rest

    cdef int begin(self, Py_ssize_t order) except -1
    cdef void locate(self)
    @cython.final
    cdef void enter(self, double x) noexcept nogil
    @cython.final
    cdef void leave(self) noexcept nogil
    @cython.final
    cdef void recompute_sums(self, Py_ssize_t age) noexcept nogil
    cdef inline double correlation(self, Py_ssize_t lag) noexcept nogil:
        """Return x_t·x_{t−lag} for the current window, which is not yet counted as a round."""
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
