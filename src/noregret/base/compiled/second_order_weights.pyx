"""Second-order weights of experts, by regrets and their squares: no rate to choose, no range to know.

Regrets are in units of the largest so far, so that neither their squares nor a range of 1e-300
overflow or underflow.
"""

from libc.math cimport INFINITY, exp, log, log1p, sqrt

import numpy as np

from noregret.base.compiled.state_parts cimport StateParts, add_part, add_range
from noregret.base.compiled.weigher cimport Weigher, noregret_decayed, noregret_leaning, noregret_regretted

# Squint's rates, each half the one before. It restarts when regrets have grown by this factor.
cdef enum:
    RATES = 28
cdef double MAX_GROWTH = 256.0
# Regrets may exceed the limit of a rate by this factor, so that rounding never decides which rates
# are dropped: exp(x − x²) ≤ 1 + x holds down to −0.68, not only to −1/2.
cdef double RATE_SLACK = 1 + 1e-6


cdef class Scaled(Weigher):
    """The base of the three: the largest regret so far."""

    cdef public double unit             # the largest |regret| of a round so far
    NUMBERS = ("unit",)

    def bounds(self) -> Floats:
        """Return a bound on the regret to each expert."""
        return np.zeros(self.n)


cdef class Polynomial(Scaled):
    """ML-Poly: weights  prior · (regret)₊ / (B + Σ regret²), B the largest square so far."""

    cdef public double progress          # sum of prior-weighted squares over the sums before
    cdef public long long jumps          # rounds in which the largest square more than doubled
    cdef double* regret
    cdef double* squares                 # in units of unit²
    ARRAYS = ("regret", "squares")
    NUMBERS = ("unit", "progress", "jumps")

    cdef void relocate(self):
        Weigher.relocate(self)
        self.regret, self.squares = self.look_up("regret"), self.look_up("squares")

    cdef void list_state(self, StateParts* parts):
        Weigher.list_state(self, parts)
        add_part(parts, &self.unit, sizeof(double))
        add_range(parts, &self.progress, &self.jumps + 1)

    def check_state(self):
        """Raise ValueError if a sum of squares is negative."""
        if self.n and self.arrays["squares"].min() < 0:
            raise ValueError("a sum of squares is negative")

    cdef void weigh(self, double* p, const unsigned char* awake) noexcept nogil:
        noregret_leaning(self.prior, self.regret, self.unit if self.unit > 0 else 1.0, self.squares, p, self.n)
        self.normalise(p, awake)

    cdef void update(self, double own, const double* losses, const unsigned char* awake, double low, double high) noexcept nogil:
        # Sleeping experts are charged the loss of the mixture, so their regret is 0.
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
        """Return √((B + Σr²)/prior) · (√progress + jumps/√2)."""
        grown = self.progress ** 0.5 + self.jumps * 0.5 ** 0.5
        return self.unit * np.sqrt((1 + self.arrays["squares"]) / self.arrays["prior"]) * grown


# (1 + x)^(−1/x), and up to which x so many terms are as exact as that.
cdef enum:
    TERMS = 9
cdef double SMALL_EXCESS = 0.015
cdef double[TERMS] SERIES
for _k, _term in enumerate(
    (1, 1 / 2, -5 / 24, 5 / 48, -337 / 5760, 137 / 3840, -67177 / 2903040, 18289 / 1161216, -15527801 / 1393459200)
):
    SERIES[_k] = _term / exp(1)


cdef double excess_of(double ratio) noexcept nogil:
    """Return the maximum over x of x − x^ratio: about (ratio − 1)/e, and below 1."""
    cdef double more = ratio - 1
    cdef double x = 0
    cdef int k
    if not more > 0:
        return 0.0
    if more < SMALL_EXCESS:  # most rounds: a series, to the last bit but one
        for k in range(TERMS - 1, -1, -1):
            x = x * more + SERIES[k]
        return more / ratio * x
    return more / ratio * exp(-log1p(more) / more) if ratio < INFINITY else 1.0


