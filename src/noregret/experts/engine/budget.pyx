"""The average of experts, and a budget for being worse than it.

In round t the forecast is a + θ·(b − a), with a the average and b the mixture that is shielded. Let
A be the sum of the average's losses, each times α = 0.018 in the first ten rounds and 0.008 after
them; D the loss paid beyond the average, but A where it would exceed A after a round; G = A − D; and
δ = |b − a|. Then θ is the largest number up to 1 with

    (a + θ(b − a) − y)² − (1 + α)(a − y)² ≤ G  for all y of I    for the square loss,
    h·θδ ≤ G                                                     for others,

and 0 before the first error above 0. I is the set of outcomes that are foreseen, if b is above a: those above a − 1.25·E,
with E the largest error of the average so far, and above the lower end of the range of the outcomes so
far, widened by 0.2·(1 + 4/rounds) of its width. But a − 1.25·E alone counts if a is more than 3·E below
that end. If b is below a, the same upside down. So an average that one forecaster drags far outside
the outcomes is left at once, unless the outcomes seem to jump.

For the absolute loss h is 1; for the loss of the quantile q it is 1 − q if b is above a, and q below
it; for others h is 1.25·H, with H the largest |loss of b − loss of a|/δ so far. For the log loss ln 2 is
added to A, and θ is 1 − e^−G. If losses are given, not forecasts, the rule
is that for others, with δ = 1.

If the loss is convex, the loss beyond that of the average is at most A + j after every round,
whatever the outcomes. Here j is the sum of the amounts by which D would have exceeded A. It grows only
in a round in which y is not in I; or, for others than the square loss, |loss of b − loss of a|/δ is
above 1.25·H. There are few such rounds: each makes E or H at least 1.25 times, or the range of the
outcomes at least 1.2 times as large, unless that was 0. For the absolute, quantile and log losses there
are none.

Proof. The loss beyond the average is D + j. For the square loss, if y is in I, D grows by at most G more
than A does, by the choice of θ. For others, by convexity D grows by at most θ·(loss of b − loss of a);
for the log loss by at most −ln(1 − θ) = G. So D stays below A unless the round counts in j. Losses
below 0 add nothing to A. Where the outcome is absurd and another number is learned from in its place,
all this is about that number, and j has besides what the outcome itself costs more, beyond the average.
"""

from libc.math cimport INFINITY, NAN, expm1, fabs, isnan, log, sqrt

import numpy as np

cimport numpy as cnp

from noregret.base.compiled.losses cimport Loss, log_value

from noregret import limits
from noregret.base.compiled.losses import find_loss
from noregret.checks import state_numbers

cnp.import_array()

# The parts of the average's loss that may be lost beyond it: always, and more at first.
cdef double PART = 0.008, EARLY_PART = 0.01
cdef long long EARLY_ROUNDS = 10
# What may be lost beyond the average with the log loss, besides: half of the weight goes to it at first.
cdef double START = log(2)
# Errors and slopes may exceed the largest so far by this factor; an average that is farther from all
# outcomes than this many times its largest error is believed.
cdef double MARGIN = 1.25, BELIEVED = 3
# Outcomes may lie outside their range so far by this part of it, and by more after few rounds.
cdef double WIDER = 0.2, WIDER_EARLY = 4
# Forecasts that are nearer to each other, relative to their size, differ in their losses by rounding.
cdef double MIN_DISTANCE = 1e-9
cdef double MAX_LOSS = limits.MAX_EXPERT_LOSS
FRESH = {"rounds": 0, "average": 0.0, "allowed": 0.0, "beyond": 0.0, "slope": 0.0, "jump": 0.0, "low": 0.0, "high": 0.0, "moved": 0.0, "trust": 0.0}


