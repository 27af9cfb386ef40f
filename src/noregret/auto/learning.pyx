"""The bank of ``auto``: updates of its members, and of their weights by their losses."""

from libc.math cimport copysign, fabs, log, sqrt
from libc.stdint cimport int32_t
from libc.stdlib cimport free, realloc

from noregret.linear.engine.engine cimport DIVERGED, FINE, NO_MEMORY, Engine, Row
from noregret.auto.memory_filters cimport MAX_INPUTS, Filters
from noregret.auto.predicting cimport LOGISTIC, MAX_SNAPSHOTS, SQUARE, TILTED, PredictingBank, Round, chance_of, clip, noregret_feature
from noregret.base.compiled.weigher cimport Weigher

from noregret.auto.predicting import GRANT_FIRST, KEEP_FIRST, LABEL_STEPS, STEPS

cdef extern from "first_order.h" nogil:
    void noregret_extent(const double* x, Py_ssize_t n, double* low, double* high) noexcept
    void noregret_lanes_observe(noregret_feature* features, const double* values, const int32_t* indices, Py_ssize_t count, double grant, const double* most) noexcept
    void noregret_lanes_meet(noregret_feature* features, const double* values, const int32_t* indices, Py_ssize_t count, const double* slopes, const double* rates, double* steps, double* moves) noexcept
    void noregret_lanes_learn(noregret_feature* features, const double* values, const int32_t* indices, Py_ssize_t count, const double* steps, const double* slopes, const double* errors, const double* r, const double* keep, const double* most) noexcept

cdef double[4] STEP_SIZES, LABEL_STEP_SIZES, KEPT_FIRST, GRANTED_FIRST
for lane in range(4):
    STEP_SIZES[lane], LABEL_STEP_SIZES[lane] = STEPS[lane], LABEL_STEPS[lane]
    KEPT_FIRST[lane], GRANTED_FIRST[lane] = KEEP_FIRST[lane], GRANT_FIRST[lane]
# The range of outcomes for first-order steps, in mean absolute deviations.
cdef double OUTCOME_RANGE = 6.0
# Errors are clipped to this many usual ones (robust members, outlying outcomes); the usual error is a
# moving average over ERROR_ROUNDS.
cdef double ROBUST_ERRORS = 3.0, OUTLYING_ERRORS = 8.0, ERROR_ROUNDS = 200.0
# Up to this many consecutive outlying outcomes are clipped; more are a change of level.
cdef double MAX_FLUKES = 2
# Rounds before which no outcome counts as outlying.
cdef double SETTLED_ROUNDS = 10
# 1/density of errors at 0, in mean errors, which turns a quantile step into a Newton step.
cdef double TILT_STEP = 3.0
cdef double MIN_WEIGHT = 1e-4
# Limits of losses, errors, and slopes times values, so that float64 does not overflow.
cdef double MAX_LOSS = 1e290, MAX_ERROR = 1e180, MAX_GRADIENT = 1e140
cdef double FAST_AVERAGE = 0.2, SLOW_AVERAGE = 0.05


cdef inline double usable(double error) noexcept nogil:
    """Return an error, or 0 if it is too large."""
    return error if fabs(error) < MAX_ERROR else 0.0


