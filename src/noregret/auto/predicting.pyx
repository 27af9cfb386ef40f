"""The bank of ``auto``: predictions of its members, and their mixture."""

from libc.math cimport M_PI, NAN, log, sqrt
from libc.stdint cimport int32_t
from libc.string cimport memset

import math

import numpy as np

cimport cython
cimport numpy as cnp

from noregret.auto.memory_filters cimport Filters
from noregret.base.compiled.losses cimport as_loss
from noregret.base.compiled.weigher cimport Holding, Weigher, noregret_decayed
from noregret.linear.engine.engine cimport Engine, Row, position

from noregret.base.compiled.machine import copied, zeros
from noregret.base.compiled.weigher import Exponential, Polynomial
from noregret.checks import one_of

cnp.import_array()


# Exponential weights that track the current leader: each member gives away a shrinking share of its weight.
#
# After round t every member gives up 1/(4(t + 1)) of its weight, which is distributed by the prior. So a
# member that has fallen behind can lead again within a few rounds, at a total cost of about ln T / 4
# besides the loss of the best. The rate is that of AdaHedge, or 1 for the log loss.

cdef extern from "first_order.h" nogil:
    double noregret_dot(const double* a, const double* b, Py_ssize_t n) noexcept

cdef double MIN_SUM = 1e-290
# The share of weight given away after the first round.
cdef double FIRST_SHARE = 0.25


@cython.final
cdef class Tracker(Holding):
    """Exponential weights, partly redistributed after each round."""

    NUMBERS = ("mixing_cost", "turns")

    def __init__(self, rate=0.0, prior=None):
        self.rate = rate
        super().__init__(prior)

    def check_state(self):
        """Raise ValueError if the state is invalid."""
        Holding.check_state(self)
        if self.turns < 0 or self.mixing_cost < 0:
            raise ValueError("the number of rounds and the mixing cost cannot be negative")

    cdef double rate_now(self) noexcept nogil:
        if self.rate > 0:
            return self.rate
        return log(<double> max(2, self.n)) / self.mixing_cost if self.mixing_cost > 0 else 0.0

    cdef void update(self, double own, const double* losses, const unsigned char* awake, double low, double high) noexcept nogil:
        cdef Py_ssize_t i
        cdef double mean = 0, rate = self.rate_now(), total, share, stays
        self.turns += 1
        if self.rate == 0:
            for i in range(self.n):  # relative to the least, so that equal losses leave no rounding error
                self.p[i] = losses[i] - low
            mean = noregret_dot(self.held, self.p, self.n)
            if rate == 0:  # no mixing cost so far
                self.mixing_cost = mean
                rate = self.rate_now()
                if rate == 0:
                    return
        total = noregret_decayed(self.held, rate, losses, low, self.p, self.n)
        if not total > MIN_SUM:
            return
        if self.rate == 0:
            self.mixing_cost += max(0.0, mean + log(total) / rate)
        share = FIRST_SHARE / (self.turns + 1)
        stays = (1 - share) / total
        for i in range(self.n):
            self.held[i] = stays * self.p[i] + share * self.prior[i]


# A round has three stages. First, filters with several memories and first-order learners predict from
# the row; their mixture is the base. Second, small filters combine these predictions with the latest
# outcomes and the errors of the base. Third, all members are weighted by their losses.
#
# All numbers are relative to the first outcome, in the unit of the outcomes; for labels they are
# log-odds. None depends on the unit of a feature.

cdef extern from "first_order.h" nogil:
    Py_ssize_t noregret_lanes_score(const noregret_feature* features, const double* values, const int32_t* indices, Py_ssize_t count, double* out, double* z) noexcept

LOSSES = ("square", "absolute", "quantile", "logistic")
# The share of the past that filters keep per round, and the initial variance of a weight: smaller for
# filters that forget faster, which have less to learn from.
KEEP, GRANT = (1.0, 0.9999, 0.999, 0.99), (1.0, 0.3, 0.3, 0.1)
LABEL_GRANT = (0.3, 0.1, 0.1, 0.03)
KEEP_ABOVE, GRANT_ABOVE = (1.0, 0.9995, 0.998, 0.99), (1.0, 1.0, 1.0, 0.3)
# Rates of AdaGrad, in deviations of outcomes and features; the share that diagonal filters keep per round.
STEPS, LABEL_STEPS = (0.03, 0.12, 0.5, 2.0), (0.1, 0.4, 1.6, 6.4)
KEEP_FIRST, GRANT_FIRST = (1.0, 0.9999, 0.999, 0.99), (1.0, 1.0, 1.0, 0.3)
# The prior weight of each constant member (mean, even odds), and of all others together besides the mixtures.
CONSTANT_PRIOR, SINGLE_PRIOR = 0.1, 0.15

