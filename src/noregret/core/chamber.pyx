"""The round over experts: their advice is combined, the outcome is seen, everyone pays, weights move.

One expert or a thousand, advice or plain losses: all pass here. The door to it is the council's.
"""

from libc.math cimport INFINITY, exp, fabs, isnan, log
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

import numpy as np

cimport numpy as cnp

from noregret.core.forecast_losses cimport log_value, percentage_value
from noregret.core.losses cimport Loss, LossTable, as_loss
from noregret.core.weigher cimport Weigher, noregret_excess, noregret_scaled_survey, noregret_survey, noregret_survey_of

from noregret.core.forecast_losses import find_loss

cnp.import_array()

# Forecasts and losses beyond these leave no room for what is made of them.
cdef double LARGEST_ADVICE = 1e150
cdef double LARGEST_LOSS = 1e300
# From this share of the votes on, a prediction is 1: half of them, however the sum was rounded.
cdef double EVEN = 0.5 - 1e-12

cdef enum:  # Manner
    MEAN                 # predict the weighted mean of the advice
    VOTE                 # predict what the heavier half says
    SUBSTITUTE           # predict as Vovk's aggregating algorithm does, square loss
    EXPECT               # pay the weighted mean of the losses
    SAMPLE               # follow one expert, drawn from the weights

MANNERS = ("mean", "vote", "substitute", "expect", "sample")

cdef Loss square_like = as_loss("square", None)


cdef inline double drawn(uint64_t seed, uint64_t round) noexcept nogil:
    """Return a number in [0, 1) that depends on the seed and the round alone."""
    cdef uint64_t z = seed * 0x9E3779B97F4A7C15ULL + (round + 1) * 0xD1B54A32D192ED03ULL
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL
    z ^= z >> 31
    return (z >> 11) * (1.0 / 9007199254740992.0)


cdef inline double within(double mean, double low, double high) noexcept nogil:
    """Return a mean as rounding left it, but no further than what it is of.

    Where all say or lose the same, so does the mixture, to the bit: nothing is learned of rounding.
    """
    return low if mean < low else high if mean > high else mean


