"""Weights of experts: the base of all rules, exponential and shared weights."""

from libc.math cimport INFINITY, expm1, hypot, log, log1p, sqrt
from libc.string cimport memcpy

import math

import numpy as np

cimport numpy as cnp

from noregret.base.compiled.state_parts cimport StateParts, add_part, add_range

from noregret.checks import state_arrays, state_numbers

cnp.import_array()


# Weights of experts: from the losses so far to the share of each in the next round.
#
# Losses are kept as gaps to the best expert, never as products of factors: after a million rounds, or
# one loss of 1e300, the weights of the others are as exact as ever. A sleeping expert is charged the
# loss of the mixture, so that its weight does not change.

# Gaps are clipped to this; the weight is zero long before.
cdef double MAX_GAP = 1e305
# No prior weight is below this, so that weights that underflow are negligible beside it.
MIN_PRIOR: float = 1e-290
cdef double MIN_SUM = 1e-290


cdef class Weigher:
    """The base of rules that turn losses of experts into weights; each has its own arrays."""

    ARRAYS = ()                 # one number per expert each, besides the prior
    SCRATCH = ()                # allocated again whenever arrays move
    NUMBERS = ()                # attributes that belong to the state
    SIGNED = ()                 # those of them that may be negative

    def __init__(self, prior=None):
        self.given_prior = prior
        self.arrays = {}
        self.begin(0)

    # The rule itself.

    cdef void weigh(self, double* p, const unsigned char* awake) noexcept nogil:
        """Fill in the weights of the next round; those of sleeping experts are 0."""

    cdef double weigh_all(self, double* p) noexcept nogil:
        """Fill in the weights of the next round, all awake; return the factor to multiply them by."""
        self.weigh(p, NULL)
        return 1.0

    cdef bint knows_excess(self) noexcept nogil:
        """True if ``excess`` is available."""
        return False

    def excess(self) -> Any:
        """Return the loss of each expert minus that of the mixture."""
        return np.zeros(self.n)

    cdef void update(self, double own, const double* losses, const unsigned char* awake, double low, double high) noexcept nogil:
        """Learn the losses, whose range is low to high; sleeping experts are charged ``own``, the mixture's."""

    # The experts.

    def begin(self, n: int) -> None:
        """Start with n experts, each with its prior weight."""
        given = self.given_prior
        prior = np.full(n, 1.0 / max(1, n)) if given is None else given if is_shared(given) else np.array(given, float)
        if n and len(prior) != n:
            raise ValueError(f"the prior is for {len(prior)} experts, and there are {n}")
        self.n = n
        self.arrays = {"prior": prior if len(prior) == n else prior[:n].copy()} | {name: np.zeros(n) for name in self.ARRAYS}
        self.arrays["p"] = np.zeros(n)
        self.relocate()
        self.started()

    def started(self):
        """Fill in the numbers that are nonzero before the first round."""

    def join(self, share, others):
        """Add an expert, with the past losses of the mixture.

        Parameters
        ----------
        share
            Its share of the prior.
        others
            Its numbers in some of the arrays; zero by default.
        """
        made = {}
        if min(share, self.arrays["prior"].min() * (1 - share)) < MIN_PRIOR:
            raise ValueError(f"prior weights would be too far apart: none may be below {MIN_PRIOR:g}")
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
        """Update settings that depend on the number of experts."""

    cdef double* look_up(self, str name):
        return <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays[name])

    cdef void relocate(self):
        """Update the pointers after the arrays moved."""
        self.prior, self.p = self.look_up("prior"), self.look_up("p")
        self.fresh = False

    cdef void next_weights(self) noexcept nogil:
        """Compute the weights of the next round."""
        cdef double scale
        if not self.fresh:
            scale = self.weigh_all(self.p)
            if scale != 1.0:
                noregret_multiply(self.p, scale, self.n)
            self.fresh = True

    cdef double normalise(self, double* p, const unsigned char* awake) noexcept nogil:
        """Normalise the weights, or use the prior if all are zero; return their sum before."""
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
        if total > MIN_SUM:
            noregret_multiply(p, 1 / total, self.n)
        elif total > 0:  # whose inverse overflows
            for i in range(self.n):
                p[i] /= total
        return total

    # The state.

    cdef void list_state(self, StateParts* parts):
        """Add the places of the numbers that rounds change, but for the weights of the next round."""
        add_part(parts, &self.rounds, sizeof(self.rounds))
        for name in self.ARRAYS:
            add_part(parts, self.look_up(name), self.n * sizeof(double))

    def get_state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the arrays and numbers of the state."""
        kept = {name: self.arrays[name].copy() for name in ("prior", *self.ARRAYS)}
        return kept, {name: getattr(self, name) for name in self.NUMBERS}

    def set_state(self, arrays: dict[str, Any], numbers: dict[str, Any]) -> None:
        """Restore a state, or raise ValueError and stay unchanged."""
        found = self.checked_arrays(arrays)
        kept = {name: getattr(self, name) for name in self.NUMBERS}
        state_numbers(numbers, kept, self.SIGNED)
        before = self.arrays
        try:
            self.take(found | {"p": np.zeros(len(found["prior"]))}, numbers)
            self.check_state()
        except ValueError:
            self.take(before, kept)
            raise

    def take(self, arrays, numbers):
        """Replace the arrays and numbers."""
        self.arrays, self.n = arrays, len(arrays["prior"])
        self.relocate()
        for name, value in numbers.items():
            setattr(self, name, value)

    def checked_arrays(self, arrays):
        """Return the arrays of a state, or raise ValueError if invalid."""
        state_arrays(arrays, dict.fromkeys(("prior", *self.ARRAYS), np.size(arrays.get("prior", ()))))
        found = {name: np.array(array) for name, array in arrays.items()}
        prior = found["prior"]
        if len(prior) and (prior.min() < MIN_PRIOR or abs(math.fsum(prior) - 1) > 1e-9):
            raise ValueError("the prior must be positive and add up to 1")
        return found

    def check_state(self):
        """Raise ValueError if the state is invalid."""


def is_shared(prior):
    """Return whether a prior is an array that nothing can change, and that several weighers may refer to."""
    return type(prior) is np.ndarray and not prior.flags.writeable and prior.dtype == np.float64 and prior.flags.c_contiguous


cdef enum:  # Pace
    CONSTANT            # the rate as it is
    SHRINKING           # rate / sqrt(t)
    ADAPTIVE            # rate / cumulative mixing cost (AdaHedge)
    LEADERS             # all weight on the best so far

PACES = ("constant", "shrinking", "adaptive", "leaders")


cdef class Exponential(Weigher):
    """Weights  prior · exp(−rate · loss so far).

    Parameters
    ----------
    rate
        η; for the shrinking pace η_t = rate/√t, for the adaptive one rate/(cumulative mixing cost).
    pace
        ``constant``, ``shrinking``, ``adaptive`` or ``leaders``.
    prior
        The weights before the first round; equal by default.
    """

    cdef public double rate, mixing_cost, spreads, rates
    cdef public double own_gap       # of the mixture to the best expert: negative if the mixture is better
    cdef int pace
    cdef double* gap                 # cumulative loss minus that of the best before the latest round
    cdef double least                # of the gaps
    cdef bint uneven                 # whether priors differ
    cdef double eager                # factor of weights computed while learning, or 0
    ARRAYS = ("gap",)
    NUMBERS = ("rate", "mixing_cost", "spreads", "rates", "own_gap")
    SIGNED = ("own_gap",)

    def __init__(self, rate=1.0, pace="constant", prior=None):
        self.rate, self.pace = rate, PACES.index(pace)
        super().__init__(prior)

    cdef void relocate(self):
        Weigher.relocate(self)
        self.gap = self.look_up("gap")
        cdef Py_ssize_t i
        self.least, self.uneven = self.gap[0] if self.n else 0.0, False
        for i in range(1, self.n):
            self.least = min(self.least, self.gap[i])
            self.uneven |= self.prior[i] != self.prior[0]
        self.eager = 0

    def check_state(self):
        """Raise ValueError if a gap is negative or there is no rate."""
        if self.n and self.arrays["gap"].min() < 0:
            raise ValueError("a gap to the best expert is negative")
        if not self.rate > 0:
            raise ValueError("the rate must be above 0")

    cdef void list_state(self, StateParts* parts):
        Weigher.list_state(self, parts)
        add_range(parts, &self.rate, &self.own_gap + 1)
        add_part(parts, &self.least, sizeof(double))

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
            # Equal priors cancel.
            return 1 / noregret_decayed(
                self.prior if self.uneven else NULL, rate, self.gap, self.reference(rate), p, self.n)
        self.weigh(p, NULL)
        return 1.0

    cdef double reference(self, double rate) noexcept nogil:
        """Return the offset of the gaps: the least gap, or 0 if that is small enough."""
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
        """Return the loss of each expert minus that of the mixture."""
        return self.arrays["gap"] - self.own_gap

    cdef void update(self, double own, const double* losses, const unsigned char* awake, double low, double high) noexcept nogil:
        cdef double rate = self.rate_now()
        self.spreads = hypot(self.spreads, high - low)
        if rate < INFINITY:
            self.rates += rate
        if self.pace == ADAPTIVE:
            self.mixing_cost += self.cost_of_mixing(rate, losses, low, high)
        self.own_gap = min(MAX_GAP, (self.own_gap - self.least) + (own - low))
        self.advance(losses, low)

    cdef void advance(self, const double* losses, double low) noexcept nogil:
        """Update the gaps; compute the weights on the way if the next rate is known and priors are equal."""
        cdef double before = self.least, rate, sum
        self.eager = 0
        if self.uneven or self.pace == ADAPTIVE or self.pace == LEADERS:
            self.least = noregret_lag(self.gap, losses, low, before, MAX_GAP, self.n)
            return
        self.rounds += 1
        rate = self.rate_now()
        self.rounds -= 1
        sum = noregret_advance(self.gap, losses, low, before, MAX_GAP, rate, self.p, &self.least, self.n)
        if rate * self.least < 1:
            self.eager = 1 / sum

    def join(self, share, others):
        """Add an expert, at the gap of the mixture."""
        if self.own_gap < 0:
            self.arrays["gap"] -= self.own_gap
            self.own_gap = 0.0
        Weigher.join(self, share, others | {"gap": self.own_gap})

    cdef double cost_of_mixing(self, double rate, const double* losses, double low, double high) noexcept nogil:
        """Return the loss of the mixture above the mix loss −ln Σ p exp(−η loss)/η; at least 0."""
        cdef double mean, lost
        self.next_weights()
        # Sum the shares of weight lost, accurate for small rates too.
        lost = noregret_lost(self.p, rate if rate < INFINITY else 0.0, losses, low, &mean, self.n)
        if rate < INFINITY and lost > -0.5:
            return max(0.0, mean + log1p(lost) / rate)
        return min(max(0.0, mean - self.mixed_loss(rate, losses, low)), high - low)

    cdef double mixed_loss(self, double rate, const double* losses, double low) noexcept nogil:
        """Return the mix loss above low, from gaps, so that weights that underflow count."""
        cdef double best = INFINITY, before, after
        cdef Py_ssize_t i
        self.fresh = False  # the weights are scratch from here on
        for i in range(self.n):
            self.p[i] = (self.gap[i] - self.least) + (losses[i] - low)
            best = min(best, self.p[i])
        if rate == INFINITY:
            return best
        after = noregret_decayed(self.prior, rate, self.p, best, self.p, self.n)
        before = noregret_decayed(self.prior, rate, self.gap, self.least, self.p, self.n)
        return best + (log(before) - log(after)) / rate


cdef enum:
    # Mean losses that AdaHedge's mixing cost starts with, for cautious weights.
    CAUTION = 4

MEAN_LOSSES: int = CAUTION


cdef class Cautious(Exponential):
    """AdaHedge with a lower rate at first:  rate / (cumulative mixing cost + 4 · typical loss).

    A loss is that of the mixture above the best expert of the round; the typical one is the largest mean so far.
    AdaHedge itself starts with all weight on the leader, and learns from what that costs.
    """

    cdef public double mean_loss, typical_loss
    NUMBERS = (*Exponential.NUMBERS, "mean_loss", "typical_loss")

    def __init__(self, prior=None):
        Exponential.__init__(self, 1.0, "adaptive", prior)

    cdef void list_state(self, StateParts* parts):
        Exponential.list_state(self, parts)
        add_range(parts, &self.mean_loss, &self.typical_loss + 1)

    cdef double rate_now(self) noexcept nogil:
        cdef double cost = self.mixing_cost + CAUTION * self.typical_loss
        return self.rate / cost if cost > 0 else INFINITY

    cdef void update(self, double own, const double* losses, const unsigned char* awake, double low, double high) noexcept nogil:
        Exponential.update(self, own, losses, awake, low, high)
        self.mean_loss += (max(0.0, own - low) - self.mean_loss) / (self.rounds + 1)
        self.typical_loss = max(self.typical_loss, self.mean_loss)


# Weights that are kept from round to round, so that experts can share some with others.

cdef class Holding(Weigher):
    """Weights kept per expert, initially the prior."""

    ARRAYS = ("held",)

    cdef void relocate(self):
        Weigher.relocate(self)
        self.held = self.look_up("held")

    def started(self):
        """Start with the prior."""
        self.arrays["held"][:] = self.arrays["prior"]

    def join(self, share, others):
        """Add an expert with its share of all weight."""
        self.arrays["held"] *= 1 - share
        Weigher.join(self, share, others | {"held": share})

    def check_state(self):
        """Raise ValueError unless the weights are nonnegative and add up to 1."""
        held = self.arrays["held"]
        if self.n and (held.min() < 0 or abs(math.fsum(held) - 1) > 1e-6):
            raise ValueError("the weights held must not be negative and must add up to 1")

    cdef void weigh(self, double* p, const unsigned char* awake) noexcept nogil:
        memcpy(p, self.held, self.n * sizeof(double))
        if awake != NULL:
            self.normalise(p, awake)


cdef class Sharing(Holding):
    """Exponential weights of which a share is redistributed after every round.

    Parameters
    ----------
    rate
        η.
    share
        α: the share that each gives to the others, in equal parts.
    variable
        If True, an expert's share depends on its loss: 1 − (1 − α)^loss.
    prior
        The weights before the first round; equal by default.
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
        if not total > MIN_SUM:  # the sum underflows
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
        """Decay weights whose products underflow, as logarithms relative to the largest."""
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
