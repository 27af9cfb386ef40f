"""The bank behind ``auto``: learners of every speed on one pass over each row, and who mixes them.

A round goes up three floors. On the first, filters with several memories and learners of the first
order predict from the row; a mixture of them is the base. On the second, small filters combine what
they said, with the latest outcomes and how far off the base was. On the third everyone is weighed by
what it has lost.

Everything is in the unit of the outcomes, counted from the first of them; log-odds where outcomes are
labels. No number here depends on the unit of a feature.
"""

from libc.math cimport M_PI, NAN, copysign, exp, fabs, isfinite, log, sqrt
from libc.stdint cimport int32_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

cimport cython

import math

import numpy as np

cimport numpy as cnp

from noregret.core.bernstein import Polynomial
from noregret.core.engine cimport DIVERGED, FINE, NO_MEMORY, Engine, Row, position
from noregret.core.filter cimport Filters
from noregret.core.losses cimport as_loss
from noregret.core.tracker import Tracker
from noregret.core.weigher import Exponential
from noregret.core.weigher cimport Weigher

from noregret.checks import one_of, state_numbers

cnp.import_array()

cdef extern from "lanes.h" nogil:
    double noregret_dot(const double* a, const double* b, Py_ssize_t n) noexcept
    void noregret_extent(const double* x, Py_ssize_t n, double* low, double* high) noexcept
    Py_ssize_t noregret_lanes_score(const noregret_feature* features, const double* values, const int32_t* indices, Py_ssize_t count, double* out, double* z) noexcept
    void noregret_lanes_observe(noregret_feature* features, const double* values, const int32_t* indices, Py_ssize_t count, double grant, const double* most) noexcept
    void noregret_lanes_meet(noregret_feature* features, const double* values, const int32_t* indices, Py_ssize_t count, const double* slopes, const double* rates, double* steps, double* moves) noexcept
    void noregret_lanes_learn(noregret_feature* features, const double* values, const int32_t* indices, Py_ssize_t count, const double* steps, const double* slopes, const double* errors, const double* r, const double* keep, const double* most) noexcept

LOSSES = ("square", "absolute", "quantile", "logistic")
# Features up to which there are filters, and filters that see outcomes besides.
MOST_FULL, MOST_LAGGED = 256, 64
# What filters keep of what they knew, a round, and the variance that they grant a weight at first:
# who forgets sooner has less to learn from, and must be held back more.
KEEP, GRANT = (1.0, 0.9999, 0.999, 0.99), (1.0, 0.3, 0.3, 0.1)
LABEL_GRANT = (0.3, 0.1, 0.1, 0.03)
KEEP_ABOVE, GRANT_ABOVE = (1.0, 0.9995, 0.998, 0.99), (1.0, 1.0, 1.0, 0.3)
# Rates of AdaGrad, in units of what outcomes and features vary by; what diagonal filters keep.
STEPS, LABEL_STEPS = (0.03, 0.12, 0.5, 2.0), (0.1, 0.4, 1.6, 6.4)
KEEP_FIRST, GRANT_FIRST = (1.0, 0.9999, 0.999, 0.99), (1.0, 1.0, 1.0, 0.3)
# Of the prior, what each plain guess gets, and what the others get together beside those who mix.
PLAIN, SINGLE = 0.1, 0.15
PARTS = ("plain", "lagged", "combining", "following", "seeing", "among_base", "tracker", "leaner", "final")
FORMS = ("as it is", "held to the range", "robust")

cdef enum:  # Kind
    SQUARE
    TILTED               # the absolute and the quantile loss
    LOGISTIC

cdef enum:
    FULL = 256
    LAGGED = 64
    LAGS = 3
    NUMBERS = 24         # of a feature
    WIDTH = 257          # of a row that waits

