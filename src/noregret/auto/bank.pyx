"""The bank of ``auto``: its members and their mixture in a round, its state, and the form for delayed outcomes."""

from libc.math cimport NAN, isfinite
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy, memset

import numpy as np

cimport cython
cimport numpy as cnp

from noregret.auto.first_order cimport MAX_FILTER_FEATURES
from noregret.auto.layout cimport LOGISTIC, Known, Round
from noregret.auto.members cimport Members
from noregret.auto.mixer cimport Mixer
from noregret.base.compiled.losses cimport as_loss
from noregret.base.compiled.state_parts cimport StateParts, add_part, add_range
from noregret.linear.engine.engine cimport DIVERGED, FINE, MEASURES, NO_MEMORY, Engine, Row, position

from noregret.auto.mixer import arrays_of, numbers_of, own_of, replace_state, take_parts
from noregret.base.compiled.machine import copied, zeros
from noregret.base.compiled.weigher import Exponential
from noregret.checks import one_of, state_arrays
from noregret.limits import MAX_VALUE

cnp.import_array()

LOSSES: tuple[str, ...] = ("square", "absolute", "quantile", "logistic")

cdef enum:
    FIRST_KNOWN = 8      # numbers of Known in edition 1
    OUTLOOK = 14         # and of the outlook; then come those of later editions


