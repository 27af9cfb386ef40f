"""Weighing experts by their regrets and the squares of these: no rate to choose, no range to know.

Regrets are measured in units of the largest seen so far, so that neither their squares nor a range
of 1e-300 are beyond what numbers hold.
"""

from libc.math cimport INFINITY, exp, log, log1p, sqrt

import numpy as np

cimport numpy as cnp

from noregret.core.weigher cimport Weigher, noregret_decayed, noregret_leaning, noregret_regretted

cnp.import_array()

# Squint's rates: each half the one before. It starts anew when regrets have grown this much.
cdef enum:
    RATES = 28
cdef double GROWN = 256.0
# Regrets may exceed what a rate was made for by this much: exp(x − x²) ≤ 1 + x holds down to −0.68,
# not only to −1/2, so that rounding never decides which rates are dropped.
cdef double ALIKE = 1 + 1e-6


cdef class Scaled(Weigher):
    """What the three have in common: the largest regret so far."""

    cdef public double unit             # the largest |regret| of a round so far
    NUMBERS = ("unit",)

    def bounds(self):
        """Return what the regret to each expert is at most."""
        return np.zeros(self.n)


cdef class Polynomial(Scaled):
    """ML-Poly: weights  prior · (regret)₊ / (B + Σ regret²), B the largest square so far."""

    cdef public double progress          # sum of prior-weighted squares over what came before
    cdef public long long jumps          # rounds in which the largest square more than doubled
    cdef double* regret
    cdef double* squares                 # in units of unit²
    ARRAYS = ("regret", "squares")
    NUMBERS = ("unit", "progress", "jumps")

    cdef void relocate(self):
        Weigher.relocate(self)
        self.regret, self.squares = self.look_up("regret"), self.look_up("squares")

    def check_state(self):
        """Squares are not negative."""
        if self.n and self.arrays["squares"].min() < 0:
            raise ValueError("a sum of squares is negative")

    cdef void weigh(self, double* p, const unsigned char* awake) noexcept nogil:
        noregret_leaning(self.prior, self.regret, self.unit if self.unit > 0 else 1.0, self.squares, p, self.n)
        self.normalise(p, awake)

    cdef void update(self, double own, const double* losses, const unsigned char* awake, double low, double high) noexcept nogil:
        # Sleepers lost what the mixture lost, so that their regret is 0.
        cdef double most = max(own - low, high - own), factor = 1, grown
        cdef bint jumped = False
        if most > self.unit:
            factor = self.unit / most
            factor *= factor
            jumped = factor < 0.5
            self.unit = most
        if self.unit == 0:
            return
        grown = noregret_regretted(self.regret, self.squares, self.prior, losses, own, self.unit, factor, self.n)
        if jumped:
            self.jumps += 1
        else:
            self.progress += grown

    def bounds(self):
        """√((B + Σr²)/prior) · (√progress + jumps/√2)."""
        grown = self.progress ** 0.5 + self.jumps * 0.5 ** 0.5
        return self.unit * np.sqrt((1 + self.arrays["squares"]) / self.arrays["prior"]) * grown


cdef double excess_of(double ratio) noexcept nogil:
    """Return the most by which x exceeds x^ratio for any x: about (ratio − 1)/e, and below 1."""
    cdef double more = ratio - 1
    if not more > 0:
        return 0.0
    return more / ratio * exp(-log1p(more) / more) if ratio < INFINITY else 1.0


cdef class Bernstein(Scaled):
    """BOA: weights  prior · η · exp(η · (regret − Σ η r²)), with a rate η for each expert."""

    cdef public double slack             # what changing rates has added to the sum of weights
    cdef double* score                   # Σ r − η r², in units of unit
    cdef double* squares                 # Σ r², in units of unit²
    cdef double* costs                   # Σ η r², in units of unit
    cdef double* rates                   # η of the next round, in units of 1/unit
    cdef double* wanted                  # the ln 1/prior that rates are tuned to, as it was at first
    cdef double* behind                  # scratch
    ARRAYS = ("score", "squares", "costs", "wanted")
    NUMBERS = ("unit", "slack")
    SCRATCH = ("rates", "behind")

    cdef void relocate(self):
        cdef Py_ssize_t i
        Weigher.relocate(self)
        self.score, self.squares, self.costs, self.wanted = (
            self.look_up("score"), self.look_up("squares"), self.look_up("costs"), self.look_up("wanted"))
        for name in self.SCRATCH:
            self.arrays[name] = np.zeros(self.n)
        self.rates, self.behind = self.look_up("rates"), self.look_up("behind")
        for i in range(self.n):
            self.rates[i] = self.rate(i)

    def started(self):
        """Rates are tuned to the prior."""
        self.arrays["wanted"][:] = np.maximum(0.5, -np.log(self.arrays["prior"]))

    def join(self, share, others):
        """Let an expert in; the rates of the others stay as they are."""
        Weigher.join(self, share, others | {"wanted": max(0.5, -log(share))})

    def check_state(self):
        """Squares and costs are not negative."""
        if self.n and min(self.arrays["squares"].min(), self.arrays["costs"].min()) < 0:
            raise ValueError("a sum of squares is negative")
        if self.n and self.arrays["wanted"].min() < 0.5:
            raise ValueError("rates are tuned to at least half a nat")

    cdef double rate(self, Py_ssize_t i) noexcept nogil:
        """Return η of an expert, in units of 1/unit."""
        return 0.5 if self.squares[i] <= 4 * self.wanted[i] else sqrt(self.wanted[i] / self.squares[i])

    cdef void weigh(self, double* p, const unsigned char* awake) noexcept nogil:
        cdef Py_ssize_t i
        cdef double most = -INFINITY
        for i in range(self.n):
            if awake == NULL or awake[i]:
                most = max(most, self.rates[i] * self.score[i])
        for i in range(self.n):
            self.behind[i] = max(0.0, most - self.rates[i] * self.score[i])
        noregret_decayed(self.prior, 1.0, self.behind, 0.0, p, self.n)
        for i in range(self.n):
            p[i] *= self.rates[i]
        self.normalise(p, awake)

    cdef void update(self, double own, const double* losses, const unsigned char* awake, double low, double high) noexcept nogil:
        cdef Py_ssize_t i
        cdef double r, rate, factor = 1, sum = 0, before = self.unit
        cdef double most = max(own - low, high - own)
        if most > before:
            self.unit = most
            factor = before / most
        if before == 0:  # the first regrets only show their size
            return
        for i in range(self.n):
            # In the old unit first: a regret beyond it counts as one of that size.
            r = (own - losses[i]) / self.unit
            rate = self.rates[i]
            self.score[i] = factor * (self.score[i] + r - rate * r * r)
            self.costs[i] = factor * (self.costs[i] + rate * r * r)
            self.squares[i] = factor * factor * (self.squares[i] + r * r)
            self.rates[i] = self.rate(i)
            sum += self.prior[i] * excess_of(rate / (self.rates[i] * factor))
        self.slack += sum

    def bounds(self):
        """unit · (1 + Σ η r² + (ln 1/prior + ln(1 + slack))/η)."""
        price = (np.log(1 / self.arrays["prior"]) + np.log1p(self.slack)) / self.arrays["rates"]
        return self.unit * (1 + self.arrays["costs"] + price)


