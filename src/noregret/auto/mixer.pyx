"""The mixture of ``auto``: weights of the members by their losses, and over time."""

from libc.math cimport exp, fabs, log, sqrt
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

import math
from functools import cache

import numpy as np

cimport cython
cimport numpy as cnp

from noregret.auto.layout cimport LOGISTIC, SQUARE, Known, Round, chance_of, clip, layout_of
from noregret.base.compiled.losses cimport Loss
from noregret.base.compiled.state_parts cimport Allocated, StateParts, add_owned, add_range
from noregret.base.compiled.weigher cimport (
    Holding, Weigher, noregret_dot, noregret_extent, noregret_multiples, noregret_shared, noregret_squared, noregret_tracked,
)

from noregret.base.compiled.second_order_weights import Polynomial
from noregret.base.compiled.weigher import Exponential

cnp.import_array()

# The prior weight of each constant member (mean, even odds), and of all others together besides the mixtures.
CONSTANT_PRIOR, SINGLE_PRIOR = 0.1, 0.15
WEIGHERS = ("among_base", "tracker", "leaner", "final")

cdef double MIN_SUM = 1e-290
# Larger differences are not learned from: their squares might overflow.
cdef double MAX_WAY = 1e140
# After SURE_ROUNDS the largest range of the members' losses grows by up to this in a round.
cdef double MAX_GROWTH = 2.0
cdef long long SURE_ROUNDS = 200
# After an outlying outcome, the mixtures go by this share to it at first, as if that had been best in a number of rounds.
cdef double FIRST_FOLLOWED = 1.0 / 3, FOLLOWED_ROUNDS = 0.25
# The share of weight given away after the first round.
cdef double FIRST_SHARE = 0.25
cdef enum:
    MAX_SNAPSHOTS = 128
    FEWEST_SNAPSHOTS = 4  # that there is room for at first; then for some more, when they are taken


# After round t every member gives up 1/(4(t + 1)) of its weight, which is distributed by the prior. So a
# member that has fallen behind can lead again within a few rounds, at a total cost of about ln T / 4
# besides the loss of the best. The rate is that of AdaHedge, or 1 for the log loss.

@cython.final
cdef class Tracker(Holding):
    """Exponential weights that track the current leader, partly redistributed after each round."""

    NUMBERS = ("mixing_cost", "turns")

    def __init__(self, rate=0.0, prior=None):
        self.rate = rate
        super().__init__(prior)

    def check_state(self):
        """Raise ValueError if the state is invalid."""
        Holding.check_state(self)
        if self.turns < 0 or self.mixing_cost < 0:
            raise ValueError("the number of rounds and the mixing cost cannot be negative")

    cdef void list_state(self, StateParts* parts):
        Holding.list_state(self, parts)
        add_range(parts, &self.mixing_cost, &self.turns + 1)

    cdef double rate_now(self) noexcept nogil:
        if self.rate > 0:
            return self.rate
        return log(<double> max(2, self.n)) / self.mixing_cost if self.mixing_cost > 0 else 0.0

    cdef void update(self, double own, const double* losses, const unsigned char* awake, double low, double high) noexcept nogil:
        cdef double mean, rate = self.rate_now(), total, share
        self.turns += 1
        total = noregret_tracked(self.held, rate, losses, low, self.p, &mean, self.n)
        if rate == 0:  # no mixing cost so far
            self.mixing_cost = mean
            rate = self.rate_now()
            if rate == 0:
                return
            total = noregret_tracked(self.held, rate, losses, low, self.p, &mean, self.n)
        if not total > MIN_SUM:
            return
        if self.rate == 0:
            self.mixing_cost += max(0.0, mean + log(total) / rate)
        share = FIRST_SHARE / (self.turns + 1)
        noregret_shared(self.p, (1 - share) / total, share, self.prior, self.held, self.n)


cdef double settle(Weigher weigher, const double* losses, double own, int n) noexcept nogil:
    """Update a weigher with the members' losses; return their range."""
    cdef double low, high
    noregret_extent(losses, &low, &high, n)
    weigher.update(own, losses, NULL, low, high)
    weigher.rounds += 1
    weigher.fresh = False
    weigher.next_weights()
    return high - low