cdef class Bank(Engine):
    """The engine of ``auto``.

    Parameters
    ----------
    loss
        ``square``, ``absolute``, ``quantile`` or ``logistic``.
    loss_parameter
        The quantile.
    recent
        If True, some members use the latest outcomes.
    delay
        Number of outcomes still unknown when a prediction is made.
    edition
        The members and rules: 3; 2 has no boosted trees, 1 is that of version 0.1.
    trees
        If True, a forest is one of the members.
    """

    ADVICE = "scale the outcomes or the importances down"
    SIGNED = (*Engine.SIGNED, *Exponential.SIGNED)
    FLAT = True

    def __cinit__(self, loss="square", loss_parameter: float | None = None, recent=True, delay=0, edition=3, trees=True):
        one_of("loss", loss, LOSSES)
        self.loss = as_loss(loss, loss_parameter)
        self.members, self.mixer = Members(self.loss, recent, delay, edition, trees), Mixer(self.loss, recent, edition, trees)
        self.delay, self.edition, self.weighed = delay, edition, self.mixer.at.weighed
        self.known_numbers = sizeof(Known) // sizeof(double) if edition > 1 else FIRST_KNOWN
        self.weighs_late = delay == 0

    cdef int resize(self, Py_ssize_t size) except -1:
        if size > self.capacity:
            self.arrays["stored"] = zeros(max(size, 2 * self.size, 16))
            self.relocate()
        self.size = size
        return self.members.resize(size)

    # The round: members predict from the row, then from the mixture of these; all are mixed by their losses.

    cdef double look(self, const Row* row, Round* r, int offset) noexcept nogil:
        """Return the prediction; fill in those of all members in r."""
        self.members.predict_base(row, r)
        r.base = self.mixer.mix_base(r)
        if self.late:  # the outcomes known when it was served, not the latest ones
            r.known = self.judged.known
        else:
            self.members.look_back(r, offset)
        self.members.predict_above(r)
        return self.members.origin + self.mixer.mix_all(r)

    cdef double score(self, Row* row) noexcept nogil:
        cdef Round own
        cdef double found
        Engine.score(self, row)
        if not row.norm2 < 1e300:
            return NAN
        if self.learning:
            found = self.look(row, self.now, self.delay)
            return self.served if self.late and found == found else found
        return self.look(row, &own, 0)

    cdef int play(self, Row* row, double y) noexcept nogil:
        cdef int status
        cdef Round now
        # Zero what some losses and widths leave out: variances, and the inputs behind the last.
        memset(&now.several, 0, <char*> (&now + 1) - <char*> &now.several)
        if self.size <= MAX_FILTER_FEATURES:
            now.x[self.size + 1] = now.x[self.size + 2] = now.x[self.size + 3] = 0
            now.recent_x[self.size + 3] = now.recent_x[self.size + 4] = 0
        self.learning, self.now = True, &now
        status = Engine.play(self, row, y)
        self.learning, self.now = False, NULL
        return status

    # Late outcomes: the note has the predictions of members and mixtures, and the outcomes known then.

    cdef Py_ssize_t note_size(self) noexcept nogil:
        return self.weighed + self.known_numbers if self.weighs_late else 0

    cdef bint is_note(self, const double* note, Py_ssize_t size) noexcept nogil:
        cdef Py_ssize_t k
        if size != self.note_size():
            return False
        for k in range(size):
            if not isfinite(note[k]):
                return False
        return True

    cdef double score_noting(self, Row* row, double* note) noexcept nogil:
        cdef Round own
        cdef double found
        Engine.score(self, row)
        if not row.norm2 < 1e300:
            return NAN
        found = self.look(row, &own, 0)
        if self.weighs_late:
            memcpy(note, own.says, self.weighed * sizeof(double))
            memcpy(note + self.weighed, &own.known, self.known_numbers * sizeof(double))
        return found

    cdef int play_late(self, Row* row, double served, const double* note, Py_ssize_t size, double y) noexcept nogil:
        """Pay for the score that was served, and weight members by what they said then."""
        cdef Round then
        cdef int k, status
        memcpy(then.says, note, self.weighed * sizeof(double))
        memset(&then.known, 0, sizeof(Known))
        memcpy(&then.known, note + self.weighed, self.known_numbers * sizeof(double))
        if then.known.origin != self.members.origin:  # predicted before the first outcome
            for k in range(self.weighed):
                then.says[k] += then.known.origin - self.members.origin
        self.mixer.give_chance(&then, 0, self.weighed)
        self.late, self.judged, self.served = True, &then, served
        status = self.play(row, y)
        self.late, self.judged = False, NULL
        return status

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef Round* r = self.now
        cdef double far = y - self.members.origin, near
        if not self.members.countable(far, self.importance):
            return DIVERGED
        if not self.members.make_room(row.count):
            return NO_MEMORY
        near = self.members.nearer(r, far)
        if self.importance > 0:
            self.mixer.weigh(
                r if self.judged == NULL else self.judged, &r.known, far, far if self.members.lasts(r, far) else near,
                self.members.widest_error(), self.importance,
                self.served - self.members.origin if self.late else NAN)
        if self.rounds == 0:
            self.opening = self.importance * self.loss.table.value(&self.loss.table, score, y)
            if self.members.at.kind != LOGISTIC:
                self.members.origin = y
                far, near = 0, near - y
        self.members.learn(row, r, far, near, self.importance)
        self.members.remember(r, near, far)
        self.mixer.take_snapshot(self.rounds)
        return FINE

    # Findings.

    @property
    def first_loss(self) -> float:
        """The loss of the first round, equal for all members."""
        return self.opening

    def member_losses(self) -> Floats:
        """Return the cumulative losses of all members, and of the mixtures weighted with them."""
        return self.total_loss + self.excess()

    def member_weights(self) -> Floats:
        """Return the weight of every member in the next round."""
        return self.mixer.member_weights()

    def history(self) -> tuple[Counts, Floats]:
        """Return (rounds, the weights of all members after each), for about a hundred rounds."""
        return self.mixer.snapshots.history()

    def influence(self) -> Floats:
        """Return the standard deviation of each feature's contribution to a linear prediction."""
        return self.members.influence()

    @property
    def recent(self) -> bool:
        """True if some members use the latest outcomes."""
        return self.members.recent

    @property
    def season(self) -> int:
        """The period found in the outcomes, in rounds; 0 for none."""
        return self.members.season

    @property
    def trees(self) -> bool:
        """True if a forest is one of the members."""
        return self.members.trees is not None

    @property
    def full(self) -> bool:
        """True if the features are few enough for filters."""
        return self.members.full

    def excess(self):
        """Return the losses of all members and mixtures minus that of the final mixture."""
        return self.mixer.excess()

    def accounts(self) -> dict[str, Floats]:
        """Return the evidence for the theorems: the excess of each member, and the bounds on the regret to it."""
        n = self.mixer.at.members
        return {"excess": self.excess()[:n], "price": self.mixer.prices()[:n], "cost": self.mixer.costs()[:n]} | self.linear_account()

    def linear_account(self):
        """Return the bound on the loss by that of linear predictors, and the rounds in which it was lost; empty without one."""
        forward = self.members.forward
        if forward is None:
            return {}
        price = self.mixer.costs()[self.mixer.at.forward]
        return {"linear": np.array([self.opening + forward.least + forward.price + price, forward.lost])}

    def weights(self):
        """Return a linear predictor: that of one member."""
        return self.members.weights()

    @property
    def linear(self):
        """False: predictions are not weights times features."""
        return False

    @property
    def takes_importance(self):
        """True: rounds may have importances."""
        return True

    # The state: that of the engine, and of each filter and weigher under its name.

    cdef int list_state(self, StateParts* parts) except -1:
        if not self.members.room_for_steps(self.size):
            raise MemoryError
        add_range(parts, &self.clock, &self.first_over[MEASURES])
        add_part(parts, &self.opening, sizeof(double))
        self.members.list_state(parts)
        self.mixer.list_state(parts)
        return 0

    cdef void restored(self) noexcept nogil:
        self.mixer.weigh_again()
        self.members.use_period()

    def parts(self):
        """Return all parts with a state of their own, by name."""
        return self.members.parts() | self.mixer.weighers()

    def scalars(self):
        """Return the numbers of the state."""
        return Engine.scalars(self) | self.mixer.snapshots.scalars() | numbers_of(self.parts())

    def get_state(self):
        """Return the state: (arrays, numbers)."""
        members, mixer = self.members, self.mixer
        arrays = members.state() | mixer.state()
        arrays["outlook"] = np.array([
            members.origin, members.low, members.high, members.mean, members.deviation, members.error, members.row_sizes,
            mixer.widest, self.opening, members.streak, *[members.averages[k] for k in range(4)], *members.later_outlook(),
        ])
        return arrays | arrays_of(self.parts()), self.scalars()

    def set_state(self, arrays, numbers):
        """Restore a state, or raise ValueError and stay unchanged."""
        replace_state(self, arrays, numbers)

    def lengths(self, size):
        """Return the length of each of its own arrays, for a number of features."""
        return self.members.lengths(size) | self.mixer.lengths() | {"outlook": OUTLOOK + len(self.members.later_outlook())}

    def take(self, arrays, numbers):
        """Replace the state."""
        members, mixer = self.members, self.mixer
        size = numbers["size"]
        if numbers["mean_kept"]:
            raise ValueError("the state's numbers make no sense")
        own = own_of(arrays)
        state_arrays(own, self.lengths(size))
        members.check(own)
        take_parts(self.parts(), members.widths(size) | mixer.widths(), arrays, numbers)
        members.take({name: copied(own[name]) for name in members.arrays}, numbers)
        mixer.take({name: copied(own[name]) for name in mixer.lengths()}, numbers)
        self.arrays, self.size = {"stored": zeros(size)}, size
        self.relocate()
        (members.origin, members.low, members.high, members.mean, members.deviation, members.error, members.row_sizes,
         mixer.widest, self.opening, members.streak) = own["outlook"][:10].tolist()
        members.averages = own["outlook"][10:OUTLOOK].tolist()
        members.take_outlook(own["outlook"][OUTLOOK:].tolist())
        members.take_past(own.get("past", zeros(0)))
        self.restore(own_of(numbers))


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

    FLAT = False

    def __cinit__(self, loss="square", loss_parameter=None, recent=True, delay=0, edition=3, trees=True):
        self.behind = Bank(loss, loss_parameter, recent, delay, edition, trees)
        self.held = <Held*> calloc(delay + 1, sizeof(Held))
        if self.held == NULL:
            raise MemoryError
        self.served = np.zeros(self.weighed)
        self.judged, self.behind.judged = &self.then, &self.recalled

    def __dealloc__(self):
        cdef int k
        if self.held != NULL:
            for k in range(self.delay + 1):
                free(self.held[k].values)
                free(self.held[k].indices)
            free(self.held)

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
        cdef double far = y - self.behind.members.origin
        cdef int k, status
        self.behind.importance = self.importance
        if not (self.behind.members.countable(far, self.importance) and self.members.countable(y - self.members.origin, self.importance)):
            return DIVERGED
        # Allocate everything before the first change, so that a refused round changes nothing.
        if not self.make_room(row) or not self.members.make_room(row.count):
            return NO_MEMORY
        if self.waiting == self.delay and not self.behind.members.make_room(self.held[self.first].count):
            return NO_MEMORY
        status = Bank.update(self, row, score, slope, y)
        if status != FINE:
            return status
        for k in range(self.weighed):
            self.served[k] += self.mixer.loss_of(&self.then, k, far, self.importance)
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
        self.mixer.give_chance(&self.recalled, 0, self.weighed)
        # This bank has learned the same round before, so it cannot be refused.
        self.behind.play(&row, held.outcome)
        self.first = (self.first + 1) % (self.delay + 1)
        self.waiting -= 1

    # Findings, of the predictions served.

    def excess(self):
        """Return the losses of all members and mixtures, as served, minus that of the served mixture."""
        return np.asarray(self.served) - self.total_loss

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
        arrays["served"] = np.array(self.served)
        arrays |= {BEHIND + name: array for name, array in self.behind.get_state()[0].items()}
        return arrays | {HELD + name: array for name, array in self.held_rounds().items()}, numbers

    def held_rounds(self):
        """Return the held rounds, oldest first, as arrays."""
        cdef Held* held
        cdef Py_ssize_t k
        cdef int weighed = self.weighed
        rounds, values, places = np.zeros((self.waiting, ROUND_NUMBERS)), [np.zeros(0)], [np.zeros(0)]
        says = np.zeros((self.waiting, weighed))
        for k in range(self.waiting):
            held = &self.held[(self.first + k) % (self.delay + 1)]
            rounds[k] = held.outcome, held.importance, held.size, held.count, held.sparse
            says[k] = <double[:weighed]> held.says
            if held.count:
                values.append(np.array(<double[:held.count]> held.values))
                places.append(np.array(<int32_t[:held.count]> held.indices, dtype=np.float64) if held.sparse else np.arange(held.count, dtype=np.float64))
        found = {"rounds": rounds.ravel(), "says": says.ravel()}
        return found | {"values": np.concatenate(values), "places": np.concatenate(places)}

    def lengths(self, size):
        """Return the length of each of its own arrays."""
        return Bank.lengths(self, size) | {"served": self.weighed}

    def take(self, arrays, numbers):
        """Replace the state."""
        parts = {"": {}, BEHIND: {}, HELD: {}}
        for name, array in arrays.items():
            start = next((start for start in (BEHIND, HELD) if name.startswith(start)), "")
            parts[start][name.removeprefix(start)] = array
        behind = {name.removeprefix(BEHIND): n for name, n in numbers.items() if name.startswith(BEHIND)}
        held = self.checked_rounds(parts[HELD], numbers, behind)
        Bank.take(self, parts[""], {name: n for name, n in numbers.items() if not name.startswith(BEHIND)})
        self.served = copied(parts[""]["served"])
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
        fits = fits and len(says) == waiting * (self.weighed)
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
        return rounds, says.reshape(-1, self.weighed), values, places

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
                for k in range(self.weighed):
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
