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
    MAX_FILTER_FEATURES = MAX_INPUTS - 1
    MAX_LAGGED_FEATURES = 64   # of filters that also use outcomes
    LAGS = 3
    FEATURE_NUMBERS = 24       # doubles per noregret_feature
    MAX_SNAPSHOTS = 128        # of the members' weights


cdef struct Round:
    # The inputs and predictions of all members in one round.
    double[264] x              # 1, then the features
    double[264] recent_x       # 1, the latest outcomes, then the features
    double[16] several         # inputs of filters over other members,
    double[16] following       # over the base mixture and the latest outcomes,
    double[16] seeing          # and over both
    double[12] plain_scores    # of the filters, before they are clipped to the range of outcomes
    double[4] lagged_scores
    double[8] first_scores
    double[4] several_scores
    double[4] following_scores
    double[4] seeing_scores
    double[4] first_z          # variances of the scores
    double[4] plain_z
    double[4] lagged_z
    double[4] several_z
    double[4] following_z
    double[4] seeing_z
    double[48] says            # predictions of the members; for labels log-odds,
    double[48] chance          # the probabilities of +1
    double[48] other           # and of −1
    double base                # the mixture of the members that use no outcomes
    Py_ssize_t present         # nonzero features
    bint full, lagged          # whether the filters, and those that use outcomes, take part


cdef class PredictingBank(Engine):
    cdef readonly Filters plain, lagged, combining, following, seeing
    cdef readonly Weigher among_base, tracker, leaner, final
    cdef readonly bint recent
    cdef readonly int delay
    cdef readonly int members, mixers, base_members
    cdef int kind, variants, at_first, at_mean, at_lagged, at_last, at_several, at_following, at_seeing
    cdef noregret_feature* features        # the constant one first
    cdef double tilt                       # the quantile
    # Of the outcomes: the first one, and relative to it their range, mean and mean absolute deviation.
    cdef double origin, low, high, mean, deviation
    cdef double[4] averages                # moving averages of outcomes, fast and slow; the same after the delay
    cdef double* outcomes                  # ring buffers of the latest outcomes,
    cdef double* foreseen                  # and of the base's predictions of them
    cdef double* beyond                    # regret to each member that clipping outlying outcomes left out
    cdef int ring
    cdef double* snapshots
    cdef long long stride                  # rounds between snapshots
    cdef int taken
    cdef bint learning                     # whether the current round will be learned
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
