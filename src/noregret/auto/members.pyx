"""The members of the bank of ``auto``: their predictions and updates.

From the row, filters with several memories and first-order learners predict; their mixture is the
base. Small filters then combine these predictions with the latest outcomes and the errors of the base.

All numbers are relative to the first outcome, in the unit of the outcomes; for labels they are
log-odds. None depends on the unit of a feature.
"""

from libc.math cimport INFINITY, M_PI, copysign, fabs, log, sqrt
from libc.stdint cimport int32_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

import numpy as np

cimport cython
cimport numpy as cnp

from noregret.auto.boosted cimport Boosted
from noregret.auto.first_order cimport (
    FEATURE_NUMBERS, MAX_FILTER_FEATURES, noregret_feature, noregret_lanes_errors, noregret_lanes_hold,
    noregret_lanes_learn, noregret_lanes_meet, noregret_lanes_observe, noregret_lanes_score,
)
from noregret.auto.forward cimport Forward
from noregret.auto.layout cimport LOGISTIC, SQUARE, TILTED, Round, chance_of, clip, layout_of, usable
from noregret.auto.memory_filters cimport MAX_INPUTS, MAX_UNQUEUED_GAINS, Filters
from noregret.auto.trees cimport Trees
from noregret.base.compiled.losses cimport Loss
from noregret.base.compiled.state_parts cimport StateParts, add_part, add_range
from noregret.linear.engine.engine cimport Row, position

from noregret.auto.settings import (
    GRANT, GRANT_ABOVE, GRANT_FIRST, KEEP, KEEP_ABOVE, KEEP_FIRST, LABEL_GRANT, LABEL_STEPS, STEPS,
    check_features, constant_feature,
)
from noregret.base.compiled.machine import copied, zeros
from noregret.limits import MAX_VALUE

cnp.import_array()

FILTERS = ("plain", "lagged", "combining", "following", "seeing")

cdef double[4] STEP_SIZES, LABEL_STEP_SIZES, KEPT_FIRST, GRANTED_FIRST
for lane in range(4):
    STEP_SIZES[lane], LABEL_STEP_SIZES[lane] = STEPS[lane], LABEL_STEPS[lane]
    KEPT_FIRST[lane], GRANTED_FIRST[lane] = KEEP_FIRST[lane], GRANT_FIRST[lane]
cdef enum:
    MAX_LAGGED_FEATURES = 64   # of filters that also use outcomes
    FOREST_TREES = 5           # beside boosted trees,
    LONE_FOREST_TREES = 10     # and before edition 3, without them
    LAGS = 3
# Initial variances of the constant feature's weight, for numbers and for labels.
cdef double CONSTANT_VARIANCE = 1e4, CONSTANT_LABEL_VARIANCE = 100.0
# Largest variance with finite products.
cdef double MAX_VARIANCE = 1e300
# The range of outcomes for first-order steps, in mean absolute deviations.
cdef double OUTCOME_RANGE = 6.0
# Errors are clipped to this many usual ones (robust members, outlying outcomes); the usual error is a
# moving average over ERROR_ROUNDS.
cdef double ROBUST_ERRORS = 3.0, OUTLYING_ERRORS = 8.0, ERROR_ROUNDS = 200.0
# Up to this many consecutive outlying outcomes are clipped; more are a change of level.
cdef double MAX_FLUKES = 2
# Errors beyond this many times those of outlying outcomes count alike for the weights of members: a huge one would make these
# rigid ever after.
cdef double HOPELESS_ERRORS = 2.0
# Predictions are held to the range of outcomes without the MOST_FLUKES highest and lowest, times this.
cdef double PLAUSIBLE_REACH = 8.0
cdef enum:
    MOST_FLUKES = 8
    LATER_NUMBERS = 2 * MOST_FLUKES + 8 + 2 * 8  # from plain_mean to before_at
# More of them in about so many rounds are no flukes either.
cdef double USUAL_FLUKES = 5, FLUKE_ROUNDS = 250
# Rounds before which no outcome counts as outlying.
cdef double UNSURE_ROUNDS = 10
cdef long long SETTLED_ROUNDS = 5, FIRST_SETTLED_ROUNDS = 10  # the latter in edition 1
# 1/density of errors at 0, in mean errors, which turns a quantile step into a Newton step.
cdef double TILT_STEP = 3.0
cdef double MIN_WEIGHT = 1e-4
# Limits of losses, and of slopes times values, so that float64 does not overflow.
cdef double MAX_LOSS = 1e290, MAX_GRADIENT = 1e140
cdef double FAST_AVERAGE = 0.2, SLOW_AVERAGE = 0.05


# Periods are looked for among these, for so many rounds, after so many outcomes to compare.
cdef enum:
    CANDIDATES = 8
    MAX_PERIOD = 336
    SEARCH_ROUNDS = 4096
    FEWEST_COMPARED = 24
    FIRST_SEEING = 12          # inputs of the filters over everything, without those of a period
cdef int[8] PERIODS = [7, 12, 24, 48, 96, 168, 288, MAX_PERIOD]
cdef double SEASONAL_SHARE = 0.9, MAX_PAST = 1e38
# How clearly labels must repeat: four standard deviations, with distances of 2.
cdef double SURELY = 5.6


