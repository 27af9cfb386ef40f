"""Exponential weights that follow whoever leads now: a share of each goes to all, ever less of it.

After round t everyone gives 1/(4(t + 1)) of its weight, and all get a part of that as large as their prior.
So whoever has fallen behind can be back within a few rounds, and in the long run it costs no more
than about ln T / 4 beside the best. The rate is that of AdaHedge, or 1 for the log loss.
"""

from libc.math cimport log

cimport cython

from noregret.core.sharing cimport Holding
from noregret.core.weigher cimport noregret_decayed

cdef extern from "lanes.h" nogil:
    double noregret_dot(const double* a, const double* b, Py_ssize_t n) noexcept

cdef double LEAST_SUM = 1e-290
# What is given away after the first round, in all.
cdef double SHARED = 0.25


@cython.final
cdef class Tracker(Holding):
    """Weights that are shared again after each round."""

    NUMBERS = ("mixing_cost", "turns")

    def __init__(self, rate=0.0, prior=None):
        self.rate = rate
        super().__init__(prior)

    def check_state(self):
        """Check what is held, and what is counted."""
        Holding.check_state(self)
        if self.turns < 0 or self.mixing_cost < 0:
            raise ValueError("there are no fewer rounds than none, and mixing never gains")

    cdef double rate_now(self) noexcept nogil:
        if self.rate > 0:
            return self.rate
        return log(<double> max(2, self.n)) / self.mixing_cost if self.mixing_cost > 0 else 0.0

    cdef void update(self, double own, const double* losses, const unsigned char* awake, double low, double high) noexcept nogil:
        cdef Py_ssize_t i
        cdef double mean = 0, rate = self.rate_now(), total, share, stays
        self.turns += 1
        if self.rate == 0:
            for i in range(self.n):  # of equal losses, no more than rounding would be left
                self.p[i] = losses[i] - low
            mean = noregret_dot(self.held, self.p, self.n)
            if rate == 0:  # nothing was ever lost by mixing
                self.mixing_cost = mean
                rate = self.rate_now()
                if rate == 0:
                    return
        total = noregret_decayed(self.held, rate, losses, low, self.p, self.n)
        if not total > LEAST_SUM:
            return
        if self.rate == 0:
            self.mixing_cost += max(0.0, mean + log(total) / rate)
        share = SHARED / (self.turns + 1)
        stays = (1 - share) / total
        for i in range(self.n):
            self.held[i] = stays * self.p[i] + share * self.prior[i]