cdef double[4] STEP_SIZES = [0.03, 0.12, 0.5, 2.0]
cdef double[4] LABEL_STEP_SIZES = [0.1, 0.4, 1.6, 6.4]
cdef double[4] KEPT_FIRST = [1.0, 0.9999, 0.999, 0.99]
cdef double[4] GRANTED_FIRST = [1.0, 1.0, 1.0, 0.3]
# Variances granted to the constant feature, in regression and for labels.
cdef double FREE = 1e4, FREE_LABELS = 100.0
# The range of outcomes that steps of the first order are made for, in mean distances from the mean.
cdef double REACH = 6.0
# An error beyond this many usual ones counts as no more; usual errors are those of so many rounds.
cdef double ROBUST = 3.0, OUTLYING = 8.0, ROUNDS = 200.0
# 1/density of errors where they are 0, in mean errors: what makes a step of a quantile a Newton step.
cdef double TILT_STEP = 3.0
cdef double LEAST_WEIGHT = 1e-4
# What numbers have the range for: losses, errors, variances, and slopes times values.
cdef double MOST_LOSS = 1e290, MOST_ERROR = 1e180, MOST_SPREAD = 1e300, MOST_GRADIENT = 1e140
cdef double FEW = 0.2, SOME = 0.05


cdef inline double clip(double value, double low, double high) noexcept nogil:
    return low if value < low else high if value > high else value


cdef inline double usable(double error) noexcept nogil:
    """Return an error as it is, or nothing in place of one too large for numbers."""
    return error if fabs(error) < MOST_ERROR else 0.0


cdef inline double chance_of(double score) noexcept nogil:
    cdef double e = exp(-fabs(score))
    return 1 / (1 + e) if score >= 0 else e / (1 + e)