def priors(n, constant, mixtures):
    """Return the prior weights of n members relative to each other, and in the final mixture.

    Most of the latter is on the mixtures, and some on the members of the slice ``constant``.
    """
    constants = constant.stop - constant.start
    shares = np.full(n, 1.0)
    shares[constant] = CONSTANT_PRIOR * (n - constants) / (1 - CONSTANT_PRIOR * constants)
    single = SINGLE_PRIOR * (shares / shares.sum())
    single[constant] = CONSTANT_PRIOR
    return shares, np.append(single, [(1 - single.sum()) / mixtures] * mixtures)


@cache
def bank_priors(members, mean, several, weighed):
    """Return the priors of the weighers of a bank, which all banks of the same layout share."""
    shares, final = priors(members, slice(mean, several), weighed - members)
    base = shares[:several] / shares[:several].sum()
    shares /= shares.sum()
    for prior in (base, shares, final):
        prior.flags.writeable = False
    return base, shares, shares, final


# A bank has parts with a state of their own, filters and weighers: each under its name in the state of the bank.

def arrays_of(parts):
    """Return the arrays of all parts, as ``part.array``."""
    return {f"{name}.{key}": array for name, part in parts.items() for key, array in part.get_state()[0].items()}


def numbers_of(parts):
    """Return the numbers of all parts, as ``part.number``."""
    return {f"{name}.{key}": number for name, part in parts.items() for key, number in part.get_state()[1].items()}


def own_of(state):
    """Return the arrays or the numbers of a state that are not those of a part."""
    return {name: value for name, value in state.items() if "." not in name}


def take_parts(parts, widths, arrays, numbers):
    """Restore all parts from the state of a bank, or raise ValueError; ``widths`` are their numbers of inputs."""
    for name, part in parts.items():
        kept, own = ({key[len(name) + 1:]: value for key, value in state.items() if key.startswith(f"{name}.")} for state in (arrays, numbers))
        part.set_state(kept, own)
        if widths[name] is not None and part.n != widths[name]:
            raise ValueError(f"{name} should have {widths[name]} inputs: got {part.n}")
        if isinstance(part, Weigher):
            (<Weigher> part).next_weights()


def replace_state(bank, arrays, numbers):
    """Let a bank take a state; one that raises ValueError leaves it unchanged."""
    before = bank.get_state()
    try:
        bank.take(arrays, numbers)
    except ValueError:
        bank.take(*before)
        raise


def begin(weigher, prior):
    """Start a weigher with prior weights."""
    weigher.given_prior = prior
    weigher.begin(len(prior))
    (<Weigher> weigher).next_weights()


