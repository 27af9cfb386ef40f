"""The online Newton step.

    A ← A + c x xᵀ,   w ← w − slope · A⁻¹ x

c is the curvature of the parabola that touches the loss at the prediction and stays below it as far
as weights may go; for the square loss it is the loss itself.
"""

from libc.math cimport exp, fabs, isfinite, log1p, sqrt

cimport numpy as cnp

from noregret.core.engine cimport DIVERGED, FINE, Engine, Row, position
from noregret.core.losses cimport as_loss
from noregret.core.second_order cimport SecondOrder

from noregret.checks import one_of, positive

cnp.import_array()

LOSSES = ("square", "logistic", "squared-hinge")

cdef enum:  # Kind
    SQUARE
    LOGISTIC
    SQUARED_HINGE

cdef double LARGEST_SUM = 1e290
# Sums that bounds are made of are rounded up by more than an addition can lose.
cdef double UPWARD = 1 + 4.5e-16
# Where a parabola meets the loss this near, its curvature is taken from the second derivatives.
cdef double NEAR = 0.01
cdef double DOWNWARD = 1 - 1e-9


cdef double logistic_loss(double z) noexcept nogil:
    return log1p(exp(-z)) if z > 0 else log1p(exp(z)) - z


cdef double logistic_bend(double z) noexcept nogil:
    cdef double e = exp(-fabs(z))
    return e / ((1 + e) * (1 + e))


cdef double logistic_parabola(double z, double v) noexcept nogil:
    """The curvature of the parabola that touches the logistic loss at z and meets it at v."""
    cdef double d, e
    if z < 0:  # the mirror image differs by a line alone, and its digits do not cancel
        z, v = -z, -v
    d = v - z
    if fabs(d) < NEAR:
        return min(logistic_bend(z), logistic_bend(v)) * DOWNWARD
    e = exp(-z)
    return 2 * (logistic_loss(v) - logistic_loss(z) + e / (1 + e) * d) / (d * d) * DOWNWARD


cdef double hinge_parabola(double z, double v) noexcept nogil:
    """The same for the square of the hinge loss, v above z."""
    cdef double short = 1 - z, d = v - z
    if short <= 0:
        return 0
    return 2.0 if v <= 1 else 2 * short / d * ((2 * d - short) / d) * DOWNWARD


cdef class Newton(SecondOrder):
    """The online Newton step, with scores kept in |w·x| ≤ R ‖x‖ where there is a radius R."""

    cdef int kind
    cdef double radius                  # 0 without one
    cdef double price                   # ½ Σ g_tᵀ A_t⁻¹ g_t, rounded up
    cdef double* pull                   # Σ c x_i² w_i of the diagonal form,
    cdef double moved                   # and Σ c x_i² w_i² over all features

    def __init__(self, loss="square", penalty=1.0, form="full", radius=None):
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
        """Whether predictions are w·x: not where scores are kept in a range."""
        return self.radius == 0

    def scalars(self):
        """Return the numbers that, with the arrays, make up the state."""
        return SecondOrder.scalars(self) | {"price": self.price, "moved": self.moved}

    def restore(self, numbers):
        """Take the numbers of a state over."""
        SecondOrder.restore(self, numbers)
        self.price, self.moved = numbers["price"], numbers["moved"]