cdef class Grid(Scaled):
    """Squint on a grid of rates: weights  prior · Σ_j γ_j η_j exp(η_j regret − η_j² Σ r²)."""

    cdef public double base              # the unit when this stretch began
    cdef double* regret                  # in units of base
    cdef double* squares
    cdef double* past                    # what earlier stretches promised
    cdef double* behind                  # scratch: an exponent for every rate of every expert
    cdef double[RATES] rates
    cdef double[RATES] chances           # γ_j η_j
    cdef double[RATES] parts             # scratch
    ARRAYS = ("regret", "squares", "past")
    SCRATCH = ("behind",)
    NUMBERS = ("unit", "base")

    cdef void relocate(self):
        Weigher.relocate(self)
        self.regret, self.squares, self.past = (
            self.look_up("regret"), self.look_up("squares"), self.look_up("past"))
        self.arrays["behind"] = np.zeros(self.n * RATES)
        self.behind = self.look_up("behind")
        for j in range(RATES):
            self.rates[j] = 0.5 ** (j + 1)
            self.chances[j] = self.rates[j] / ((j + 1) * (j + 2))

    def check_state(self):
        """Squares are not negative, and units fit each other."""
        if self.n and min(self.arrays["squares"].min(), self.arrays["past"].min()) < 0:
            raise ValueError("a sum of squares is negative")
        if self.base > self.unit or (self.unit > 0) != (self.base > 0):
            raise ValueError("base and unit do not fit each other")

    cdef int fastest(self) noexcept nogil:
        """Return the number of the largest rate that regrets allow."""
        cdef int j = 0
        cdef double size = self.base
        while size * ALIKE < self.unit and j < RATES - 1:
            size *= 2
            j += 1
        return j

    cdef void weigh(self, double* p, const unsigned char* awake) noexcept nogil:
        cdef Py_ssize_t i
        cdef int j, first = self.fastest()
        cdef double most = -INFINITY
        cdef double* at
        for i in range(self.n):
            at = self.behind + i * RATES
            for j in range(first, RATES):
                at[j] = self.rates[j] * (self.regret[i] - self.rates[j] * self.squares[i])
                if awake == NULL or awake[i]:
                    most = max(most, at[j])
        for i in range(self.n):
            at = self.behind + i * RATES
            for j in range(first, RATES):
                at[j] = max(0.0, most - at[j])
            p[i] = self.prior[i] * noregret_decayed(
                self.chances + first, 1.0, at + first, 0.0, self.parts, RATES - first)
        self.normalise(p, awake)

    cdef void update(self, double own, const double* losses, const unsigned char* awake, double low, double high) noexcept nogil:
        cdef Py_ssize_t i
        cdef double r, clip = 1, most = max(own - low, high - own), before = self.unit
        if most > before:
            self.unit = most
            clip = before / most
        if before == 0:  # the first regrets only show their size
            self.base = self.unit
            return
        for i in range(self.n):
            r = clip * (own - losses[i]) / self.base
            self.regret[i] += r
            self.squares[i] += r * r
        if self.unit > GROWN * ALIKE * self.base:
            for i in range(self.n):
                self.past[i] += self.promised(i, before)
                self.regret[i] = self.squares[i] = 0
            self.base = self.unit

    cdef double promised(self, Py_ssize_t i, double unit) noexcept nogil:
        """Return what the regret of this stretch is at most, rates being those for a unit."""
        cdef int j
        cdef double rate = 0.5, size = self.base, least = INFINITY, chance
        for j in range(RATES):
            if size * ALIKE >= unit or j == RATES - 1:
                chance = log((j + 1.0) * (j + 2.0) / self.prior[i])
                least = min(least, chance / rate + rate * self.squares[i])
            size *= 2
            rate *= 0.5
        return self.base * least

    def bounds(self):
        """unit + Σ over stretches of  min_j (ln(1/prior) + ln(1/γ_j))/η_j + η_j Σ r²."""
        here = np.array([self.promised(i, self.unit) for i in range(self.n)])
        return self.unit + self.arrays["past"] + (here if self.unit > 0 else 0.0)
