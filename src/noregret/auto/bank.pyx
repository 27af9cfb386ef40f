"""The bank of ``auto``: its findings, its state, and the form for delayed outcomes."""

from libc.math cimport sqrt
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy

import numpy as np

cimport cython
cimport numpy as cnp

from noregret.auto.learning cimport LearningBank
from noregret.auto.predicting cimport MAX_FILTER_FEATURES, MAX_LAGGED_FEATURES, LOGISTIC, FEATURE_NUMBERS, MAX_SNAPSHOTS
from noregret.base.compiled.weigher cimport Weigher
from noregret.linear.engine.engine cimport DIVERGED, FINE, NO_MEMORY, Engine, Row, position

from noregret.base.compiled.machine import all_finite, copied, zeros
from noregret.base.compiled.weigher import Exponential
from noregret.limits import MAX_VALUE

cnp.import_array()


# Names in the state of all parts with a state of their own.

PARTS = ("plain", "lagged", "combining", "following", "seeing", "among_base", "tracker", "leaner", "final")


cdef class Bank(LearningBank):
    """The engine of ``auto``; the parameters are those of ``PredictingBank``."""

    SIGNED = (*Engine.SIGNED, *Exponential.SIGNED)

    # Findings.

    @property
    def engine_is_full(self):
        """True if the features are few enough for filters."""
        return bool(self.is_full())

    def member_weights(self):
        """Return the weight of every member in the next round."""
        return np.array([self.weight_of(k) for k in range(self.members)])

    def history(self):
        """Return (rounds, the weights of all members after each), for about a hundred rounds."""
        width = self.members + 1
        table = self.arrays["snapshots"][:self.taken * width].reshape(self.taken, width)
        return table[:, 0].astype(np.int64), table[:, 1:].copy()

    @property
    def first_loss(self):
        """The loss of the first round, equal for all members."""
        return self.opening

    def member_losses(self):
        """Return the cumulative losses of all members, and of the mixtures weighted with them."""
        return self.total_loss + self.excess()

    def excess(self):
        """Return the losses of all members and mixtures minus that of the final mixture."""
        return self.final.excess() - self.arrays["beyond"]

    def accounts(self):
        """Return the evidence for the theorems: the excess of each member, and the bound on the regret to it."""
        prior = -np.log(self.final.get_state()[0]["prior"])
        if self.kind != LOGISTIC:
            log_n = self.final.rate
            prior = (1 + prior / log_n) * (self.final.spreads * sqrt(log_n) / 2 + self.widest * (2.0 / 3 * log_n + 1))
            prior += np.maximum(0.0, self.arrays["beyond"])
        return {"excess": self.excess()[:self.members], "price": prior[:self.members]}

    def influence(self):
        """Return the standard deviation of each feature's contribution to the predictions of ``weights``."""
        table, seen = self.features_seen()
        count, total, squares = table[seen, 16:19].T
        rounds = max(1, self.rounds)
        spread = np.maximum(0.0, squares / rounds - (total / rounds) ** 2)
        found = zeros(self.size)
        found[seen] = np.abs(self.weights()[seen]) * np.sqrt(spread)
        return found

    def features_seen(self):
        """Return the table of all features but the constant one, and the indices of those ever present."""
        table = self.arrays["features"][FEATURE_NUMBERS:(self.size + 1) * FEATURE_NUMBERS].reshape(-1, FEATURE_NUMBERS)
        return table, np.flatnonzero(table[:, 16] > 0)

    def weights(self):
        """Return a linear predictor: the filter without forgetting, or its diagonal form.

        Its constant is added to the first constant feature, such as the intercept of a stream.
        """
        table, seen = self.features_seen()
        if self.is_full():
            own = self.plain.weights(0 if self.kind == LOGISTIC else 1, 0)
            constant, found = own[0], own[1:]
        else:
            constant, found = self.features.weight[4], zeros(self.size)
            found[seen] = table[seen, 4]
        count, total, squares = table[seen, 16:19].T
        same = np.flatnonzero((count == self.rounds) & (squares * count <= total * total * (1 + 1e-12)))
        if len(same):
            found[seen[same[0]]] += (self.origin + constant) * self.rounds / total[same[0]]
        return found

    @property
    def linear(self):
        """False: predictions are not weights times features."""
        return False

    def advice(self, norm):
        """Return advice for numbers that become too large."""
        return "scale the outcomes or the importances down"

    @property
    def takes_importance(self):
        """True: rounds may have importances."""
        return True

    # The state: that of the engine, and of each part under its name.

    def parts(self):
        """Return all parts with a state of their own, by name."""
        return {name: getattr(self, name) for name in PARTS}

    def outlook(self):
        """Return the statistics of the outcomes, in the order of the state."""
        return [
            self.origin, self.low, self.high, self.mean, self.deviation, self.error, self.sizes, self.widest, self.opening, self.streak,
            self.averages[0], self.averages[1], self.averages[2], self.averages[3],
        ]

    def scalars(self):
        """Return the numbers of the state."""
        own = Engine.scalars(self) | {"stride": self.stride, "taken": self.taken}
        for name, part in self.parts().items():
            own |= {f"{name}.{key}": value for key, value in part.get_state()[1].items()}
        return own

    def get_state(self):
        """Return the state: (arrays, numbers)."""
        arrays = {name: array.copy() for name, array in self.arrays.items() if name not in ("stored", "features")}
        arrays["features"] = copied(self.arrays["features"][:(self.size + 1) * FEATURE_NUMBERS])
        arrays["outlook"] = np.array(self.outlook())
        for name, part in self.parts().items():
            arrays |= {f"{name}.{key}": array for key, array in part.get_state()[0].items()}
        return arrays, self.scalars()

    def set_state(self, arrays, numbers):
        """Restore a state, or raise ValueError and stay unchanged."""
        before = self.get_state()
        try:
            self.take(arrays, numbers)
        except ValueError:
            self.take(*before)
            raise

    def own_sizes(self, size):
        """Return the length of each of its own arrays, for a number of features."""
        return {"features": (size + 1) * FEATURE_NUMBERS, "outcomes": self.ring, "foreseen": self.ring, "beyond": self.members + self.mixers,
                "snapshots": MAX_SNAPSHOTS * (self.members + 1), "outlook": 14}

    def take(self, arrays, numbers):
        """Replace the state."""
        size, taken = numbers["size"], numbers["taken"]
        if numbers["mean_kept"] or not 0 <= taken <= MAX_SNAPSHOTS or numbers["stride"] < 1:
            raise ValueError("the state's numbers make no sense")
        sizes = self.own_sizes(size)
        own = {name: array for name, array in arrays.items() if "." not in name}
        if own.keys() != sizes.keys():
            raise ValueError(f"expected the arrays {sorted(sizes)}, got {sorted(own)}")
        for name, array in own.items():
            if array.shape != (sizes[name],) or array.dtype != np.float64:
                raise ValueError(f"array {name} should hold {sizes[name]} numbers of type float64")
            if not all_finite(array):
                raise ValueError(f"array {name} holds a number that is not finite")
        if max(np.abs(own[name]).max(initial=0.0) for name in ("outcomes", "foreseen")) > MAX_VALUE:
            raise ValueError("the state holds outcomes that are too large")
        table = own["features"].reshape(-1, FEATURE_NUMBERS)
        sums_of_squares = [at for at in range(8, FEATURE_NUMBERS) if at != 17]  # all but the sum of the values
        if any((table[:, at] < 0).any() for at in sums_of_squares) or not table[0, 16] > 0:
            raise ValueError("array features holds a negative sum of squares or variance")
        self.take_parts(arrays, numbers)
        self.arrays = {"stored": zeros(size)} | {
            name: copied(array) for name, array in own.items() if name != "outlook"}
        self.size, self.taken, self.stride = size, taken, numbers["stride"]
        self.relocate()
        outlook = own["outlook"].tolist()
        self.origin, self.low, self.high, self.mean, self.deviation, self.error, self.sizes, self.widest, self.opening, self.streak = outlook[:10]
        self.averages[0], self.averages[1], self.averages[2], self.averages[3] = outlook[10:]
        self.restore({name: value for name, value in numbers.items() if "." not in name})

    def take_parts(self, arrays, numbers):
        """Restore all parts from their parts of a state."""
        size = numbers["size"]
        widths = {"plain": size + 1 if size <= MAX_FILTER_FEATURES else None, "lagged": size + 3 if size <= MAX_LAGGED_FEATURES else None,
                  "combining": 5, "following": 6, "seeing": 12, "among_base": self.base_members,
                  "tracker": self.members, "leaner": self.members, "final": self.members + self.mixers}
        for name, part in self.parts().items():
            start = f"{name}."
            kept = {key.removeprefix(start): array for key, array in arrays.items() if key.startswith(start)}
            part.set_state(kept, {key.removeprefix(start): n for key, n in numbers.items() if key.startswith(start)})
            if widths[name] is not None and part.n != widths[name]:
                raise ValueError(f"{name} should have {widths[name]} inputs: got {part.n}")
            if isinstance(part, Weigher):
                (<Weigher> part).next_weights()


