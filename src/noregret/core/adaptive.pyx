"""Rates that follow the gradients: AdaGrad by coordinate and by norm, and FTRL-Proximal.

    η_t = rate / √(sum of the squared gradients so far, this one included)

Each engine keeps what its promise is made of: the sums of squares, and how far the weights went.
"""

from libc.math cimport copysign, fabs, sqrt

from noregret.core.additive cimport Additive
from noregret.core.coordinates cimport Coordinates
from noregret.core.engine cimport DIVERGED, FINE, Row, position
from noregret.core.losses cimport as_loss

import numpy as np

from noregret.checks import not_negative, positive

cdef double LARGEST = 1e290
cdef double LARGEST_SQUARES = 1e300

cdef enum:  # what Diagonal keeps
    SQUARES
    FARTHEST

cdef enum:  # what Proximal keeps
    PULL
    PULL_SQUARES
    ANCHOR


cdef class Diagonal(Coordinates):
    """w_i ← w_i − rate · g_i/√(Σ g_i²), back into the box [−radius, radius] where there is one."""

    cdef double rate, radius

    def __init__(self, loss="square", rate=0.5, radius=None, loss_parameter=None):
        self.loss = as_loss(loss, loss_parameter)
        self.rate = positive("rate", rate)
        self.radius = LARGEST if radius is None else positive("radius", radius)
        self.keep(("squares", "farthest"))

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef double g, w, squares
        cdef Py_ssize_t i, k
        if slope == 0:
            return FINE
        for k in range(row.count):
            i, g = position(row, k), slope * row.values[k]
            if not self.kept[SQUARES][i] + g * g < LARGEST_SQUARES or not fabs(self.stored[i]) + self.rate < LARGEST:
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
    """w ← w − rate · g/√(Σ‖g‖²), back into the ball where there is one."""

    cdef double squares, farthest

    def __init__(self, loss="square", rate=0.5, radius=None, loss_parameter=None):
        domain = "everything" if radius is None else "ball"
        Additive.__init__(self, loss, rate, domain=domain, radius=radius, loss_parameter=loss_parameter)

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef double squares = self.squares + slope * slope * row.norm2
        if not squares < LARGEST_SQUARES:
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
        """Whether a round may stand for several."""
        return False

    def accounts(self):
        """Return Σ‖g‖² and the largest norm of the weights, as arrays of one number."""
        return {"squares": np.array([self.squares]), "farthest": np.array([self.farthest])}

    def scalars(self):
        """Return the numbers that, with the arrays, make up the state."""
        return Additive.scalars(self) | {"squares": self.squares, "farthest": self.farthest}

    def restore(self, numbers):
        """Take the numbers of a state over."""
        Additive.restore(self, numbers)
        self.squares, self.farthest = numbers["squares"], numbers["farthest"]

    def advice(self, norm):
        """Say what to change when the weights diverge."""
        return "give a radius, or scale the examples and outcomes down"


cdef class Proximal(Coordinates):
    """The leader of the linearised losses, held where each round was played and by L1 and L2.

    With n = Σ g² of a feature and σ_t = (√n_t − √n_{t−1})/rate:

        pull ← pull + g − σ w;   w = −shrink(pull, l1) / ((beta + √n)/rate + l2)
    """

    cdef double rate, beta, l1, l2
    cdef double anchored            # Σ σ w² over all features and rounds,
    cdef double spent               # and Σ g²/(2 H), H as w's divisor after the round

    def __init__(self, loss="logistic", rate=0.1, beta=1.0, l1=0.0, l2=0.0, loss_parameter=None):
        self.loss = as_loss(loss, loss_parameter)
        self.rate, self.beta = positive("rate", rate), positive("beta", beta)
        self.l1, self.l2 = not_negative("l1", l1), not_negative("l2", l2)
        self.keep(("pull", "squares", "anchor"))

    cdef bint fits(self, const Row* row, double slope) noexcept nogil:
        """Whether no number of the update can become too large."""
        cdef double g, w, pulled
        cdef Py_ssize_t i, k
        for k in range(row.count):
            i, g = position(row, k), fabs(slope * row.values[k])
            w = fabs(self.stored[i])
            pulled = g / self.rate * w
            if not self.kept[PULL_SQUARES][i] + g * g < LARGEST_SQUARES:
                return False
            if not fabs(self.kept[PULL][i]) + fabs(self.kept[ANCHOR][i]) + g + pulled + pulled * w < LARGEST:
                return False
        return self.anchored + self.spent < LARGEST

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
        """Return what the promise is made of."""
        kept = Coordinates.accounts(self)
        return kept | {"anchored": np.array([self.anchored]), "spent": np.array([self.spent])}

    def scalars(self):
        """Return the numbers that, with the arrays, make up the state."""
        return Coordinates.scalars(self) | {"anchored": self.anchored, "spent": self.spent}

    def restore(self, numbers):
        """Take the numbers of a state over."""
        Coordinates.restore(self, numbers)
        self.anchored, self.spent = numbers["anchored"], numbers["spent"]

    def advice(self, norm):
        """Say what to change when the weights diverge."""
        return "use a smaller rate or a larger beta, or scale the examples and outcomes down"