cdef class LearningBank(PredictingBank):
    """A bank that learns."""

    cdef int play(self, Row* row, double y) noexcept nogil:
        cdef int status
        self.learning = True
        status = Engine.play(self, row, y)
        self.learning = False
        return status

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef Round* r = &self.now
        cdef double near
        if not self.countable(y - self.origin):
            return DIVERGED
        if self.room_for_steps(row.count) != FINE:
            return NO_MEMORY
        near = self.nearer(r, y - self.origin)
        if self.importance > 0:
            self.weigh_members(r if self.judged == NULL else self.judged, y - self.origin, near)
        if self.rounds == 0:
            self.opening = self.importance * self.loss.table.value(&self.loss.table, score, y)
            if self.kind != LOGISTIC:
                self.origin = y
            near -= self.origin
        y -= self.origin
        self.sizes += 1 + r.present
        if self.importance > 0:
            self.teach_all(row, r, y)
        self.remember(r, near)
        return FINE

    cdef double nearer(self, const Round* r, double y) noexcept nogil:
        """Return the outcome, clipped to OUTLYING_ERRORS from the base unless outlying outcomes persist.

        Otherwise a single outlier would dominate the weights of the members.
        """
        cdef double most = OUTLYING_ERRORS * self.error
        if self.kind == LOGISTIC or self.rounds < SETTLED_ROUNDS or fabs(y - r.base) <= most:
            self.streak = 0
            return y
        self.streak += 1
        return y if self.streak > MAX_FLUKES else r.base + copysign(most, y - r.base)

    cdef bint countable(self, double y) noexcept nogil:
        """Return whether no loss can overflow."""
        return self.worst(y) < MAX_LOSS

    cdef double worst(self, double y) noexcept nogil:
        """Return an upper bound on the loss of any member."""
        cdef double off = fabs(y) + 2 * (self.high - self.low)
        if self.kind == LOGISTIC:
            return 0
        return self.importance * (off * off if self.kind == SQUARE else off)

    cdef void teach_all(self, const Row* row, Round* r, double y) noexcept nogil:
        cdef int code = 1 if self.kind == TILTED else 3
        self.teach_first(row, r, y)
        if r.full:
            self.teach(self.plain, r.x, r.plain_scores, r.plain_z, 0, y)
        self.teach(self.combining, r.several, r.several_scores, r.several_z, code, y)
        if self.recent:
            if r.lagged:
                self.teach(self.lagged, r.recent_x, r.lagged_scores, r.lagged_z, 1, y)
            self.teach(self.following, r.following, r.following_scores, r.following_z, code, y)
            self.teach(self.seeing, r.seeing, r.seeing_scores, r.seeing_z, code, y)

    cdef double loss_of(self, const Round* r, int k, double y) noexcept nogil:
        if self.kind == SQUARE:
            return self.importance * (r.says[k] - y) * (r.says[k] - y)
        if self.kind == LOGISTIC:
            return -self.importance * log(r.chance[k] if y > 0 else r.other[k])
        return self.importance * self.loss.table.value(&self.loss.table, r.says[k], y)

    cdef void weigh_members(self, Round* r, double y, double near) noexcept nogil:
        """Update all weighers with the members' losses, for the outcome as clipped."""
        cdef double[48] losses
        cdef double slope, own, guess, counted, loss
        cdef int k, everyone = self.members + self.mixers
        for k in range(everyone):
            losses[k] = self.loss_of(r, k, y)
        if self.kind == LOGISTIC:
            own = -self.importance * log(chance_of(self.mixed(self.final, r, everyone) * (1 if y > 0 else -1)))
            self.settle(self.final, losses, own, everyone)
            self.settle(self.among_base, losses, 0, self.base_members)
            self.settle(self.tracker, losses, 0, self.members)
            return
        guess = self.mixed(self.final, r, everyone)
        own = self.importance * self.loss.table.value(&self.loss.table, guess, y)
        if near != y:
            y = near  # the part left out is summed in ``beyond``
            counted = self.importance * self.loss.table.value(&self.loss.table, guess, y)
            for k in range(everyone):
                loss = self.loss_of(r, k, y)
                self.beyond[k] += (own - losses[k]) - (counted - loss)
                losses[k] = loss
            own = counted
        self.widest = max(self.widest, self.settle(self.final, losses, own, everyone))
        self.settle(self.among_base, losses, 0, self.base_members)
        self.settle(self.tracker, losses, 0, self.members)
        slope = self.importance * self.loss.table.slope(&self.loss.table, r.says[self.members + 1], y)
        for k in range(self.members):
            losses[k] = slope * r.says[k]
        self.settle(self.leaner, losses, slope * r.says[self.members + 1], self.members)

    cdef double settle(self, Weigher weigher, const double* losses, double own, int n) noexcept nogil:
        """Update a weigher with the members' losses; return their range."""
        cdef double low, high
        noregret_extent(losses, n, &low, &high)
        weigher.update(own, losses, NULL, low, high)
        weigher.rounds += 1
        weigher.fresh = False
        weigher.next_weights()
        return high - low

    cdef double error_of(self, int code, double score, double y) noexcept nogil:
        """Return the error for the update: plain (0), score clipped to the range (1), robust (2), or only outliers clipped (3)."""
        cdef double error, range, most
        if code == 0:
            return y - score
        range = self.high - self.low
        error = y - (self.held(score, False) if code < 3 and self.low - range < score < self.high + range else score)
        if self.kind == TILTED:
            most = self.error if code == 1 else 4 * self.error
            error = 0.5 * clip(2 * error / most if most > 0 else 0.0, -1.0, 1.0) + self.tilt - 0.5
            return TILT_STEP * self.error * error
        most = (ROBUST_ERRORS if code == 2 else OUTLYING_ERRORS) * self.error
        if code != 2 and (self.rounds < SETTLED_ROUNDS or self.streak > MAX_FLUKES):
            return error
        return clip(error, -most, most)

    cdef void teach(self, Filters filters, const double* x, const double* scores, const double* z, int code, double y) noexcept nogil:
        """Update four filters, each set of weights with errors of its kind."""
        cdef double[4] r
        cdef double[12] fresh
        cdef double chance
        cdef int k, row
        filters.observe(x)
        for k in range(4):
            r[k] = self.importance
            if self.kind == LOGISTIC:
                chance = chance_of(self.moderated(scores[k], z[k]))
                r[k] *= max(MIN_WEIGHT, chance * (1 - chance))
        if not filters.queue(x, y, self.importance, z, r):
            return
        if filters.learn():
            for row in range(filters.waiting):
                if filters.waiting == 1:
                    self.correct(filters, row, scores, code)
                else:
                    filters.scores(filters.rows + row * MAX_INPUTS, fresh)
                    self.correct(filters, row, fresh, code)
        filters.waiting = 0

    cdef void correct(self, Filters filters, int row, const double* scores, int code) noexcept nogil:
        """Update the weights of filters by their errors on a queued row."""
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
        cdef double one = 1, chance, z, size, grant, reach = OUTCOME_RANGE * self.deviation
        cdef double steepest = MAX_GRADIENT / max(1.0, row.peak)
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
                weights[k] *= max(MIN_WEIGHT, chance * (1 - chance))
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
        """Return the slope at the end of the implicit step, where ``move`` is the change of the score per unit of slope."""
        cdef double found, sign, far = 0, chance, step, each = move
        cdef int k
        if not move > 0:
            return slope
        if self.kind != LOGISTIC:
            found = self.loss.table.implicit(&self.loss.table, score, y, self.importance, move)
            return found if fabs(found) < fabs(slope) else slope
        move *= self.importance
        sign = 1 if y > 0 else -1
        for k in range(20):  # Newton iteration from below for the change of the score
            chance = chance_of(-sign * score - far)
            step = (move * chance - far) / (1 + move * chance * (1 - chance))
            far = clip(far + step, 0, fabs(slope) * move)
            if fabs(step) < 1e-6:
                break
        return -sign * far / each

    cdef int room_for_steps(self, Py_ssize_t count) noexcept nogil:
        """Allocate four steps per value of a row."""
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
        """Update the statistics of outcomes that later rounds use."""
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
        self.outcomes[self.rounds % self.ring], self.foreseen[self.rounds % self.ring] = y, r.base
        self.averages[0] += FAST_AVERAGE * (y - self.averages[0])
        self.averages[1] += SLOW_AVERAGE * (y - self.averages[1])
        if self.rounds >= self.delay:
            known = self.outcomes[(self.rounds - self.delay) % self.ring]
            self.averages[2] += FAST_AVERAGE * (known - self.averages[2])
            self.averages[3] += SLOW_AVERAGE * (known - self.averages[3])
        if self.rounds % self.stride == 0:
            self.take_snapshot()

    # Weights over time.

    cdef double weight_of(self, int k) noexcept nogil:
        """Return the total weight of a member in the next round, directly and through the mixtures."""
        cdef double found = self.final.p[k] + self.final.p[self.members] * self.tracker.p[k]
        return found + self.final.p[self.members + 1] * self.leaner.p[k] if self.mixers == 2 else found

    cdef void take_snapshot(self) noexcept nogil:
        """Record the members' weights; if there is no room, drop every other snapshot."""
        cdef int k, i, width = self.members + 1
        if self.taken == MAX_SNAPSHOTS:
            self.taken = MAX_SNAPSHOTS // 2
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
