"""The round over experts, and the methods of a master that call it directly."""

from cpython.pythread cimport PyThread_get_thread_ident
from libc.math cimport INFINITY, NAN, exp, fabs, isnan, log
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from math import ldexp
from time import sleep

import numpy as np

cimport cython
cimport numpy as cnp

from noregret.base.compiled.losses cimport Loss, LossTable, PythonLoss, as_loss, log_value, percentage_value
from noregret.base.compiled.machine cimport come_in, generation, go_out
from noregret.base.compiled.weigher cimport (
    Weigher, noregret_excess, noregret_fetch, noregret_scaled_survey, noregret_survey, noregret_survey_of,
)

from noregret.base.compiled.losses import find_loss
from noregret import limits
from noregret.checks import state_arrays, state_numbers
from noregret.errors import BadExample, NoRegretError

cnp.import_array()


# The round over experts: combine their advice, compute the losses from the outcome, update the weights.
#
# Both advice and losses are played here, one round at a time or in blocks, and checked once.

# Computations with larger forecasts and losses could overflow.
cdef double MAX_VALUE = limits.MAX_VALUE, MAX_LOSS = limits.MAX_EXPERT_LOSS
# Seconds between two checks whether another thread still uses a master.
POLL_SECONDS = 1e-4
# The fraction of votes for which the prediction is 1: half of them, minus rounding errors.
cdef double HALF_THE_VOTES = 0.5 - 1e-12

cdef enum:  # Manner
    MEAN                 # predict the weighted mean of the advice
    VOTE                 # predict the weighted majority
    SUBSTITUTE           # predict with Vovk's substitution, for the square loss
    EXPECT               # pay the weighted mean of the losses
    SAMPLE               # follow one expert, drawn from the weights

MANNERS: tuple[str, ...] = ("mean", "vote", "substitute", "expect", "sample")

cdef Loss square_like = as_loss("square", None)


cdef inline double drawn(uint64_t seed, uint64_t round) noexcept nogil:
    """Return a pseudorandom number in [0, 1) that depends only on the seed and the round."""
    cdef uint64_t z = seed * 0x9E3779B97F4A7C15ULL + (round + 1) * 0xD1B54A32D192ED03ULL
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL
    z ^= z >> 31
    return (z >> 11) * (1.0 / 9007199254740992.0)


cdef inline double within(double mean, double low, double high) noexcept nogil:
    """Return a mean, clipped to the range of its values.

    If all experts agree, the mixture is the same number to the bit, and rounding errors have no effect.
    """
    return low if mean < low else high if mean > high else mean


