"""Weighing experts: from what each has lost to the share it has in the next round.

Losses are kept as gaps to the best expert, never as products of factors: after a million rounds, or
one loss of 1e300, the weights of the others are as exact as ever. A sleeping expert is given what
the mixture itself lost, so that nothing is learned of it.
"""

from libc.math cimport INFINITY, hypot, log, log1p, sqrt

import math

import numpy as np

cimport numpy as cnp

from noregret.checks import state_numbers

cnp.import_array()

# No gap grows beyond this: the weight is nothing long before.
cdef double MOST = 1e305
# No prior weight is below this: what exp cannot hold is then nothing beside it.
LEAST_PRIOR = 1e-290
cdef double LEAST_SUM = 1e-290


cdef class Weigher:
    """How experts are weighed; each kind keeps its own arrays."""

    ARRAYS = ()                 # of one number an expert, besides the prior
    SCRATCH = ()                # made again whenever arrays move
    NUMBERS = ()                # attributes that belong to the state

    def __init__(self, prior=None):
        self.given_prior = prior
        self.arrays = {}
        self.begin(0)

    # What a kind of weigher says for itself.

    cdef void weigh(self, double* p, const unsigned char* awake) noexcept nogil:
        """Fill in the weights of the next round; those of sleepers are 0."""

    cdef double weigh_all(self, double* p) noexcept nogil:
        """Fill in the weights of the next round, all being awake; return what to multiply them by."""
        self.weigh(p, NULL)
        return 1.0

    cdef bint knows_excess(self) noexcept nogil:
        """Whether it keeps what each lost more than the mixture, as ``excess`` has it."""
        return False

    def excess(self):
        """Return what each lost more than the mixture."""
        return np.zeros(self.n)

    cdef void update(self, double own, const double* losses, const unsigned char* awake, double low, double high) noexcept nogil:
        """Learn what each lost, sleepers what the mixture lost, ``own``; low and high are its ends."""

    # The experts.

    def begin(self, n):
        """Start with n experts, each with its prior weight."""
        prior = np.full(n, 1.0 / max(1, n)) if self.given_prior is None else np.array(self.given_prior, float)
        if n and len(prior) != n:
            raise ValueError(f"the prior is for {len(prior)} experts, and there are {n}")
        self.n = n
        self.arrays = {"prior": prior[:n].copy()} | {name: np.zeros(n) for name in self.ARRAYS}
        self.arrays["p"] = np.zeros(n)
        self.relocate()
        self.started()

    def started(self):
        """Fill in what is not zero before the first round."""

    def join(self, share, others):
        """Let an expert in; it counts as having lost what the mixture lost.

        Parameters
        ----------
        share
            Its share of the prior.
        others
            Numbers of its own for some of the arrays; zero if not given.
        """
        made = {}
        if min(share, self.arrays["prior"].min() * (1 - share)) < LEAST_PRIOR:
            raise ValueError(f"prior weights would be too far apart: none may be below {LEAST_PRIOR:g}")
        for name, array in self.arrays.items():
            if name in self.SCRATCH:
                continue
            made[name] = np.append(array * (1 - share) if name == "prior" else array, others.get(name, 0.0))
        made["prior"][self.n] = share
        self.n += 1
        self.arrays = made
        self.relocate()
        self.joined()

    def joined(self):
        """Look after what depends on how many there are."""

    cdef double* look_up(self, str name):
        return <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays[name])

    cdef void relocate(self):
        """Look up the arrays again after they moved."""
        self.prior, self.p = self.look_up("prior"), self.look_up("p")
        self.fresh = False

    cdef void next_weights(self) noexcept nogil:
        """Have the weights of the next round at hand."""
        cdef double scale
        if not self.fresh:
            scale = self.weigh_all(self.p)
            if scale != 1.0:
                noregret_multiply(self.p, scale, self.n)
            self.fresh = True

    cdef double normalise(self, double* p, const unsigned char* awake) noexcept nogil:
        """Make weights add up to 1; the prior's where there are none. Return what they added up to."""
        cdef Py_ssize_t i
        cdef double total
        if awake != NULL:
            for i in range(self.n):
                if not awake[i]:
                    p[i] = 0
        total = noregret_total(p, self.n)
        if not (total > 0 and total < INFINITY):
            total = 0
            for i in range(self.n):
                p[i] = self.prior[i] if awake == NULL or awake[i] else 0.0
                total += p[i]
        if total > LEAST_SUM:
            noregret_multiply(p, 1 / total, self.n)
        elif total > 0:  # of which the inverse is no number
            for i in range(self.n):
                p[i] /= total
        return total

    # The state.

    def get_state(self):
        """Return the arrays and the numbers that it goes on from."""
        kept = {name: self.arrays[name].copy() for name in ("prior", *self.ARRAYS)}
        return kept, {name: getattr(self, name) for name in self.NUMBERS}

    def set_state(self, arrays, numbers):
        """Go on from a state; ValueError where it makes none, and then it stays as it was."""
        found = self.checked_arrays(arrays)
        kept = {name: getattr(self, name) for name in self.NUMBERS}
        state_numbers(numbers, kept)
        before = self.arrays
        try:
            self.take(found | {"p": np.zeros(len(found["prior"]))}, numbers)
            self.check_state()
        except ValueError:
            self.take(before, kept)
            raise

    def take(self, arrays, numbers):
        """Have these arrays and numbers."""
        self.arrays, self.n = arrays, len(arrays["prior"])
        self.relocate()
        for name, value in numbers.items():
            setattr(self, name, value)

    def checked_arrays(self, arrays):
        """Return the arrays of a state, or raise ValueError where they make none."""
        wanted = {"prior", *self.ARRAYS}
        if set(arrays) != wanted:
            raise ValueError(f"expected the arrays {sorted(wanted)}, got {sorted(arrays)}")
        found = {}
        for name, array in arrays.items():
            array = np.array(array)
            if array.dtype != np.float64 or array.ndim != 1 or array.shape != np.shape(arrays["prior"]):
                raise ValueError(f"{name} must hold one number an expert")
            if not np.isfinite(array).all():
                raise ValueError(f"{name} holds a number that is not finite")
            found[name] = array
        prior = found["prior"]
        if len(prior) and (prior.min() < LEAST_PRIOR or abs(math.fsum(prior) - 1) > 1e-9):
            raise ValueError("the prior must be positive and add up to 1")
        return found

    def check_state(self):
        """Refuse numbers that this kind cannot have."""


