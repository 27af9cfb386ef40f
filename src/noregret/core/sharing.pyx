"""Weights that are held from round to round, so that experts may give some of theirs to others."""

from libc.math cimport INFINITY, expm1, log, log1p
from libc.string cimport memcpy

import math

from noregret.core.weigher cimport Weigher, noregret_decayed, noregret_exp

# What is left of the weights in a round is surely more than underflow where it is more than this.
cdef double LEAST_SUM = 1e-290


cdef class Holding(Weigher):
    """Every expert holds a weight; at first its prior."""

    ARRAYS = ("held",)

    cdef void relocate(self):
        Weigher.relocate(self)
        self.held = self.look_up("held")

    def started(self):
        """Every expert holds its prior."""
        self.arrays["held"][:] = self.arrays["prior"]

    def join(self, share, others):
        """Let an expert in with its share of all that is held."""
        self.arrays["held"] *= 1 - share
        Weigher.join(self, share, others | {"held": share})

    def check_state(self):
        """What is held adds up to 1."""
        held = self.arrays["held"]
        if self.n and (held.min() < 0 or abs(math.fsum(held) - 1) > 1e-6):
            raise ValueError("the weights held must not be negative and must add up to 1")

    cdef void weigh(self, double* p, const unsigned char* awake) noexcept nogil:
        memcpy(p, self.held, self.n * sizeof(double))
        if awake != NULL:
            self.normalise(p, awake)


cdef class Sharing(Holding):
    """Exponential weights of which every expert gives a share away after each round.

    Parameters
    ----------
    rate
        η.
    share
        α: what each gives to the others, in equal parts.
    variable
        Whether an expert gives in proportion to its loss: 1 − (1 − α)^loss.
    prior
        The weights before the first round; equal if not given.
    """

    def __init__(self, rate=1.0, share=0.0, variable=False, prior=None):
        self.rate, self.share, self.variable = rate, share, variable
        super().__init__(prior)

    cdef void update(self, double own, const double* losses, const unsigned char* awake, double low, double high) noexcept nogil:
        cdef Py_ssize_t i
        cdef double total, pool = 0, given, stays = log1p(-self.share)
        if self.n == 1:
            return
        total = noregret_decayed(self.held, self.rate, losses, low, self.p, self.n)
        if not total > LEAST_SUM:  # the only ones left were hit beyond what numbers hold
            self.decay_from_the_best(losses)
            total = 1
        for i in range(self.n):
            self.p[i] /= total
            given = self.share
            if self.variable:
                given = -expm1(stays * max(0.0, losses[i])) if losses[i] < 1e300 else 1.0
            given *= self.p[i]
            self.held[i] = self.p[i] - given - given / (self.n - 1)
            pool += given
        for i in range(self.n):
            self.held[i] = max(0.0, self.held[i] + pool / (self.n - 1))

    cdef void decay_from_the_best(self, const double* losses) noexcept nogil:
        """Decay weights whose plain products underflow: as logarithms, from the largest."""
        cdef Py_ssize_t i
        cdef double most = -INFINITY, total = 0, now
        for i in range(self.n):
            if self.held[i] > 0:
                most = max(most, log(self.held[i]) - self.rate * losses[i])
        for i in range(self.n):
            now = log(self.held[i]) - self.rate * losses[i] - most if self.held[i] > 0 else -INFINITY
            self.p[i] = noregret_exp(min(0.0, now))
            total += self.p[i]
        for i in range(self.n):
            self.p[i] /= total