@cython.final
cdef class ExpertRound:
    """Experts with their weights and losses, and the way they are combined.

    Parameters
    ----------
    weigher
        The rule that turns losses into weights.
    loss, loss_parameter
        The loss of a forecast.
    gradient
        Whether the loss of an expert is the slope of the mixture's loss times the forecast.
    manner
        The way advice is combined: ``mean``, ``vote``, ``substitute``, ``expect`` or ``sample``.
    low, high
        The range of forecasts and outcomes, if one is assumed.
    spread
        The largest difference between two losses of a round, if one is assumed.
    sleeping
        Whether experts may sleep.
    seed
        The seed for ``sample``.
    votes
        Whether forecasts and outcomes are 0 or 1.
    """

    def __cinit__(self, *args, **options):
        # An object whose __init__ never ran must not crash.
        self.weigher, self.cost, self.experts, self.before = Weigher(), square_like, [], ()
        self.settle()

    def __init__(self, Weigher weigher not None, loss: Any = "square", loss_parameter: float | None = None,
                 gradient=False, manner="mean", low: float = -INFINITY, high: float = INFINITY,
                 spread: float = INFINITY, sleeping=True, seed=0, votes=False):
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

    cdef int settle(self) except -1:
        """Allocate arrays for the experts."""
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
        """Set the flags of experts awake; return the number asleep."""
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
        """Read the advice of a round: experts asleep, range and mean; return a status."""
        cdef Py_ssize_t i, n = self.weigher.n
        cdef bint chances = self.cost.table.value == log_value
        self.weigher.next_weights()
        found[0] = noregret_survey_of(self.weigher.p, x, n)
        self.sleepers = 0
        if found.sane == 0 and not self.votes and -MAX_VALUE <= found.low <= found.high <= MAX_VALUE \
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
            if not (fabs(x[i]) <= MAX_VALUE):
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
            return 1.0 if sum >= HALF_THE_VOTES else 0.0
        return within(sum, found.low, found.high)

    cdef Py_ssize_t draw(self, const double* q) noexcept nogil:
        """Return the expert drawn in this round."""
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
        """Return Vovk's prediction, whose loss is at most the mixed loss for any outcome."""
        cdef double width = self.ceiling - self.floor, rate = 2 / (width * width), guess
        guess = (self.ceiling + self.floor) / 2 + (
            self.mixed(q, x, self.floor, rate) - self.mixed(q, x, self.ceiling, rate)) / (2 * width)
        return self.floor if guess < self.floor else self.ceiling if guess > self.ceiling else guess

    cdef double mixed(self, const double* q, const double* x, double y, double rate) noexcept nogil:
        """Return −ln Σ q exp(−rate · (x − y)²) / rate, relative to the smallest exponent."""
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
        """Play a round with advice; return a status, and change nothing unless it is FINE."""
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
        if not fabs(own) <= MAX_LOSS:
            return OVERFLOWED
        if self.linearised:
            slope = table.slope(table, guess, y)
            linear = slope * guess
            if isnan(slope):
                return LOSS_FAILED
            if not (fabs(slope * found.low) <= MAX_LOSS and fabs(slope * found.high) <= MAX_LOSS):
                return OVERFLOWED
        if self.sleepers or not paid.high <= MAX_LOSS:
            paid.low, paid.high = INFINITY, -INFINITY
            for i in range(n):
                if self.sleepers and not self.awake[i]:
                    self.paid[i] = own
                elif not self.paid[i] <= MAX_LOSS:
                    self.paid[i] = MAX_LOSS
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
        """Compute the loss of each forecast; 0 for experts asleep."""
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
        """Return the weighted mean of losses; those with weight 0 may be infinite."""
        cdef Py_ssize_t i
        cdef double sum = 0, low = INFINITY, high = -INFINITY
        for i in range(self.weigher.n):
            if q[i] > 0:
                sum += q[i] * losses[i]
                low, high = min(low, losses[i]), max(high, losses[i])
        return within(sum, low, high)

    cdef int play_losses(self, const double* x, double* prediction, double* used) noexcept nogil:
        """Play a round of losses; return a status, and change nothing unless it is FINE."""
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
        if found.sane != 0 or not (fabs(found.low) <= MAX_LOSS and fabs(found.high) <= MAX_LOSS):
            asleep = self.wake(x)
            if asleep and not self.may_sleep:
                return NO_SLEEP
            if asleep == n:
                return ALL_ASLEEP
            for i in range(n):
                if self.awake[i] and not fabs(x[i]) <= MAX_LOSS:
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
        """Update the weights with the losses, which lie between low and high."""
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
        """Update the range of forecasts and outcomes."""
        self.lowest, self.highest = min(self.lowest, low), max(self.highest, high)
        if (low < self.floor or high > self.ceiling) and not self.first_outside:
            self.first_outside = self.weigher.rounds

    cdef void pay(self, double own) noexcept nogil:
        """Add to the cumulative loss, and the rounding error to its second part."""
        cdef double sum = self.total + own
        if fabs(self.total) >= fabs(own):
            self.rest += (self.total - sum) + own
        else:
            self.rest += (own - sum) + self.total
        self.total = sum
        self.worst = max(self.worst, own)

    cdef int check_outcome(self, double y) noexcept nogil:
        """Return a status for an outcome."""
        if not fabs(y) <= MAX_VALUE:
            return BAD_OUTCOME
        if self.votes and y != 0 and y != 1:
            return NOT_BOOLEAN
        if self.cost.table.value == log_value and not (0 <= y <= 1):
            return NOT_PROBABILITY
        if self.cost.table.value == percentage_value and y == 0:
            return ZERO_OUTCOME
        return FINE

    def begin(self, n: int) -> None:
        """Start with n experts."""
        self.wait()
        self.weigher.begin(n)
        self.held = None
        self.settle()

    # Figures.

    @property
    def width(self) -> int:
        """The number of experts; 0 before the first round."""
        return self.weigher.n

    @property
    def rounds(self) -> int:
        """The number of rounds learned."""
        return self.weigher.rounds

    @property
    def total_loss(self) -> float:
        """Cumulative loss; the expected loss if experts are drawn."""
        return self.total + self.rest

    @property
    def expert_losses(self) -> Floats:
        """Cumulative loss of each expert; an expert asleep is charged the mixture's loss."""
        return self.total_loss - self.regrets

    @property
    def regrets(self) -> Floats:
        """Regret to each expert: loss of the mixture minus that of the expert."""
        return -(self.weigher.excess() if self.by_gap else self.held["excess"])

    @property
    def rounds_awake(self) -> Counts:
        """The number of rounds in which each expert was awake."""
        return self.weigher.rounds - self.held["asleep_rounds"].astype(np.int64)

    # Errors.

    def name_of(self, i: int) -> str:
        """Return the name of an expert, or of a column before the experts."""
        cdef Py_ssize_t first = len(self.before)
        if i < first:
            return self.before[i]
        return self.experts[i - first] if self.experts else str(i - first)

    cdef int refuse(self, int status, double value) except -1:
        """Raise the error for a status."""
        cdef Py_ssize_t i = self.culprit
        self.culprit = -1
        if isinstance(self.cost, PythonLoss):
            self.cost.raise_failure()
        round = self.weigher.rounds + 1
        who = None if i < 0 else self.name_of(i)
        about = f"expert {who!r}" if who is not None else "the outcome"
        what, *cure = {
            BAD_ADVICE: (f"{about}: the forecast is {value:g}: forecasts are numbers up to {MAX_VALUE:g} in size, or NaN for one that sleeps",),
            BAD_OUTCOME: (f"the outcome is {value:g}: it must be a number up to {MAX_VALUE:g} in size",),
            BAD_LOSS: (f"{about}: the loss is {value:g}: losses are numbers up to {MAX_LOSS:g} in size, or NaN for one that sleeps",),
            ALL_ASLEEP: ("every expert sleeps, so there is no forecast",),
            NO_SLEEP: ("an expert sleeps, and the theorem needs experts that are always awake",
                       "use hedge, ml-poly or another master that allows sleep"),
            NOT_BOOLEAN: (f"{about} is {value:g}: votes and their outcomes are 0 or 1",),
            NOT_PROBABILITY: (f"{about} is {value:g}: the log loss takes probabilities, from 0 to 1",),
            ZERO_OUTCOME: ("the outcome is 0, for which the percentage error is undefined", "use the absolute loss"),
            HOPELESS: ("the mixture gives probability 0 to what happened, an infinite loss", "leave out"
                       " experts that are certain and wrong, or bound forecasts away from 0 and 1"),
            OVERFLOWED: ("forecast and outcome are so far apart that the loss overflows", "scale them down"),
            LOSS_FAILED: (f"the loss {self.cost.name!r} is not a number here",),
        }[status]
        raise BadExample(what, cure, round=round, feature=who)

    cdef int keep_kind(self, bint losses) except -1:
        """Raise an error for losses after advice, and for advice after losses."""
        if self.weigher.rounds > 0 and self.advised == losses:
            raise BadExample(
                f"it has learned from {'advice and outcomes' if losses else 'losses'} so far",
                "continue with these, or use a new one", round=self.weigher.rounds + 1)
        return 0

    @property
    def pays_expected(self) -> bool:
        """True if the loss is the mean of the experts' losses, not the loss of their mean."""
        return self.manner == EXPECT or self.manner == SAMPLE

    @property
    def log_prior(self) -> Floats:
        """ln(1/prior) of each expert."""
        return np.log(1 / self.weigher.get_state()[0]["prior"])

    @property
    def from_losses(self) -> bool:
        """True if rounds are given as losses, without advice."""
        return self.weigher.rounds > 0 and not self.advised

    # Blocks, and single rounds.

    cdef int run(self, const double* x, double y, bint losses, double* prediction, double* used) except -1:
        """Play a round, or raise an error; a loss in Python may let other threads run meanwhile."""
        cdef int status
        self.keep_kind(losses)
        self.come_along()
        self.player = PyThread_get_thread_ident()
        status = self.play_losses(x, prediction, used) if losses else self.play(x, y, prediction, used)
        self.player = 0
        go_out()
        if status != FINE:
            self.refuse(status, x[self.culprit] if self.culprit >= 0 else y)
        return 0

    def play_rows(self, cnp.ndarray X: Floats, y: Floats | None, predictions: Floats | None = None,
                  weights: Floats | None = None) -> None:
        """Play the rows of a block in order; without outcomes they are losses."""
        self.wait()
        self.check_arrays(X, y, predictions, weights)
        cdef Py_ssize_t t, rows = cnp.PyArray_DIM(X, 0), n = self.weigher.n
        cdef const double* x = <const double*> cnp.PyArray_DATA(X)
        cdef const double* outcomes = NULL
        cdef double* guesses = NULL
        cdef double* used = NULL
        cdef bint losses = y is None
        cdef int status = FINE
        if not losses:
            outcomes = <const double*> cnp.PyArray_DATA(<cnp.ndarray> y)
        if predictions is not None:
            guesses = <double*> cnp.PyArray_DATA(<cnp.ndarray> predictions)
        if weights is not None:
            used = <double*> cnp.PyArray_DATA(<cnp.ndarray> weights)
        self.culprit = -1
        self.keep_kind(losses)
        self.come_along()
        self.player = PyThread_get_thread_ident()
        with nogil:
            for t in range(rows):
                if t + 1 < rows:
                    noregret_fetch(x + n, n)
                if losses:
                    status = self.play_losses(x, guesses, used)
                else:
                    status = self.play(x, outcomes[t], guesses, used)
                if status != FINE:
                    break
                x += n
                if guesses != NULL:
                    guesses += 1
                if used != NULL:
                    used += n
        self.player = 0
        go_out()
        if status != FINE:
            self.refuse(status, x[self.culprit] if self.culprit >= 0 else 0.0 if losses else outcomes[t])

    def check_arrays(self, X, y, predictions, weights):
        """Check the shapes and types of the arrays of a block, and of those to fill."""
        rows = len(X) if X.ndim else 0
        for name, array, shape in (
            ("rows", X, (rows, self.weigher.n)), ("outcomes", y, (rows,)),
            ("predictions", predictions, (rows,)), ("weights", weights, (rows, self.weigher.n)),
        ):
            if array is not None and not (
                isinstance(array, np.ndarray) and array.shape == shape and array.dtype == np.float64
                and array.flags.c_contiguous and array.flags.aligned
                and (array.flags.writeable or name in ("rows", "outcomes"))
            ):
                raise ValueError(f"{name} must be an array of float64 of shape {shape}")

    cdef int come_along(self) except -1:
        """Enter a round: wait while another thread forks the process or plays."""
        come_in()
        try:
            self.wait()
        except BaseException:
            go_out()
            raise
        self.since = generation()
        return 0

    cdef int wait(self) except -1:
        """Wait until no other thread plays; the state may be read only then."""
        while self.player:
            if self.player == PyThread_get_thread_ident():
                raise NoRegretError("a loss must not use the master that calls it")
            if self.since != generation():
                raise NoRegretError(
                    "the process was forked in the middle of a round of this master, by a thread that the copy does not"
                    " have", "use another, or fork when no thread learns",
                )
            sleep(POLL_SECONDS)
        if not self.built:
            raise NoRegretError("this master was never built: its __init__ has not run")
        if self.seats != self.weigher.n:
            raise NoRegretError(
                f"there are arrays for {self.seats} experts, but the weigher has {self.weigher.n}: it was changed from"
                " outside", "load the master again or use a new one",
            )
        return 0

    def outcome_of(self, y) -> float:
        """Return an outcome as a number; raise an error for None, and for text, which float would parse."""
        try:
            return ldexp(y, 0)
        except TypeError:
            round = self.weigher.rounds + 1
            said = repr(y)[:60]
            raise BadExample(f"the outcome must be a number: it is {said}", round=round) from None

    def predict(self, row: Floats) -> float:
        """Return the forecast for a row of numbers, one per expert, without learning."""
        self.wait()
        self.hold_row(row)
        return self.forecast()

    cdef int hold_row(self, object row) except -1:
        """Use a row in place if it is an array with one number per expert."""
        if not isinstance(row, np.ndarray) or row.shape != (self.weigher.n,) or row.dtype != np.float64 \
                or not (row.flags.c_contiguous and row.flags.aligned):
            raise ValueError(f"{len(row)} numbers for {self.weigher.n} experts")
        self.row, self.culprit = row, -1
        return 0

    cdef double forecast(self) except? -1:
        """Return the forecast for the current row."""
        cdef const double* x = <const double*> cnp.PyArray_DATA(self.row)
        cdef Py_ssize_t pick = -1
        cdef noregret_survey found
        if not self.weigher.n:
            raise ValueError("there are no experts yet")
        cdef int status = self.read(x, &found)
        if status != FINE:
            self.refuse(status, x[self.culprit] if self.culprit >= 0 else NAN)
        return self.combined(self.shares(self.sleepers), x, &found, &pick)

    def drawn_expert(self) -> int:
        """Return the expert drawn in the next round if all are awake."""
        self.wait()
        if not self.weigher.n:
            raise ValueError("the experts are not known before the first round, so none can be drawn")
        self.weigher.next_weights()
        return self.draw(self.weigher.p)

    def current_weights(self, awake=None) -> Floats:
        """Return the weights of the next round, among all experts or those awake."""
        self.wait()
        self.weigher.next_weights()
        cdef cnp.ndarray made = np.array(self.weigher.arrays["p"])
        if awake is not None:
            flags = np.ascontiguousarray(awake, np.uint8)
            if flags.shape != (self.weigher.n,):
                raise ValueError(f"{flags.size} flags of experts awake for {self.weigher.n} experts")
            self.weigher.weigh(<double*> cnp.PyArray_DATA(made), <unsigned char*> cnp.PyArray_DATA(<cnp.ndarray> flags))
        return made

    def join(self, name: str | None, share: float) -> None:
        """Add an expert while running."""
        self.wait()
        self.weigher.join(share, {})
        self.settle()
        if name is not None:
            self.experts.append(name)

    # The state.

    def get_state(self) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
        """Return the arrays, numbers and names of the state."""
        self.wait()
        arrays, numbers = self.weigher.get_state()
        for name in ("excess", "asleep_rounds"):
            arrays["council." + name] = self.held[name].copy()
        numbers |= {
            "rounds": self.weigher.rounds, "total": self.total, "rest": self.rest, "drawn_loss": self.drawn_loss,
            "reached": bool(self.weigher.rounds > 0 and self.lowest <= self.highest),
            "lowest": self.lowest if self.lowest <= self.highest else 0.0,
            "highest": self.highest if self.lowest <= self.highest else 0.0,
            "widest": self.widest, "first_outside": self.first_outside, "first_wide": self.first_wide,
            "naps": self.naps, "first_nap": self.first_nap, "worst": self.worst, "advised": bool(self.advised),
        }
        return arrays, numbers, list(self.experts)

    def set_state(self, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]) -> None:
        """Restore a state; raise ValueError if it is invalid."""
        own = {name.removeprefix("council."): array for name, array in arrays.items() if name.startswith("council.")}
        rest = {name: array for name, array in arrays.items() if not name.startswith("council.")}
        kept, like, _ = self.get_state()
        theirs = {name: numbers.get(name) for name in type(self.weigher).NUMBERS}
        mine = {name: value for name, value in numbers.items() if name not in theirs}
        state_numbers(mine, {name: like[name] for name in like if name not in theirs},
                      ("total", "rest", "drawn_loss", "lowest", "highest"))
        n = len(self.weigher.checked_arrays(rest)["prior"])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError("the names of experts must be text")
        if names and (len(names) != n or len(set(names)) != n):
            raise ValueError(f"{len(names)} names for {n} experts")
        state_arrays(own, {"excess": n, "asleep_rounds": n})
        if mine["rounds"] and not n:
            raise ValueError("there were rounds, but no experts")
        self.weigher.set_state(rest, theirs)
        self.held = None
        self.settle()
        for name, array in own.items():
            self.held[name][:] = array
        self.experts = list(names)
        self.weigher.rounds = mine["rounds"]
        self.total, self.rest, self.drawn_loss = mine["total"], mine["rest"], mine["drawn_loss"]
        if mine["reached"]:
            self.lowest, self.highest = mine["lowest"], mine["highest"]
        else:
            self.lowest, self.highest = INFINITY, -INFINITY
        self.widest, self.worst = mine["widest"], mine["worst"]
        self.first_outside, self.first_wide = mine["first_outside"], mine["first_wide"]
        self.naps, self.first_nap, self.advised = mine["naps"], mine["first_nap"], mine["advised"]