cdef enum:  # Pace
    CONSTANT            # the rate as it is
    SHRINKING           # rate / sqrt(t)
    ADAPTIVE            # rate / what mixing has cost so far (AdaHedge)
    LEADERS             # all on the best so far

PACES = ("constant", "shrinking", "adaptive", "leaders")


cdef class Exponential(Weigher):
    """Weights  prior · exp(−rate · loss so far).

    Parameters
    ----------
    rate
        η; of the shrinking pace η_t = rate/√t, of the adaptive one rate/(what mixing has cost so far).
    pace
        ``constant``, ``shrinking``, ``adaptive`` or ``leaders``.
    prior
        The weights before the first round; equal if not given.
    """

    cdef public double rate, mixing_cost, spreads, rates
    cdef public double own_gap       # of the mixture to the best expert: negative where it is better
    cdef int pace
    cdef double* gap                 # what each has lost more than the best had before the latest round
    cdef double least                # of the gaps
    cdef bint uneven                 # whether priors differ
    cdef double eager                # what to multiply weights by that were made while learning, or 0
    ARRAYS = ("gap",)
    NUMBERS = ("rate", "mixing_cost", "spreads", "rates", "own_gap")

    def __init__(self, rate=1.0, pace="constant", prior=None):
        self.rate, self.pace = rate, PACES.index(pace)
        super().__init__(prior)

    cdef void relocate(self):
        Weigher.relocate(self)
        self.gap = self.look_up("gap")
        self.least = min(self.arrays["gap"], default=0.0)
        self.uneven = bool(self.n) and bool(np.ptp(self.arrays["prior"]) > 0)
        self.eager = 0

    def check_state(self):
        """Gaps are not negative, and there is a rate."""
        if self.n and self.arrays["gap"].min() < 0:
            raise ValueError("a gap to the best expert is negative")
        if not self.rate > 0:
            raise ValueError("the rate must be above 0")

    @property
    def current_rate(self):
        """η of the next round."""
        return self.rate_now()

    cdef double rate_now(self) noexcept nogil:
        if self.pace == CONSTANT:
            return self.rate
        if self.pace == SHRINKING:
            return self.rate / sqrt(<double> (self.rounds + 1))
        if self.pace == ADAPTIVE and self.mixing_cost > 0:
            return self.rate / self.mixing_cost
        return INFINITY

    cdef double weigh_all(self, double* p) noexcept nogil:
        cdef double rate = self.rate_now(), scale = self.eager
        self.eager = 0
        if scale > 0:
            return scale
        if rate < INFINITY:
            # Equal priors need not be multiplied by.
            return 1 / noregret_decayed(
                self.prior if self.uneven else NULL, rate, self.gap, self.reference(rate), p, self.n)
        self.weigh(p, NULL)
        return 1.0

    cdef double reference(self, double rate) noexcept nogil:
        """Return from where gaps are counted: from the best, where that is not near enough as it is."""
        return 0.0 if rate * self.least < 1 else self.least

    cdef void weigh(self, double* p, const unsigned char* awake) noexcept nogil:
        cdef double rate = self.rate_now(), least = INFINITY
        cdef Py_ssize_t i
        for i in range(self.n):
            if awake == NULL or awake[i]:
                least = min(least, self.gap[i])
        if rate < INFINITY:
            noregret_decayed(self.prior, rate, self.gap, least, p, self.n)
        else:
            for i in range(self.n):
                p[i] = self.prior[i] if self.gap[i] <= least else 0.0
        self.normalise(p, awake)

    cdef bint knows_excess(self) noexcept nogil:
        return True

    def excess(self):
        """Return what each lost more than the mixture."""
        return self.arrays["gap"] - self.own_gap

    cdef void update(self, double own, const double* losses, const unsigned char* awake, double low, double high) noexcept nogil:
        cdef double rate = self.rate_now()
        self.spreads = hypot(self.spreads, high - low)
        if rate < INFINITY:
            self.rates += rate
        if self.pace == ADAPTIVE:
            self.mixing_cost += self.cost_of_mixing(rate, losses, low, high)
        self.own_gap = min(MOST, (self.own_gap - self.least) + (own - low))
        self.advance(losses, low)

    cdef void advance(self, const double* losses, double low) noexcept nogil:
        """Move the gaps; where the next rate is known and priors are equal, make weights on the way."""
        cdef double before = self.least, rate, sum
        self.eager = 0
        if self.uneven or self.pace == ADAPTIVE or self.pace == LEADERS:
            self.least = noregret_lag(self.gap, losses, low, before, MOST, self.n)
            return
        self.rounds += 1
        rate = self.rate_now()
        self.rounds -= 1
        sum = noregret_advance(self.gap, losses, low, before, MOST, rate, self.p, &self.least, self.n)
        if rate * self.least < 1:
            self.eager = 1 / sum

    def join(self, share, others):
        """Let an expert in, at the gap of the mixture."""
        if self.own_gap < 0:
            self.arrays["gap"] -= self.own_gap
            self.own_gap = 0.0
        Weigher.join(self, share, others | {"gap": self.own_gap})

    cdef double cost_of_mixing(self, double rate, const double* losses, double low, double high) noexcept nogil:
        """Return what the mixture loses above the mixed loss, −ln Σ p exp(−η loss)/η: never negative."""
        cdef double mean = 0, lost
        cdef Py_ssize_t i
        self.next_weights()
        for i in range(self.n):
            mean += self.p[i] * (losses[i] - low)
        if rate < INFINITY:
            # Shares of weight that are lost, gathered as small numbers so that small rates count too.
            lost = noregret_lost(self.p, rate, losses, low, self.n)
            if lost > -0.5:
                return max(0.0, mean + log1p(lost) / rate)
        return min(max(0.0, mean - self.mixed_loss(rate, losses, low)), high - low)

    cdef double mixed_loss(self, double rate, const double* losses, double low) noexcept nogil:
        """Return the mixed loss above low, from gaps: weights that are too small for numbers count."""
        cdef double best = INFINITY, before = 0, after = 0, gap
        cdef Py_ssize_t i
        for i in range(self.n):
            best = min(best, (self.gap[i] - self.least) + (losses[i] - low))
        if rate == INFINITY:
            return best
        for i in range(self.n):
            gap = self.gap[i] - self.least
            before += self.prior[i] * noregret_exp(-rate * gap)
            after += self.prior[i] * noregret_exp(-rate * (gap + (losses[i] - low) - best))
        return best + (log(before) - log(after)) / rate