cdef void sorted_in(double* sorted, double y, int n, double sign) noexcept nogil:
    """Put a number in a sorted list of n, in place of the first if it is full."""
    cdef int k = n
    if n == MOST_FLUKES:
        k = 0
        while k + 1 < n and sign * sorted[k + 1] < sign * y:
            sorted[k] = sorted[k + 1]
            k += 1
    else:
        while k > 0 and sign * sorted[k - 1] > sign * y:
            sorted[k] = sorted[k - 1]
            k -= 1
    sorted[k] = y


@cython.final
cdef class Members:
    """The learners of a bank, and the statistics of outcomes and features that they share."""

    def __cinit__(self, Loss loss not None, recent, delay, edition, trees):
        cdef int lane
        self.loss, self.recent, self.delay, self.edition = loss, recent, delay, edition
        self.at = layout_of(loss, recent, edition, trees)
        self.settled = SETTLED_ROUNDS if edition > 1 else FIRST_SETTLED_ROUNDS
        self.trees = Trees(self.at.kind == LOGISTIC, FOREST_TREES if edition > 2 else LONE_FOREST_TREES) if trees else None
        self.boosted = Boosted(self.at.kind == LOGISTIC) if self.at.boosted >= 0 else None
        self.tilt = loss.parameter if loss.name == "quantile" else 0.5
        constant = CONSTANT_LABEL_VARIANCE if self.at.kind == LOGISTIC else CONSTANT_VARIANCE
        grant = LABEL_GRANT if self.at.kind == LOGISTIC else GRANT
        self.plain, self.lagged = Filters(KEEP, grant, constant, self.at.variants), Filters(KEEP, grant, constant, 1, 3)
        self.combining, self.following = Filters(KEEP_ABOVE, GRANT_ABOVE, constant, 1, self.widths(0)["combining"]), Filters(KEEP_ABOVE, GRANT_ABOVE, constant, 1, 6)
        self.seeing = Filters(KEEP_ABOVE, GRANT_ABOVE, constant, 1, self.widths(0)["seeing"])
        self.forward = Forward() if self.at.forward >= 0 else None
        self.ring = delay + LAGS + 1
        self.arrays = {name: np.zeros(length) for name, length in self.lengths(0).items() if name != "past"}
        self.take_past(np.zeros(self.lengths(0).get("past", 0)))
        self.relocate()
        # The constant feature.
        self.features.count = self.features.sum = self.features.sum2 = self.features.size = 1
        self.features.prior = constant
        for lane in range(4):
            self.features.variance[lane] = GRANTED_FIRST[lane] * self.features.prior

    def __dealloc__(self):
        free(self.steps)

    # New features.

    cdef void relocate(self):
        """Update the pointers after the arrays moved."""
        self.features = <noregret_feature*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["features"])
        self.outcomes = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["outcomes"])
        self.foreseen = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["foreseen"])
        if "unclipped" in self.arrays:
            self.unclipped = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["unclipped"])

    cdef int resize(self, Py_ssize_t size) except -1:
        """Allocate room for more features, or remove the latest.

        New features are all zero: memory beyond the size was never written, as only features that
        were never learned are removed.
        """
        cdef Py_ssize_t room = cnp.PyArray_DIM(<cnp.ndarray> self.arrays["features"], 0) // FEATURE_NUMBERS
        if size + 1 > room:
            self.arrays["features"] = copied(self.arrays["features"], max(size + 1, 2 * room if room > 1 else 0) * FEATURE_NUMBERS)
            self.relocate()
        self.size = size
        if size <= MAX_FILTER_FEATURES:
            self.plain.grow(size + 1)
            if self.at.forward >= 0:
                self.forward.grow(size + 1)
        if size <= MAX_LAGGED_FEATURES:
            self.lagged.grow(size + 3)
        if self.trees is not None:
            self.trees.resize(size)
        if self.boosted is not None:
            self.boosted.resize(size)
        return 0

    cdef bint is_full(self) noexcept nogil:
        """Return whether the features are few enough for filters."""
        return self.size <= MAX_FILTER_FEATURES and self.plain.n == self.size + 1

    cdef bint is_lagged(self) noexcept nogil:
        return self.size <= MAX_LAGGED_FEATURES and self.lagged.n == self.size + 3

    # Predictions.

    cdef void predict_base(self, const Row* row, Round* r) noexcept nogil:
        """Fill in the predictions of the members that use no outcomes."""
        cdef double found
        # New features of this row count, as they will when it is learned.
        r.full = self.is_full() and self.size + row.unseen <= MAX_FILTER_FEATURES
        r.lagged = self.is_lagged() and self.size + row.unseen <= MAX_LAGGED_FEATURES
        self.say_first(row, r)
        r.says[self.at.mean] = self.mean
        if self.at.kind == LOGISTIC:
            found = clip((self.mean + 1) / 2, 1.0 / (self.rounds + 2), 1 - 1.0 / (self.rounds + 2))
            r.says[self.at.mean], r.says[self.at.mean + 1] = log(found / (1 - found)), 0
        self.say_plain(row, r)
        self.say_trees(r)

    cdef void look_back(self, Round* r, int offset) noexcept nogil:
        """Fill in the outcomes known, from ``offset`` rounds back."""
        cdef int k
        r.known.origin = self.origin
        for k in range(3):
            r.known.outcomes[k] = self.recall(self.outcomes, offset + k)
        for k in range(2):
            r.known.foreseen[k] = self.recall(self.foreseen, offset + k)
            r.known.averages[k] = self.averages[k if offset == 0 else 2 + k]
        r.known.last = self.recall(self.unclipped, offset) if self.at.unclipped >= 0 else 0
        r.known.period = self.period_at(self.rounds - offset)
        for k in range(2):
            r.known.seasonal[k] = self.recall_past(offset + <int> r.known.period - 1 + k) if r.known.period > 0 else 0

    cdef void predict_above(self, Round* r) noexcept nogil:
        """Fill in the predictions of the members that use those of others."""
        cdef int k
        if not r.full:  # inactive filters repeat the base
            for k in range(self.at.first):
                r.says[k] = r.base
        if not r.grown and self.trees is not None:
            r.says[self.at.trees] = r.base
        if self.at.boosted >= 0:
            self.say_boosted(r)
        self.say_several(r)
        if self.recent:
            self.say_lagged(r)
        if self.at.forward >= 0:
            self.say_forward(r)
        if self.at.unclipped >= 0:
            r.says[self.at.unclipped] = self.plain_mean

    cdef double held(self, double score) noexcept nogil:
        """Clip log-odds to what the number of rounds so far warrants."""
        cdef double most = log(2.0 * (self.rounds + 1))
        return clip(score, -most, most) if score == score else 0.0  # NaN after an overflow

    cdef void hold(self, const double* scores, bint wide, double* says) noexcept nogil:
        """Clip four scores to the range of the outcomes so far, or if wide, to three times that range."""
        cdef double more = self.ceiling - self.floor if wide else 0.0
        noregret_lanes_hold(scores, self.floor - more, self.ceiling + more, self.mean, says)

    cdef double moderated(self, double score, double z) noexcept nogil:
        """Return log-odds shrunk by the variance of the score."""
        return self.held(score / sqrt(1 + M_PI / 8 * z))

    cdef void say_filter(self, Filters filters, const double* x, double* scores, double* z, double* says, bint wide) noexcept nogil:
        """Fill in the scores and predictions of four filters."""
        cdef int k
        filters.scores(x, scores)
        if self.at.kind == LOGISTIC:
            filters.spread(x, z)
            for k in range(4):
                z[k] = z[k] if z[k] < MAX_VARIANCE else MAX_VARIANCE
                says[k] = self.moderated(scores[k], z[k])
            return
        for k in range(filters.variants):
            self.hold(scores + 4 * k, wide and k == 0, says + 4 * k)

    cdef void say_first(self, const Row* row, Round* r) noexcept nogil:
        cdef int lane
        cdef double* out = r.first_scores
        for lane in range(4):
            r.first_z[lane] = self.features.variance[lane]
            out[lane], out[4 + lane] = self.features.weight[lane], self.features.weight[4 + lane]
        r.present = noregret_lanes_score(self.features + 1, row.values, row.indices, row.count, out, r.first_z)
        if self.at.kind != LOGISTIC:
            self.hold(out, False, r.says + self.at.first)
            self.hold(out + 4, False, r.says + self.at.first + 4)
            return
        for lane in range(4):
            r.says[self.at.first + lane] = self.held(out[lane])
            r.says[self.at.first + 4 + lane] = self.moderated(out[4 + lane], r.first_z[lane])

    cdef void say_plain(self, const Row* row, Round* r) noexcept nogil:
        cdef Py_ssize_t k
        cdef double* x = r.x
        if not r.full:
            for k in range(self.at.first):
                r.says[k] = r.says[self.at.first + k % 8]
            return
        x[0] = 1
        memset(x + 1, 0, self.size * sizeof(double))
        for k in range(row.count):
            x[1 + position(row, k)] = row.values[k]
        self.say_filter(self.plain, x, r.plain_scores, r.plain_z, r.says, True)

    cdef void say_trees(self, Round* r) noexcept nogil:
        """Fill in the prediction of the forest; before it takes part, that of a filter."""
        cdef double found
        r.grown = r.foreseen = False
        if self.trees is None:
            return
        r.says[self.at.trees] = r.says[0 if self.at.kind == LOGISTIC else 4]
        if not r.full or not self.trees.knows(self.size):
            return
        r.foreseen = True
        found = self.trees.say(r.x + 1, r.forest_says)
        r.grown = self.trees.speaks(self.size)
        if r.grown:
            r.says[self.at.trees] = self.held(found) if self.at.kind == LOGISTIC else clip(found, self.low, self.high)

    cdef void say_boosted(self, Round* r) noexcept nogil:
        """Fill in the prediction of the boosted trees; before they take part, that of the base."""
        cdef double found
        r.says[self.at.boosted] = r.base
        r.boosted = r.full and self.boosted.knows(self.size)
        if not r.boosted:
            return
        memcpy(r.boosted_x, r.x, (self.size + 1) * sizeof(double))
        r.boosted_x[0] = r.base
        found = self.boosted.say(r.boosted_x, r.boosted_own, r.boosted_leaf)
        if self.boosted.speaks(self.size):
            r.says[self.at.boosted] = self.held(found) if self.at.kind == LOGISTIC else clip(found, self.low, self.high)

    cdef void say_forward(self, Round* r) noexcept nogil:
        """Fill in the prediction of the filter with a promise."""
        cdef double more = self.high - self.low, score
        r.says[self.at.forward], r.forward_score, r.forward_z = r.base, 0, 0
        if r.full and self.forward.lost == 0:
            score = self.forward.score(r.x, r.forward_x, &r.forward_score, &r.forward_z)
            r.says[self.at.forward] = clip(score, self.low - more, self.high + more) if score == score else self.mean

    cdef void say_several(self, Round* r) noexcept nogil:
        """Fill in the predictions of the filters over other members."""
        cdef int k
        cdef double* x = r.several
        cdef double* y = r.following
        cdef double* z = r.seeing
        x[0] = y[0] = z[0] = 1
        for k in range(4):
            if r.full:
                x[1 + k] = r.says[k if self.at.kind == LOGISTIC else 4 + k]
            else:
                x[1 + k] = r.says[self.at.first + (1 + k if k < 2 else 2 + k)]
            z[1 + k] = x[1 + k]
        if self.trees is not None:
            x[5] = z[FIRST_SEEING] = r.says[self.at.trees] if r.grown else 0.0
        if self.at.boosted >= 0:
            x[6] = z[FIRST_SEEING + 1] = r.says[self.at.boosted] if r.boosted and self.boosted.speaks(self.size) else 0.0
        self.say_filter(self.combining, x, r.several_scores, r.several_z, r.says + self.at.several, False)
        if not self.recent:
            return
        y[1], y[2], y[3], y[4], y[5] = r.base, r.known.outcomes[0], r.known.outcomes[1], r.known.foreseen[0], r.known.foreseen[1]
        self.say_filter(self.following, y, r.following_scores, r.following_z, r.says + self.at.following, True)
        for k in range(4):
            z[5 + k] = y[2 + k]
        z[9], z[10], z[11] = r.known.outcomes[2], r.known.averages[0], r.known.averages[1]
        k = self.unseasonal()
        z[k], z[k + 1] = r.known.seasonal[0], r.known.seasonal[1]
        self.say_filter(self.seeing, z, r.seeing_scores, r.seeing_z, r.says + self.at.seeing, False)

    cdef int unseasonal(self) noexcept nogil:
        """Return the number of inputs of the filters that see all, without those of a period."""
        return FIRST_SEEING + (self.trees is not None) + (self.at.boosted >= 0)

    cdef void say_lagged(self, Round* r) noexcept nogil:
        cdef Py_ssize_t k
        cdef double* x = r.recent_x
        r.says[self.at.last] = r.known.last if self.at.unclipped >= 0 else r.known.outcomes[0]
        if self.at.kind == LOGISTIC:
            r.says[self.at.last] = self.held(2 * r.says[self.at.last])
        if self.at.seasonal >= 0:
            r.says[self.at.seasonal] = r.says[self.at.last]
            if r.known.period > 0:
                r.says[self.at.seasonal] = self.held(2 * r.known.seasonal[0]) if self.at.kind == LOGISTIC else r.known.seasonal[0]
        if not r.lagged:
            for k in range(4):
                r.says[self.at.lagged + k] = r.base
            return
        x[0], x[1], x[2] = 1, r.known.outcomes[0], r.known.outcomes[1]
        for k in range(self.size):
            x[3 + k] = r.x[1 + k]
        self.say_filter(self.lagged, x, r.lagged_scores, r.lagged_z, r.says + self.at.lagged, False)

    cdef double recall(self, const double* ring, int back) noexcept nogil:
        """Return the entry of a ring buffer from a number of rounds back; 0 before the first round."""
        cdef long long at = self.slot - 1 - back
        return ring[at if at >= 0 else at + self.ring] if back < self.rounds else 0.0

    # Periods: outcomes that are closer to those of a period before than to those of half a period before.

    cdef double recall_past(self, long long back) noexcept nogil:
        """Return the outcome from a number of rounds back; 0 before the first round."""
        return self.past[(self.rounds - 1 - back) % self.past_length] if back < self.rounds else 0.0

    cdef double period_at(self, double rounds) noexcept nogil:
        """Return the period that was found after so many rounds, 0 for none."""
        if self.period > 0 and rounds >= self.found_at:
            return self.period
        return self.before if self.before > 0 and rounds >= self.before_at else 0.0

    cdef void use_period(self) noexcept nogil:
        """Let filters use the inputs of a period, if one was found."""
        if self.past != NULL:
            self.seeing.used = self.seeing.n if self.period > 0 else self.unseasonal()

    cdef void look_for_period(self, double y) noexcept nogil:
        """Update the distances by an outcome, which is not in the ring buffer yet."""
        cdef int k, period
        if self.rounds >= SEARCH_ROUNDS:
            return
        for k in range(CANDIDATES):
            period = PERIODS[k]
            if self.rounds < period:
                break
            self.apart[k] += fabs(y - self.recall_past(period - 1))
            self.halves[k] += fabs(y - self.recall_past(period // 2 - 1))
        if self.rounds % 16 == 15:
            self.choose_period()

    cdef void choose_period(self) noexcept nogil:
        """Choose the period with the smallest mean distance, if that is clearly below the one at half of it."""
        cdef double least = INFINITY, own = INFINITY, count, found = 0
        cdef int k
        for k in range(CANDIDATES):
            count = self.rounds + 1 - PERIODS[k]
            if count < max(2 * PERIODS[k], FEWEST_COMPARED):
                break
            if PERIODS[k] == self.period:
                own = self.apart[k] / count
            if self.at.kind == LOGISTIC and self.halves[k] - self.apart[k] < SURELY * sqrt(self.halves[k] + self.apart[k]):
                continue  # distances of labels are 0 or 2: as many may differ by chance
            if self.apart[k] < (SEASONAL_SHARE - 2 / sqrt(count)) * self.halves[k] and self.apart[k] < least * count:
                least, found = self.apart[k] / count, PERIODS[k]
        if found > 0 and found != self.period and (self.period == 0 or least < SEASONAL_SHARE * own):
            self.before, self.before_at = self.period, self.found_at
            self.period, self.found_at = found, self.rounds + 1
            self.use_period()

    # Updates.

    cdef bint countable(self, double y, double importance) noexcept nogil:
        """Return whether no loss of a member can overflow."""
        cdef double off = fabs(y) + 2 * (self.high - self.low)
        return self.at.kind == LOGISTIC or importance * (off * off if self.at.kind == SQUARE else off) < MAX_LOSS

    cdef bint make_room(self, Py_ssize_t count) noexcept nogil:
        """Allocate what a round with so many values needs; return whether there was memory."""
        return self.room_for_steps(count) and (
            self.trees is None or self.trees.make_room(self.size, self.rounds, self.high - self.low)) and (
            self.boosted is None or self.boosted.make_room(self.size, self.rounds, self.high - self.low))

    cdef bint room_for_steps(self, Py_ssize_t count) noexcept nogil:
        """Allocate four steps per value of a row; return whether there was memory."""
        cdef double* found
        if count > self.steps_room:
            found = <double*> realloc(self.steps, 4 * 2 * count * sizeof(double))
            if found == NULL:
                return False
            self.steps, self.steps_room = found, 2 * count
        return True

    cdef double outlying_error(self) noexcept nogil:
        """Return the error from which on an outcome counts as outlying; at first the usual one is not known well."""
        if self.at.unclipped < 0:
            return OUTLYING_ERRORS * self.error
        return OUTLYING_ERRORS * (1 + UNSURE_ROUNDS / (self.rounds + 1)) * self.error if self.error > 0 else INFINITY

    cdef double nearer(self, const Round* r, double y) noexcept nogil:
        """Return the outcome, clipped to OUTLYING_ERRORS from the base unless outlying outcomes persist.

        Otherwise a single outlier would dominate the weights of the members.
        """
        cdef double most = self.outlying_error()
        self.flukes -= self.flukes / FLUKE_ROUNDS
        if self.at.kind == LOGISTIC or self.rounds < self.settled or fabs(y - r.base) <= most:
            self.streak = 0
            return y
        self.flukes += 1
        self.streak += 1
        if self.at.unclipped >= 0 and self.flukes > USUAL_FLUKES:
            self.streak = max(self.streak, MAX_FLUKES + 1)
        return y if self.streak > MAX_FLUKES else r.base + copysign(most, y - r.base)

    cdef bint lasts(self, const Round* r, double y) noexcept nogil:
        """Return whether an outlying outcome is near the last one, or between that and the base."""
        cdef double most = self.outlying_error()
        return self.at.unclipped >= 0 and min(r.base, r.known.last) - most <= y <= max(r.base, r.known.last) + most

    cdef double widest_error(self) noexcept nogil:
        """Return the error beyond which all count alike for the weights of members; 0 for no limit."""
        if self.at.unclipped < 0 or self.rounds < self.settled:
            return 0
        return HOPELESS_ERRORS * self.outlying_error()

    cdef void learn(self, const Row* row, Round* r, double y, double near, double importance) noexcept nogil:
        """Update all members with an outcome, as it was and as clipped."""
        cdef int code = 1 if self.at.kind == TILTED else 3
        if self.at.unclipped < 0:  # edition 1 clips errors instead
            near = y
        self.row_sizes += 1 + r.present
        if not importance > 0:
            return
        if self.at.forward >= 0:
            if r.full:
                self.forward.learn(r.x, r.forward_x, r.forward_score, r.forward_z, r.says[self.at.forward], y, importance)
            else:
                self.forward.lost += 1
        self.teach_first(row, r, y, near, importance)
        if r.full:
            self.teach(self.plain, r.x, r.plain_scores, r.plain_z, 0, y, importance)
        if self.trees is not None:
            self.trees.learn(r.x + 1, self.size, r.forest_says if r.foreseen else NULL, near)
        if self.boosted is not None:
            self.teach_boosted(r, near)
        self.teach(self.combining, r.several, r.several_scores, r.several_z, code, near, importance)
        if self.recent:
            if r.lagged:
                self.teach(self.lagged, r.recent_x, r.lagged_scores, r.lagged_z, 1, near, importance)
            self.teach(self.following, r.following, r.following_scores, r.following_z, code, near, importance)
            self.teach(self.seeing, r.seeing, r.seeing_scores, r.seeing_z, code, near, importance)

    cdef void teach_boosted(self, Round* r, double y) noexcept nogil:
        cdef bint known = r.boosted
        if not known and r.full:
            memcpy(r.boosted_x, r.x, (self.size + 1) * sizeof(double))
            r.boosted_x[0] = r.base
        self.boosted.learn(r.boosted_x, self.size, r.boosted_own if known else NULL, r.boosted_leaf if known else NULL, y)

    cdef void teach_first(self, const Row* row, Round* r, double y, double near, double importance) noexcept nogil:
        cdef double[4] slopes
        cdef double[4] errors
        cdef double[4] rates
        cdef double[4] weights
        cdef double[4] own
        cdef double[4] off
        cdef double[4] moves = [0, 0, 0, 0]
        cdef double one = 1, chance, z, size, grant, reach = OUTCOME_RANGE * self.deviation
        cdef double steepest = MAX_GRADIENT / max(1.0, row.peak)
        cdef int k
        size = self.row_sizes / (self.rounds + 1)  # of a row, on average
        grant = 1 / sqrt(size)
        noregret_lanes_observe(self.features + 1, row.values, row.indices, row.count, grant, GRANTED_FIRST)
        if self.at.kind != LOGISTIC:
            self.errors_of(1, r.first_scores + 4, near, self.at.unclipped < 0, off)
        for k in range(4):
            slopes[k] = clip(importance * self.loss.table.slope(&self.loss.table, r.says[self.at.first + k], y), -steepest, steepest)
            rates[k] = (LABEL_STEP_SIZES[k] if self.at.kind == LOGISTIC else STEP_SIZES[k] * reach) / sqrt(size)
            z, weights[k] = r.first_z[k], importance
            if self.at.kind == LOGISTIC:
                chance = r.chance[self.at.first + 4 + k]
                weights[k] *= max(MIN_WEIGHT, chance * (1 - chance))
                errors[k] = (1.0 if y > 0 else 0.0) - chance
            else:
                errors[k] = off[k]
            errors[k] = usable(errors[k] * (importance / (KEPT_FIRST[k] + weights[k] * z)))
        noregret_lanes_meet(self.features + 1, row.values, row.indices, row.count, slopes, rates, self.steps, moves)
        noregret_lanes_meet(self.features, &one, NULL, 1, slopes, rates, own, moves)
        for k in range(4):
            slopes[k] = self.slope_after(r.says[self.at.first + k], slopes[k], moves[k], y, importance)
        noregret_lanes_learn(self.features + 1, row.values, row.indices, row.count, self.steps, slopes, errors, weights, KEPT_FIRST, GRANTED_FIRST)
        noregret_lanes_learn(self.features, &one, NULL, 1, own, slopes, errors, weights, KEPT_FIRST, GRANTED_FIRST)

    cdef double slope_after(self, double score, double slope, double move, double y, double importance) noexcept nogil:
        """Return the slope at the end of the implicit step, where ``move`` is the change of the score per unit of slope."""
        cdef double found, sign, far = 0, chance, step, each = move
        cdef int k
        if not move > 0:
            return slope
        if self.at.kind != LOGISTIC:
            found = self.loss.table.implicit(&self.loss.table, score, y, importance, move)
            return found if fabs(found) < fabs(slope) else slope
        move *= importance
        sign = 1 if y > 0 else -1
        for k in range(20):  # Newton iteration from below for the change of the score
            chance = chance_of(-sign * score - far)
            step = (move * chance - far) / (1 + move * chance * (1 - chance))
            far = clip(far + step, 0, fabs(slope) * move)
            if fabs(step) < 1e-6:
                break
        return -sign * far / each

    cdef void teach(self, Filters filters, const double* x, const double* scores, const double* z, int code, double y, double importance) noexcept nogil:
        """Update four filters, each set of weights with errors of its kind."""
        cdef double[4] r
        cdef double[12] fresh
        cdef double[MAX_UNQUEUED_GAINS] gains
        cdef double chance
        cdef int k, row
        if filters.queue_rows == 0:
            memset(gains, 0, sizeof(gains))
            filters.k = gains
        filters.observe(x)
        for k in range(4):
            r[k] = importance
            if self.at.kind == LOGISTIC:
                chance = chance_of(self.moderated(scores[k], z[k]))
                r[k] *= max(MIN_WEIGHT, chance * (1 - chance))
        if filters.waiting == 0 and filters.queue_length() == 1:
            if filters.learn(x, r, 1):
                self.correct(filters, 0, scores, z, code, y, importance)
            return
        if not filters.queue(x, y, importance, z, r):
            return
        if filters.learn(filters.rows, filters.worth, filters.waiting):
            for row in range(filters.waiting):
                filters.scores(filters.rows + row * MAX_INPUTS, fresh)
                self.correct(filters, row, fresh, filters.unsure + 4 * row, code, filters.told[2 * row], filters.told[2 * row + 1])
        filters.waiting = 0

    cdef void correct(self, Filters filters, int row, const double* scores, const double* z, int code, double y, double importance) noexcept nogil:
        """Update the weights of filters by their errors on a row, whose gains they have learned."""
        cdef double[12] errors
        cdef int k
        if self.at.kind == LOGISTIC:
            for k in range(4):
                errors[k] = (1.0 if y > 0 else 0.0) - chance_of(self.moderated(scores[k], z[k]))
        else:
            for k in range(filters.variants):
                self.errors_of(code + k, scores + 4 * k, y, self.at.unclipped < 0 or filters.variants > 1, errors + 4 * k)
        for k in range(4 * filters.variants):
            errors[k] = usable(errors[k] * importance)
        filters.step(row, errors)

    cdef void errors_of(self, int code, const double* scores, double y, bint clips, double* errors) noexcept nogil:
        """Fill in four errors for the update: plain (0), score clipped to the range (1), robust (2), or only outliers clipped (3).

        ``clips`` is False if y is clipped already.
        """
        cdef double most = INFINITY
        cdef int k
        if self.at.kind == TILTED and code > 0:
            noregret_lanes_errors(scores, self.low, self.high, code < 3, y, most, errors)
            most = self.error if code == 1 else 4 * self.error
            for k in range(4):
                errors[k] = 0.5 * clip(2 * errors[k] / most if most > 0 else 0.0, -1.0, 1.0) + self.tilt - 0.5
                errors[k] = TILT_STEP * self.error * errors[k]
            return
        if code == 2:
            most = ROBUST_ERRORS * self.error
        elif clips and code > 0 and self.rounds >= self.settled and self.streak <= MAX_FLUKES:
            most = self.outlying_error()
        noregret_lanes_errors(scores, self.low, self.high, 0 < code < 3, y, most, errors)

    cdef void restrict(self, double y) noexcept nogil:
        """Update the range of plausible predictions: few outcomes alone do not widen it by much."""
        cdef double middle, reach
        cdef int n = <int> min(self.rounds, MOST_FLUKES)
        if self.rounds < MOST_FLUKES or y > self.highest[0]:
            sorted_in(self.highest, y, n, 1)
        if self.rounds < MOST_FLUKES or y < self.lowest[0]:
            sorted_in(self.lowest, y, n, -1)
        self.floor, self.ceiling = self.low, self.high
        if self.rounds + 1 >= 3 * MOST_FLUKES and self.highest[0] > self.lowest[0]:
            middle, reach = (self.lowest[0] + self.highest[0]) / 2, PLAUSIBLE_REACH * (self.highest[0] - self.lowest[0]) / 2
            self.floor, self.ceiling = max(self.low, middle - reach), min(self.high, middle + reach)

    cdef void remember(self, const Round* r, double y, double far) noexcept nogil:
        """Update the statistics of outcomes that later rounds use, by the outcome as clipped and as it was."""
        cdef double rounds = self.rounds + 1, known, off = fabs(y - r.base)
        self.mean += (y - self.mean) / rounds
        self.deviation += (fabs(y - self.mean) - self.deviation) / rounds
        self.low, self.high = min(self.low, y), max(self.high, y)
        if self.rounds < 3:
            self.error = off
        else:
            if self.streak <= MAX_FLUKES:
                off = min(off, 2 * ROBUST_ERRORS * self.error + 1e-3 * self.deviation)
            self.error += (off - self.error) / min(rounds, ERROR_ROUNDS)
        self.outcomes[self.slot], self.foreseen[self.slot] = y, r.base
        if self.at.unclipped >= 0:
            self.unclipped[self.slot] = far
            self.plain_mean += (far - self.plain_mean) / rounds
            self.restrict(y)
        else:
            self.floor, self.ceiling = self.low, self.high
        if self.past != NULL:
            self.look_for_period(y)
            self.past[self.rounds % self.past_length] = <float> clip(far, -MAX_PAST, MAX_PAST)
        self.averages[0] += FAST_AVERAGE * (y - self.averages[0])
        self.averages[1] += SLOW_AVERAGE * (y - self.averages[1])
        if self.rounds >= self.delay:
            known = self.outcomes[self.slot - self.delay if self.slot >= self.delay else self.slot - self.delay + self.ring]
            self.averages[2] += FAST_AVERAGE * (known - self.averages[2])
            self.averages[3] += SLOW_AVERAGE * (known - self.averages[3])
        self.rounds += 1
        self.slot = self.slot + 1 if self.slot + 1 < self.ring else 0

    # Findings.

    @property
    def season(self) -> int:
        """The period found, in rounds; 0 for none."""
        return int(self.period)

    @property
    def full(self) -> bool:
        """True if the features are few enough for filters."""
        return bool(self.is_full())

    def features_seen(self):
        """Return the table of all features but the constant one, and the indices of those ever present."""
        table = self.arrays["features"][FEATURE_NUMBERS:(self.size + 1) * FEATURE_NUMBERS].reshape(-1, FEATURE_NUMBERS)
        return table, np.flatnonzero(table[:, 16] > 0)

    def weights(self):
        """Return a linear predictor: the filter without forgetting, or its diagonal form.

        Its constant is added to the first constant feature, such as the intercept of a stream.
        """
        table, seen = self.features_seen()
        if self.is_full():
            own = self.plain.weights(0 if self.at.kind == LOGISTIC else 1, 0)
            constant, found = own[0], own[1:]
        else:
            constant, found = self.features.weight[4], zeros(self.size)
            found[seen] = table[seen, 4]
        same = constant_feature(table, seen, self.rounds)
        if same is not None:
            found[same[0]] += (self.origin + constant) * self.rounds / same[1]
        return found

    def influence(self) -> Floats:
        """Return the standard deviation of each feature's contribution to the predictions of ``weights``."""
        table, seen = self.features_seen()
        count, total, squares = table[seen, 16:19].T
        rounds = max(1, self.rounds)
        spread = np.maximum(0.0, squares / rounds - (total / rounds) ** 2)
        found = zeros(self.size)
        found[seen] = np.abs(self.weights()[seen]) * np.sqrt(spread)
        return found

    # The state.

    cdef void list_state(self, StateParts* parts):
        """Add the places of all numbers that rounds change."""
        cdef Filters filters
        add_range(parts, &self.rounds, &self.before_at + 1)
        if self.past != NULL:
            add_part(parts, self.past, self.past_length * sizeof(float))
        add_range(parts, self.features, self.features + self.size + 1)
        add_part(parts, self.outcomes, self.ring * sizeof(double))
        add_part(parts, self.foreseen, self.ring * sizeof(double))
        if self.at.unclipped >= 0:
            add_part(parts, self.unclipped, self.ring * sizeof(double))
        for filters in (self.plain, self.lagged, self.combining, self.following, self.seeing):
            filters.list_state(parts)
        if self.trees is not None:
            self.trees.list_state(parts)
        if self.boosted is not None:
            self.boosted.list_state(parts)
        if self.at.forward >= 0:
            self.forward.list_state(parts)

    def parts(self):
        """Return all filters, the forest and the forward filter, by name."""
        found = {name: getattr(self, name) for name in (*FILTERS, "trees", "boosted", "forward")}
        return {name: part for name, part in found.items() if part is not None}

    def widths(self, size):
        """Return the number of inputs of all filters that are active, for a number of features."""
        found = {"plain": size + 1 if size <= MAX_FILTER_FEATURES else None, "lagged": size + 3 if size <= MAX_LAGGED_FEATURES else None}
        more = (self.trees is not None) + (self.at.boosted >= 0)
        seasonal = 2 if self.at.seasonal >= 0 and self.recent else 0
        return found | {"combining": 5 + more, "following": 6, "seeing": FIRST_SEEING + seasonal + more, "trees": None, "boosted": None, "forward": found["plain"]}

    def lengths(self, size):
        """Return the length of each array, for a number of features."""
        found = {"outcomes": self.ring, "foreseen": self.ring, "features": (size + 1) * FEATURE_NUMBERS}
        if self.at.unclipped >= 0:
            found["unclipped"] = self.ring
        return found | {"past": self.delay + MAX_PERIOD + 2} if self.at.seasonal >= 0 and self.recent else found

    def state(self):
        """Return copies of all arrays."""
        length = (self.size + 1) * FEATURE_NUMBERS
        found = {name: copied(array[:length]) if name == "features" else array.copy() for name, array in self.arrays.items()}
        return found | {"past": self.past_array.astype(float)} if self.past != NULL else found

    def check(self, arrays):
        """Raise ValueError if the arrays of a state, which have the right lengths, are invalid."""
        if max(np.abs(arrays[name]).max(initial=0.0) for name in arrays.keys() & {"outcomes", "foreseen", "unclipped"}) > MAX_VALUE:
            raise ValueError("the state holds outcomes that are too large")
        check_features(arrays["features"].reshape(-1, FEATURE_NUMBERS))

    def take_past(self, outcomes):
        """Replace the ring buffer of outcomes, if there is one."""
        self.past_array = outcomes.astype(np.float32)
        self.past_length = len(outcomes)
        self.past = <float*> cnp.PyArray_DATA(<cnp.ndarray> self.past_array) if len(outcomes) else NULL
        self.use_period()

    def later_outlook(self):
        """Return the statistics of outcomes that edition 1 does not have."""
        cdef int length = LATER_NUMBERS if self.edition > 1 else 0
        return np.array(<double[:LATER_NUMBERS]> &self.plain_mean)[:length].tolist()

    def take_outlook(self, numbers):
        """Replace these statistics."""
        cdef int k
        self.floor, self.ceiling = self.low, self.high
        for k, number in enumerate(numbers):
            (&self.plain_mean)[k] = number

    def take(self, arrays, numbers):
        """Replace the arrays, and set the numbers of features and rounds."""
        self.arrays, self.size, self.rounds = arrays, numbers["size"], numbers["rounds"]
        self.slot = self.rounds % self.ring
        self.relocate()
