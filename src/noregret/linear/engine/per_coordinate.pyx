"""Engines that keep several numbers for each feature: adaptive rates, and coin betting."""

from libc.math cimport copysign, fabs, isfinite, sqrt

import numpy as np

cimport numpy as cnp

from noregret.base.compiled.losses cimport as_loss
from noregret.linear.engine.additive cimport Additive
from noregret.linear.engine.engine cimport (
    DIVERGED, FINE, Engine, Row, noregret_add_dense, noregret_add_sparse, position,
)

from noregret.base.compiled.machine import any_negative, copied
from noregret.checks import not_negative, positive

cnp.import_array()


# The base of engines that keep a few numbers per feature besides its weight.
#
# These numbers change only in rounds in which the feature is present, so that a round costs as much as
# the row has entries, and a late feature starts as if it had always been absent.

cdef class Coordinates(Engine):
    """The base: named arrays that grow with the features."""

    FLAT = True
    ADVICE = "scale the examples and outcomes down"
    # Arrays of the state that may hold negative numbers.
    SIGNED_ARRAYS = ("stored", "mean_sum", "mean_clock")

    cdef int keep(self, tuple names) except -1:
        """Declare the arrays."""
        if len(names) > MOST_KEPT:
            raise ValueError(f"{len(names)} arrays: an engine keeps {MOST_KEPT} at most")
        self.kept_names = names
        self.arrays = {name: np.zeros(0) for name in ("stored", *names)}
        self.relocate()
        return 0

    cdef void relocate(self):
        cdef Py_ssize_t j
        Engine.relocate(self)
        if self.kept_names is not None:
            for j in range(len(self.kept_names)):
                self.kept[j] = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays[self.kept_names[j]])

    cdef void begin(self, Py_ssize_t start) noexcept nogil:
        cdef Py_ssize_t i
        cdef int j
        for i in range(start, self.size):
            if self.stored[i] != 0:  # untouched pages take no memory
                self.stored[i] = 0
            for j in range(MOST_KEPT):
                if self.kept[j] != NULL and self.kept[j][i] != 0:
                    self.kept[j][i] = 0

    cdef double wealth_of(self, Py_ssize_t i) noexcept nogil:
        """Return the wealth of a feature; 0 stands for that of a new one, so that it takes no memory."""
        return self.kept[0][i] if self.kept[0][i] != 0 else self.newborn

    cdef dict told(self, dict arrays):
        """Return arrays with the wealth of new features written out."""
        if self.newborn == 0:
            return arrays
        wealth = arrays["wealth"]
        wealth[wealth == 0] = self.newborn
        return arrays

    def accounts(self) -> dict[str, Floats]:
        """Return copies of the arrays, by name."""
        return self.told({name: copied(self.arrays[name][:self.size]) for name in self.kept_names})

    def get_state(self):
        """Return the state: (arrays, numbers)."""
        arrays, numbers = Engine.get_state(self)
        return self.told(arrays), numbers

    def set_state(self, arrays, numbers):
        """Restore a state, or raise ValueError if it does not fit."""
        for name, array in arrays.items():
            if name not in self.SIGNED_ARRAYS and array.dtype == np.float64 and array.ndim == 1 and any_negative(array):
                raise ValueError(f"array {name} holds a negative number")
        Engine.set_state(self, arrays, numbers)
        if self.newborn != 0:
            wealth = self.arrays["wealth"]
            wealth[wealth == self.newborn] = 0


# Rates that follow the gradients: AdaGrad by coordinate and by norm, and FTRL-Proximal.
#
#     η_t = rate / √(sum of the squared gradients so far, this one included)
#
# Each engine keeps the terms of its bound: the sums of squares, and the largest weights.

cdef double MAX_SUM = 1e290
cdef double MAX_SQUARES = 1e300

cdef enum:  # what Diagonal keeps
    SQUARES
    FARTHEST

cdef enum:  # what Proximal keeps
    PULL
    PULL_SQUARES
    ANCHOR