cdef class Budget:
    """The loss beyond the average that is still allowed, and the trust in the mixture.

    Parameters
    ----------
    loss, loss_parameter
        The loss of a forecast.
    """

    cdef Loss cost
    cdef bint square, logarithmic
    # The steepest slopes of the loss above and below the average; 0 if there is no limit.
    cdef double above, below
    cdef readonly long long rounds
    # The sum of the average's losses, the part of it that may be lost beyond it, the loss paid beyond it
    # and at most that, the steepest slope (for the square loss the largest error), what was lost besides
    # (j), the lowest and highest outcome, the loss paid minus that of the mixture that is shielded, and
    # θ of the latest round.
    cdef readonly double average, allowed, beyond, slope, jump, low, high, moved, trust

    def __init__(self, loss: Any = "square", loss_parameter: float | None = None):
        self.cost = find_loss(loss, loss_parameter)
        self.square = self.cost.table.python == NULL and self.cost.name == "square"
        self.logarithmic = self.cost.table.value == log_value
        if self.cost.table.python == NULL and self.cost.name in ("absolute", "quantile"):
            self.below = self.cost.parameter if self.cost.name == "quantile" else 1.0
            self.above = 1 - self.below if self.cost.name == "quantile" else 1.0

    @property
    def limit(self) -> float:
        """The loss that is never exceeded."""
        return self.average + self.most(False) + self.jump

    def trust_in(self, mixed: float, average: float, given: bool = False) -> float:
        """Return θ for the forecasts of the mixture and of the average; or before losses are given."""
        return self.theta(average, mixed - average, given)

    def moved_to(self, mixed: float, average: float) -> float:
        """Return the forecast between the mixture's and the average's."""
        return moved_by(mixed, average, self.theta(average, mixed - average, False))

    cdef double theta(self, double average, double move, bint given) noexcept nogil:
        cdef double distance = 1.0 if given else fabs(move)
        cdef double left = max(0.0, self.most(given) - self.beyond), steep = MARGIN * self.slope, step
        if distance == 0:
            return 1.0
        if self.logarithmic and not given:
            return -expm1(-left)
        if self.below > 0 and not given:
            steep = self.above if move > 0 else self.below
        if steep == 0:
            return 0.0
        if self.square and not given:
            step = self.farthest(average, move, left)
        else:
            step = left / steep
        return 1.0 if step >= distance else step / distance

    cdef double farthest(self, double average, double move, double left) noexcept nogil:
        """Return how far the square loss may move from the average: the worst outcome costs what is left."""
        cdef double part = self.part(), error = MARGIN * self.slope, range, step
        cdef double wider = WIDER * (1 + WIDER_EARLY / self.rounds) * (self.high - self.low)
        # The largest error on the side that is moved away from; below 0 if I is on the other side.
        range = average - (self.low - wider) if move > 0 else self.high + wider - average
        if range >= -BELIEVED * self.slope:
            error = min(error, range)
        # The worst error is the largest, or already one at which A grows as fast as the loss.
        step = sqrt(left / (1 + 1 / part))
        if step < part * error:
            return step
        left += part * error * error
        step = sqrt(error * error + left)
        return left / (error + step) if error > 0 else step - error

    def spend(
        self, cnp.ndarray mixed: Floats, cnp.ndarray average: Floats, y: Floats | None, told: Floats | None = None
    ) -> Floats:
        """Move forecasts of a mixture towards the average, in place; return θ of each row, and what that cost.

        Parameters
        ----------
        mixed
            The forecasts of the mixture; or its losses.
        average
            Those of the average.
        y
            The outcomes; None if losses are given.
        told
            The outcomes as they were told, where y has others in their place; by default the same. What they cost
            is part of the totals, and what they cost more than with y, beyond the average, of j.
        """
        cdef Py_ssize_t t, rows = len(mixed)
        cdef cnp.ndarray made = np.empty((2, rows))
        cdef double* said = <double*> cnp.PyArray_DATA(mixed)
        cdef const double* plain = <const double*> cnp.PyArray_DATA(average)
        cdef double* trust = <double*> cnp.PyArray_DATA(made)
        cdef double* moved = trust + rows
        cdef const double* outcomes = NULL
        if y is not None:
            outcomes = <const double*> cnp.PyArray_DATA(<cnp.ndarray> y)
        cdef const double* true = outcomes
        if told is not None and outcomes != NULL:
            true = <const double*> cnp.PyArray_DATA(<cnp.ndarray> told)
        for t in range(rows):
            trust[t] = self.theta(plain[t], said[t] - plain[t], outcomes == NULL)
            moved[t] = self.step(&said[t], plain[t], trust[t], outcomes[t] if outcomes != NULL else 0.0, outcomes == NULL)
            if outcomes != NULL and true[t] != outcomes[t]:
                self.put_back(said[t], plain[t], outcomes[t], true[t])
        self.cost.checked(0)
        return made

    cdef void put_back(self, double said, double average, double y, double told) noexcept nogil:
        """Count the outcome that was told, where another one was learned from in its place."""
        cdef double own = self.loss_of(said, told, False) - self.loss_of(said, y, False)
        cdef double plain = self.loss_of(average, told, False) - self.loss_of(average, y, False)
        self.average += plain
        self.moved += own
        self.jump += max(0.0, own - plain)

    cdef double step(self, double* said, double average, double theta, double y, bint given) noexcept nogil:
        """Play a round: move the forecast towards the average; return what that cost."""
        cdef double b = said[0], distance = 1.0 if given else fabs(b - average), own, slope, most
        cdef double paid = self.loss_of(b, y, given), plain = self.loss_of(average, y, given)
        if theta < 1:
            said[0] = moved_by(b, average, theta)
            own = self.loss_of(said[0], y, given)
        else:
            own = paid
        if self.square and not given:
            slope = sqrt(plain)
            self.low = min(self.low, y) if self.rounds else y
            self.high = max(self.high, y) if self.rounds else y
        elif distance > MIN_DISTANCE * fabs(average) or given:
            slope = fabs(paid - plain) / distance
        else:
            slope = 0.0
        self.allowed += self.part() * max(0.0, plain)
        self.beyond += own - plain
        most = self.most(given)
        if self.beyond > most:
            self.jump += self.beyond - most
            self.beyond = most
        self.slope = max(self.slope, min(MAX_LOSS, slope))
        self.average += plain
        self.moved += own - paid
        self.trust = theta
        self.rounds += 1
        return own - paid

    cdef double most(self, bint given) noexcept nogil:
        """Return what may be lost beyond the average by now."""
        return self.allowed + (START if self.logarithmic and not given else 0.0)

    cdef double part(self) noexcept nogil:
        """Return the part of the average's loss in the next round that may be lost beyond it."""
        return PART + (EARLY_PART if self.rounds < EARLY_ROUNDS else 0.0)

    cdef double loss_of(self, double x, double y, bint given) noexcept nogil:
        return x if given else min(MAX_LOSS, self.cost.table.value(&self.cost.table, x, y))

    def get_state(self) -> dict[str, Any]:
        """Return the numbers of the state."""
        return {name: getattr(self, name) for name in FRESH}

    def set_state(self, numbers: dict[str, Any]) -> None:
        """Restore a state; raise ValueError if it is invalid."""
        state_numbers(numbers, FRESH, ("average", "beyond", "low", "high", "moved"))
        self.rounds, self.average, self.allowed = numbers["rounds"], numbers["average"], numbers["allowed"]
        self.beyond, self.slope, self.jump = numbers["beyond"], numbers["slope"], numbers["jump"]
        self.low, self.high = numbers["low"], numbers["high"]
        self.moved, self.trust = numbers["moved"], numbers["trust"]


