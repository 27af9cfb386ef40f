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

    cdef int play(self, const double* x, double y, double* prediction, double* used) noexcept nogil:
        """Play a round with advice; return a status, and change nothing unless it is FINE."""
        cdef Py_ssize_t i, n = self.weigher.n, pick = -1
        cdef int status = check_outcome(self, y)
        cdef double guess, own, slope, linear
        cdef LossTable* table = &self.cost.table
        cdef noregret_survey found, paid
        cdef const double* q
        if status == FINE:
            status = read(self, x, &found)
        if status != FINE:
            return status
        q = shares(self, self.sleepers)
        guess = combined(self, q, x, &found, &pick)
        cost_all(self, x, y)
        own = table.value(table, guess, y)
        paid = noregret_survey_of(q, self.paid, n)
        if self.manner == EXPECT or self.manner == SAMPLE:
            own = mean_of(self, q, self.paid)
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
            asleep = wake(self, x)
            if asleep and not self.may_sleep:
                return NO_SLEEP
            if asleep == n:
                return ALL_ASLEEP
            for i in range(n):
                if self.awake[i] and not fabs(x[i]) <= MAX_LOSS:
                    self.culprit = i
                    return BAD_LOSS
            q = shares(self, asleep)
            own = mean_of(self, q, x)
            found.low, found.high = INFINITY, -INFINITY
            for i in range(n):
                self.paid[i] = x[i] if self.awake[i] else own
                found.low, found.high = min(found.low, self.paid[i]), max(found.high, self.paid[i])
            losses = self.paid
        else:
            own = within(found.dot, found.low, found.high)
        if self.manner == SAMPLE:
            pick = draw(self, q)
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
        check_arrays(self, X, y, predictions, weights)
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
        cdef int status = read(self, x, &found)
        if status != FINE:
            self.refuse(status, x[self.culprit] if self.culprit >= 0 else NAN)
        return combined(self, shares(self, self.sleepers), x, &found, &pick)

    def drawn_expert(self) -> int:
        """Return the expert drawn in the next round if all are awake."""
        self.wait()
        if not self.weigher.n:
            raise ValueError("the experts are not known before the first round, so none can be drawn")
        self.weigher.next_weights()
        return draw(self, self.weigher.p)

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

    cdef int refuse(self, int status, double value) except -1:
        """Raise the error of a status."""
        return refuse_round(self, status, value)

    def get_state(self) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
        """Return the arrays, numbers and names of the state."""
        return state_of(self)

    def set_state(self, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]) -> None:
        """Restore a state; raise ValueError if it is invalid."""
        restore_state(self, arrays, numbers, names)


include "combining.pxi"
include "round_state.pxi"
include "round_calls.pxi"
