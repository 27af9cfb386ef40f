"""Second-order engines: ridge regression, confidence-weighted, and Newton steps."""

from libc.math cimport exp, fabs, isfinite, log1p, sqrt
from libc.stdint cimport int32_t

import numpy as np

cimport numpy as cnp

from noregret.base.compiled.losses cimport as_loss
from noregret.linear.engine.engine cimport DIVERGED, FINE, Engine, Row, position

from noregret.checks import one_of, positive
from noregret.errors import BadExample

cnp.import_array()


# The matrix of second-order engines, ridge regression, and confidence in weights.
#
#     A ← A + c x xᵀ,   w ← w + a A⁻¹ x
#
# P = A⁻¹ is kept as U D Uᵀ, which stays symmetric and positive under rounding, or as D alone
# (diagonal). A round costs n², or as much as the row has entries. All numbers are known to stay finite
# before anything is written, so a refused row leaves no trace.

cdef extern from "udu_factors.h" nogil:
    void noregret_through(const double* u, const double* x, Py_ssize_t n, double* f) noexcept
    double noregret_quadratic_dense(const double* u, const double* d, const double* x, Py_ssize_t n) noexcept
    double noregret_quadratic_sparse(
        const double* u, const double* d, const double* x, const int32_t* at, Py_ssize_t count, Py_ssize_t n) noexcept
    double noregret_weighted_square(const double* d, const double* x, const int32_t* at, Py_ssize_t count) noexcept
    void noregret_refactor(double* u, double* d, const double* f, double c, double* b, Py_ssize_t n) noexcept
    void noregret_variances(const double* u, const double* d, double* p, Py_ssize_t n) noexcept
    void noregret_stretch(double* u, double* d, const double* s, Py_ssize_t n) noexcept
    double noregret_reach(const double* u, Py_ssize_t n) noexcept

FORMS: tuple[str, ...] = ("full", "diagonal")
# A full matrix of more features would take hundreds of megabytes.
MAX_FEATURES: int = 4096

cdef double SMALLEST_SPREAD = 1e-300
cdef double LARGEST_REACH = 1e290
cdef double LARGEST_WEIGHT = 1e200
# Sums in bounds are rounded up by more than the rounding error of an addition.
cdef double UPWARD = 1 + 4.5e-16

