"""The states of many equal learners, which one of them plays.

A state is a copy of the bytes of the engine that rounds change; nothing else of the learner does, as
long as its features stay the same. So a key costs its numbers, and rounds of one key after another
cost two copies of these more than with a learner of its own. A state may own memory, such as a table that grows: then it
holds the address, and the learner has that memory only while it plays the state.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.math cimport isnan
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy

import numpy as np

from noregret.base.compiled.prefetch cimport noregret_prefetch
from noregret.base.compiled.state_parts cimport MAX_OWNERS, MAX_STATE_PARTS, Allocated, Memory, StateParts
from noregret.linear.engine.block_rows cimport play_row
from noregret.linear.engine.engine cimport FINE, Engine, Row
from noregret.linear.engine.entry cimport Entry

cdef enum:
    AHEAD = 6             # rows whose states are fetched into the cache meanwhile
    LINE = 64             # bytes of a line of it
    SEGMENT_BYTES = 1 << 20  # of memory for states, about


# What a state owns.

cdef void drop(const Memory* memory, char* at) noexcept nogil:
    if at != NULL and memory != NULL:
        memory.drop(at)
    else:
        free(at)


cdef char* copy_of(const Memory* memory, const Allocated* owned) noexcept nogil:
    """Return a copy; NULL if there is no memory."""
    cdef char* made
    if memory != NULL:
        return memory.copy(owned.at)
    made = <char*> malloc(owned.bytes)
    if made != NULL:
        memcpy(made, owned.at, owned.bytes)
    return made


cdef Py_ssize_t pack(const Memory* memory, const Allocated* owned, char* out) noexcept nogil:
    """Write it as bytes, unless ``out`` is NULL; return their number."""
    if owned.bytes == 0:
        return 0
    if memory != NULL:
        return memory.pack(owned.at, out)
    if out != NULL:
        memcpy(out, owned.at, owned.bytes)
    return owned.bytes


cdef char* unpack(const Memory* memory, const char* packed, Py_ssize_t bytes) noexcept nogil:
    """Return what was packed; NULL if there is no memory."""
    cdef Allocated plain
    if memory != NULL:
        return memory.unpack(packed)
    plain.at, plain.bytes = <char*> packed, bytes
    return copy_of(NULL, &plain)


cdef class StatePool:
    """States by slots 0, 1, …, each of a learner like the one that plays them.

    Parameters
    ----------
    entry
        The entry of the learner that plays; it knows its features, and has learned nothing.
    """

    cdef readonly Entry entry
    cdef readonly Py_ssize_t count      # slots
    cdef readonly Py_ssize_t bytes_per_state
    cdef readonly Py_ssize_t bytes_owned  # by all states together
    cdef object arrays                  # of the engine
    cdef Py_ssize_t size                # features
    cdef char** segments
    cdef Py_ssize_t room                # segments
    cdef int segment_bits               # states per segment, as a power of 2
    cdef char* first                    # the state of a learner that has learned nothing
    cdef StateParts parts
    cdef Py_ssize_t[MAX_OWNERS] owned_at         # where a state says which memory it owns
    cdef bint lent                      # whether the learner has a copy of what a state owns

    def __cinit__(self, Entry entry not None):
        cdef Engine engine = entry.engine
        cdef Py_ssize_t total = sizeof(int64_t)
        if not engine.FLAT or type(engine).__dictoffset__ or engine.rounds:
            raise ValueError("this learner's state is more than the fields and arrays of its engine, or it has learned")
        self.entry, self.arrays, self.size = entry, engine.arrays, engine.size
        engine.list_state(&self.parts)
        if self.parts.count > MAX_STATE_PARTS:
            raise ValueError("this learner has too many arrays")
        for k in range(self.parts.count):
            total += self.parts.sizes[k]
        for k in range(self.parts.owners):
            self.owned_at[k] = self.place(self.parts.owned[k])
        self.bytes_per_state = (total + 7) // 8 * 8
        while (2 << self.segment_bits) * self.bytes_per_state <= SEGMENT_BYTES:
            self.segment_bits += 1
        self.first = <char*> calloc(1, self.bytes_per_state)
        if self.first == NULL:
            raise MemoryError
        self.write(self.first)

    def __dealloc__(self):
        cdef Py_ssize_t k
        cdef int each
        for each in range(self.parts.owners):
            for k in range(self.count):
                drop(self.parts.memory[each], self.owned(self.at(k), each).at)
        for k in range(self.room):
            free(self.segments[k])
        free(self.segments)
        free(self.first)

    cdef char* at(self, Py_ssize_t slot) noexcept nogil:
        return self.segments[slot >> self.segment_bits] + (slot & ((1 << self.segment_bits) - 1)) * self.bytes_per_state

    cdef Py_ssize_t place(self, void* number) noexcept:
        """Return where a state has a number of the learner, in bytes; −1 if it does not have it."""
        cdef Py_ssize_t at = sizeof(int64_t)
        cdef int k
        for k in range(self.parts.count):
            if self.parts.starts[k] <= <char*> number < self.parts.starts[k] + self.parts.sizes[k]:
                return at + (<char*> number - self.parts.starts[k])
            at += self.parts.sizes[k]
        return -1

    cdef Allocated* owned(self, const char* state, int each) noexcept nogil:
        """Return which memory a state owns, for learners whose states own any."""
        return <Allocated*> (state + self.owned_at[each])

    cdef void read(self, const char* state) noexcept nogil:
        """Give the learner a state, and the memory that it owns."""
        cdef int k
        self.entry.labels = <int> (<const int64_t*> state)[0]
        state += sizeof(int64_t)
        for k in range(self.parts.count):
            memcpy(self.parts.starts[k], state, self.parts.sizes[k])
            state += self.parts.sizes[k]

    cdef void write(self, char* state) noexcept nogil:
        """Copy the learner's state."""
        cdef int k
        (<int64_t*> state)[0] = self.entry.labels
        state += sizeof(int64_t)
        for k in range(self.parts.count):
            memcpy(state, self.parts.starts[k], self.parts.sizes[k])
            state += self.parts.sizes[k]

    cdef void store(self, Py_ssize_t slot) noexcept nogil:
        """Copy the learner's state to its slot, with the memory that it owns."""
        cdef char* state = self.at(slot)
        cdef int each
        for each in range(self.parts.owners):
            self.bytes_owned += self.parts.owned[each].bytes - self.owned(state, each).bytes
        self.write(state)

    cdef int begin(self) except -1:
        """Check that the learner can take states, and take from it what it has of one."""
        if self.entry.engine.arrays is not self.arrays or self.entry.engine.size != self.size:
            raise ValueError("the learner has other features now")
        for each in range(self.parts.owners if self.lent else 0):
            drop(self.parts.memory[each], self.parts.owned[each].at)
        self.end()
        return 0

    cdef void end(self) noexcept:
        """Take the last state from the learner, if that owns memory."""
        if self.parts.owners:
            self.read(self.first)
        self.lent = False

    cdef char* checked(self, Py_ssize_t slot) except NULL:
        """Return the state of a slot."""
        if not 0 <= slot < self.count:
            raise IndexError(slot)
        return self.at(slot)

    def add(self, Py_ssize_t more) -> int:
        """Add states of learners that have learned nothing; return the slot of the first."""
        cdef Py_ssize_t before = self.count, k, segments = ((before + more) >> self.segment_bits) + 1
        cdef void* moved
        if more < 0:
            raise ValueError("there are no fewer states than none")
        if segments > self.room:
            moved = realloc(self.segments, segments * sizeof(char*))
            if moved == NULL:
                raise MemoryError
            self.segments = <char**> moved
            while self.room < segments:
                self.segments[self.room] = <char*> malloc(self.bytes_per_state << self.segment_bits)
                if self.segments[self.room] == NULL:
                    raise MemoryError
                self.room += 1
        for k in range(before, before + more):
            memcpy(self.at(k), self.first, self.bytes_per_state)
        self.count = before + more
        return before

    def load(self, Py_ssize_t slot) -> None:
        """Give the learner a copy of the state of a slot."""
        cdef char* state = self.checked(slot)
        cdef char *copies[MAX_OWNERS]
        cdef int each
        self.begin()
        for each in range(self.parts.owners):
            copies[each] = NULL
            if self.owned(state, each).bytes:
                copies[each] = copy_of(self.parts.memory[each], self.owned(state, each))
                if copies[each] == NULL:
                    self.forget(copies, each)
        self.read(state)
        self.entry.engine.restored()
        for each in range(self.parts.owners):
            self.parts.owned[each].at = copies[each]
        self.lent = True

    cdef int forget(self, char** copies, int count) except -1:
        """Free the first copies, and raise MemoryError."""
        cdef int each
        for each in range(count):
            drop(self.parts.memory[each], copies[each])
        raise MemoryError

    def clear(self, Py_ssize_t slot) -> None:
        """Make the state of a slot that of a learner that has learned nothing."""
        cdef char* state = self.checked(slot)
        cdef int each
        for each in range(self.parts.owners):
            self.bytes_owned -= self.owned(state, each).bytes
            drop(self.parts.memory[each], self.owned(state, each).at)
        memcpy(state, self.first, self.bytes_per_state)

    def raw(self, Py_ssize_t slot) -> bytes:
        """Return the state of a slot as bytes, which only this pool can take."""
        cdef char* state = self.checked(slot)
        cdef int each
        cdef Py_ssize_t[MAX_OWNERS] more
        cdef Py_ssize_t total = self.bytes_per_state
        for each in range(self.parts.owners):
            more[each] = pack(self.parts.memory[each], self.owned(state, each), NULL)
            total += sizeof(int64_t) + more[each]
        made = PyBytes_FromStringAndSize(NULL, total)
        cdef char* to = PyBytes_AS_STRING(made)
        cdef char* start = to
        memcpy(to, state, self.bytes_per_state)
        to += self.bytes_per_state
        for each in range(self.parts.owners):
            memcpy(to, &more[each], sizeof(int64_t))
            pack(self.parts.memory[each], self.owned(state, each), to + sizeof(int64_t))
            to += sizeof(int64_t) + more[each]
            self.owned(start, each).at = NULL
        return made

    def put(self, Py_ssize_t slot, bytes raw not None) -> None:
        """Replace the state of a slot by one that ``raw`` returned."""
        cdef char* state = self.checked(slot)
        cdef const char* given = PyBytes_AS_STRING(raw)
        cdef char *copies[MAX_OWNERS]
        cdef Py_ssize_t at = self.bytes_per_state
        cdef int64_t more
        cdef int each
        for each in range(self.parts.owners):
            copies[each], more = NULL, -1
            if at + <Py_ssize_t> sizeof(int64_t) <= len(raw):
                memcpy(&more, given + at, sizeof(int64_t))
                at += sizeof(int64_t)
            if not 0 <= more <= len(raw) - at or (more > 0) != (self.owned(given, each).bytes > 0):
                at = -1
                break
            if more:
                copies[each] = unpack(self.parts.memory[each], given + at, more)
                if copies[each] == NULL:
                    self.forget(copies, each)
            at += more
        else:
            each = self.parts.owners
        if at != len(raw):
            for each in range(each):
                drop(self.parts.memory[each], copies[each])
            raise ValueError("these bytes are not a state of this pool")
        self.clear(slot)
        memcpy(state, given, self.bytes_per_state)
        for each in range(self.parts.owners):
            self.owned(state, each).at = copies[each]
            self.bytes_owned += self.owned(state, each).bytes

    def figures(self) -> tuple[Counts, Floats]:
        """Return the rounds and the losses of all slots."""
        rounds, losses = np.zeros(self.count, dtype=np.int64), np.zeros(self.count)
        cdef int64_t[::1] played = rounds
        cdef double[::1] lost = losses
        cdef Engine engine = self.entry.engine
        cdef Py_ssize_t slot
        cdef Py_ssize_t rounds_at = self.place(&engine.rounds)
        cdef Py_ssize_t sum_at = self.place(&engine.loss_sum), rest_at = self.place(&engine.loss_rest)
        cdef char* state
        for slot in range(self.count):
            state = self.at(slot)
            played[slot] = (<long long*> (state + rounds_at))[0]
            lost[slot] = (<double*> (state + sum_at))[0] + (<double*> (state + rest_at))[0]
        return rounds, losses

    def play(self, const int64_t[::1] slots not None, const double[:, :] X not None, const double[::1] y not None,
             double[::1] out not None, const int64_t[::1] order not None, Py_ssize_t first) -> tuple[int, int, float, int]:
        """Play rows in an order, from that at ``first`` on, each with the state of its slot; negative slots are left out.

        Rows without an outcome are predicted. A row that is refused ends it, and changes nothing. Returns the place in the
        order after the last row that was played; how many were learned; and the loss and the mistakes of these. The loss is
        summed in the order of the table.
        """
        cdef Entry entry = self.entry
        cdef Engine engine = entry.engine
        cdef Py_ssize_t r = first, rows = slots.shape[0], k, at
        cdef int64_t slot, loaded = -1  # the slot whose state the learner has
        cdef bint changed = False       # since it was loaded
        cdef int status = FINE
        cdef double loss = 0
        cdef long long mistakes = 0, learned = 0
        cdef char* state
        cdef Row row
        row.indices, row.count, row.spread = NULL, X.shape[1], 0
        row.unseen, row.unseen_sum, row.unseen_norm2 = 0, 0, 0
        self.begin()
        cdef double[::1] losses = np.zeros(rows)
        if (X.shape[0] != rows or y.shape[0] != rows or out.shape[0] != rows or order.shape[0] != rows
                or not 0 <= first <= rows):
            raise ValueError("every row needs a slot, an outcome and a place for its score")
        if X.shape[1] != engine.size or (X.shape[1] > 1 and X.strides[1] != sizeof(double)):
            raise ValueError(f"expected rows of {engine.size} numbers")
        for k in range(rows):
            if slots[k] >= self.count:
                raise IndexError(slots[k])
            if not 0 <= order[k] < rows:
                raise IndexError(order[k])
        entry.enter(True)
        try:
            with nogil:
                while r < rows:
                    if r + AHEAD < rows:
                        slot = slots[order[r + AHEAD]]
                        if slot >= 0 and slot != slots[order[r + AHEAD - 1]]:
                            state = self.at(slot)
                            k = 0
                            while k < self.bytes_per_state:
                                noregret_prefetch(state + k)
                                k += LINE
                    at = order[r]
                    slot = slots[at]
                    if slot >= 0:
                        if changed and (slot != loaded or isnan(y[at])):
                            self.store(loaded)
                            changed = False
                        if slot != loaded:
                            self.read(self.at(slot))
                            engine.restored()
                            loaded = slot
                        row.values = row_at(X, at)
                        if isnan(y[at]):
                            status = entry.score_into(&row, &out[at], 1)
                            loaded = -1  # a prediction leaves no trace
                        else:
                            mistakes -= engine.mistakes
                            status = play_row(entry, &row, y[at], &out[at])
                            mistakes += engine.mistakes
                            if status == FINE:
                                losses[at] = engine.last_loss
                                learned += 1
                                changed = True
                        if status != FINE:
                            break
                    r += 1
                if changed:
                    self.store(loaded)
                for k in range(rows):
                    loss += losses[k]
        finally:
            self.end()
            entry.leave()
        return r, learned, loss, mistakes


cdef inline const double* row_at(const double[:, :] X, Py_ssize_t r) noexcept nogil:
    """Return the address of a row."""
    return &X[r, 0] if X.shape[1] else NULL