cdef class Diagonal(Coordinates):
    """w_i ← w_i − rate · g_i/√(Σ g_i²), clipped to the box [−radius, radius], if any."""

    cdef double rate, radius

    def __init__(self, loss: str | Loss = "square", rate=0.5, radius: float | None = None,
                 loss_parameter: float | None = None):
        self.loss = as_loss(loss, loss_parameter)
        self.rate = positive("rate", rate)
        self.radius = MAX_SUM if radius is None else positive("radius", radius)
        self.keep(("squares", "farthest"))

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef double g, w, squares
        cdef Py_ssize_t i, k
        if slope == 0:
            return FINE
        for k in range(row.count):
            i, g = position(row, k), slope * row.values[k]
            if not self.kept[SQUARES][i] + g * g < MAX_SQUARES or not fabs(self.stored[i]) + self.rate < MAX_SUM:
                return DIVERGED
        self.touch_row(row)
        for k in range(row.count):
            i, g = position(row, k), slope * row.values[k]
            squares = self.kept[SQUARES][i] + g * g
            if g == 0 or squares == 0:
                continue
            w = self.stored[i] - self.rate * (g / sqrt(squares))
            w = max(-self.radius, min(self.radius, w))
            self.stored[i], self.kept[SQUARES][i] = w, squares
            self.kept[FARTHEST][i] = max(self.kept[FARTHEST][i], fabs(w))
        return FINE


cdef class WholeNorm(Additive):
    """w ← w − rate · g/√(Σ‖g‖²), projected on the ball, if any."""

    NUMBERS = (*Additive.NUMBERS, "squares", "farthest")
    cdef public double squares, farthest

    def __init__(self, loss: str | Loss = "square", rate=0.5, radius: float | None = None,
                 loss_parameter: float | None = None):
        domain = "everything" if radius is None else "ball"
        Additive.__init__(self, loss, rate, domain=domain, radius=radius, loss_parameter=loss_parameter)

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef double squares = self.squares + slope * slope * row.norm2
        if not squares < MAX_SQUARES:
            return DIVERGED
        if slope == 0 or row.norm2 == 0 or squares == 0:
            return FINE
        if self.add(row, -self.rate.value * (slope / sqrt(squares)) / self.factor) != FINE:
            return DIVERGED
        self.squares = squares
        self.project(row)
        self.farthest = max(self.farthest, self.factor * sqrt(self.norm2 + self.doubt))
        return FINE

    @property
    def takes_importance(self):
        """True if rounds may have importances."""
        return False

    def accounts(self) -> dict[str, Floats]:
        """Return Σ‖g‖² and the largest norm of the weights, as arrays of one number."""
        return {"squares": np.array([self.squares]), "farthest": np.array([self.farthest])}

    def advice(self, norm):
        """Return advice for weights that diverge."""
        return "give a radius, or scale the examples and outcomes down"


cdef class Proximal(Coordinates):
    """The leader of the linearised losses, with proximal, L1 and L2 regularisation.

    With n = Σ g² of a feature and σ_t = (√n_t − √n_{t−1})/rate:

        pull ← pull + g − σ w;   w = −shrink(pull, l1) / ((beta + √n)/rate + l2)
    """

    ADVICE = "use a smaller rate or a larger beta, or scale the examples and outcomes down"
    NUMBERS = (*Coordinates.NUMBERS, "anchored", "spent")
    SIGNED_ARRAYS = (*Coordinates.SIGNED_ARRAYS, "pull", "anchor")
    cdef double rate, beta, l1, l2
    cdef public double anchored     # Σ σ w² over all features and rounds,
    cdef public double spent        # and Σ g²/(2 H), H as w's divisor after the round

    def __init__(self, loss: str | Loss = "logistic", rate=0.1, beta=1.0, l1=0.0, l2=0.0,
                 loss_parameter: float | None = None):
        self.loss = as_loss(loss, loss_parameter)
        self.rate, self.beta = positive("rate", rate), positive("beta", beta)
        self.l1, self.l2 = not_negative("l1", l1), not_negative("l2", l2)
        self.keep(("pull", "squares", "anchor"))

    cdef bint fits(self, const Row* row, double slope) noexcept nogil:
        """Return whether all numbers of the update stay finite."""
        cdef double g, w, pulled
        cdef Py_ssize_t i, k
        for k in range(row.count):
            i, g = position(row, k), fabs(slope * row.values[k])
            w = fabs(self.stored[i])
            pulled = g / self.rate * w
            if not self.kept[PULL_SQUARES][i] + g * g < MAX_SQUARES:
                return False
            if not fabs(self.kept[PULL][i]) + fabs(self.kept[ANCHOR][i]) + g + pulled + pulled * w < MAX_SUM:
                return False
        return self.anchored + self.spent < MAX_SUM

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef double g, w, squares, root, sigma, pull, divisor
        cdef Py_ssize_t i, k
        if slope == 0:
            return FINE
        if not self.fits(row, slope):
            return DIVERGED
        self.touch_row(row)
        for k in range(row.count):
            i, g = position(row, k), slope * row.values[k]
            if g == 0:
                continue
            w, squares = self.stored[i], self.kept[PULL_SQUARES][i] + g * g
            root = sqrt(squares)
            divisor = root + sqrt(self.kept[PULL_SQUARES][i])
            sigma = g * g / divisor / self.rate if divisor > 0 else 0
            pull = self.kept[PULL][i] + g - sigma * w
            divisor = (self.beta + root) / self.rate + self.l2
            self.anchored += sigma * w * w
            self.spent += 0.5 * g * g / divisor
            self.kept[PULL][i], self.kept[PULL_SQUARES][i] = pull, squares
            self.kept[ANCHOR][i] += sigma * w
            self.stored[i] = 0 if fabs(pull) <= self.l1 else (copysign(self.l1, pull) - pull) / divisor
        return FINE

    def accounts(self):
        """Return the numbers from which the bound is computed."""
        kept = Coordinates.accounts(self)
        return kept | {"anchored": np.array([self.anchored]), "spent": np.array([self.spent])}


