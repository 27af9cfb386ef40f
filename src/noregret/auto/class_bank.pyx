"""The bank of ``auto`` with several classes: its members and their mixture in a round, and its state.

A score is the logarithm of the mixture's probability, so that the softmax of the scores is the
mixture and the softmax loss its log loss.
"""

from libc.math cimport NAN, exp, log
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

import numpy as np

cimport cython

from noregret.auto.class_members cimport FREQUENCY, COMBINED, MAX_MEMBERS, ClassMembers, ClassRound
from noregret.auto.mixer cimport Snapshots, settle
from noregret.base.compiled.losses cimport class_loss
from noregret.linear.engine.class_engine cimport ClassEngine, stride_for
from noregret.linear.engine.engine cimport FINE, NO_MEMORY, Row

from noregret.auto.mixer import Tracker, arrays_of, begin, numbers_of, own_of, priors, replace_state, take_parts
from noregret.base.compiled.machine import copied
from noregret.base.compiled.weigher import Exponential
from noregret.checks import state_arrays
from noregret.errors import BadExample, BadLabel
from noregret.limits import MAX_CLASS_WEIGHTS

cdef enum:
    NUMBERS_PER_WEIGHT = 12
# The score of a class that has no probability.
cdef double NEVER = -1e300


@cython.final
cdef class ClassBank(ClassEngine):
    """The engine of ``auto-classes``.

    Parameters
    ----------
    recent
        If True, some members use the latest classes.
    trees
        If True, a forest is among the members.
    """

    ADVICE = "scale the importances down"
    SIGNED = (*ClassEngine.SIGNED, *Exponential.SIGNED)

    def __cinit__(self, recent=True, trees=True):
        self.members = ClassMembers(recent, self.stride, trees)
        n = self.members.members
        self.tracker, self.final, self.snapshots = Tracker(1.0), Exponential(1.0, "constant"), Snapshots(n)
        shares, final = priors(n, slice(FREQUENCY, COMBINED), 1)
        begin(self.tracker, shares / shares.sum())
        begin(self.final, final)
        self.hold(self.stride)

    def __init__(self, recent=True, trees=True):
        self.loss = class_loss("softmax")
        self.weighs_late = True

    def __dealloc__(self):
        free(self.held)

    cdef int hold(self, Py_ssize_t stride) except -1:
        """Make room for the predictions of a round."""
        cdef double* made = <double*> malloc(self.members.block(stride) * sizeof(double))
        if made == NULL:
            raise MemoryError("no memory left for the predictions of the members")
        free(self.held)
        self.held = made
        return 0

    # New features and classes.

    cdef int resize(self, Py_ssize_t size) except -1:
        if (size + 1) * self.stride * NUMBERS_PER_WEIGHT > MAX_CLASS_WEIGHTS:
            raise BadExample(
                f"{size:,} features times room for {self.stride:,} classes are too many weights for this learner",
                "hash the features (hash=16), or use softmax",
            )
        self.members.resize(size)
        self.size, self.capacity = size, max(size, self.capacity)
        return 0

    cdef int widen(self, Py_ssize_t stride) except -1:
        if (self.size + 1) * stride * NUMBERS_PER_WEIGHT > MAX_CLASS_WEIGHTS:
            raise BadLabel(
                f"{self.size:,} features times {stride:,} classes are too many weights for this learner",
                "hash the features (hash=16), or use softmax",
                round=self.rounds + 1,
            )
        self.hold(stride)
        self.members.widen(stride)
        return ClassEngine.widen(self, stride)

    cdef int admit_class(self) except -1:
        ClassEngine.admit_class(self)
        if self.members.trees is not None:
            try:
                self.members.trees.admit(self.classes)
            except MemoryError:
                self.classes -= 1
                raise
        self.members.welcome(self.classes - 1, self.rounds)
        return 0

    # The round.

    cdef void mix(self, const ClassRound* r, double* out) noexcept nogil:
        """Fill in the logarithms of the mixture's probabilities."""
        cdef int k
        cdef Py_ssize_t c, count = r.count
        cdef double weight
        for c in range(count):
            out[c] = 0
        for k in range(self.members.members):
            weight = self.weight_of(k)
            for c in range(count):
                out[c] += weight * r.chance[k * count + c]
        for c in range(count):
            out[c] = log(out[c])

    cdef void class_scores(self, Row* row, double* out, Py_ssize_t count) noexcept nogil:
        self.look(row, out, count, NULL)

    cdef void class_scores_noting(self, Row* row, double* out, Py_ssize_t count, double* note) noexcept nogil:
        self.look(row, out, count, note)

    cdef void look(self, Row* row, double* out, Py_ssize_t count, double* note) noexcept nogil:
        """Fill in the logarithms of the probabilities of the first ``count`` classes, the row's measurements, and a note."""
        cdef ClassRound own
        cdef ClassRound* r = &self.now if self.learning else &own
        cdef double* block = self.held
        cdef Py_ssize_t c
        self.measure(row)
        if note != NULL:
            note[0] = self.members.last
        if count == 0:
            return
        if not self.learning:
            block = <double*> malloc(self.members.block(count) * sizeof(double))
        if block == NULL or not row.norm2 < 1e300:
            for c in range(count):
                out[c] = NAN
        else:
            self.members.place(r, block, count)
            if self.learning and self.then != NULL:
                r.then, r.known, r.last = self.then, self.known, self.last_then
            self.members.predict(row, r, self.rounds, self.learning)
            self.mix(r, out)
            if note != NULL:
                self.write_note(r, out, note + 1)
            if r.then != NULL:
                self.serve_again(out, count)
        if not self.learning:
            free(block)

    cdef int play(self, Row* row, double given) noexcept nogil:
        cdef int status
        self.learning = True
        if self.members.trees is not None:
            self.members.trees.start_round()
        status = ClassEngine.play(self, row, given)
        self.learning = False
        if status != FINE and self.members.trees is not None:
            self.members.trees.withdraw(self.classes)
        return status

    # Late classes: the note has the latest class, and the probabilities of members, of the tracker's mixture
    # and of the final one.

    cdef Py_ssize_t note_size(self) noexcept nogil:
        return 1 + (self.members.members + 2) * self.classes

    cdef bint is_note(self, const double* note, Py_ssize_t size) noexcept nogil:
        cdef Py_ssize_t k, known = (size - 1) // (self.members.members + 2)
        if size < 1 or (size - 1) % (self.members.members + 2) or known > self.classes:
            return False
        for k in range(1, size):
            if not 0 < note[k] <= 1:
                return False
        return -1 <= note[0] < max(1, known) and note[0] == <Py_ssize_t> note[0]

    cdef void write_note(self, const ClassRound* r, const double* scores, double* out) noexcept nogil:
        """Fill in the probabilities of all members, and of both mixtures."""
        cdef int k, n = self.members.members
        cdef Py_ssize_t c, count = r.count
        memcpy(out, r.chance, n * count * sizeof(double))
        out += n * count
        for c in range(count):
            out[c] = 0
            for k in range(n):
                out[c] += self.tracker.p[k] * r.chance[k * count + c]
            out[c] = min(1.0, out[c])
            out[count + c] = min(1.0, exp(scores[c]))

    cdef void serve_again(self, double* out, Py_ssize_t count) noexcept nogil:
        """Fill in the scores as served: of classes not known then, the one that came has 0, and others do not count."""
        cdef const double* served = self.then + (self.members.members + 1) * self.known
        cdef Py_ssize_t c
        for c in range(count):
            out[c] = log(served[c]) if c < self.known else 0 if c == self.came else NEVER

    cdef int play_late(self, Row* row, double served, const double* note, Py_ssize_t size, double given) noexcept nogil:
        """Pay for the scores that were served, and weight members by what they said then."""
        cdef int status
        self.then, self.last_then, self.known = note + 1, note[0], (size - 1) // (self.members.members + 2)
        self.came = <Py_ssize_t> given
        status = self.play(row, given)
        self.then = NULL
        return status

    cdef int learn_class(self, Row* row, Py_ssize_t y, double value, double length2) noexcept nogil:
        cdef double[MAX_MEMBERS + 1] losses
        cdef double tracked = 0
        cdef ClassRound* r = &self.now
        cdef int k, n = self.members.members
        cdef double* room
        cdef const double* said = r.chance + y
        cdef Py_ssize_t count = r.count
        if r.then != NULL:
            said, count = r.then + y, r.known
        if not self.members.make_room(row.count, self.classes, self.rounds):
            return NO_MEMORY
        if self.importance > 0 and y < count:  # members said nothing about a class that was not known then
            for k in range(n):
                tracked += self.tracker.p[k] * said[k * count]
                losses[k] = -self.importance * log(said[k * count])
            if r.then != NULL:
                tracked = said[n * count]
            losses[n] = -self.importance * log(tracked)
            settle(self.final, losses, self.importance * value, n + 1)
            settle(self.tracker, losses, 0, n)
        self.members.learn(row, r, y, self.importance, self.rounds)
        room = self.snapshots.due(self.rounds)
        if room != NULL:
            for k in range(n):
                room[k] = self.weight_of(k)
        return FINE

    cdef double weight_of(self, int k) noexcept nogil:
        """Return the total weight of a member in the next round, directly and through the mixture of the tracker."""
        return self.final.p[k] + self.final.p[self.members.members] * self.tracker.p[k]

    # Findings.

    @property
    def recent(self) -> bool:
        """True if some members use the latest classes."""
        return self.members.recent

    @property
    def trees(self) -> bool:
        """True if a forest is among the members."""
        return self.members.trees is not None

    @property
    def full(self) -> bool:
        """True if the features are few enough for filters."""
        return bool(self.members.is_full())

    @property
    def delay(self) -> int:
        """0: classes are known before the next prediction."""
        return 0

    @property
    def first_loss(self) -> float:
        """0, the loss of the first round: there is one class."""
        return 0.0

    def member_weights(self) -> Floats:
        """Return the weight of every member in the next round."""
        return np.array([self.weight_of(k) for k in range(self.members.members)])

    def member_losses(self) -> Floats:
        """Return the cumulative losses of all members, and of the mixture weighted with them."""
        return self.total_loss + self.final.excess()

    def history(self) -> tuple[Counts, Floats]:
        """Return (rounds, the weights of all members after each), for about a hundred rounds."""
        return self.snapshots.history()

    def influence(self) -> Floats:
        """Return the standard deviation of each feature's contribution to linear scores."""
        return self.members.influence(self.classes, self.rounds)

    def accounts(self) -> dict[str, Floats]:
        """Return the evidence for the theorem: the excess of each member, and the bound on the regret to it."""
        n = self.members.members
        return {"excess": self.final.excess()[:n], "price": -np.log(self.final.get_state()[0]["prior"])[:n]}

    def weights(self):
        """Return linear weights, a row per feature, a column per class: those of one member."""
        return self.members.weights(self.classes, self.rounds)

    # The state: that of the engine, and of the filters and weighers under their names.

    def parts(self):
        """Return all parts with a state of their own, by name."""
        found = {"filters": self.members.filters, "tracker": self.tracker, "final": self.final}
        return found | ({"trees": self.members.trees} if self.members.trees is not None else {})

    def scalars(self):
        """Return the numbers of the state."""
        return ClassEngine.scalars(self) | self.snapshots.scalars() | numbers_of(self.parts())

    def get_state(self):
        """Return the state: (arrays, numbers)."""
        arrays = self.members.state(self.classes) | {"snapshots": self.snapshots.whole()} | arrays_of(self.parts())
        # Room for classes to come is no part of the state.
        arrays["filters.w"] = arrays["filters.w"][:4 * self.members.filters.n * self.classes].copy()
        return arrays, self.scalars()

    def set_state(self, arrays, numbers):
        """Restore a state, or raise ValueError and stay unchanged."""
        replace_state(self, arrays, numbers)

    def take(self, arrays, numbers):
        """Replace the state."""
        cdef ClassMembers members = self.members
        size, classes = numbers["size"], numbers["classes"]
        stride = stride_for(classes)
        if numbers["mean_kept"] or (size + 1) * stride * NUMBERS_PER_WEIGHT > MAX_CLASS_WEIGHTS:
            raise ValueError("the state's numbers make no sense")
        own, n = own_of(arrays), members.members
        state_arrays(own, members.lengths(size, classes) | {"outlook": 3, "snapshots": self.snapshots.length})
        members.check(own, classes)
        widths = {"filters": size + 1 if size < 257 else None, "tracker": n, "final": n + 1, "trees": None}
        members.filters.widen(classes)
        take_parts(self.parts(), widths, arrays, numbers)
        members.filters.widen(stride)
        self.snapshots.take(copied(own["snapshots"]), numbers)
        self.hold(stride)
        self.buffers(stride)
        members.take(own, size, classes, stride)
        self.size, self.capacity, self.stride = size, size, stride
        self.restore(own_of(numbers))