cdef class SecondOrder(Engine):
    """The base: A, its growth, and the weights that it moves."""

    FLAT = True
    ADVICE = "scale the examples and outcomes to ordinary sizes, or use a larger penalty"
    NUMBERS = ("reach",)

    cdef int build(self, object form, object penalty) except -1:
        """Start with A = λ I."""
        one_of("form", form, FORMS)
        self.penalty = positive("penalty", penalty)
        if not 1e-100 < self.penalty < 1e100:
            raise ValueError(f"penalty must lie between 1e-100 and 1e100: got {penalty!r}")
        self.full, self.reach = form == "full", 1
        self.arrays = {name: np.zeros(0) for name in self.kept()}
        self.relocate()
        return 0

    def kept(self):
        """Return the names of the arrays."""
        return ("stored", "spreads", "factors") if self.full else ("stored", "spreads")

    def length(self, name, size):
        """Return the length of an array for a number of features."""
        return size * (size - 1) // 2 if name == "factors" else size

    def room_for(self, size):
        """Return the number of features to allocate room for, within the limit of a full matrix."""
        room = Engine.room_for(self, size)
        return min(room, MAX_FEATURES) if self.full else room

    cdef void relocate(self):
        Engine.relocate(self)
        if "spreads" in self.arrays:
            self.spreads = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["spreads"])
        if "factors" in self.arrays:
            self.factors = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["factors"])
            self.scratch = np.zeros(3 * max(self.capacity, 1))
            self.through = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.scratch)
            self.gain = self.through + self.capacity

    cdef int resize(self, Py_ssize_t size) except -1:
        if self.full and size > MAX_FEATURES:
            raise BadExample(
                f"{size} features are too many for a full matrix, which has room for"
                f" {MAX_FEATURES}", "use a learner with form='diagonal' (online-newton, arow), or fewer features",
                round=self.rounds + 1,
            )
        return Engine.resize(self, size)

    cdef void begin(self, Py_ssize_t start) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(start, self.size):
            self.stored[i], self.spreads[i] = 0, 1 / self.penalty
        if self.full:
            for i in range(start * (start - 1) // 2, self.size * (self.size - 1) // 2):
                self.factors[i] = 0

    cdef double quadratic(self, const Row* row) noexcept nogil:
        """Return xᵀ P x, including unseen features."""
        cdef double known
        if not self.full:
            known = noregret_weighted_square(self.spreads, row.values, row.indices, row.count)
        elif row.indices == NULL:
            known = noregret_quadratic_dense(self.factors, self.spreads, row.values, row.count)
        else:
            known = noregret_quadratic_sparse(
                self.factors, self.spreads, row.values, row.indices, row.count, self.size)
        return known + row.unseen_norm2 / self.penalty

    cdef double weigh(self, const Row* row) noexcept nogil:
        """Return xᵀ P x, and in the full form fill in Uᵀ x for the update."""
        cdef double* x = self.gain + self.capacity
        cdef double sum = 0
        cdef Py_ssize_t i, k
        if not self.full:
            return self.quadratic(row)
        for i in range(self.size):
            x[i] = 0
        for k in range(row.count):
            x[position(row, k)] = row.values[k]
        noregret_through(self.factors, x, self.size, self.through)
        for i in range(self.size):
            sum += self.through[i] * (self.spreads[i] * self.through[i])
        return sum

    cdef double grown(self, double curvature, double amount) noexcept nogil:
        """Return a bound on |U| after an update; infinite if the update is not allowed."""
        cdef double alpha = 1, next, f, v, sum = 0, steepest = 0, most = 0, reach = self.reach
        cdef Py_ssize_t j
        for j in range(self.size):
            f = self.through[j]
            v = self.spreads[j] * f
            next = alpha + curvature * (f * v)
            if not self.spreads[j] * (alpha / next) >= SMALLEST_SPREAD:
                return LARGEST_REACH * 2
            steepest = max(steepest, curvature * fabs(f) / alpha)
            sum += fabs(v)
            most = max(most, fabs(self.stored[j]))
            alpha = next
        if not reach * (1 + sum * steepest) < LARGEST_REACH:
            reach = max(1.0, noregret_reach(self.factors, self.size))
        if not most + fabs(amount) * reach * sum < LARGEST_WEIGHT:
            reach = max(1.0, noregret_reach(self.factors, self.size))
            if not most + fabs(amount) * reach * sum < LARGEST_WEIGHT:
                return LARGEST_REACH * 2
        return reach * (1 + sum * steepest)

    cdef int learn(self, const Row* row, double curvature, double amount) noexcept nogil:
        """A += curvature · x xᵀ and w += amount · P x, with the P before; after weigh(row)."""
        cdef double reach = self.grown(curvature, amount)
        cdef Py_ssize_t i
        if not reach < LARGEST_REACH or not isfinite(amount):
            return DIVERGED
        noregret_refactor(self.factors, self.spreads, self.through, curvature, self.gain, self.size)
        self.reach = reach
        for i in range(self.size):
            if self.mean_kept:
                self.touch(i)
            self.stored[i] += amount * self.gain[i]
        return FINE

    cdef bint fits_diagonal(self, const Row* row, double curvature, double before, double after) noexcept nogil:
        """Return whether learn_diagonal may be called."""
        cdef double x, spread, there
        cdef Py_ssize_t i, k
        for k in range(row.count):
            x, i = row.values[k], position(row, k)
            spread = self.spreads[i] / (1 + curvature * (x * (self.spreads[i] * x)))
            there = self.stored[i] + (before * self.spreads[i] + after * spread) * x
            if not spread >= SMALLEST_SPREAD or not fabs(there) < LARGEST_WEIGHT:
                return False
        return True

    cdef int learn_diagonal(self, const Row* row, double curvature, double before, double after) noexcept nogil:
        """A += curvature · diag(x²), w += before · P x + after · P' x, with P' the new P."""
        cdef double x, spread
        cdef Py_ssize_t i, k
        if not self.fits_diagonal(row, curvature, before, after):
            return DIVERGED
        self.touch_row(row)
        for k in range(row.count):
            x, i = row.values[k], position(row, k)
            spread = self.spreads[i] / (1 + curvature * (x * (self.spreads[i] * x)))
            self.stored[i] += (before * self.spreads[i] + after * spread) * x
            self.spreads[i] = spread
        return FINE

    def check_state(self, arrays, numbers):
        """Raise ValueError if the matrix is not positive."""
        if self.full and numbers["size"] > MAX_FEATURES:
            raise ValueError(f"a full matrix has room for {MAX_FEATURES} features: got {numbers['size']}")
        low, high = SMALLEST_SPREAD, (1 + 1e-9) / self.penalty
        if not ((arrays["spreads"] >= low) & (arrays["spreads"] <= high)).all():
            raise ValueError("array spreads holds a number that no rows lead to")
        if self.full and not max(1.0, np.abs(arrays["factors"]).max(initial=0.0)) <= numbers["reach"]:
            raise ValueError("array factors holds a number larger than the state says")
        if not (np.abs(arrays["stored"]) < LARGEST_WEIGHT).all():
            raise ValueError("array stored holds a number that is too large")


cdef class Forward(SecondOrder):
    """Ridge regression that includes x before it predicts: Vovk, Azoury and Warmuth."""

    NUMBERS = (*SecondOrder.NUMBERS, "log_det")

    def __init__(self, penalty=1.0, forgetting=1.0):
        self.loss = as_loss("square", None)
        self.build("full", penalty)
        if not 1e-9 <= positive("forgetting", forgetting) <= 1:
            raise ValueError(f"forgetting must be at least 1e-9 and at most 1: got {forgetting!r}")
        self.forgetting = forgetting

    cdef double score(self, Row* row) noexcept nogil:
        return Engine.score(self, row) / (1 + self.quadratic(row))

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef double square
        cdef int status
        if row.norm2 > 0:
            square = self.weigh(row)
            status = self.learn(row, 1, (y - row.dot) / (1 + square))
            if status != FINE:
                return status
            self.log_det = (self.log_det + log1p(square) * UPWARD) * UPWARD
        if self.forgetting < 1:
            self.forget()
        return FINE

    cdef void forget(self) noexcept nogil:
        """P ← P/f, limited to the initial variance of each feature, so that P cannot wind up."""
        cdef double* stretch = self.through
        cdef double most = 1 / sqrt(self.forgetting), low = most, high = 1
        cdef Py_ssize_t i
        noregret_variances(self.factors, self.spreads, stretch, self.size)
        for i in range(self.size):
            stretch[i] = max(1.0, min(most, 1 / sqrt(self.penalty * stretch[i])))
            low, high = min(low, stretch[i]), max(high, stretch[i])
        if low == high:  # no feature is at its limit: the factors stay
            for i in range(self.size):
                self.spreads[i] *= low * low
        elif self.size:
            noregret_stretch(self.factors, self.spreads, stretch, self.size)
            self.reach *= high / low * UPWARD
            if self.reach > LARGEST_REACH:
                self.reach = max(1.0, noregret_reach(self.factors, self.size))

    @property
    def linear(self):
        """True if predictions are w·x."""
        return False


cdef class Confidence(SecondOrder):
    """Adaptive regularisation of weights: a margin below 1 moves the least certain weights."""

    def __init__(self, penalty=1.0, form="full"):
        self.loss = as_loss("hinge", None)
        self.build(form, penalty)

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef double square, amount
        if slope == 0 or row.norm2 == 0:
            return FINE
        square = self.weigh(row)
        amount = y * ((1 - y * score) / (1 + square))
        if self.full:
            return self.learn(row, 1, amount)
        return self.learn_diagonal(row, 1, amount, 0)


# The online Newton step.
#
#     A ← A + c x xᵀ,   w ← w − slope · A⁻¹ x
#
# c is the curvature of the parabola that touches the loss at the prediction and stays below it within
# the radius; for the square loss it is the loss itself.

LOSSES: tuple[str, ...] = ("square", "logistic", "squared-hinge")

cdef enum:  # Kind
    SQUARE
    LOGISTIC
    SQUARED_HINGE

cdef double LARGEST_SUM = 1e290
# If a parabola meets the loss this near, its curvature is computed from second derivatives.
cdef double NEAR_CONTACT = 0.01
cdef double DOWNWARD = 1 - 1e-9


cdef double logistic_loss(double z) noexcept nogil:
    return log1p(exp(-z)) if z > 0 else log1p(exp(z)) - z


cdef double logistic_bend(double z) noexcept nogil:
    cdef double e = exp(-fabs(z))
    return e / ((1 + e) * (1 + e))


cdef double logistic_parabola(double z, double v) noexcept nogil:
    """Return the curvature of the parabola that touches the logistic loss at z and meets it at v."""
    cdef double d, e
    if z < 0:  # the mirror image differs only by a line, and its digits do not cancel
        z, v = -z, -v
    d = v - z
    if fabs(d) < NEAR_CONTACT:
        return min(logistic_bend(z), logistic_bend(v)) * DOWNWARD
    e = exp(-z)
    return 2 * (logistic_loss(v) - logistic_loss(z) + e / (1 + e) * d) / (d * d) * DOWNWARD


cdef double hinge_parabola(double z, double v) noexcept nogil:
    """Return the same for the squared hinge loss, v above z."""
    cdef double short = 1 - z, d = v - z
    if short <= 0:
        return 0
    return 2.0 if v <= 1 else 2 * short / d * ((2 * d - short) / d) * DOWNWARD


cdef class Newton(SecondOrder):
    """The online Newton step, with scores kept in |w·x| ≤ R ‖x‖ if there is a radius R."""

    NUMBERS = (*SecondOrder.NUMBERS, "price", "moved")
    cdef int kind
    cdef double radius                  # 0 without one
    cdef public double price            # ½ Σ g_tᵀ A_t⁻¹ g_t, rounded up
    cdef double* pull                   # Σ c x_i² w_i of the diagonal form,
    cdef public double moved            # and Σ c x_i² w_i² over all features

    def __init__(self, loss="square", penalty=1.0, form="full", radius: float | None = None):
        one_of("loss", loss, LOSSES)
        self.loss = as_loss(loss, None)
        self.kind = LOSSES.index(loss)
        self.build(form, penalty)
        if radius is None and self.kind != SQUARE:
            raise ValueError(
                f"the {loss} loss is flat far out, so that Newton's step needs to know how far weights may go:"
                " give a radius, such as radius=10"
            )
        self.radius = 0 if radius is None else positive("radius", radius)
        if self.radius > 1e75:
            raise ValueError(f"radius must be at most 1e75: got {radius!r}")

    def kept(self):
        """Return the names of the arrays."""
        return SecondOrder.kept(self) if self.full else ("stored", "spreads", "pull")

    cdef void relocate(self):
        SecondOrder.relocate(self)
        if "pull" in self.arrays:
            self.pull = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["pull"])

    cdef void begin(self, Py_ssize_t start) noexcept nogil:
        cdef Py_ssize_t i
        SecondOrder.begin(self, start)
        if not self.full:
            for i in range(start, self.size):
                self.pull[i] = 0

    cdef double score(self, Row* row) noexcept nogil:
        cdef double score = Engine.score(self, row), most
        if self.radius == 0:
            return score
        most = self.radius * sqrt(row.norm2 + row.unseen_norm2)
        return max(-most, min(most, score))

    cdef double curvature(self, const Row* row, double score, double y) noexcept nogil:
        """The largest c such that loss(s) ≥ its tangent at the score + c/2 (s − score)²  for |s| ≤ R ‖x‖.

        A second derivative with one peak makes that the flatter of the parabolas through both ends.
        """
        cdef double most
        if self.kind == SQUARE:
            return 2
        most = self.radius * sqrt(row.norm2)
        if self.kind == SQUARED_HINGE:
            return hinge_parabola(y * score, most)
        return max(0.0, min(logistic_parabola(y * score, most), logistic_parabola(y * score, -most)))

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef double square, c, back, price
        cdef int status
        if row.norm2 == 0:
            return FINE
        square = self.weigh(row)
        if not square > 0:
            return FINE
        c = self.curvature(row, score, y)
        back = (score - row.dot) / square
        if self.full:
            price = slope * (slope * square / (1 + c * square))
            status = self.learn(row, c, back - slope / (1 + c * square)) if isfinite(price) else DIVERGED
        else:
            price = slope * (slope * self.settled(row, c))
            status = self.step_diagonal(row, c, back, -slope) if isfinite(price) else DIVERGED
        if status == FINE:
            self.price = (self.price + 0.5 * price * UPWARD) * UPWARD
        return status

    cdef double settled(self, const Row* row, double c) noexcept nogil:
        """xᵀ P' x for the diagonal P' after this round."""
        cdef double sum = 0, x, part
        cdef Py_ssize_t k
        for k in range(row.count):
            x = row.values[k]
            part = x * (self.spreads[position(row, k)] * x)
            sum += part / (1 + c * part)
        return sum

    cdef int step_diagonal(self, const Row* row, double c, double back, double after) noexcept nogil:
        """Learn, and add to the sums what the weights w that predicted had: c x_i² w_i and c x_i² w_i²."""
        cdef double x, w, moved = 0
        cdef Py_ssize_t i, k
        for k in range(row.count):
            x, i = row.values[k], position(row, k)
            w = self.stored[i] + back * self.spreads[i] * x
            moved += c * x * w * (x * w)
            if not fabs(self.pull[i] + c * x * (x * w)) < LARGEST_SUM:
                return DIVERGED
        if not self.moved + moved < LARGEST_SUM or not self.fits_diagonal(row, c, back, after):
            return DIVERGED
        for k in range(row.count):
            x, i = row.values[k], position(row, k)
            self.pull[i] += c * x * (x * (self.stored[i] + back * self.spreads[i] * x))
        self.moved = (self.moved + moved * UPWARD) * UPWARD
        return self.learn_diagonal(row, c, back, after)

    @property
    def linear(self):
        """True if predictions are w·x: not where scores are kept in a range."""
        return self.radius == 0