# Coin betting: every round bets a share of the wealth, which sets the step without a rate.
#
# Gradients are clipped to ``lipschitz``, so that the wealth stays positive; the theorem then no longer
# applies.

cdef double MAX_WEALTH = 1e280
# Least share of the wealth kept per round, so that rounding cannot make it zero.
cdef double MIN_SHARE = 1e-16
cdef double MIN_WEALTH = 1e-300  # 0 is that of a new feature

cdef enum:  # what CoordinateBets keeps
    WEALTH
    COINS
    COUNT

cdef enum:  # what InvariantBets keeps, besides WEALTH
    BET_PULL = 1
    BET_SQUARES
    PEAK
    SPENT


cdef class NormBets(Engine):
    """Krichevsky and Trofimov's bets on a vector: w = wealth/(t + 1) · (sum of the coins)."""

    FLAT = True
    ADVICE = "the wealth grew without end: is the loss bounded below? Else scale the examples down"
    NUMBERS = ("wealth", "bets")
    cdef double lipschitz
    cdef public double wealth
    cdef public long long bets

    def __init__(self, loss: str | Loss = "absolute", wealth=1.0, lipschitz=1.0, loss_parameter: float | None = None):
        self.loss = as_loss(loss, loss_parameter)
        self.wealth, self.lipschitz = positive("wealth", wealth), positive("lipschitz", lipschitz)
        self.factor = self.wealth

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef double size = fabs(slope) * (sqrt(row.norm2) / self.lipschitz), amount, wealth
        if size == 0:
            return FINE
        amount = -slope / self.lipschitz / max(1.0, size)
        wealth = max(self.wealth + amount * score, MIN_SHARE * self.wealth)
        if not isfinite(size) or not wealth < MAX_WEALTH:
            return DIVERGED
        self.touch_row(row)
        if row.indices == NULL:
            noregret_add_dense(self.stored, amount, row.values, row.count)
        else:
            noregret_add_sparse(self.stored, amount, row.values, row.indices, row.count)
        self.bets += 1
        self.wealth = wealth
        self.factor = wealth / (self.bets + 1)
        return FINE

    def accounts(self) -> dict[str, Floats]:
        """Return the number of bets, as an array of one number."""
        return {"count": np.array([float(self.bets)])}

    def restore(self, numbers):
        """Restore the numbers of a state."""
        if not numbers["wealth"] > 0:
            raise ValueError("the state's wealth is not above 0")
        Engine.restore(self, numbers)
        self.factor = self.wealth / (self.bets + 1)


