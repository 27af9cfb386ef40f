from noregret.auto.layout cimport Known, Layout, Round
from noregret.base.compiled.losses cimport Loss
from noregret.base.compiled.state_parts cimport Allocated, StateParts
from noregret.base.compiled.weigher cimport Holding, Weigher


cdef class Tracker(Holding):
    cdef public double rate                # of the log loss, or 0: adapted to what mixing has cost
    cdef public double mixing_cost
    cdef public long long turns            # rounds so far

    cdef double rate_now(self) noexcept nogil


cdef class Snapshots:
    cdef readonly int members              # whose weights are recorded
    # The state, in a row.
    cdef Allocated owned                   # table of rounds, and of the weights after each; it grows up to the most
    cdef long long stride                  # rounds between two snapshots,
    cdef long long taken                   # and their number

    cdef bint hold(self, Py_ssize_t rows) noexcept nogil
    cdef double* due(self, long long rounds) noexcept nogil


cdef class Mixer:
    cdef readonly Snapshots snapshots
    cdef readonly Weigher among_base, tracker, leaner, final
    cdef Loss loss
    cdef Layout at
    cdef bint follows                      # whether mixtures move to the last outcome if that was outlying
    # Of the state, in a row.
    cdef double[3] followed                # sums of squares and products of how far it was, and the largest square
    cdef readonly double widest            # largest range of the members' losses in a round
    cdef double[48] beyond                 # regret to each member that clipping outlying outcomes left out

    cdef void list_state(self, StateParts* parts)
    cdef void weigh_again(self) noexcept nogil
    cdef void give_chance(self, Round* r, int start, int stop) noexcept nogil
    cdef double mixed(self, Weigher weigher, Round* r, int n) noexcept nogil
    cdef double mix_base(self, Round* r) noexcept nogil
    cdef double mix_all(self, Round* r) noexcept nogil
    cdef double loss_of(self, const Round* r, int k, double y, double importance) noexcept nogil
    cdef double share_of_last(self) noexcept nogil
    cdef void judge_last(self, Round* r, double last, double y) noexcept nogil
    cdef void weigh(self, Round* r, const Known* known, double y, double near, double widest_error, double importance, double served) noexcept nogil
    cdef double limit(self, double y, double widest_error, double importance, double own, double* losses) noexcept nogil
    cdef double weight_of(self, int k) noexcept nogil
    cdef void take_snapshot(self, long long rounds) noexcept nogil


cdef double settle(Weigher weigher, const double* losses, double own, int n) noexcept nogil