cdef double moved_by(double mixed, double average, double theta) noexcept nogil:
    return mixed if theta >= 1 else average + theta * (mixed - average)


def charge(cnp.ndarray total: Floats, cnp.ndarray X: Floats, cnp.ndarray moved: Floats, extra: Floats | None = None) -> None:
    """Add to the total of each expert what every row costs if it is awake, or its own number in that row.

    Parameters
    ----------
    total
        Filled in, row by row, so that it does not matter how rows come in blocks.
    X
        Rows of forecasts, NaN if missing.
    moved
        The cost of each row.
    extra
        Other costs of some forecasts, NaN for the rest.
    """
    cdef Py_ssize_t t, i, rows = X.shape[0], n = X.shape[1]
    cdef double* sums = <double*> cnp.PyArray_DATA(total)
    cdef const double* x = <const double*> cnp.PyArray_DATA(X)
    cdef const double* costs = <const double*> cnp.PyArray_DATA(moved)
    cdef const double* others = NULL
    if extra is not None:
        others = <const double*> cnp.PyArray_DATA(<cnp.ndarray> extra)
    for t in range(rows):
        for i in range(n):
            if others != NULL and not isnan(others[t * n + i]):
                sums[i] += others[t * n + i]
            elif not isnan(x[t * n + i]):
                sums[i] += costs[t]


def averages(cnp.ndarray X: Floats, cnp.ndarray shares: Floats, cnp.ndarray others: Floats) -> Floats:
    """Return the mean of each row without NaN, weighted by shares; within the range of the row.

    Parameters
    ----------
    X
        Rows of forecasts, NaN if missing.
    shares
        The weight of each column; 0 for those left out.
    others
        The weights in rows where all others are missing.
    """
    cdef Py_ssize_t t, i, rows = X.shape[0], n = X.shape[1]
    cdef cnp.ndarray made = np.empty(rows)
    cdef const double* x = <const double*> cnp.PyArray_DATA(X)
    cdef double* out = <double*> cnp.PyArray_DATA(made)
    cdef const double* first = <const double*> cnp.PyArray_DATA(shares)
    cdef const double* second = <const double*> cnp.PyArray_DATA(others)
    for t in range(rows):
        out[t] = average_of(x + t * n, first, n)
        if isnan(out[t]):
            out[t] = average_of(x + t * n, second, n)
    return made


cdef double average_of(const double* x, const double* shares, Py_ssize_t n) noexcept nogil:
    """Return a weighted mean; NaN if all are missing."""
    cdef Py_ssize_t i
    cdef double sum = 0, total = 0, low = INFINITY, high = -INFINITY
    for i in range(n):
        if not isnan(x[i]):
            low, high = min(low, x[i]), max(high, x[i])
            sum += shares[i] * x[i]
            total += shares[i]
    if not total > 0:
        return NAN
    sum /= total
    return low if sum < low else high if sum > high else sum