cdef class Bernstein(Scaled):
    """BOA: weights  prior · η · exp(η · (regret − Σ η r²)), with a rate η for each expert."""

    cdef public double slack             # growth of the sum of weights by changing rates
    cdef double* score                   # Σ r − η r², in units of unit
    cdef double* squares                 # Σ r², in units of unit²
    cdef double* costs                   # Σ η r², in units of unit
    cdef double* rates                   # η of the next round, in units of 1/unit
    cdef double* wanted                  # the initial ln 1/prior, to which rates are tuned
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
        """Tune the rates to the prior."""
        self.arrays["wanted"][:] = np.maximum(0.5, -np.log(self.arrays["prior"]))

    def join(self, share, others):
        """Add an expert; the rates of the others stay."""
        Weigher.join(self, share, others | {"wanted": max(0.5, -log(share))})

    def check_state(self):
        """Raise ValueError if a sum is negative or a rate is out of range."""
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
        if before == 0:  # the first regrets only set the unit
            return
        for i in range(self.n):
            # First in the old unit, to which larger regrets are clipped.
            r = (own - losses[i]) / self.unit
            rate = self.rates[i]
            self.score[i] = factor * (self.score[i] + r - rate * r * r)
            self.costs[i] = factor * (self.costs[i] + rate * r * r)
            self.squares[i] = factor * factor * (self.squares[i] + r * r)
            self.rates[i] = self.rate(i)
            sum += self.prior[i] * excess_of(rate / (self.rates[i] * factor))
        self.slack += sum

    def bounds(self):
        """Return unit · (1 + Σ η r² + (ln 1/prior + ln(1 + slack))/η)."""
        price = (np.log(1 / self.arrays["prior"]) + np.log1p(self.slack)) / self.arrays["rates"]
        return self.unit * (1 + self.arrays["costs"] + price)


cdef class Grid(Scaled):
    """Squint on a grid of rates: weights  prior · Σ_j γ_j η_j exp(η_j regret − η_j² Σ r²)."""

    cdef public double base              # the unit since the last restart
    cdef double* regret                  # in units of base
    cdef double* squares
    cdef double* past                    # the sum of the bounds before the last restart
    cdef double* behind                  # scratch: one exponent per rate and expert
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
        """Raise ValueError if a sum of squares is negative or the units are inconsistent."""
        if self.n and min(self.arrays["squares"].min(), self.arrays["past"].min()) < 0:
            raise ValueError("a sum of squares is negative")
        if self.base > self.unit or (self.unit > 0) != (self.base > 0):
            raise ValueError("base and unit do not fit each other")

    cdef int fastest(self) noexcept nogil:
        """Return the index of the largest rate that the regrets allow."""
        cdef int j = 0
        cdef double size = self.base
        while size * RATE_SLACK < self.unit and j < RATES - 1:
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
        if before == 0:  # the first regrets only set the unit
            self.base = self.unit
            return
        for i in range(self.n):
            r = clip * (own - losses[i]) / self.base
            self.regret[i] += r
            self.squares[i] += r * r
        if self.unit > MAX_GROWTH * RATE_SLACK * self.base:
            for i in range(self.n):
                self.past[i] += self.promised(i, before)
                self.regret[i] = self.squares[i] = 0
            self.base = self.unit

    cdef double promised(self, Py_ssize_t i, double unit) noexcept nogil:
        """Return the bound on the regret since the last restart, with the rates for a unit."""
        cdef int j
        cdef double rate = 0.5, size = self.base, least = INFINITY, chance
        for j in range(RATES):
            if size * RATE_SLACK >= unit or j == RATES - 1:
                chance = log((j + 1.0) * (j + 2.0) / self.prior[i])
                least = min(least, chance / rate + rate * self.squares[i])
            size *= 2
            rate *= 0.5
        return self.base * least

    def bounds(self):
        """Return unit + Σ over restarts of  min_j (ln(1/prior) + ln(1/γ_j))/η_j + η_j Σ r²."""
        here = np.array([self.promised(i, self.unit) for i in range(self.n)])
        return self.unit + self.arrays["past"] + (here if self.unit > 0 else 0.0)
