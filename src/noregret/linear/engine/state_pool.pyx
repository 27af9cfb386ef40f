"""The states of many equal learners, which one of them plays.

A state is a copy of the bytes of the engine that change: its fields and its arrays. Nothing else of
the learner does, as long as its features stay the same. So a key costs its numbers, and a round with
it two short copies more than one with a learner of its own.
"""

from cpython.object cimport PyObject
from libc.math cimport isnan
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy

import numpy as np

cimport numpy as cnp

from noregret.linear.engine.block_rows cimport play_row
from noregret.linear.engine.engine cimport FINE, Engine, Row
from noregret.linear.engine.entry cimport Entry

cnp.import_array()

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define noregret_fetch(p) __builtin_prefetch(p)
    #else
    #define noregret_fetch(p) ((void)(p))
    #endif
    typedef struct {PyObject_HEAD void *table;} noregret_object_head;
    """
    void noregret_fetch(const void*) noexcept nogil
    ctypedef struct noregret_object_head:
        pass

cdef enum:
    AHEAD = 6             # rows whose states are fetched into the cache meanwhile
    LINE = 64             # bytes of a line of it
    MAX_PARTS = 16
    SEGMENT_BITS = 12     # states of a segment of memory, as a power of 2


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
    cdef object arrays                  # of the engine
    cdef char** segments
    cdef Py_ssize_t room                # segments
    cdef char* first                    # the state of a learner that has learned nothing
    cdef int parts
    cdef char *starts[16]               # of the bytes that make a state,
    cdef Py_ssize_t[16] sizes           # and how many they are

    def __cinit__(self, Entry entry not None):
        cdef Engine engine = entry.engine
        cdef Py_ssize_t head = sizeof(noregret_object_head), total = sizeof(int64_t)
        if not engine.FLAT or type(engine).__dictoffset__ or engine.rounds:
            raise ValueError("this learner's state is more than the fields and arrays of its engine, or it has learned")
        self.entry, self.arrays = entry, engine.arrays
        self.starts[0], self.sizes[0] = <char*> <PyObject*> engine + head, type(engine).__basicsize__ - head
        self.parts = 1
        for name, array in engine.arrays.items():
            if self.parts == MAX_PARTS:
                raise ValueError("this learner has too many arrays")
            used = array[:engine.length(name, engine.size)]
            self.starts[self.parts] = <char*> cnp.PyArray_DATA(<cnp.ndarray> array)
            self.sizes[self.parts] = used.nbytes
            self.parts += 1
        for k in range(self.parts):
            total += self.sizes[k]
        self.bytes_per_state = (total + 7) // 8 * 8
        self.first = <char*> calloc(1, self.bytes_per_state)
        if self.first == NULL:
            raise MemoryError
        self.write(self.first)

    def __dealloc__(self):
        cdef Py_ssize_t k
        for k in range(self.room):
            free(self.segments[k])
        free(self.segments)
        free(self.first)

    cdef char* at(self, Py_ssize_t slot) noexcept nogil:
        return self.segments[slot >> SEGMENT_BITS] + (slot & ((1 << SEGMENT_BITS) - 1)) * self.bytes_per_state

    cdef void read(self, const char* state) noexcept nogil:
        """Give the learner a state."""
        cdef int k
        self.entry.labels = <int> (<const int64_t*> state)[0]
        state += sizeof(int64_t)
        for k in range(self.parts):
            memcpy(self.starts[k], state, self.sizes[k])
            state += self.sizes[k]

    cdef void write(self, char* state) noexcept nogil:
        """Copy the learner's state."""
        cdef int k
        (<int64_t*> state)[0] = self.entry.labels
        state += sizeof(int64_t)
        for k in range(self.parts):
            memcpy(state, self.starts[k], self.sizes[k])
            state += self.sizes[k]

    cdef int check(self) except -1:
        if self.entry.engine.arrays is not self.arrays:
            raise ValueError("the learner has other features now")
        return 0

    def add(self, Py_ssize_t more) -> int:
        """Add states of learners that have learned nothing; return the slot of the first."""
        cdef Py_ssize_t before = self.count, k, segments = ((before + more) >> SEGMENT_BITS) + 1
        cdef void* moved
        if more < 0:
            raise ValueError("there are no fewer states than none")
        if segments > self.room:
            moved = realloc(self.segments, segments * sizeof(char*))
            if moved == NULL:
                raise MemoryError
            self.segments = <char**> moved
            while self.room < segments:
                self.segments[self.room] = <char*> calloc(1 << SEGMENT_BITS, self.bytes_per_state)
                if self.segments[self.room] == NULL:
                    raise MemoryError
                self.room += 1
        for k in range(before, before + more):
            memcpy(self.at(k), self.first, self.bytes_per_state)
        self.count = before + more
        return before

    def load(self, Py_ssize_t slot) -> None:
        """Give the learner the state of a slot."""
        if not 0 <= slot < self.count:
            raise IndexError(slot)
        self.check()
        self.read(self.at(slot))

    def clear(self, Py_ssize_t slot) -> None:
        """Make the state of a slot that of a learner that has learned nothing."""
        if not 0 <= slot < self.count:
            raise IndexError(slot)
        memcpy(self.at(slot), self.first, self.bytes_per_state)

    def figures(self) -> tuple[Counts, Floats]:
        """Return the rounds and the losses of all slots."""
        rounds, losses = np.zeros(self.count, dtype=np.int64), np.zeros(self.count)
        cdef int64_t[::1] played = rounds
        cdef double[::1] lost = losses
        cdef Engine engine = self.entry.engine
        cdef Py_ssize_t slot
        self.check()
        self.entry.enter(True)
        try:
            for slot in range(self.count):
                self.read(self.at(slot))
                played[slot], lost[slot] = engine.rounds, engine.loss_sum + engine.loss_rest
        finally:
            self.entry.leave()
        return rounds, losses

    def play(self, const int64_t[::1] slots not None, const double[:, :] X not None, const double[::1] y not None,
             double[::1] out not None, Py_ssize_t first) -> tuple[int, int, float, int]:
        """Play rows, each with the state of its slot, from ``first`` on; rows of negative slots are left out.

        Rows without an outcome are predicted. A row that is refused ends it, and changes nothing. Returns the row after
        the last that was played; how many were learned; and the loss and the mistakes of these.
        """
        cdef Entry entry = self.entry
        cdef Engine engine = entry.engine
        cdef Py_ssize_t r = first, rows = slots.shape[0], k
        cdef int64_t slot
        cdef int status = FINE
        cdef double loss = 0
        cdef long long mistakes = 0, learned = 0
        cdef char* state
        cdef Row row
        row.indices, row.count, row.spread = NULL, X.shape[1], 0
        row.unseen, row.unseen_sum, row.unseen_norm2 = 0, 0, 0
        self.check()
        if X.shape[0] != rows or y.shape[0] != rows or out.shape[0] != rows or not 0 <= first <= rows:
            raise ValueError("every row needs a slot, an outcome and a place for its score")
        if X.shape[1] != engine.size or (X.shape[1] > 1 and X.strides[1] != sizeof(double)):
            raise ValueError(f"expected rows of {engine.size} numbers")
        for k in range(rows):
            if slots[k] >= self.count:
                raise IndexError(slots[k])
        entry.enter(True)
        try:
            with nogil:
                while r < rows:
                    if r + AHEAD < rows and slots[r + AHEAD] >= 0:
                        state = self.at(slots[r + AHEAD])
                        k = 0
                        while k < self.bytes_per_state:
                            noregret_fetch(state + k)
                            k += LINE
                    slot = slots[r]
                    if slot >= 0:
                        state = self.at(slot)
                        self.read(state)
                        row.values = row_at(X, r)
                        if isnan(y[r]):
                            status = entry.score_into(&row, &out[r], 1)
                        else:
                            mistakes -= engine.mistakes
                            status = play_row(entry, &row, y[r], &out[r])
                            mistakes += engine.mistakes
                            if status == FINE:
                                loss += engine.last_loss
                                learned += 1
                                self.write(state)
                        if status != FINE:
                            break
                    r += 1
        finally:
            entry.leave()
        return r, learned, loss, mistakes


cdef inline const double* row_at(const double[:, :] X, Py_ssize_t r) noexcept nogil:
    """Return the address of a row."""
    return &X[r, 0] if X.shape[1] else NULL
