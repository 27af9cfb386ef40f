"""Delayed outcomes: each prediction that counts is made before the latest ``delay`` outcomes arrive.

The bank itself learns every round at once, and is asked about rows that come next. A second bank
stays ``delay`` rounds behind, and what it says of a row is what could have been served: its weights,
its filters and its members have seen no outcome that was still out. Only that is counted as loss,
and members are weighed by it.
"""

from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy

cimport cython

import numpy as np

cimport numpy as cnp

from noregret.core.bank cimport Bank
from noregret.core.engine cimport DIVERGED, FINE, NO_MEMORY, Row, position

cnp.import_array()

BEHIND, HELD = "behind.", "held."
# Numbers kept of a held round beside its entries.
ROUND_NUMBERS = 5


@cython.final
cdef class DelayedBank(Bank):
    """A bank that counts what could have been served while outcomes were out."""

    def __init__(self, loss="square", loss_parameter=None, recent=True, delay=1):
        Bank.__init__(self, loss, loss_parameter, recent, delay)
        self.behind = Bank(loss, loss_parameter, recent, delay)
        self.held = <Held*> calloc(delay + 1, sizeof(Held))
        if self.held == NULL:
            raise MemoryError
        self.arrays["served"] = np.zeros(self.members + self.mixers)
        self.judged, self.behind.judged = &self.then, &self.recalled
        self.relocate()

    def __dealloc__(self):
        cdef int k
        if self.held != NULL:
            for k in range(self.delay + 1):
                free(self.held[k].values)
                free(self.held[k].indices)
            free(self.held)

    cdef void relocate(self):
        Bank.relocate(self)
        if "served" in self.arrays:
            self.served = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["served"])

    # The round.

    cdef double score(self, Row* row) noexcept nogil:
        cdef double now = Bank.score(self, row)
        return self.serve(row) if self.learning and now == now else now

    cdef double serve(self, const Row* row) noexcept nogil:
        """Return what the bank behind says of a row; features that it has yet to meet are unseen."""
        cdef Row known = row[0]
        while known.count and position(&known, known.count - 1) >= self.behind.size:
            known.count -= 1
            known.unseen += 1
        return self.behind.look(&known, &self.then, 0)

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef double lost = self.importance * self.loss.table.value(&self.loss.table, score, y)
        cdef double far = y - self.behind.origin
        cdef int k, status
        self.behind.importance = self.importance
        if not self.behind.countable(far) or not self.countable(y - self.origin):
            return DIVERGED
        # From here on nothing may fail, so that a refused round leaves everything as it was.
        if self.room_for_steps(row.count) != FINE or not self.make_room(row):
            return NO_MEMORY
        status = Bank.update(self, row, score, slope, y)
        if status != FINE:
            return status
        for k in range(self.members + self.mixers):
            self.served[k] += self.behind.loss_of(&self.then, k, far)
        if self.behind.rounds == 0 and self.rounds > 0:  # the first round is counted already
            self.opening += lost
        self.hold(row, y)
        if self.waiting > self.delay:
            self.catch_up()
        return FINE

    cdef bint make_room(self, const Row* row) noexcept nogil:
        """Have room for a round to be held, and for the features of the one that is let go for it."""
        cdef Held* free_one = &self.held[(self.first + self.waiting) % (self.delay + 1)]
        cdef double* values
        cdef int32_t* indices
        if row.count > free_one.room or free_one.values == NULL:
            values = <double*> realloc(free_one.values, (row.count + 1) * sizeof(double))
            if values == NULL:
                return False
            free_one.values = values
            indices = <int32_t*> realloc(free_one.indices, (row.count + 1) * sizeof(int32_t))
            if indices == NULL:
                return False
            free_one.indices, free_one.room = indices, row.count
        if self.waiting == self.delay and self.held[self.first].size != self.behind.size:
            return self.grow_behind(self.held[self.first].size)
        return True

    cdef bint grow_behind(self, Py_ssize_t size) noexcept nogil:
        """Let features join the bank behind; whether there was memory for them."""
        with gil:
            try:
                self.behind.resize(size)
                return True
            except MemoryError:
                return False

    cdef void hold(self, const Row* row, double y) noexcept nogil:
        """Keep a round for the bank behind."""
        cdef Held* held = &self.held[(self.first + self.waiting) % (self.delay + 1)]
        held.count, held.sparse, held.size = row.count, row.count > 0 and row.indices != NULL, self.size
        held.outcome, held.importance = y, self.importance
        held.says = self.then.says
        memcpy(held.values, row.values, row.count * sizeof(double))
        if held.sparse:
            memcpy(held.indices, row.indices, row.count * sizeof(int32_t))
        self.waiting += 1

    cdef void catch_up(self) noexcept nogil:
        """Have the bank behind learn from the oldest round that is held."""
        cdef Held* held = &self.held[self.first]
        cdef Row row
        row.values, row.indices, row.count = held.values, held.indices if held.sparse else NULL, held.count
        row.unseen, row.unseen_sum, row.unseen_norm2, row.spread = 0, 0, 0, 0
        self.behind.importance, self.recalled.says = held.importance, held.says
        self.behind.give_chance(&self.recalled, 0, self.members + self.mixers)
        # It learns exactly what this bank has learned before, so that it cannot be refused.
        self.behind.play(&row, held.outcome)
        self.first = (self.first + 1) % (self.delay + 1)
        self.waiting -= 1

    # What it has found.

    def excess(self):
        """Return what everyone has lost, as served, more than what was served."""
        return self.arrays["served"] - self.total_loss

    def accounts(self):
        """Return nothing: no promise is about delayed outcomes."""
        return {}

    # The state.

    def scalars(self):
        """Return the numbers that, with the arrays, make up the state."""
        return Bank.scalars(self) | {BEHIND + name: value for name, value in self.behind.scalars().items()}

    def get_state(self):
        """Return (arrays, numbers): all that prediction and learning depend on."""
        arrays, numbers = Bank.get_state(self)
        arrays |= {BEHIND + name: array for name, array in self.behind.get_state()[0].items()}
        return arrays | {HELD + name: array for name, array in self.held_rounds().items()}, numbers

    def held_rounds(self):
        """Return the held rounds, oldest first, as arrays."""
        cdef Held* held
        cdef Py_ssize_t k
        cdef int everyone = self.members + self.mixers
        rounds, values, places = np.zeros((self.waiting, ROUND_NUMBERS)), [np.zeros(0)], [np.zeros(0)]
        says = np.zeros((self.waiting, everyone))
        for k in range(self.waiting):
            held = &self.held[(self.first + k) % (self.delay + 1)]
            rounds[k] = held.outcome, held.importance, held.size, held.count, held.sparse
            says[k] = <double[:everyone]> held.says
            if held.count:
                values.append(np.array(<double[:held.count]> held.values))
                places.append(np.array(<int32_t[:held.count]> held.indices, dtype=np.float64) if held.sparse else np.arange(held.count, dtype=np.float64))
        found = {"rounds": rounds.ravel(), "says": says.ravel()}
        return found | {"values": np.concatenate(values), "places": np.concatenate(places)}

    def own_sizes(self, size):
        """Return how many numbers each array of its own holds."""
        return Bank.own_sizes(self, size) | {"served": self.members + self.mixers}

    def take(self, arrays, numbers):
        """Have this state."""
        parts = {"": {}, BEHIND: {}, HELD: {}}
        for name, array in arrays.items():
            start = next((start for start in (BEHIND, HELD) if name.startswith(start)), "")
            parts[start][name.removeprefix(start)] = array
        behind = {name.removeprefix(BEHIND): n for name, n in numbers.items() if name.startswith(BEHIND)}
        held = self.checked_rounds(parts[HELD], numbers, behind)
        Bank.take(self, parts[""], {name: n for name, n in numbers.items() if not name.startswith(BEHIND)})
        self.behind.take(parts[BEHIND], behind)
        self.hold_again(*held)

    def checked_rounds(self, held, numbers, behind):
        """Return the held rounds of a state, or raise ValueError where they make no sense."""
        if held.keys() != {"rounds", "says", "values", "places"}:
            raise ValueError("a bank with delayed outcomes keeps the rounds whose outcomes are out")
        if any(array.dtype != np.float64 or array.ndim != 1 or not np.isfinite(array).all() for array in held.values()):
            raise ValueError("held rounds are finite numbers of type float64")
        if len(held["rounds"]) % ROUND_NUMBERS or len(held["values"]) != len(held["places"]):
            raise ValueError("the held rounds are cut short")
        rounds, values, places = held["rounds"].reshape(-1, ROUND_NUMBERS), held["values"], held["places"]
        says = held["says"]
        outcomes, importances, sizes, counts, sparse = rounds.T
        waiting = min(self.delay, numbers["rounds"])
        fits = len(rounds) == waiting and behind["rounds"] == numbers["rounds"] - waiting
        fits = fits and len(says) == waiting * (self.members + self.mixers)
        fits = fits and (np.diff(sizes, prepend=behind["size"]) >= 0).all() and sizes.max(initial=0) <= numbers["size"]
        fits = fits and (rounds[:, 1:] >= 0).all() and (rounds[:, 2:] == np.floor(rounds[:, 2:])).all()
        fits = fits and (counts <= sizes).all() and np.isin(sparse, (0, 1)).all() and counts.sum() == len(values)
        if not fits:
            raise ValueError("the held rounds are not those before the latest")
        if max(np.abs(outcomes).max(initial=0), np.abs(values).max(initial=0)) > 1e150:
            raise ValueError("the held rounds have values that nobody can have seen")
        ends = np.cumsum(counts).astype(int)
        for k, end in enumerate(ends):
            own = places[end - int(counts[k]):end]
            if len(own) and (own[0] < 0 or own[len(own) - 1] >= sizes[k] or (np.diff(own) <= 0).any() or (own != np.floor(own)).any()):
                raise ValueError("the places of a held round do not increase")
            if not sparse[k] and not (own == np.arange(len(own))).all():
                raise ValueError("a dense round has all its places")
        return rounds, says.reshape(-1, self.members + self.mixers), values, places

    def hold_again(self, rounds, says, const double[::1] values, const double[::1] places):
        """Hold these rounds in place of those that are held."""
        cdef Py_ssize_t at = 0
        cdef int32_t[::1] indices = np.asarray(places).astype(np.int32)
        cdef Row row
        cdef double importance = self.importance
        cdef Py_ssize_t size = self.size
        cdef Py_ssize_t k
        self.first = self.waiting = 0
        try:
            for (outcome, importance_then, known, count, sparse), said in zip(rounds, says, strict=True):
                for k in range(self.members + self.mixers):
                    self.then.says[k] = said[k]
                self.importance, self.size, row.count = importance_then, int(known), int(count)
                row.values = &values[at] if row.count else NULL
                row.indices = &indices[at] if sparse and row.count else NULL
                if not self.make_room(&row):
                    raise MemoryError
                self.hold(&row, outcome)
                at += row.count
        finally:
            self.importance, self.size = importance, size