# Delayed outcomes: each prediction that counts is made before the latest ``delay`` outcomes arrive.
#
# The bank itself learns every round at once, and predicts new rows. A second bank stays ``delay``
# rounds behind: it has seen no outstanding outcome, so its prediction is one that could have been
# served. Only its losses count, and members are weighted by them.

BEHIND, HELD = "behind.", "held."
# Numbers per held round besides its entries.
ROUND_NUMBERS = 5


@cython.final
cdef class DelayedBank(Bank):
    """A bank that counts the losses of predictions made before the latest outcomes."""

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
        """Return the prediction of the bank behind; features that it does not have yet are unseen."""
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
        # Allocate everything before the first change, so that a refused round changes nothing.
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
        """Allocate room to hold a round, and for the features of the one to be learned."""
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
        """Add features to the bank behind; return whether there was memory."""
        with gil:
            try:
                self.behind.resize(size)
                return True
            except MemoryError:
                return False

    cdef void hold(self, const Row* row, double y) noexcept nogil:
        """Hold a round for the bank behind."""
        cdef Held* held = &self.held[(self.first + self.waiting) % (self.delay + 1)]
        held.count, held.sparse, held.size = row.count, row.count > 0 and row.indices != NULL, self.size
        held.outcome, held.importance = y, self.importance
        held.says = self.then.says
        memcpy(held.values, row.values, row.count * sizeof(double))
        if held.sparse:
            memcpy(held.indices, row.indices, row.count * sizeof(int32_t))
        self.waiting += 1

    cdef void catch_up(self) noexcept nogil:
        """Let the bank behind learn the oldest held round."""
        cdef Held* held = &self.held[self.first]
        cdef Row row
        row.values, row.indices, row.count = held.values, held.indices if held.sparse else NULL, held.count
        row.unseen, row.unseen_sum, row.unseen_norm2, row.spread = 0, 0, 0, 0
        self.behind.importance, self.recalled.says = held.importance, held.says
        self.behind.give_chance(&self.recalled, 0, self.members + self.mixers)
        # This bank has learned the same round before, so it cannot be refused.
        self.behind.play(&row, held.outcome)
        self.first = (self.first + 1) % (self.delay + 1)
        self.waiting -= 1

    # Findings, of the predictions served.

    def excess(self):
        """Return the losses of all members and mixtures, as served, minus that of the served mixture."""
        return self.arrays["served"] - self.total_loss

    def accounts(self):
        """Return nothing: no theorem covers delayed outcomes."""
        return {}

    # The state.

    def scalars(self):
        """Return the numbers of the state."""
        return Bank.scalars(self) | {BEHIND + name: value for name, value in self.behind.scalars().items()}

    def get_state(self):
        """Return the state: (arrays, numbers)."""
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
        """Return the length of each of its own arrays."""
        return Bank.own_sizes(self, size) | {"served": self.members + self.mixers}

    def take(self, arrays, numbers):
        """Replace the state."""
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
        """Return the held rounds of a state, or raise ValueError if invalid."""
        if held.keys() != {"rounds", "says", "values", "places"}:
            raise ValueError("the state of a bank with a delay must have the held rounds")
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
        if max(np.abs(outcomes).max(initial=0), np.abs(values).max(initial=0)) > MAX_VALUE:
            raise ValueError("the held rounds have values that are too large")
        ends = np.cumsum(counts).astype(int)
        for k, end in enumerate(ends):
            own = places[end - int(counts[k]):end]
            if len(own) and (own[0] < 0 or own[len(own) - 1] >= sizes[k] or (np.diff(own) <= 0).any() or (own != np.floor(own)).any()):
                raise ValueError("the places of a held round do not increase")
            if not sparse[k] and not (own == np.arange(len(own))).all():
                raise ValueError("a dense round has all its places")
        return rounds, says.reshape(-1, self.members + self.mixers), values, places

    def hold_again(self, rounds, says, const double[::1] values, const double[::1] places):
        """Replace the held rounds."""
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
