"""The multiplicative engine: relative entropy on the simplex, or on its signed form.

    w_i ← w_i · exp(−step · x_i),   then divided by their sum

The logarithms of the weights are kept, so that no weight underflows, and their exponentials relative
to a common reference, so that predictions need none. The sum of these is updated in twice the working
precision, and recomputed when it has fallen so far below its peak that rounding could show.

Signed weights (mirrored) of total weight U are the simplex on (U x, −U x). The two logarithms of a
feature are opposite, so one is kept.
"""

from libc.math cimport INFINITY, exp, fabs, isfinite, isnan

import numpy as np

cimport numpy as cnp

from noregret.linear.engine.engine cimport DIVERGED, FINE, LOSS_FAILED, Engine, Rate, Row, as_rate, position, rate_at
from noregret.base.compiled.losses cimport as_loss

from noregret.checks import one_of, positive, whole

cnp.import_array()

STEPS: tuple[str, ...] = ("explicit", "implicit")

# Exponentials stay below exp(HEADROOM); the reference moves if one would not.
cdef double HEADROOM = 300
cdef double SMALLEST_TOTAL = 1e-200
# Cancellation in twice the working precision before the sum is recomputed.
cdef double CANCELLATION = 1e-13


cdef class Multiplicative(Engine):
    """Exponentiated gradient over the features seen so far, or ``dimension`` if that is more."""

    FLAT = True
    ADVICE = "use a smaller rate, or scale the input or the outcomes down"
    NUMBERS = ("reference", "total", "total_rest", "total_peak", "unborn_sum")
    SIGNED = (*Engine.SIGNED, "reference", "total", "total_rest", "unborn_sum")

    cdef Rate rate
    cdef bint implicit, mirrored
    cdef double weight
    cdef double* logs
    cdef double* mass               # exp(log − reference), both signs together
    cdef public double reference
    cdef public double total, total_rest   # of the masses, twice the working precision
    cdef public double total_peak   # since the last count
    cdef public double unborn_sum   # the sum for the mean of a feature still to come
    cdef double[3] sums_before      # before the latest features arrived: the sums,
    cdef object before              # and the whole state, where they moved the reference

    def __init__(self, loss: str | Loss = "square", rate=0.1, schedule="constant", horizon: int | None = None,
                 weight=1.0, mirrored=False, dimension: int | None = None, step="explicit",
                 loss_parameter: float | None = None):
        self.loss = as_loss(loss, loss_parameter)
        self.rate = as_rate(rate, schedule, horizon)
        if not isfinite(self.rate.value):
            raise ValueError("rate must be a positive number: got inf")
        one_of("step", step, STEPS)
        if step == "implicit" and not self.loss.implicit:
            raise ValueError(f"the {self.loss.name} loss has no implicit step: use step='explicit'")
        self.implicit, self.mirrored = step == "implicit", mirrored
        self.weight = positive("weight", weight)
        self.dimension = 0 if dimension is None else whole("dimension", dimension, below=2**31)
        self.arrays = {name: np.zeros(0) for name in ("stored", "logs", "mass")}
        self.relocate()
        self.refactor()

    cdef void relocate(self):
        Engine.relocate(self)
        if "logs" in self.arrays:
            self.logs = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["logs"])
            self.mass = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["mass"])

    # The sum of the masses, and the factor that follows from it.

    cdef inline void accumulate(self, double value) noexcept nogil:
        """Add to the total in twice the working precision."""
        cdef double s = self.total + value, b = s - self.total
        self.total_rest += (self.total - (s - b)) + (value - b)
        self.total = s

    cdef double newborn_mass(self) noexcept nogil:
        return (2 if self.mirrored else 1) * exp(-self.reference)

    cdef double sum_with(self, Py_ssize_t unseen) noexcept nogil:
        """Return the sum of all masses, including announced and new features."""
        cdef Py_ssize_t waiting = max(self.dimension - self.size, unseen)
        return (self.total + self.total_rest) + (waiting * self.newborn_mass() if waiting > 0 else 0)

    cdef void refactor(self) noexcept nogil:
        cdef double total = self.sum_with(0)
        self.factor = self.weight / total if total > 0 else 0
        self.initial = 0 if self.mirrored or self.sunk() else exp(-self.reference)

    cdef bint sunk(self) noexcept nogil:
        """Return whether all known features are negligible beside a new one."""
        return self.reference < -HEADROOM

    cdef void place(self, Py_ssize_t i) noexcept nogil:
        """Update a feature's mass and stored number from its logarithm."""
        cdef double up = exp(self.logs[i] - self.reference), down
        if self.mirrored:
            down = exp(-self.logs[i] - self.reference)
            self.mass[i], self.stored[i] = up + down, up - down
        else:
            self.mass[i] = self.stored[i] = up

    cdef void recount(self) noexcept nogil:
        cdef Py_ssize_t i
        self.total = self.total_rest = 0
        for i in range(self.size):
            self.accumulate(self.mass[i])
        self.total_peak = self.total

    cdef void rebase(self, double reference) noexcept nogil:
        """Rescale all masses to another reference."""
        cdef Py_ssize_t i
        self.flush()
        self.reference = reference
        for i in range(self.size):
            self.place(i)
        self.recount()

    cdef void flush(self) noexcept nogil:
        self.unborn_sum = self.outside_mean()
        Engine.flush(self)

    cdef double highest_log(self) noexcept nogil:
        cdef double top = 0 if self.dimension > self.size else -INFINITY
        cdef Py_ssize_t i
        for i in range(self.size):
            top = max(top, fabs(self.logs[i]) if self.mirrored else self.logs[i])
        return top

    cdef void begin(self, Py_ssize_t start) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(start, self.size):
            if self.logs[i] != 0:  # untouched pages take no memory
                self.logs[i] = 0
        if self.sunk():
            self.rebase(0)
        else:
            for i in range(start, self.size):
                self.place(i)
                self.accumulate(self.mass[i])
        self.total_peak = max(self.total_peak, self.total)
        self.refactor()

    cdef int resize(self, Py_ssize_t size) except -1:
        if size > self.size:
            self.before = self.get_state() if self.sunk() else None
            self.sums_before = [self.total, self.total_rest, self.total_peak]
            Engine.resize(self, size)
        elif self.before is not None:  # an example with new features was refused,
            self.set_state(*self.before)
        else:
            Engine.resize(self, size)
            self.total, self.total_rest, self.total_peak = self.sums_before[0], self.sums_before[1], self.sums_before[2]
            self.refactor()
        return 0

    cdef double outside_mean(self) noexcept nogil:
        if not self.mean_kept or self.mirrored or self.dimension <= self.size:
            return 0
        return self.unborn_sum + self.clock * self.initial

    # The round.

    cdef double score(self, Row* row) noexcept nogil:
        cdef double score = Engine.score(self, row)
        if row.unseen > 0 and self.sunk():
            score = 0 if self.mirrored else self.weight * row.unseen_sum / row.unseen
        elif row.unseen > 0:
            score = self.weight / self.sum_with(row.unseen) * (row.dot + self.initial * row.unseen_sum)
        if self.mirrored:
            row.spread = 2 * self.weight * row.peak
        return score

    cdef double others(self, const Row* row, double* top) noexcept nogil:
        """Return the sum of exp(log − top) over the features not in the row."""
        cdef double high, low, value, b, s
        cdef Py_ssize_t i, k, waiting = max(self.dimension - self.size, 0)
        # The sum minus the row's share, in twice the working precision,
        high = self.total
        low = self.total_rest + (waiting * self.newborn_mass() if waiting > 0 else 0)
        for k in range(row.count):
            if row.values[k] != 0:
                value = -self.mass[position(row, k)]
                s = high + value
                b = s - high
                low += (high - (s - b)) + (value - b)
                high = s
        top[0] = self.reference
        if high + low > CANCELLATION * self.total:
            return high + low
        # or, if the row has nearly all of it, summed from the logarithms.
        top[0] = 0 if waiting > 0 else -INFINITY
        k = 0
        for i in range(self.size):
            while k < row.count and position(row, k) < i:
                k += 1
            if k == row.count or position(row, k) != i or row.values[k] == 0:
                top[0] = max(top[0], fabs(self.logs[i]) if self.mirrored else self.logs[i])
        if top[0] == -INFINITY:
            return 0
        s, k = waiting * (2 if self.mirrored else 1) * exp(-top[0]), 0
        for i in range(self.size):
            while k < row.count and position(row, k) < i:
                k += 1
            if k == row.count or position(row, k) != i or row.values[k] == 0:
                s += exp(self.logs[i] - top[0])
                if self.mirrored:
                    s += exp(-self.logs[i] - top[0])
        return s

    cdef double tilted(self, const Row* row, double step, double rest, double rest_top) noexcept nogil:
        """Return the score after w_i ← w_i exp(−step x_i), without taking that step."""
        cdef double top = rest_top, total, dot = 0, up, down
        cdef Py_ssize_t i, k
        # Relative to the largest exponent, so that nothing overflows.
        for k in range(row.count):
            if row.values[k] != 0:
                up = self.logs[position(row, k)] - step * row.values[k]
                top = max(top, fabs(up) if self.mirrored else up)
        total = rest * exp(rest_top - top) if rest > 0 else 0
        for k in range(row.count):
            if row.values[k] != 0:
                i = position(row, k)
                up = exp(self.logs[i] - step * row.values[k] - top)
                down = exp(-self.logs[i] + step * row.values[k] - top) if self.mirrored else 0
                total += up + down
                dot += (up - down) * row.values[k]
        return self.weight * dot / total if total > 0 else 0

    cdef double solved_step(self, const Row* row, double slope, double y, double scale) noexcept nogil:
        """Find g with g = slope(score after a step of scale · g): the exact, implicit update."""
        cdef double low = min(slope, 0), high = max(slope, 0), middle, there, rest_top
        cdef double rest = self.others(row, &rest_top)
        cdef int i
        for i in range(200):
            middle = 0.5 * (low + high)
            if middle <= low or middle >= high:
                break
            there = self.loss.table.slope(
                &self.loss.table, self.tilted(row, scale * middle, rest, rest_top), y)
            if isnan(there):
                return there
            if there > middle:
                low = middle
            else:
                high = middle
        return 0.5 * (low + high)

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef double scale = self.importance * rate_at(&self.rate, self.rounds + 1) * self.weight, step, top, log
        cdef Py_ssize_t i, k
        if slope == 0 or row.peak == 0 or self.importance == 0:
            return FINE
        if self.implicit:
            slope = self.solved_step(row, slope, y, scale)
            if isnan(slope):
                return LOSS_FAILED
        step = scale * slope
        if not isfinite(step * row.peak):
            return DIVERGED
        top = self.reference
        for k in range(row.count):
            log = self.logs[position(row, k)] - step * row.values[k]
            if not fabs(log) < 1e306:
                return DIVERGED
            top = max(top, fabs(log) if self.mirrored else log)
        if top - self.reference > HEADROOM:
            self.rebase(top)
        self.touch_row(row)
        for k in range(row.count):
            if row.values[k] != 0:
                i = position(row, k)
                self.accumulate(-self.mass[i])
                self.logs[i] -= step * row.values[k]
                self.place(i)
                self.accumulate(self.mass[i])
        self.total_peak = max(self.total_peak, self.total)
        if self.total < CANCELLATION * self.total_peak:
            self.recount()
        if self.total + self.total_rest < SMALLEST_TOTAL and self.sum_with(0) < SMALLEST_TOTAL:
            self.rebase(self.highest_log())
        self.refactor()
        return FINE

    @property
    def takes_importance(self):
        """True if rounds may have importances."""
        return bool(self.implicit)

    def restore(self, numbers):
        """Restore the numbers of a state."""
        Engine.restore(self, numbers)
        masses = float(self.arrays["mass"].sum())
        if not abs(self.total + self.total_rest - masses) <= 1e-6 * masses:
            raise ValueError("the total is not that of all weights")
        self.refactor()