cdef class RoundCalls:
    """The methods of a master for one round, which call its ``ExpertRound`` directly.

    The parameters are those of ``ExpertRound``.
    """

    def __cinit__(self, *args, **options):
        self._round = ExpertRound.__new__(ExpertRound)

    def __init__(self, weigher: Weigher, *args, **options):
        self._round.__init__(weigher, *args, **options)

    cdef const double* row_of(self, object x) except NULL:
        """Return a pointer to the numbers of a row; the first row sets the number of experts."""
        cdef ExpertRound round = self._round
        round.wait()
        if type(x) is cnp.ndarray and cnp.PyArray_NDIM(<cnp.ndarray> x) == 1 \
                and cnp.PyArray_TYPE(<cnp.ndarray> x) == cnp.NPY_DOUBLE \
                and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray> x) \
                and cnp.PyArray_DIM(<cnp.ndarray> x, 0) == round.weigher.n and round.weigher.n:
            round.row, round.culprit = x, -1
        else:
            from noregret.experts.rows import as_row

            row = as_row(self, x)
            round.wait()  # reading a row may let other threads run
            round.hold_row(row)
        return <const double*> cnp.PyArray_DATA(round.row)

    def learn_losses(self, losses) -> None:
        """Learn from the loss of each expert in a round; NaN for one asleep."""
        cdef const double* x = self.row_of(losses)
        self._round.run(x, 0.0, True, NULL, NULL)

    def learn_one(self, advice, y: float) -> None:
        """Learn from a round: the forecast of each expert, and the outcome."""
        cdef double outcome = y if type(y) is float else self._round.outcome_of(y)
        cdef const double* x = self.row_of(advice)
        self._round.run(x, outcome, False, NULL, NULL)

    def predict_one(self, advice) -> float:
        """Return the forecast for a round from those of the experts, without learning."""
        self.row_of(advice)
        return self._round.forecast()