cdef class CoordinateBets(Coordinates):
    """The same bets, separately for each feature."""

    ADVICE = "the wealth grew without end: is the loss bounded below? Else scale the examples down"
    SIGNED_ARRAYS = (*Coordinates.SIGNED_ARRAYS, "coins")
    cdef double lipschitz

    def __init__(self, loss: str | Loss = "absolute", wealth=1.0, lipschitz=1.0, loss_parameter: float | None = None):
        self.loss = as_loss(loss, loss_parameter)
        self.lipschitz = positive("lipschitz", lipschitz)
        self.newborn = positive("wealth", wealth)
        self.keep(("wealth", "coins", "count"))

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef double coin, wealth
        cdef Py_ssize_t i, k
        slope = slope / self.lipschitz
        if slope == 0:
            return FINE
        for k in range(row.count):
            i = position(row, k)
            if not self.wealth_of(i) + fabs(self.stored[i]) < MAX_WEALTH:
                return DIVERGED
        self.touch_row(row)
        for k in range(row.count):
            i, coin = position(row, k), max(-1.0, min(1.0, -slope * row.values[k]))
            if coin == 0:
                continue
            wealth = self.wealth_of(i)
            wealth = max(wealth + coin * self.stored[i], MIN_SHARE * wealth, MIN_WEALTH)
            self.kept[WEALTH][i] = wealth
            self.kept[COINS][i] += coin
            self.kept[COUNT][i] += 1
            self.stored[i] = self.kept[COINS][i] / (self.kept[COUNT][i] + 1) * wealth
        return FINE


cdef class InvariantBets(Coordinates):
    """Bets independent of units: each feature is scaled by its largest value so far.

    With G the sum of the coins c = −g x, S² that of their squares, M the largest |x|, this one's
    included, and s² = S² + M²:

        w = wealth · clip(G/s, −1, 1) / (2 s)

    is computed when x is seen, since M may grow with it. The stored weights are for rows without new
    maxima.
    """

    ADVICE = "the wealth grew without end: is the loss bounded below? Else scale the examples down"
    NUMBERS = (*Coordinates.NUMBERS, "steepest", "first_steep")
    SIGNED_ARRAYS = (*Coordinates.SIGNED_ARRAYS, "pull")
    cdef double lipschitz
    cdef public double steepest
    cdef public long long first_steep

    def __init__(self, loss: str | Loss = "absolute", wealth=1.0, lipschitz=1.0, loss_parameter: float | None = None):
        self.loss = as_loss(loss, loss_parameter)
        self.lipschitz = positive("lipschitz", lipschitz)
        self.newborn = positive("wealth", wealth)
        self.keep(("wealth", "pull", "squares", "peak", "spent"))

    cdef double share(self, Py_ssize_t i, double peak, double* s2) noexcept nogil:
        """Return the share of the wealth that feature i bets, per unit of x/s."""
        cdef double s
        s2[0] = self.kept[BET_SQUARES][i] + peak * peak
        if s2[0] == 0:
            return 0
        s = sqrt(s2[0])
        return 0.5 * max(-1.0, min(1.0, self.kept[BET_PULL][i] / s)) / s

    cdef double score(self, Row* row) noexcept nogil:
        cdef double score = Engine.score(self, row), size, s2
        cdef Py_ssize_t i, k
        for k in range(row.count):
            i, size = position(row, k), fabs(row.values[k])
            if size > self.kept[PEAK][i]:
                score += row.values[k] * (self.wealth_of(i) * self.share(i, size, &s2) - self.stored[i])
        return score

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef double g = max(-1.0, min(1.0, slope / self.lipschitz)), coin, share, peak, s2
        cdef Py_ssize_t i, k
        for k in range(row.count):
            i = position(row, k)
            if not self.wealth_of(i) + fabs(self.stored[i]) < MAX_WEALTH:
                return DIVERGED
        self.touch_row(row)
        for k in range(row.count):
            i = position(row, k)
            peak = max(self.kept[PEAK][i], fabs(row.values[k]))
            share = self.share(i, peak, &s2)
            if row.values[k] == 0 or s2 == 0:
                continue
            coin = -g * row.values[k]
            self.kept[WEALTH][i] = max(self.wealth_of(i) * (1 + coin * share), MIN_WEALTH)
            self.kept[BET_PULL][i] += coin
            self.kept[BET_SQUARES][i] += coin * coin
            self.kept[SPENT][i] += coin * coin / s2
            self.kept[PEAK][i] = peak
            self.stored[i] = self.kept[WEALTH][i] * self.share(i, peak, &s2)
        self.measure(fabs(slope))
        return FINE

    cdef void measure(self, double steep) noexcept nogil:
        self.steepest = max(self.steepest, steep)
        if self.first_steep == 0 and steep > self.lipschitz * (1 + 1e-12):
            self.first_steep = self.rounds + 1

    @property
    def linear(self):
        """False: the weights of a round depend on its example."""
        return False

    def accounts(self):
        """Return the numbers from which the bound is computed."""
        steep = {"steepest": np.array([self.steepest]), "first_steep": np.array([float(self.first_steep)])}
        return Coordinates.accounts(self) | steep