@cython.final
cdef class Bank(Engine):
    """Learners of every speed, and the mixture of them.

    Parameters
    ----------
    loss
        ``square``, ``absolute``, ``quantile`` or ``logistic``.
    loss_parameter
        The quantile.
    recent
        Whether some members see the latest outcomes.
    delay
        How many outcomes are still out when a prediction is made.
    """

    def __init__(self, loss="square", loss_parameter=None, recent=True, delay=0):
        one_of("loss", loss, LOSSES)
        self.loss = as_loss(loss, loss_parameter)
        self.kind = SQUARE if loss == "square" else LOGISTIC if loss == "logistic" else TILTED
        self.tilt = self.loss.parameter if loss == "quantile" else 0.5
        self.recent, self.delay = recent, delay
        self.variants = 1 if self.kind == LOGISTIC else 3
        free = FREE_LABELS if self.kind == LOGISTIC else FREE
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
            "features": np.zeros(NUMBERS), "outcomes": np.zeros(self.ring), "foreseen": np.zeros(self.ring),
            "snapshots": np.zeros(SNAPSHOTS * (self.members + 1)),
        }
        self.stride = 1
        self.relocate()
        self.begin_feature(0)

    def number_members(self):
        """Give every member its place: first those of the base, which see no outcomes."""
        self.at_first = 4 * self.variants
        self.at_mean = self.at_first + 8
        self.base_members = self.at_mean + (2 if self.kind == LOGISTIC else 1)  # and even odds
        self.at_several = self.base_members
        self.at_lagged = self.at_several + 4
        self.at_last, self.at_following, self.at_seeing = self.at_lagged + 4, self.at_lagged + 5, self.at_lagged + 9
        self.members = self.at_seeing + 4 if self.recent else self.at_lagged
        self.mixers = 1 if self.kind == LOGISTIC else 2

    def begin_weighing(self):
        """Start all weighers; most of the prior is for those who mix all others, and some for plain guesses."""
        plain = range(self.at_mean, self.base_members)
        shares = np.full(self.members, 1.0)
        shares[plain.start:plain.stop] = PLAIN * (self.members - len(plain)) / (1 - PLAIN * len(plain))
        base = shares[:self.base_members] / shares[:self.base_members].sum()
        shares /= shares.sum()
        single = SINGLE * shares
        single[plain.start:plain.stop] = PLAIN
        rest = (1 - single.sum()) / self.mixers
        if self.kind != LOGISTIC:
            self.final.rate = math.log(self.members + self.mixers)
        for weigher, prior in ((self.among_base, base), (self.tracker, shares), (self.leaner, shares),
                               (self.final, np.append(single, [rest] * self.mixers))):
            weigher.given_prior = prior
            weigher.begin(len(prior))
            (<Weigher> weigher).next_weights()

    # Features come.

    cdef void relocate(self):
        Engine.relocate(self)
        if "features" in self.arrays:
            self.features = <noregret_feature*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["features"])
            self.outcomes = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["outcomes"])
            self.foreseen = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["foreseen"])
            self.snapshots = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["snapshots"])

    cdef int resize(self, Py_ssize_t size) except -1:
        cdef Py_ssize_t before = self.size, room = cnp.PyArray_DIM(<cnp.ndarray> self.arrays["features"], 0) // NUMBERS
        if size + 1 > room:
            self.arrays["features"] = np.concatenate([
                self.arrays["features"], np.zeros((max(size + 1, 2 * room, 16) - room) * NUMBERS)])
        if size > cnp.PyArray_DIM(<cnp.ndarray> self.arrays["stored"], 0):
            self.arrays["stored"] = np.zeros(max(size, 2 * self.size, 16))
        self.relocate()
        self.size = size
        for at in range(before, size):
            self.begin_feature(at + 1)
        if size <= FULL:
            self.plain.grow(size + 1)
        if size <= LAGGED:
            self.lagged.grow(size + 3)
        return 0

    cdef begin_feature(self, Py_ssize_t at):
        """Know nothing of a feature; of the constant one, that it is one."""
        cdef int lane
        memset(self.features + at, 0, sizeof(noregret_feature))
        if at == 0:
            self.features.count = self.features.sum = self.features.sum2 = self.features.size = 1
            self.features.prior = FREE_LABELS if self.kind == LOGISTIC else FREE
            for lane in range(4):
                self.features.variance[lane] = GRANTED_FIRST[lane] * self.features.prior

    cdef bint is_full(self) noexcept nogil:
        """Whether features are few enough for filters."""
        return self.size <= FULL and self.plain.n == self.size + 1

    cdef bint is_lagged(self) noexcept nogil:
        return self.size <= LAGGED and self.lagged.n == self.size + 3

    # What everyone says.

    cdef double score(self, Row* row) noexcept nogil:
        cdef Round own
        Engine.score(self, row)
        if not row.norm2 < 1e300:
            return NAN
        if self.learning:
            return self.look(row, &self.now, self.delay)
        return self.look(row, &own, 0)

    cdef double look(self, Row* row, Round* r, int offset) noexcept nogil:
        """Return the prediction; what everyone says is in r."""
        cdef int k, everyone = self.members + self.mixers
        cdef double found
        self.say_first(row, r)
        r.says[self.at_mean] = self.mean
        if self.kind == LOGISTIC:
            found = clip((self.mean + 1) / 2, 1.0 / (self.rounds + 2), 1 - 1.0 / (self.rounds + 2))
            r.says[self.at_mean], r.says[self.at_mean + 1] = log(found / (1 - found)), 0
        self.say_plain(row, r)
        self.give_chance(r, 0, self.base_members)
        r.base = self.mixed(self.among_base, r, self.base_members)
        if not self.is_full():  # filters that rest repeat the base
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
        """Note the chances that log-odds stand for."""
        cdef int k
        cdef double e, likely
        if self.kind == LOGISTIC:
            for k in range(start, stop):
                e = exp(-fabs(r.says[k]))
                likely = 1 / (1 + e)
                r.chance[k], r.other[k] = (likely, e * likely) if r.says[k] >= 0 else (e * likely, likely)

    cdef double mixed(self, Weigher weigher, Round* r, int n) noexcept nogil:
        """Return the mean of what n members say; of chances, where they are log-odds."""
        if self.kind == LOGISTIC:
            return log(noregret_dot(weigher.p, r.chance, n) / noregret_dot(weigher.p, r.other, n))
        return noregret_dot(weigher.p, r.says, n)

    cdef double held(self, double score, bint wide) noexcept nogil:
        """Hold a score to the range of the outcomes so far, or to one that is wider by itself on each side."""
        cdef double more = self.high - self.low if wide else 0.0, most
        if score != score:  # of numbers that are too large
            return 0.0 if self.kind == LOGISTIC else self.mean
        if self.kind == LOGISTIC:
            most = log(2.0 * (self.rounds + 1))
            return clip(score, -most, most)
        return clip(score, self.low - more, self.high + more)

    cdef double moderated(self, double score, double z) noexcept nogil:
        """Return log-odds less sure than a score, by its variance."""
        return self.held(score / sqrt(1 + M_PI / 8 * z), False)

    cdef void say_filter(self, Filters filters, const double* x, double* scores, double* z, double* says, bint wide) noexcept nogil:
        """Have four filters say what they expect."""
        cdef int k
        filters.scores(x, scores)
        if self.kind == LOGISTIC:
            filters.spread(x, z)
            for k in range(4):
                z[k] = z[k] if z[k] < MOST_SPREAD else MOST_SPREAD
                says[k] = self.moderated(scores[k], z[k])
            return
        for k in range(4 * filters.variants):
            says[k] = self.held(scores[k], wide and k < 4)

    cdef void say_plain(self, const Row* row, Round* r) noexcept nogil:
        cdef Py_ssize_t k
        cdef double* x = r.x
        if not self.is_full():
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
        if not self.is_lagged():
            for k in range(4):
                r.says[self.at_lagged + k] = r.base
            return
        x[0], x[1], x[2] = 1, self.recall(self.outcomes, offset), self.recall(self.outcomes, offset + 1)
        for k in range(self.size):
            x[3 + k] = r.x[1 + k]
        self.say_filter(self.lagged, x, r.lagged_scores, r.lagged_z, r.says + self.at_lagged, False)

    cdef void say_several(self, Round* r, int offset) noexcept nogil:
        """Have those speak who combine others."""
        cdef int k
        cdef double* x = r.several
        cdef double* y = r.following
        cdef double* z = r.seeing
        cdef bint full = self.is_full()
        x[0] = y[0] = z[0] = 1
        for k in range(4):
            if full:
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
        """Return what a ring holds of the latest round, or of those before; 0 from before the first."""
        return ring[(self.rounds - 1 - back) % self.ring] if back < self.rounds else 0.0

    # Learning.

    cdef int play(self, Row* row, double y) noexcept nogil:
        cdef int status
        self.learning = True
        status = Engine.play(self, row, y)
        self.learning = False
        return status

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef Round* r = &self.now
        if not self.worst(y - self.origin) < MOST_LOSS:
            return DIVERGED
        if self.room_for_steps(row.count) != FINE:
            return NO_MEMORY
        if self.importance > 0:
            self.weigh_members(r, y - self.origin)
        if self.rounds == 0:
            self.opening = self.importance * self.loss.table.value(&self.loss.table, score, y)
            if self.kind != LOGISTIC:
                self.origin = y
        y -= self.origin
        self.sizes += 1 + r.present
        if self.importance > 0:
            self.teach_all(row, r, y)
        self.remember(r, y)
        return FINE

    cdef double worst(self, double y) noexcept nogil:
        """Return what no member can lose more than, whatever it said."""
        cdef double off = fabs(y) + 2 * (self.high - self.low)
        if self.kind == LOGISTIC:
            return 0
        return self.importance * (off * off if self.kind == SQUARE else off)

    cdef void teach_all(self, const Row* row, Round* r, double y) noexcept nogil:
        cdef int code = 1 if self.kind == TILTED else 3
        self.teach_first(row, r, y)
        if self.is_full():
            self.teach(self.plain, r.x, r.plain_scores, r.plain_z, 0, y)
        self.teach(self.combining, r.several, r.several_scores, r.several_z, code, y)
        if self.recent:
            if self.is_lagged():
                self.teach(self.lagged, r.recent_x, r.lagged_scores, r.lagged_z, 1, y)
            self.teach(self.following, r.following, r.following_scores, r.following_z, code, y)
            self.teach(self.seeing, r.seeing, r.seeing_scores, r.seeing_z, code, y)

    cdef double loss_of(self, const Round* r, int k, double y) noexcept nogil:
        if self.kind == SQUARE:
            return self.importance * (r.says[k] - y) * (r.says[k] - y)
        if self.kind == LOGISTIC:
            return -self.importance * log(r.chance[k] if y > 0 else r.other[k])
        return self.importance * self.loss.table.value(&self.loss.table, r.says[k], y)

    cdef void weigh_members(self, Round* r, double y) noexcept nogil:
        """Have every weigher learn what everyone has lost."""
        cdef double[48] losses
        cdef double slope, own
        cdef int k, everyone = self.members + self.mixers
        for k in range(everyone):
            losses[k] = self.loss_of(r, k, y)
        if self.kind == LOGISTIC:
            own = -self.importance * log(chance_of(self.mixed(self.final, r, everyone) * (1 if y > 0 else -1)))
            self.settle(self.final, losses, own, everyone)
            self.settle(self.among_base, losses, 0, self.base_members)
            self.settle(self.tracker, losses, 0, self.members)
            return
        own = self.importance * self.loss.table.value(&self.loss.table, self.mixed(self.final, r, everyone), y)
        self.widest = max(self.widest, self.settle(self.final, losses, own, everyone))
        if fabs(y - r.base) > OUTLYING * self.error and self.rounds > 0:
            # One outcome far from all others would outweigh all that was learned of who is good.
            y = r.base + copysign(OUTLYING * self.error, y - r.base)
            for k in range(self.members):
                losses[k] = self.loss_of(r, k, y)
        self.settle(self.among_base, losses, 0, self.base_members)
        self.settle(self.tracker, losses, 0, self.members)
        slope = self.importance * self.loss.table.slope(&self.loss.table, r.says[self.members + 1], y)
        for k in range(self.members):
            losses[k] = slope * r.says[k]
        self.settle(self.leaner, losses, slope * r.says[self.members + 1], self.members)

    cdef double settle(self, Weigher weigher, const double* losses, double own, int n) noexcept nogil:
        """Have a weigher learn what members have lost; return how far that is apart."""
        cdef double low, high
        noregret_extent(losses, n, &low, &high)
        weigher.update(own, losses, NULL, low, high)
        weigher.rounds += 1
        weigher.fresh = False
        weigher.next_weights()
        return high - low

    cdef double error_of(self, int code, double score, double y) noexcept nogil:
        """Return the error that moves weights: plain (0), held to the range (1), robust (2), less so (3)."""
        cdef double error, range, most
        if code == 0:
            return y - score
        range = self.high - self.low
        error = y - (self.held(score, False) if code < 3 and self.low - range < score < self.high + range else score)
        if self.kind == TILTED:
            most = self.error if code == 1 else 4 * self.error
            error = 0.5 * clip(2 * error / most if most > 0 else 0.0, -1.0, 1.0) + self.tilt - 0.5
            return TILT_STEP * self.error * error
        most = (ROBUST if code == 2 else OUTLYING) * self.error
        return error if code == 1 else clip(error, -most, most)

    cdef void teach(self, Filters filters, const double* x, const double* scores, const double* z, int code, double y) noexcept nogil:
        """Have four filters learn, each set of weights by errors of its own kind."""
        cdef double[4] r
        cdef double[12] fresh
        cdef double chance
        cdef int k, row
        filters.observe(x)
        for k in range(4):
            r[k] = self.importance
            if self.kind == LOGISTIC:
                chance = chance_of(self.moderated(scores[k], z[k]))
                r[k] *= max(LEAST_WEIGHT, chance * (1 - chance))
        if not filters.queue(x, y, self.importance, z, r):
            return
        if filters.learn():
            for row in range(filters.waiting):
                if filters.waiting == 1:
                    self.correct(filters, row, scores, code)
                else:
                    filters.scores(filters.rows + row * WIDTH, fresh)
                    self.correct(filters, row, fresh, code)
        filters.waiting = 0

    cdef void correct(self, Filters filters, int row, const double* scores, int code) noexcept nogil:
        """Move the weights of filters by what they had wrong in a row."""
        cdef double[12] errors
        cdef double y = filters.told[2 * row], importance = filters.told[2 * row + 1]
        cdef int k
        for k in range(4 * filters.variants):
            if self.kind == LOGISTIC:
                errors[k] = (1.0 if y > 0 else 0.0) - chance_of(self.moderated(scores[k], filters.unsure[4 * row + k]))
            else:
                errors[k] = self.error_of(code + k // 4, scores[k], y)
            errors[k] = usable(errors[k] * importance)
        filters.step(row, errors)

    cdef void teach_first(self, const Row* row, Round* r, double y) noexcept nogil:
        cdef double[4] slopes
        cdef double[4] errors
        cdef double[4] rates
        cdef double[4] weights
        cdef double[4] own
        cdef double[4] moves = [0, 0, 0, 0]
        cdef double one = 1, chance, z, size, grant, reach = REACH * self.deviation
        cdef double steepest = MOST_GRADIENT / max(1.0, row.peak)
        cdef int k
        size = self.sizes / (self.rounds + 1)  # of a row, on average
        grant = 1 / sqrt(size)
        noregret_lanes_observe(self.features + 1, row.values, row.indices, row.count, grant, GRANTED_FIRST)
        for k in range(4):
            slopes[k] = clip(self.importance * self.loss.table.slope(&self.loss.table, r.says[self.at_first + k], y), -steepest, steepest)
            rates[k] = (LABEL_STEP_SIZES[k] if self.kind == LOGISTIC else STEP_SIZES[k] * reach) / sqrt(size)
            z, weights[k] = r.first_z[k], self.importance
            if self.kind == LOGISTIC:
                chance = r.chance[self.at_first + 4 + k]
                weights[k] *= max(LEAST_WEIGHT, chance * (1 - chance))
                errors[k] = (1.0 if y > 0 else 0.0) - chance
            else:
                errors[k] = self.error_of(1, r.first_scores[4 + k], y)
            errors[k] = usable(errors[k] * (self.importance / (KEPT_FIRST[k] + weights[k] * z)))
        noregret_lanes_meet(self.features + 1, row.values, row.indices, row.count, slopes, rates, self.steps, moves)
        noregret_lanes_meet(self.features, &one, NULL, 1, slopes, rates, own, moves)
        for k in range(4):
            slopes[k] = self.slope_after(r.says[self.at_first + k], slopes[k], moves[k], y)
        noregret_lanes_learn(self.features + 1, row.values, row.indices, row.count, self.steps, slopes, errors, weights, KEPT_FIRST, GRANTED_FIRST)
        noregret_lanes_learn(self.features, &one, NULL, 1, own, slopes, errors, weights, KEPT_FIRST, GRANTED_FIRST)

    cdef double slope_after(self, double score, double slope, double move, double y) noexcept nogil:
        """Return the slope where a step ends that moves the score by so much for a slope of 1: it cannot overshoot."""
        cdef double found, sign, far = 0, chance, step
        cdef int k
        if not move > 0:
            return slope
        if self.kind != LOGISTIC:
            found = self.loss.table.implicit(&self.loss.table, score, y, self.importance, move)
            return found if fabs(found) < fabs(slope) else slope
        move *= self.importance
        sign = 1 if y > 0 else -1
        for k in range(20):  # Newton's steps towards how far the score goes, from below
            chance = chance_of(-sign * score - far)
            step = (move * chance - far) / (1 + move * chance * (1 - chance))
            far = clip(far + step, 0, fabs(slope) * move)
            if fabs(step) < 1e-6:
                break
        return -sign * far * self.importance / move

    cdef int room_for_steps(self, Py_ssize_t count) noexcept nogil:
        """Have room for four steps of every value of a row."""
        cdef double* found
        if count > self.steps_room:
            found = <double*> realloc(self.steps, 4 * 2 * count * sizeof(double))
            if found == NULL:
                return NO_MEMORY
            self.steps, self.steps_room = found, 2 * count
        return FINE

    def __dealloc__(self):
        free(self.steps)

    cdef void remember(self, const Round* r, double y) noexcept nogil:
        """Keep what later rounds are told of this one."""
        cdef double rounds = self.rounds + 1, known, off = fabs(y - r.base)
        self.mean += (y - self.mean) / rounds
        self.deviation += (fabs(y - self.mean) - self.deviation) / rounds
        self.low, self.high = min(self.low, y), max(self.high, y)
        if self.rounds < 3:
            self.error = off
        else:
            self.error += (min(off, 2 * ROBUST * self.error + 1e-3 * self.deviation) - self.error) / min(rounds, ROUNDS)
        self.outcomes[self.rounds % self.ring], self.foreseen[self.rounds % self.ring] = y, r.base
        self.averages[0] += FEW * (y - self.averages[0])
        self.averages[1] += SOME * (y - self.averages[1])
        if self.rounds >= self.delay:
            known = self.outcomes[(self.rounds - self.delay) % self.ring]
            self.averages[2] += FEW * (known - self.averages[2])
            self.averages[3] += SOME * (known - self.averages[3])
        if self.rounds % self.stride == 0:
            self.take_snapshot()

    # What it has found.

    cdef double weight_of(self, int k) noexcept nogil:
        """Return the weight of a member in the next round, by whichever way."""
        cdef double found = self.final.p[k] + self.final.p[self.members] * self.tracker.p[k]
        return found + self.final.p[self.members + 1] * self.leaner.p[k] if self.mixers == 2 else found

    cdef void take_snapshot(self) noexcept nogil:
        """Write down the weights of members; every other snapshot goes where there is no room."""
        cdef int k, i, width = self.members + 1
        if self.taken == SNAPSHOTS:
            self.taken = SNAPSHOTS // 2
            self.stride *= 2
            for i in range(self.taken):
                for k in range(width):
                    self.snapshots[i * width + k] = self.snapshots[2 * i * width + k]
            if self.rounds % self.stride:
                return
        self.snapshots[self.taken * width] = self.rounds + 1
        for k in range(self.members):
            self.snapshots[self.taken * width + 1 + k] = self.weight_of(k)
        self.taken += 1

    @property
    def engine_is_full(self):
        """Whether filters are at work: features are few enough."""
        return bool(self.is_full())

    def member_weights(self):
        """Return the weight of every member in the next round."""
        return np.array([self.weight_of(k) for k in range(self.members)])

    def history(self):
        """Return (rounds, the weights of every member after them), about a hundred of each."""
        width = self.members + 1
        table = self.arrays["snapshots"][:self.taken * width].reshape(self.taken, width)
        return table[:, 0].astype(np.int64), table[:, 1:].copy()

    @property
    def first_loss(self):
        """What the first round cost everyone, before anything was known."""
        return self.opening

    def member_losses(self):
        """Return what every member has lost, and the two mixtures that are weighed beside them."""
        return self.total_loss + self.final.excess()

    def accounts(self):
        """Return what the promise needs: what everyone lost more than the mixture, and the price of each."""
        prior = -np.log(self.final.get_state()[0]["prior"])
        if self.kind != LOGISTIC:
            log_n = self.final.rate
            prior = (1 + prior / log_n) * (self.final.spreads * sqrt(log_n) / 2 + self.widest * (2.0 / 3 * log_n + 1))
        return {"excess": self.final.excess(), "price": prior}

    def influence(self):
        """Return how far each feature moves the prediction of ``weights``, as it varies."""
        count, total, squares = self.arrays["features"][:(self.size + 1) * NUMBERS].reshape(-1, NUMBERS)[1:, 16:19].T
        rounds = max(1, self.rounds)
        spread = np.maximum(0.0, squares / rounds - (total / rounds) ** 2)
        return np.abs(self.weights()) * np.sqrt(spread)

    def weights(self):
        """Return a plain linear predictor: the filter that forgets nothing, or its diagonal form.

        What is constant in it goes to the first feature that is, such as the intercept of a stream.
        """
        table = self.arrays["features"][:(self.size + 1) * NUMBERS].reshape(-1, NUMBERS)
        found = self.plain.weights(0 if self.kind == LOGISTIC else 1, 0) if self.is_full() else table[:, 4].copy()
        count, total, squares = table[1:, 16:19].T
        same = np.flatnonzero((count == self.rounds) & (count > 0) & (squares * count <= total * total * (1 + 1e-12)))
        if len(same):
            found[1 + same[0]] += (self.origin + found[0]) * self.rounds / total[same[0]]
        return found[1:]

    @property
    def linear(self):
        """Whether predictions are weights times features."""
        return False

    def advice(self, norm):
        """Say what to change when numbers become too large."""
        return "scale the outcomes or the importances down"

    @property
    def takes_importance(self):
        """Whether a round may stand for several."""
        return True

    # The state: that of the engine, and of every part under its name.

    def parts(self):
        """Return everything that keeps a state of its own, by name."""
        return {name: getattr(self, name) for name in PARTS}

    def outlook(self):
        """Return what is known of the outcomes, in the order in which a state holds it."""
        return [
            self.origin, self.low, self.high, self.mean, self.deviation, self.error, self.sizes, self.widest, self.opening,
            self.averages[0], self.averages[1], self.averages[2], self.averages[3],
        ]

    def scalars(self):
        """Return the numbers that, with the arrays, make up the state."""
        own = Engine.scalars(self) | {"stride": self.stride, "taken": self.taken}
        for name, part in self.parts().items():
            own |= {f"{name}.{key}": value for key, value in part.get_state()[1].items()}
        return own

    def get_state(self):
        """Return (arrays, numbers): all that prediction and learning depend on."""
        arrays = {name: array.copy() for name, array in self.arrays.items() if name != "stored"}
        arrays["features"] = arrays["features"][:(self.size + 1) * NUMBERS]
        arrays["outlook"] = np.array(self.outlook())
        for name, part in self.parts().items():
            arrays |= {f"{name}.{key}": array for key, array in part.get_state()[0].items()}
        return arrays, self.scalars()

    def set_state(self, arrays, numbers):
        """Take a state over, or raise ValueError where it does not fit, and then stay as before."""
        before = self.get_state()
        try:
            self.take(arrays, numbers)
        except ValueError:
            self.take(*before)
            raise

    def take(self, arrays, numbers):
        """Have this state."""
        size, taken = numbers["size"], numbers["taken"]
        if numbers["mean_kept"] or not 0 <= taken <= SNAPSHOTS or numbers["stride"] < 1:
            raise ValueError("the state's numbers make no sense")
        sizes = {"features": (size + 1) * NUMBERS, "outcomes": self.ring, "foreseen": self.ring,
                 "snapshots": SNAPSHOTS * (self.members + 1), "outlook": 13}
        own = {name: array for name, array in arrays.items() if "." not in name}
        if own.keys() != sizes.keys():
            raise ValueError(f"expected the arrays {sorted(sizes)}, got {sorted(own)}")
        for name, array in own.items():
            if array.shape != (sizes[name],) or array.dtype != np.float64:
                raise ValueError(f"array {name} should hold {sizes[name]} numbers of type float64")
            if not np.isfinite(array).all():
                raise ValueError(f"array {name} holds a number that is not finite")
        table = own["features"].reshape(-1, NUMBERS)
        if (table[:, 8:17] < 0).any() or (table[:, 18:] < 0).any() or not table[0, 16] > 0:
            raise ValueError("array features holds a negative sum of squares or variance")
        self.take_parts(arrays, numbers)
        self.arrays = {"stored": np.zeros(size)} | {
            name: np.array(array) for name, array in own.items() if name != "outlook"}
        self.size, self.taken, self.stride = size, taken, numbers["stride"]
        self.relocate()
        outlook = own["outlook"].tolist()
        self.origin, self.low, self.high, self.mean, self.deviation, self.error, self.sizes, self.widest, self.opening = outlook[:9]
        self.averages[0], self.averages[1], self.averages[2], self.averages[3] = outlook[9:]
        self.restore({name: value for name, value in numbers.items() if "." not in name})

    def take_parts(self, arrays, numbers):
        """Have every part go on from its own part of a state."""
        size = numbers["size"]
        widths = {"plain": size + 1 if size <= FULL else None, "lagged": size + 3 if size <= LAGGED else None,
                  "combining": 5, "following": 6, "seeing": 12, "among_base": self.base_members,
                  "tracker": self.members, "leaner": self.members, "final": self.members + self.mixers}
        for name, part in self.parts().items():
            start = f"{name}."
            kept = {key.removeprefix(start): array for key, array in arrays.items() if key.startswith(start)}
            part.set_state(kept, {key.removeprefix(start): n for key, n in numbers.items() if key.startswith(start)})
            if widths[name] is not None and part.n != widths[name]:
                raise ValueError(f"{name} should have {widths[name]} inputs: got {part.n}")
            if isinstance(part, Weigher):
                (<Weigher> part).next_weights()
