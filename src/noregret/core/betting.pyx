"""Engines without a rate: every round is a bet of part of the wealth, and the wealth is the rate.

A gradient that is longer than ``lipschitz`` is taken as if it were just that long: the wealth then
stays positive, though nothing is promised any more.
"""

from libc.math cimport fabs, isfinite, sqrt

from noregret.core.coordinates cimport Coordinates
from noregret.core.engine cimport (
    DIVERGED, FINE, Engine, Row, noregret_add_dense, noregret_add_sparse, position,
)
from noregret.core.losses cimport as_loss

import numpy as np

from noregret.checks import positive

cdef double LARGEST = 1e280
# A wealth that rounding alone could have brought to nothing keeps this share of itself.
cdef double LEAST_SHARE = 1e-16

cdef enum:  # what CoordinateBets keeps
    WEALTH
    COINS
    COUNT

cdef enum:  # what InvariantBets keeps, beside WEALTH
    PULL = 1
    SQUARES
    PEAK
    SPENT


cdef class NormBets(Engine):
    """Krichevsky and Trofimov's bets on a vector: w = wealth/(t + 1) · (sum of the coins)."""

    cdef double lipschitz, wealth
    cdef long long bets

    def __init__(self, loss="absolute", wealth=1.0, lipschitz=1.0, loss_parameter=None):
        self.loss = as_loss(loss, loss_parameter)
        self.wealth, self.lipschitz = positive("wealth", wealth), positive("lipschitz", lipschitz)
        self.factor = self.wealth

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef double size = fabs(slope) * (sqrt(row.norm2) / self.lipschitz), amount, wealth
        if size == 0:
            return FINE
        amount = -slope / self.lipschitz / max(1.0, size)
        wealth = max(self.wealth + amount * score, LEAST_SHARE * self.wealth)
        if not isfinite(size) or not wealth < LARGEST:
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

    def accounts(self):
        """Return the number of bets, as an array of one number."""
        return {"count": np.array([float(self.bets)])}

    def scalars(self):
        """Return the numbers that, with the arrays, make up the state."""
        return Engine.scalars(self) | {"wealth": self.wealth, "bets": self.bets}

    def restore(self, numbers):
        """Take the numbers of a state over."""
        if not numbers["wealth"] > 0:
            raise ValueError("the state's wealth is not above 0")
        Engine.restore(self, numbers)
        self.wealth, self.bets = numbers["wealth"], numbers["bets"]
        self.factor = self.wealth / (self.bets + 1)

    def advice(self, norm):
        """Say what to change when the weights diverge."""
        return "the wealth grew without end: is the loss bounded below? Else scale the examples down"


cdef class CoordinateBets(Coordinates):
    """The same bets for every feature by itself."""

    cdef double lipschitz

    def __init__(self, loss="absolute", wealth=1.0, lipschitz=1.0, loss_parameter=None):
        self.loss = as_loss(loss, loss_parameter)
        self.lipschitz = positive("lipschitz", lipschitz)
        self.newborn[WEALTH] = positive("wealth", wealth)
        self.keep(("wealth", "coins", "count"))

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef double coin, wealth
        cdef Py_ssize_t i, k
        slope = slope / self.lipschitz
        if slope == 0:
            return FINE
        for k in range(row.count):
            i = position(row, k)
            if not self.kept[WEALTH][i] + fabs(self.stored[i]) < LARGEST:
                return DIVERGED
        self.touch_row(row)
        for k in range(row.count):
            i, coin = position(row, k), max(-1.0, min(1.0, -slope * row.values[k]))
            if coin == 0:
                continue
            wealth = self.kept[WEALTH][i]
            wealth = max(wealth + coin * self.stored[i], LEAST_SHARE * wealth)
            self.kept[WEALTH][i] = wealth
            self.kept[COINS][i] += coin
            self.kept[COUNT][i] += 1
            self.stored[i] = self.kept[COINS][i] / (self.kept[COUNT][i] + 1) * wealth
        return FINE

    def advice(self, norm):
        """Say what to change when the weights diverge."""
        return "the wealth grew without end: is the loss bounded below? Else scale the examples down"


cdef class InvariantBets(Coordinates):
    """Bets that know no units: each feature is measured by its own largest value so far.

    With G the sum of the coins c = −g x, S² that of their squares, M the largest |x|, this one's
    included, and s² = S² + M²:

        w = wealth · clip(G/s, −1, 1) / (2 s)

    is found when x is seen, since M may grow with it. The stored weights are those for rows that
    bring nothing larger than before.
    """

    cdef double lipschitz, steepest
    cdef long long first_steep

    def __init__(self, loss="absolute", wealth=1.0, lipschitz=1.0, loss_parameter=None):
        self.loss = as_loss(loss, loss_parameter)
        self.lipschitz = positive("lipschitz", lipschitz)
        self.newborn[WEALTH] = positive("wealth", wealth)
        self.keep(("wealth", "pull", "squares", "peak", "spent"))

    cdef double share(self, Py_ssize_t i, double peak, double* s2) noexcept nogil:
        """The share of the wealth that feature i bets, a unit of x for a unit of s."""
        cdef double s
        s2[0] = self.kept[SQUARES][i] + peak * peak
        if s2[0] == 0:
            return 0
        s = sqrt(s2[0])
        return 0.5 * max(-1.0, min(1.0, self.kept[PULL][i] / s)) / s

    cdef double score(self, Row* row) noexcept nogil:
        cdef double score = Engine.score(self, row), size, s2
        cdef Py_ssize_t i, k
        for k in range(row.count):
            i, size = position(row, k), fabs(row.values[k])
            if size > self.kept[PEAK][i]:
                score += row.values[k] * (self.kept[WEALTH][i] * self.share(i, size, &s2) - self.stored[i])
        return score

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef double g = max(-1.0, min(1.0, slope / self.lipschitz)), coin, share, peak, s2
        cdef Py_ssize_t i, k
        for k in range(row.count):
            i = position(row, k)
            if not self.kept[WEALTH][i] + fabs(self.stored[i]) < LARGEST:
                return DIVERGED
        self.touch_row(row)
        for k in range(row.count):
            i = position(row, k)
            peak = max(self.kept[PEAK][i], fabs(row.values[k]))
            share = self.share(i, peak, &s2)
            if row.values[k] == 0 or s2 == 0:
                continue
            coin = -g * row.values[k]
            self.kept[WEALTH][i] *= 1 + coin * share
            self.kept[PULL][i] += coin
            self.kept[SQUARES][i] += coin * coin
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
        """Whether the weights of a round are known before its example: they are not."""
        return False

    def accounts(self):
        """Return what the promise is made of."""
        steep = {"steepest": np.array([self.steepest]), "first_steep": np.array([float(self.first_steep)])}
        return Coordinates.accounts(self) | steep

    def scalars(self):
        """Return the numbers that, with the arrays, make up the state."""
        return Coordinates.scalars(self) | {"steepest": self.steepest, "first_steep": self.first_steep}

    def restore(self, numbers):
        """Take the numbers of a state over."""
        Coordinates.restore(self, numbers)
        self.steepest, self.first_steep = numbers["steepest"], numbers["first_steep"]

    def advice(self, norm):
        """Say what to change when the weights diverge."""
        return "the wealth grew without end: is the loss bounded below? Else scale the examples down"
