from libc.math cimport exp, fabs

from noregret.auto.memory_filters cimport MAX_INPUTS, Filters
from noregret.base.compiled.weigher cimport Holding, Weigher
from noregret.linear.engine.engine cimport Engine, Row


cdef class Tracker(Holding):
    cdef public double rate                # of the log loss, or 0: adapted to what mixing has cost
    cdef public double mixing_cost
    cdef public long long turns            # rounds so far

    cdef double rate_now(self) noexcept nogil

cdef extern from "first_order.h" nogil:
    ctypedef struct noregret_feature:
        double[8] weight
        double[4] squares
        double[4] variance
        double count, sum, sum2, prior, size


cdef enum:  # Kind
    SQUARE
    TILTED                     # the absolute and the quantile loss
    LOGISTIC

cdef enum:
    FULL = MAX_INPUTS - 1      # features up to which there are filters,
    LAGGED = 64                # and filters that see outcomes besides
    LAGS = 3
    NUMBERS = 24               # of a feature
    SNAPSHOTS = 128            # of the weights of members, at most


cdef struct Round:
    # What a round is predicted from, and what each member says.
    double[264] x              # 1, then the features
    double[264] recent_x       # 1, the latest outcomes, then the features
    double[16] several         # what those see who combine members,
    double[16] following       # who follow the mixture and the latest outcomes,
    double[16] seeing          # and who see all of that
    double[12] plain_scores    # of the filters, before they are held to the range of outcomes
    double[4] lagged_scores
    double[8] first_scores
    double[4] several_scores
    double[4] following_scores
    double[4] seeing_scores
    double[4] first_z          # how unsure they are
    double[4] plain_z
    double[4] lagged_z
    double[4] several_z
    double[4] following_z
    double[4] seeing_z
    double[48] says            # the members, as they are mixed,
    double[48] chance          # and, where these are log-odds, the chance that they give +1
    double[48] other           # and the other label
    double base                # the mixture of those that see no outcomes
    Py_ssize_t present         # features other than zero
    bint full, lagged          # whether the filters, and those that see outcomes, take part


cdef class PredictingBank(Engine):
    cdef readonly Filters plain, lagged, combining, following, seeing
    cdef readonly Weigher among_base, tracker, leaner, final
    cdef readonly bint recent
    cdef readonly int delay
    cdef readonly int members, mixers, base_members
    cdef int kind, variants, at_first, at_mean, at_lagged, at_last, at_several, at_following, at_seeing
    cdef noregret_feature* features        # the constant one first
    cdef double tilt                       # the quantile
    # Of outcomes, from the first one on: their range, mean and mean distance from that,
    cdef double origin, low, high, mean, deviation
    cdef double[4] averages                # of the latest outcomes: few, more; the same as known after the delay
    cdef double* outcomes                  # the latest ones, and what the base said of them, in rings
    cdef double* foreseen
    cdef double* beyond                    # what outlying rounds cost more beside each, above what counted
    cdef int ring
    cdef double* snapshots
    cdef long long stride                  # rounds between snapshots
    cdef int taken
    cdef bint learning                     # whether the round at hand is about to be learned from
    cdef Round now

    cdef double look(self, Row* row, Round* r, int offset) noexcept nogil
    cdef begin_constant(self)
    cdef bint is_full(self) noexcept nogil
    cdef bint is_lagged(self) noexcept nogil
    cdef void say_plain(self, const Row* row, Round* r) noexcept nogil
    cdef void say_first(self, const Row* row, Round* r) noexcept nogil
    cdef void say_lagged(self, Round* r, int offset) noexcept nogil
    cdef void say_several(self, Round* r, int offset) noexcept nogil
    cdef void say_filter(self, Filters filters, const double* x, double* scores, double* z, double* says, bint wide) noexcept nogil
    cdef double held(self, double score, bint wide) noexcept nogil
    cdef double moderated(self, double score, double z) noexcept nogil
    cdef double recall(self, const double* ring, int back) noexcept nogil
    cdef double mixed(self, Weigher weigher, Round* r, int n) noexcept nogil
    cdef void give_chance(self, Round* r, int start, int stop) noexcept nogil


cdef inline double clip(double value, double low, double high) noexcept nogil:
    return low if value < low else high if value > high else value


cdef inline double chance_of(double score) noexcept nogil:
    cdef double e = exp(-fabs(score))
    return 1 / (1 + e) if score >= 0 else e / (1 + e)