# Initial variances of the constant feature's weight, for numbers and for labels.
cdef double CONSTANT_VARIANCE = 1e4, CONSTANT_LABEL_VARIANCE = 100.0
# Largest variance with finite products.
cdef double MAX_VARIANCE = 1e300


cdef class PredictingBank(Engine):
    """The members of a bank and their mixture.

    Parameters
    ----------
    loss
        ``square``, ``absolute``, ``quantile`` or ``logistic``.
    loss_parameter
        The quantile.
    recent
        If True, some members use the latest outcomes.
    delay
        Number of outcomes still unknown when a prediction is made.
    """

    def __init__(self, loss="square", loss_parameter=None, recent=True, delay=0):
        one_of("loss", loss, LOSSES)
        self.loss = as_loss(loss, loss_parameter)
        self.kind = SQUARE if loss == "square" else LOGISTIC if loss == "logistic" else TILTED
        self.tilt = self.loss.parameter if loss == "quantile" else 0.5
        self.recent, self.delay = recent, delay
        self.variants = 1 if self.kind == LOGISTIC else 3
        free = CONSTANT_LABEL_VARIANCE if self.kind == LOGISTIC else CONSTANT_VARIANCE
        grant = LABEL_GRANT if self.kind == LOGISTIC else GRANT
        self.plain = Filters(KEEP, grant, free, self.variants)
        self.lagged = Filters(KEEP, grant, free)
        self.combining, self.following, self.seeing = (Filters(KEEP_ABOVE, GRANT_ABOVE, free) for _ in range(3))
        self.lagged.grow(3)
        self.combining.grow(5)
        self.following.grow(6)
        self.seeing.grow(12)
        self.number_members()
        self.among_base, self.tracker = (Tracker(1.0 if self.kind == LOGISTIC else 0.0) for _ in range(2))
        self.leaner = Polynomial()
        self.final = Exponential(1.0, "constant" if self.kind == LOGISTIC else "adaptive")
        self.begin_weighing()
        self.ring = delay + LAGS + 1
        self.arrays = self.arrays | {
            "features": np.zeros(FEATURE_NUMBERS), "outcomes": np.zeros(self.ring), "foreseen": np.zeros(self.ring),
            "snapshots": np.zeros(MAX_SNAPSHOTS * (self.members + 1)), "beyond": np.zeros(self.members + self.mixers),
        }
        self.stride = 1
        self.relocate()
        self.begin_constant()

    def number_members(self):
        """Number the members: first those of the base, which use no outcomes."""
        self.at_first = 4 * self.variants
        self.at_mean = self.at_first + 8
        self.base_members = self.at_mean + (2 if self.kind == LOGISTIC else 1)  # and even odds
        self.at_several = self.base_members
        self.at_lagged = self.at_several + 4
        self.at_last, self.at_following, self.at_seeing = self.at_lagged + 4, self.at_lagged + 5, self.at_lagged + 9
        self.members = self.at_seeing + 4 if self.recent else self.at_lagged
        self.mixers = 1 if self.kind == LOGISTIC else 2

    def begin_weighing(self):
        """Start all weighers; most of the prior is on the mixtures, some on constant members."""
        plain = range(self.at_mean, self.base_members)
        shares = np.full(self.members, 1.0)
        shares[plain.start:plain.stop] = CONSTANT_PRIOR * (self.members - len(plain)) / (1 - CONSTANT_PRIOR * len(plain))
        base = shares[:self.base_members] / shares[:self.base_members].sum()
        shares /= shares.sum()
        single = SINGLE_PRIOR * shares
        single[plain.start:plain.stop] = CONSTANT_PRIOR
        rest = (1 - single.sum()) / self.mixers
        if self.kind != LOGISTIC:
            self.final.rate = math.log(self.members + self.mixers)
        for weigher, prior in ((self.among_base, base), (self.tracker, shares), (self.leaner, shares),
                               (self.final, np.append(single, [rest] * self.mixers))):
            weigher.given_prior = prior
            weigher.begin(len(prior))
            (<Weigher> weigher).next_weights()

    # New features.

    cdef void relocate(self):
        Engine.relocate(self)
        if "features" in self.arrays:
            self.features = <noregret_feature*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["features"])
            self.outcomes = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["outcomes"])
            self.foreseen = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["foreseen"])
            self.beyond = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["beyond"])
            self.snapshots = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["snapshots"])

    cdef int resize(self, Py_ssize_t size) except -1:
        cdef Py_ssize_t room = cnp.PyArray_DIM(<cnp.ndarray> self.arrays["features"], 0) // FEATURE_NUMBERS
        if size + 1 > room:
            self.arrays["features"] = copied(self.arrays["features"], max(size + 1, 2 * room, 16) * FEATURE_NUMBERS)
        if size > cnp.PyArray_DIM(<cnp.ndarray> self.arrays["stored"], 0):
            self.arrays["stored"] = zeros(max(size, 2 * self.size, 16))
        self.relocate()
        # New features are all zero: memory beyond the size was never written, as only features that
        # were never learned are removed.
        self.size = size
        if size <= MAX_FILTER_FEATURES:
            self.plain.grow(size + 1)
        if size <= MAX_LAGGED_FEATURES:
            self.lagged.grow(size + 3)
        return 0

    cdef begin_constant(self):
        """Initialise the constant feature."""
        cdef int lane
        self.features.count = self.features.sum = self.features.sum2 = self.features.size = 1
        self.features.prior = CONSTANT_LABEL_VARIANCE if self.kind == LOGISTIC else CONSTANT_VARIANCE
        for lane in range(4):
            self.features.variance[lane] = <double> GRANT_FIRST[lane] * self.features.prior

    cdef bint is_full(self) noexcept nogil:
        """Return whether the features are few enough for filters."""
        return self.size <= MAX_FILTER_FEATURES and self.plain.n == self.size + 1

    cdef bint is_lagged(self) noexcept nogil:
        return self.size <= MAX_LAGGED_FEATURES and self.lagged.n == self.size + 3

    # Predictions.

    cdef double score(self, Row* row) noexcept nogil:
        cdef Round own
        Engine.score(self, row)
        if not row.norm2 < 1e300:
            return NAN
        if self.learning:
            return self.look(row, &self.now, self.delay)
        return self.look(row, &own, 0)

    cdef double look(self, Row* row, Round* r, int offset) noexcept nogil:
        """Return the prediction; fill in those of all members in r."""
        cdef int k, everyone = self.members + self.mixers
        cdef double found
        # New features of this row count, as they will when it is learned.
        r.full = self.is_full() and self.size + row.unseen <= MAX_FILTER_FEATURES
        r.lagged = self.is_lagged() and self.size + row.unseen <= MAX_LAGGED_FEATURES
        self.say_first(row, r)
        r.says[self.at_mean] = self.mean
        if self.kind == LOGISTIC:
            found = clip((self.mean + 1) / 2, 1.0 / (self.rounds + 2), 1 - 1.0 / (self.rounds + 2))
            r.says[self.at_mean], r.says[self.at_mean + 1] = log(found / (1 - found)), 0
        self.say_plain(row, r)
        self.give_chance(r, 0, self.base_members)
        r.base = self.mixed(self.among_base, r, self.base_members)
        if not r.full:  # inactive filters repeat the base
            for k in range(self.at_first):
                r.says[k] = r.base
            self.give_chance(r, 0, self.at_first)
        self.say_several(r, offset)
        if self.recent:
            self.say_lagged(r, offset)
        self.give_chance(r, self.base_members, self.members)
        r.says[self.members] = self.mixed(self.tracker, r, self.members)
        if self.mixers == 2:
            r.says[self.members + 1] = self.mixed(self.leaner, r, self.members)
        self.give_chance(r, self.members, everyone)
        return self.origin + self.mixed(self.final, r, everyone)

    cdef void give_chance(self, Round* r, int start, int stop) noexcept nogil:
        """Fill in the probabilities of log-odds."""
        cdef int k
        cdef double e, likely
        if self.kind == LOGISTIC:
            for k in range(start, stop):
                e = exp(-fabs(r.says[k]))
                likely = 1 / (1 + e)
                r.chance[k], r.other[k] = (likely, e * likely) if r.says[k] >= 0 else (e * likely, likely)

    cdef double mixed(self, Weigher weigher, Round* r, int n) noexcept nogil:
        """Return the weighted mean of n predictions; for labels, of probabilities."""
        if self.kind == LOGISTIC:
            return log(noregret_dot(weigher.p, r.chance, n) / noregret_dot(weigher.p, r.other, n))
        return noregret_dot(weigher.p, r.says, n)

    cdef double held(self, double score, bint wide) noexcept nogil:
        """Clip a score to the range of the outcomes so far, or if wide, to three times that range."""
        cdef double more = self.high - self.low if wide else 0.0, most
        if score != score:  # after an overflow
            return 0.0 if self.kind == LOGISTIC else self.mean
        if self.kind == LOGISTIC:
            most = log(2.0 * (self.rounds + 1))
            return clip(score, -most, most)
        return clip(score, self.low - more, self.high + more)

    cdef double moderated(self, double score, double z) noexcept nogil:
        """Return log-odds shrunk by the variance of the score."""
        return self.held(score / sqrt(1 + M_PI / 8 * z), False)

    cdef void say_filter(self, Filters filters, const double* x, double* scores, double* z, double* says, bint wide) noexcept nogil:
        """Fill in the scores and predictions of four filters."""
        cdef int k
        filters.scores(x, scores)
        if self.kind == LOGISTIC:
            filters.spread(x, z)
            for k in range(4):
                z[k] = z[k] if z[k] < MAX_VARIANCE else MAX_VARIANCE
                says[k] = self.moderated(scores[k], z[k])
            return
        for k in range(4 * filters.variants):
            says[k] = self.held(scores[k], wide and k < 4)

    cdef void say_plain(self, const Row* row, Round* r) noexcept nogil:
        cdef Py_ssize_t k
        cdef double* x = r.x
        if not r.full:
            for k in range(self.at_first):
                r.says[k] = r.says[self.at_first + k % 8]
            return
        x[0] = 1
        memset(x + 1, 0, self.size * sizeof(double))
        for k in range(row.count):
            x[1 + position(row, k)] = row.values[k]
        self.say_filter(self.plain, x, r.plain_scores, r.plain_z, r.says, True)

    cdef void say_first(self, const Row* row, Round* r) noexcept nogil:
        cdef int lane
        cdef double* out = r.first_scores
        for lane in range(4):
            r.first_z[lane] = self.features.variance[lane]
            out[lane], out[4 + lane] = self.features.weight[lane], self.features.weight[4 + lane]
        r.present = noregret_lanes_score(self.features + 1, row.values, row.indices, row.count, out, r.first_z)
        for lane in range(4):
            r.says[self.at_first + lane] = self.held(out[lane], False)
            if self.kind == LOGISTIC:
                r.says[self.at_first + 4 + lane] = self.moderated(out[4 + lane], r.first_z[lane])
            else:
                r.says[self.at_first + 4 + lane] = self.held(out[4 + lane], False)

    cdef void say_lagged(self, Round* r, int offset) noexcept nogil:
        cdef Py_ssize_t k
        cdef double* x = r.recent_x
        r.says[self.at_last] = self.recall(self.outcomes, offset)
        if self.kind == LOGISTIC:
            r.says[self.at_last] = self.held(2 * r.says[self.at_last], False)
        if not r.lagged:
            for k in range(4):
                r.says[self.at_lagged + k] = r.base
            return
        x[0], x[1], x[2] = 1, self.recall(self.outcomes, offset), self.recall(self.outcomes, offset + 1)
        for k in range(self.size):
            x[3 + k] = r.x[1 + k]
        self.say_filter(self.lagged, x, r.lagged_scores, r.lagged_z, r.says + self.at_lagged, False)

    cdef void say_several(self, Round* r, int offset) noexcept nogil:
        """Fill in the predictions of the filters over other members."""
        cdef int k
        cdef double* x = r.several
        cdef double* y = r.following
        cdef double* z = r.seeing
        x[0] = y[0] = z[0] = 1
        for k in range(4):
            if r.full:
                x[1 + k] = r.says[k if self.kind == LOGISTIC else 4 + k]
            else:
                x[1 + k] = r.says[self.at_first + (1 + k if k < 2 else 2 + k)]
            z[1 + k] = x[1 + k]
        self.say_filter(self.combining, x, r.several_scores, r.several_z, r.says + self.at_several, False)
        if not self.recent:
            return
        y[1], y[2], y[3] = r.base, self.recall(self.outcomes, offset), self.recall(self.outcomes, offset + 1)
        y[4], y[5] = self.recall(self.foreseen, offset), self.recall(self.foreseen, offset + 1)
        self.say_filter(self.following, y, r.following_scores, r.following_z, r.says + self.at_following, True)
        for k in range(4):
            z[5 + k] = y[2 + k]
        z[9] = self.recall(self.outcomes, offset + 2)
        z[10], z[11] = self.averages[0 if offset == 0 else 2], self.averages[1 if offset == 0 else 3]
        self.say_filter(self.seeing, z, r.seeing_scores, r.seeing_z, r.says + self.at_seeing, False)

    cdef double recall(self, const double* ring, int back) noexcept nogil:
        """Return the entry of a ring buffer from a number of rounds back; 0 before the first round."""
        return ring[(self.rounds - 1 - back) % self.ring] if back < self.rounds else 0.0