cdef class Chamber:
    """Experts, how they are weighed and combined, and what everyone has paid.

    Parameters
    ----------
    weigher
        How they are weighed.
    loss, loss_parameter
        What a forecast costs.
    gradient
        Whether experts pay the slope of the mixture's loss times their forecast.
    manner
        How advice is combined: ``mean``, ``vote``, ``substitute``, ``expect`` or ``sample``.
    low, high
        The range of forecasts and outcomes, where one is assumed.
    spread
        The largest difference between two losses of a round, where one is assumed.
    sleeping
        Whether experts may sleep.
    seed
        For ``sample``.
    votes
        Whether forecasts and outcomes are 0 or 1.
    """

    def __cinit__(self, *args, **options):
        # Of one whose __init__ never ran nothing works, but nothing may crash either.
        self.weigher, self.cost, self.experts = Weigher(), square_like, []
        self.settle()

    def __init__(self, Weigher weigher not None, loss="square", loss_parameter=None, gradient=False, manner="mean",
                 low=-INFINITY, high=INFINITY, spread=INFINITY, sleeping=True, seed=0, votes=False):
        if self.built:
            self.wait()
        self.weigher, self.cost = weigher, find_loss(loss, loss_parameter)
        self.linearised, self.manner = gradient, MANNERS.index(manner)
        self.floor, self.ceiling, self.allowed, self.may_sleep, self.seed = low, high, spread, sleeping, seed
        self.votes = votes or self.manner == VOTE
        self.by_gap = weigher.knows_excess() and not gradient
        self.experts, self.held = [], None
        self.lowest, self.highest = INFINITY, -INFINITY
        self.settle()
        self.built = True

    cdef int wait(self) except -1:
        """Wait until no thread plays."""
        return 0

    cdef int settle(self) except -1:
        """Have room for as many experts as there are."""
        cdef Py_ssize_t n = self.weigher.n
        before = self.held or {}
        made = {}
        for name in ("excess", "asleep_rounds", "paid", "counted", "q"):
            made[name] = np.zeros(n)
            if name in before and len(before[name]) <= n:
                made[name][:len(before[name])] = before[name]
        made["awake"] = np.ones(n, np.uint8)
        self.held = made
        self.excess = <double*> cnp.PyArray_DATA(<cnp.ndarray> made["excess"])
        self.asleep_rounds = <double*> cnp.PyArray_DATA(<cnp.ndarray> made["asleep_rounds"])
        self.paid = <double*> cnp.PyArray_DATA(<cnp.ndarray> made["paid"])
        self.counted = <double*> cnp.PyArray_DATA(<cnp.ndarray> made["counted"])
        self.q = <double*> cnp.PyArray_DATA(<cnp.ndarray> made["q"])
        self.awake = <unsigned char*> cnp.PyArray_DATA(<cnp.ndarray> made["awake"])
        self.seats = n
        return 0

    cdef int wake(self, const double* x) noexcept nogil:
        """Note who is awake; return how many sleep."""
        cdef Py_ssize_t i
        cdef int asleep = 0
        for i in range(self.weigher.n):
            self.awake[i] = not isnan(x[i])
            asleep += not self.awake[i]
        return asleep

    cdef const double* shares(self, int asleep) noexcept nogil:
        """Return the weights among those awake."""
        if asleep:
            self.weigher.weigh(self.q, self.awake)
            return self.q
        self.weigher.next_weights()
        return self.weigher.p

    cdef int read(self, const double* x, noregret_survey* found) noexcept nogil:
        """Look at the advice of a round: who sleeps, its ends and its mean; or return what is wrong."""
        cdef Py_ssize_t i, n = self.weigher.n
        cdef bint chances = self.cost.table.value == log_value
        self.weigher.next_weights()
        found[0] = noregret_survey_of(self.weigher.p, x, n)
        self.sleepers = 0
        if found.sane == 0 and not self.votes and -LARGEST_ADVICE <= found.low <= found.high <= LARGEST_ADVICE \
                and not (chances and (found.low < 0 or found.high > 1)):
            return FINE
        self.sleepers = self.wake(x)
        if self.sleepers and not self.may_sleep:
            return NO_SLEEP
        if self.sleepers == n:
            return ALL_ASLEEP
        found.low, found.high = INFINITY, -INFINITY
        for i in range(n):
            if not self.awake[i]:
                continue
            self.culprit = i
            if not (fabs(x[i]) <= LARGEST_ADVICE):
                return BAD_ADVICE
            if self.votes and x[i] != 0 and x[i] != 1:
                return NOT_BOOLEAN
            if chances and not (0 <= x[i] <= 1):
                return NOT_PROBABILITY
            found.low, found.high = min(found.low, x[i]), max(found.high, x[i])
        self.culprit = -1
        return FINE

    cdef double combined(
        self, const double* q, const double* x, const noregret_survey* found, Py_ssize_t* pick
    ) noexcept nogil:
        """Return the prediction."""
        cdef Py_ssize_t i
        cdef double sum = 0
        if self.manner == SAMPLE:
            pick[0] = self.draw(q)
            return x[pick[0]]
        if self.manner == SUBSTITUTE:
            return self.substituted(q, x)
        if self.sleepers:
            for i in range(self.weigher.n):
                if q[i] > 0:
                    sum += q[i] * x[i]
        else:
            sum = found.dot
        if self.manner == VOTE:
            return 1.0 if sum >= EVEN else 0.0
        return within(sum, found.low, found.high)

    cdef Py_ssize_t draw(self, const double* q) noexcept nogil:
        """Return the expert that is drawn in the round at hand."""
        cdef double u = drawn(self.seed, self.weigher.rounds), sum = 0
        cdef Py_ssize_t i, pick = 0
        for i in range(self.weigher.n):
            if q[i] > 0:
                sum += q[i]
                pick = i
                if u < sum:
                    break
        return pick

    cdef double substituted(self, const double* q, const double* x) noexcept nogil:
        """Return Vovk's prediction: one that pays at most the mixed loss, whatever the outcome."""
        cdef double width = self.ceiling - self.floor, rate = 2 / (width * width), guess
        guess = (self.ceiling + self.floor) / 2 + (
            self.mixed(q, x, self.floor, rate) - self.mixed(q, x, self.ceiling, rate)) / (2 * width)
        return self.floor if guess < self.floor else self.ceiling if guess > self.ceiling else guess

    cdef double mixed(self, const double* q, const double* x, double y, double rate) noexcept nogil:
        """Return −ln Σ q exp(−rate · (x − y)²) / rate, from the least exponent."""
        cdef Py_ssize_t i
        cdef double least = INFINITY, sum = 0, off
        for i in range(self.weigher.n):
            if q[i] > 0:
                least = min(least, (x[i] - y) * (x[i] - y))
        for i in range(self.weigher.n):
            if q[i] > 0:
                off = (x[i] - y) * (x[i] - y) - least
                sum += q[i] * exp(-rate * off)
        return least - log(sum) / rate

    cdef int play(self, const double* x, double y, double* prediction, double* used) noexcept nogil:
        """Play a round with advice, or return why not and leave everything as it was."""
        cdef Py_ssize_t i, n = self.weigher.n, pick = -1
        cdef int status = self.check_outcome(y)
        cdef double guess, own, slope, linear
        cdef LossTable* table = &self.cost.table
        cdef noregret_survey found, paid
        cdef const double* q
        if status == FINE:
            status = self.read(x, &found)
        if status != FINE:
            return status
        q = self.shares(self.sleepers)
        guess = self.combined(q, x, &found, &pick)
        self.cost_all(x, y)
        own = table.value(table, guess, y)
        paid = noregret_survey_of(q, self.paid, n)
        if self.manner == EXPECT or self.manner == SAMPLE:
            own = self.mean_of(q, self.paid)
        if table.python != NULL and (isnan(own) or isnan(paid.dot) or paid.low == -INFINITY):
            return LOSS_FAILED
        if own == INFINITY:
            return HOPELESS
        if not fabs(own) <= LARGEST_LOSS:
            return OVERFLOWED
        if self.linearised:
            slope = table.slope(table, guess, y)
            linear = slope * guess
            if isnan(slope):
                return LOSS_FAILED
            if not (fabs(slope * found.low) <= LARGEST_LOSS and fabs(slope * found.high) <= LARGEST_LOSS):
                return OVERFLOWED
        if self.sleepers or not paid.high <= LARGEST_LOSS:
            paid.low, paid.high = INFINITY, -INFINITY
            for i in range(n):
                if self.sleepers and not self.awake[i]:
                    self.paid[i] = own
                elif not self.paid[i] <= LARGEST_LOSS:
                    self.paid[i] = LARGEST_LOSS
                paid.low, paid.high = min(paid.low, self.paid[i]), max(paid.high, self.paid[i])
        if self.linearised:
            for i in range(n):
                self.counted[i] = slope * x[i]
            if self.sleepers:
                for i in range(n):
                    if not self.awake[i]:
                        self.counted[i] = linear
            paid.low, paid.high = min(slope * found.low, slope * found.high), max(slope * found.low, slope * found.high)
            self.settle_round(linear, self.counted, self.sleepers, used, q, paid.low, paid.high)
        else:
            self.settle_round(own, self.paid, self.sleepers, used, q, paid.low, paid.high)
        if prediction != NULL:
            prediction[0] = guess
        self.advised = True
        self.measure(min(found.low, y), max(found.high, y))
        if not self.by_gap:
            noregret_excess(self.excess, self.paid, own, n)
        self.pay(own)
        if pick >= 0:
            self.drawn_loss += self.paid[pick]
        return FINE

    cdef void cost_all(self, const double* x, double y) noexcept nogil:
        """Find out what every forecast costs; nothing for sleepers yet."""
        cdef Py_ssize_t i, n = self.weigher.n
        cdef LossTable* table = &self.cost.table
        if table.value == square_like.table.value:
            for i in range(n):
                self.paid[i] = (x[i] - y) * (x[i] - y)
            if self.sleepers:
                for i in range(n):
                    if not self.awake[i]:
                        self.paid[i] = 0.0
        else:
            for i in range(n):
                self.paid[i] = table.value(table, x[i], y) if not self.sleepers or self.awake[i] else 0.0

    cdef double mean_of(self, const double* q, const double* losses) noexcept nogil:
        """Return the mean of losses under weights; those without weight may be infinite."""
        cdef Py_ssize_t i
        cdef double sum = 0, low = INFINITY, high = -INFINITY
        for i in range(self.weigher.n):
            if q[i] > 0:
                sum += q[i] * losses[i]
                low, high = min(low, losses[i]), max(high, losses[i])
        return within(sum, low, high)

    cdef int play_losses(self, const double* x, double* prediction, double* used) noexcept nogil:
        """Play a round in which only losses are shown, or return why not."""
        cdef Py_ssize_t i, n = self.weigher.n, pick = -1
        cdef noregret_survey found
        cdef int asleep = 0
        cdef double own
        cdef const double* losses = x
        cdef const double* q = self.weigher.p
        if self.weigher.fresh:
            found = noregret_survey_of(q, x, n)
        else:
            found = noregret_scaled_survey(self.weigher.p, self.weigher.weigh_all(self.weigher.p), x, n)
            self.weigher.fresh = True
        if found.sane != 0 or not (fabs(found.low) <= LARGEST_LOSS and fabs(found.high) <= LARGEST_LOSS):
            asleep = self.wake(x)
            if asleep and not self.may_sleep:
                return NO_SLEEP
            if asleep == n:
                return ALL_ASLEEP
            for i in range(n):
                if self.awake[i] and not fabs(x[i]) <= LARGEST_LOSS:
                    self.culprit = i
                    return BAD_LOSS
            q = self.shares(asleep)
            own = self.mean_of(q, x)
            found.low, found.high = INFINITY, -INFINITY
            for i in range(n):
                self.paid[i] = x[i] if self.awake[i] else own
                found.low, found.high = min(found.low, self.paid[i]), max(found.high, self.paid[i])
            losses = self.paid
        else:
            own = within(found.dot, found.low, found.high)
        if self.manner == SAMPLE:
            pick = self.draw(q)
        if prediction != NULL:
            prediction[0] = own if pick < 0 else losses[pick]
        if pick >= 0:
            self.drawn_loss += losses[pick]
        self.settle_round(own, losses, asleep, used, q, found.low, found.high)
        self.advised = False
        if not self.by_gap:
            noregret_excess(self.excess, losses, own, n)
        self.pay(own)
        return FINE

    cdef void settle_round(
        self, double own, const double* losses, int asleep, double* used, const double* q, double low, double high
    ) noexcept nogil:
        """Have the weights learn what everyone lost; low and high are the ends of the losses."""
        cdef Py_ssize_t i, n = self.weigher.n
        if used != NULL:
            memcpy(used, q, n * sizeof(double))
        if high - low > self.widest:
            self.widest = high - low
        if high - low > self.allowed and not self.first_wide:
            self.first_wide = self.weigher.rounds + 1
        if asleep:
            self.naps += asleep
            if not self.first_nap:
                self.first_nap = self.weigher.rounds + 1
            for i in range(n):
                self.asleep_rounds[i] += not self.awake[i]
        self.weigher.update(own, losses, self.awake if asleep else NULL, low, high)
        self.weigher.rounds += 1
        self.weigher.fresh = False

    cdef void measure(self, double low, double high) noexcept nogil:
        """Note the range of forecasts and outcomes."""
        self.lowest, self.highest = min(self.lowest, low), max(self.highest, high)
        if (low < self.floor or high > self.ceiling) and not self.first_outside:
            self.first_outside = self.weigher.rounds

    cdef void pay(self, double own) noexcept nogil:
        """Add up what is paid, with what rounding leaves."""
        cdef double sum = self.total + own
        if fabs(self.total) >= fabs(own):
            self.rest += (self.total - sum) + own
        else:
            self.rest += (own - sum) + self.total
        self.total = sum
        self.worst = max(self.worst, own)

    cdef int check_outcome(self, double y) noexcept nogil:
        """Refuse outcomes that cannot be used."""
        if not fabs(y) <= LARGEST_ADVICE:
            return BAD_OUTCOME
        if self.votes and y != 0 and y != 1:
            return NOT_BOOLEAN
        if self.cost.table.value == log_value and not (0 <= y <= 1):
            return NOT_PROBABILITY
        if self.cost.table.value == percentage_value and y == 0:
            return ZERO_OUTCOME
        return FINE