@cython.final
cdef class Snapshots:
    """The weights of the members after about a hundred rounds."""

    def __cinit__(self, members):
        self.members, self.stride = members, 1

    def __dealloc__(self):
        free(self.owned.at)

    @property
    def length(self):
        """The length of the whole table."""
        return MAX_SNAPSHOTS * (self.members + 1)

    @property
    def table(self):
        """A copy of the table as allocated: rounds, and the weights after each."""
        made = np.zeros(self.owned.bytes // sizeof(double))
        if self.owned.bytes:
            memcpy(cnp.PyArray_DATA(<cnp.ndarray> made), self.owned.at, self.owned.bytes)
        return made

    cdef double* due(self, long long rounds) noexcept nogil:
        """Return room for the members' weights if it is time; if there is none, drop every other snapshot."""
        cdef Py_ssize_t k, i, width = self.members + 1, room
        cdef double* at
        if rounds % self.stride:
            return NULL
        room = self.owned.bytes // sizeof(double) // width
        if self.taken == room and room < MAX_SNAPSHOTS:
            if self.hold(min(MAX_SNAPSHOTS, room + max(FEWEST_SNAPSHOTS, room // 4))):
                room = self.owned.bytes // sizeof(double) // width
        at = <double*> self.owned.at
        if self.taken == room:
            if room == 0:  # memory is short
                return NULL
            self.taken = room // 2
            self.stride *= 2
            for i in range(self.taken):
                for k in range(width):
                    at[i * width + k] = at[2 * i * width + k]
            if rounds % self.stride:
                return NULL
        self.taken += 1
        at[(self.taken - 1) * width] = rounds + 1
        return at + (self.taken - 1) * width + 1

    cdef bint hold(self, Py_ssize_t rows) noexcept nogil:
        """Allocate a table of so many snapshots, more than before; what is new is zero. Return whether there was memory."""
        cdef Py_ssize_t bytes = rows * (self.members + 1) * sizeof(double)
        cdef void* made = realloc(self.owned.at, bytes)
        if made == NULL:
            return False
        self.owned.at = <char*> made
        memset(<char*> made + self.owned.bytes, 0, bytes - self.owned.bytes)
        self.owned.bytes = bytes
        return True

    def whole(self):
        """Return the whole table; what was not taken yet is zero."""
        return np.append(self.table, np.zeros(self.length - self.owned.bytes // sizeof(double)))

    def history(self):
        """Return (rounds, the weights of all members after each), for about a hundred rounds."""
        width = self.members + 1
        table = self.table[:self.taken * width].reshape(self.taken, width)
        return table[:, 0].astype(np.int64), table[:, 1:].copy()

    def scalars(self):
        """Return the numbers of the state."""
        return {"stride": self.stride, "taken": self.taken}

    def take(self, table, numbers):
        """Replace the table, of which zeros at the end are not held, and the numbers."""
        if not 0 <= numbers["taken"] <= MAX_SNAPSHOTS or numbers["stride"] < 1:
            raise ValueError("the state's numbers make no sense")
        used = np.flatnonzero(table)
        rows = max(numbers["taken"], used[len(used) - 1] // (self.members + 1) + 1 if len(used) else 0)
        rows = min(MAX_SNAPSHOTS, -(-rows // FEWEST_SNAPSHOTS) * FEWEST_SNAPSHOTS)
        free(self.owned.at)
        self.owned.at, self.owned.bytes = NULL, 0
        if rows and not self.hold(rows):
            raise MemoryError
        self.fill(np.ascontiguousarray(table[:rows * (self.members + 1)]))
        self.taken, self.stride = numbers["taken"], numbers["stride"]

    def fill(self, const double[::1] table):
        """Fill in the table."""
        if table.shape[0]:
            memcpy(self.owned.at, &table[0], table.shape[0] * sizeof(double))


@cython.final
cdef class Mixer:
    """The weights of a bank's members: in the base, in two mixtures of all of them, and in the final mixture."""

    def __cinit__(self, Loss loss not None, recent, edition, trees):
        self.loss, self.at = loss, layout_of(loss, recent, edition, trees)
        labels = self.at.kind == LOGISTIC
        self.among_base, self.tracker = (Tracker(1.0 if labels else 0.0) for _ in range(2))
        self.leaner = Polynomial()
        self.final = Exponential(1.0, "constant" if labels else "adaptive")
        if not labels:
            self.final.rate = math.log(self.at.weighed)
        self.follows = edition > 2 and recent and not labels
        self.begin()
        self.snapshots = Snapshots(self.at.members)

    def begin(self):
        """Start all weighers."""
        found = bank_priors(self.at.members, self.at.mean, self.at.several, self.at.weighed)
        for weigher, prior in zip(self.weighers().values(), found, strict=True):
            begin(weigher, prior)

    # Predictions.

    cdef void give_chance(self, Round* r, int start, int stop) noexcept nogil:
        """Fill in the probabilities of log-odds."""
        cdef int k
        cdef double e, likely
        if self.at.kind == LOGISTIC:
            for k in range(start, stop):
                e = exp(-fabs(r.says[k]))
                likely = 1 / (1 + e)
                r.chance[k], r.other[k] = (likely, e * likely) if r.says[k] >= 0 else (e * likely, likely)

    cdef double mixed(self, Weigher weigher, Round* r, int n) noexcept nogil:
        """Return the weighted mean of n predictions; for labels, of probabilities."""
        if self.at.kind == LOGISTIC:
            return log(noregret_dot(weigher.p, r.chance, n) / noregret_dot(weigher.p, r.other, n))
        return noregret_dot(weigher.p, r.says, n)

    cdef double mix_base(self, Round* r) noexcept nogil:
        """Return the mixture of the members that use no outcomes."""
        self.give_chance(r, 0, self.at.several)
        return self.mixed(self.among_base, r, self.at.several)

    cdef double mix_all(self, Round* r) noexcept nogil:
        """Return the final mixture, of all members and of their two mixtures."""
        cdef int k, n = self.at.members
        cdef double share
        if not r.full:  # inactive filters have repeated the base since
            self.give_chance(r, 0, self.at.first)
        if not r.grown:
            self.give_chance(r, self.at.trees, self.at.mean)
        self.give_chance(r, self.at.several, n)
        r.says[n] = self.mixed(self.tracker, r, n)
        if self.at.kind != LOGISTIC:
            r.says[n + 1] = self.mixed(self.leaner, r, n)
        if self.follows and r.known.last != r.known.outcomes[0]:  # clipped: a fluke, or a new level
            share = self.share_of_last()
            for k in range(n, n + 2):
                r.says[k] += share * (r.known.last - r.says[k])
        self.give_chance(r, n, self.at.weighed)
        return self.mixed(self.final, r, self.at.weighed)

    cdef double share_of_last(self) noexcept nogil:
        """Return how far mixtures go to an outlying last outcome: what was best after others, by least squares."""
        cdef double prior = FOLLOWED_ROUNDS * self.followed[2]
        return (self.followed[1] + FIRST_FOLLOWED * prior) / (self.followed[0] + prior) if prior > 0 else FIRST_FOLLOWED

    cdef void judge_last(self, Round* r, double last, double y) noexcept nogil:
        """Learn how far the outcome is on the way from the tracker's mixture to an outlying last outcome."""
        cdef double start = self.mixed(self.tracker, r, self.at.members), way = last - start
        if fabs(way) < MAX_WAY:
            self.followed[0] += way * way
            self.followed[1] += way * (clip(y, min(start, last), max(start, last)) - start)
            self.followed[2] = max(self.followed[2], way * way)

    # Weights.

    cdef double loss_of(self, const Round* r, int k, double y, double importance) noexcept nogil:
        if self.at.kind == SQUARE:
            return importance * (r.says[k] - y) * (r.says[k] - y)
        if self.at.kind == LOGISTIC:
            return -importance * log(r.chance[k] if y > 0 else r.other[k])
        return importance * self.loss.table.value(&self.loss.table, r.says[k], y)

    cdef double limit(self, double y, double widest_error, double importance, double own, double* losses) noexcept nogil:
        """Limit the members' losses to that of the widest error; return the mixture's loss to count.

        What is left out is summed in ``beyond``.
        """
        cdef double most = importance * max(
            self.loss.table.value(&self.loss.table, y + widest_error, y), self.loss.table.value(&self.loss.table, y - widest_error, y))
        cdef double counted = 0, left
        cdef int k, weighed = self.at.weighed
        if self.final.rounds >= SURE_ROUNDS:
            most = min(most, MAX_GROWTH * self.widest)
        most = max(most, self.widest)
        for k in range(weighed):
            counted += self.final.p[k] * min(losses[k], most)
        counted = min(counted, own)  # so that the mean loss still is no less
        for k in range(weighed):
            left = max(0.0, losses[k] - most)
            self.beyond[k] += (own - counted) - left
            losses[k] -= left
        return counted

    cdef void weigh(self, Round* r, const Known* known, double y, double near, double widest_error, double importance, double served) noexcept nogil:
        """Update all weighers with the members' losses, for the outcome as clipped, up to a widest error (0 for any).

        ``known`` are the outcomes known to the prediction, and ``served`` is the mixture's prediction, NaN for that of the current weights.
        """
        cdef double[48] losses
        cdef double[48] near_by
        cdef double* says = r.says
        cdef double low, high
        cdef double slope, own, guess, counted, loss
        cdef int k, n = self.at.members, weighed = self.at.weighed
        if self.at.kind == SQUARE:
            noregret_squared(r.says, y, importance, losses, weighed)
        else:
            for k in range(weighed):
                losses[k] = self.loss_of(r, k, y, importance)
        if self.follows and known.last != known.outcomes[0]:
            self.judge_last(r, known.last, y)
        guess = self.mixed(self.final, r, weighed) if served != served else served
        if self.at.kind == LOGISTIC:
            own = -importance * log(chance_of(guess * (1 if y > 0 else -1)))
            settle(self.final, losses, own, weighed)
            settle(self.among_base, losses, 0, self.at.several)
            settle(self.tracker, losses, 0, n)
            return
        own = importance * self.loss.table.value(&self.loss.table, guess, y)
        if near != y:
            y = near  # the part left out is summed in ``beyond``
            counted = importance * self.loss.table.value(&self.loss.table, guess, y)
            for k in range(weighed):
                loss = self.loss_of(r, k, y, importance)
                self.beyond[k] += (own - losses[k]) - (counted - loss)
                losses[k] = loss
            own = counted
        if widest_error > 0:
            noregret_extent(says, &low, &high, weighed)
            if max(high - y, y - low) > widest_error:
                own = self.limit(y, widest_error, importance, own, losses)
                says = near_by
                for k in range(weighed):
                    says[k] = clip(r.says[k], y - widest_error, y + widest_error)
        self.widest = max(self.widest, settle(self.final, losses, own, weighed))
        settle(self.among_base, losses, 0, self.at.several)
        settle(self.tracker, losses, 0, n)
        slope = importance * self.loss.table.slope(&self.loss.table, says[n + 1], y)
        noregret_multiples(says, slope, losses, n)
        settle(self.leaner, losses, slope * says[n + 1], n)

    # Findings.

    cdef double weight_of(self, int k) noexcept nogil:
        """Return the total weight of a member in the next round, directly and through the mixtures."""
        cdef int n = self.at.members
        cdef double found = self.final.p[k] + self.final.p[n] * self.tracker.p[k]
        return found if self.at.kind == LOGISTIC else found + self.final.p[n + 1] * self.leaner.p[k]

    def member_weights(self) -> Floats:
        """Return the weight of every member in the next round."""
        return np.array([self.weight_of(k) for k in range(self.at.members)])

    cdef void take_snapshot(self, long long rounds) noexcept nogil:
        """Record the members' weights, if it is time."""
        cdef int k
        cdef double* room = self.snapshots.due(rounds)
        if room != NULL:
            for k in range(self.at.members):
                room[k] = self.weight_of(k)

    def excess(self):
        """Return the losses of all members and mixtures minus that of the final mixture."""
        return self.final.excess() - self.left_out()

    def left_out(self):
        """Return the regret to each member and mixture that clipping outlying outcomes left out."""
        return np.array([self.beyond[k] for k in range(self.at.weighed)])

    def prices(self):
        """Return the bound on the regret to each member and mixture."""
        prior = -np.log(self.final.get_state()[0]["prior"])
        if self.at.kind == LOGISTIC:
            return prior
        log_n = self.final.rate
        prior = (1 + prior / log_n) * (self.final.spreads * sqrt(log_n) / 2 + self.widest * (2.0 / 3 * log_n + 1))
        return prior + np.maximum(0.0, self.left_out())

    def costs(self):
        """Return the same by the measured cost of mixing, which is rarely near its own bound."""
        if self.at.kind == LOGISTIC:
            return self.prices()
        prior = -np.log(self.final.get_state()[0]["prior"])
        cost = (1 + prior / self.final.rate) * self.final.mixing_cost
        return np.minimum(self.prices(), cost + np.maximum(0.0, self.left_out()))

    # The state.

    cdef void list_state(self, StateParts* parts):
        """Add the places of all numbers that rounds change, but for the weights of the next round."""
        cdef Weigher weigher
        for weigher in (self.among_base, self.tracker, self.leaner, self.final):
            weigher.list_state(parts)
        add_range(parts, &self.followed[0], &self.beyond[self.at.weighed])
        add_range(parts, &self.snapshots.owned, &self.snapshots.taken + 1)
        add_owned(parts, &self.snapshots.owned, NULL)

    cdef void weigh_again(self) noexcept nogil:
        """Compute the weights of the next round from the state."""
        self.among_base.fresh = self.tracker.fresh = self.leaner.fresh = self.final.fresh = False
        self.among_base.next_weights()
        self.tracker.next_weights()
        self.leaner.next_weights()
        self.final.next_weights()

    def weighers(self):
        """Return all weighers by name."""
        return {name: getattr(self, name) for name in WEIGHERS}

    def widths(self):
        """Return the number of inputs of each weigher."""
        n = self.at.members
        return dict(zip(WEIGHERS, (self.at.several, n, n, self.at.weighed), strict=True))

    def lengths(self):
        """Return the length of each array."""
        found = {"snapshots": self.snapshots.length, "beyond": self.at.weighed}
        return found | {"followed": 3} if self.follows else found

    def state(self):
        """Return copies of all arrays."""
        found = {"snapshots": self.snapshots.whole(), "beyond": self.left_out()}
        return found | {"followed": np.array(self.followed)} if self.follows else found

    def take(self, arrays, numbers):
        """Replace the arrays and numbers; ``arrays`` have the right sizes."""
        self.snapshots.take(arrays["snapshots"], numbers)
        for k, number in enumerate(arrays["beyond"].tolist()):
            self.beyond[k] = number
        self.final.rounds = (<Tracker> self.tracker).turns  # which are saved
        for k, number in enumerate(arrays["followed"].tolist() if self.follows else ()):
            if number < 0:
                raise ValueError("array followed holds a negative sum")
            self.followed[k] = number
