"""The forest of ``auto``: a member that sees thresholds and products of features.

It begins after some rounds, so that small learners stay small, and ends when there are too many
features. Outcomes are divided by their range at its beginning, so that its weights do not depend
on their unit.
"""

from libc.math cimport log
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

cimport cython

from noregret.auto.layout cimport clip
from noregret.base.compiled.state_parts cimport Memory, StateParts, add_owned, add_range
from noregret.forests.forest cimport (
    COLUMN_FIELDS, Grove, noregret_forest, noregret_forest_bytes, noregret_forest_delete, noregret_forest_learn,
    noregret_forest_members, noregret_forest_new, noregret_forest_pack, noregret_forest_predict, noregret_forest_reserve,
    noregret_forest_unpack, noregret_forest_widen,
)

from noregret.checks import state_numbers

cdef enum:
    FOREST_NODES = 2000        # per tree
    FIRST_ROUNDS = 64          # learned before the forest begins
    SILENT_ROUNDS = 64         # that it has learned before it takes part
# The unit of outcomes, in ranges of those before: their range is no power of two, where the forest's rate would jump.
cdef double UNIT_RANGES = 1.25
# Outcomes in this unit are clipped to this, so that no square overflows.
cdef double MAX_UNITS = 1e100


cdef char* copied_forest(const char* at) noexcept nogil:
    cdef Py_ssize_t bytes = noregret_forest_pack(<const noregret_forest*> at, NULL)
    cdef char* packed = <char*> malloc(bytes)
    cdef char* made = NULL
    if packed != NULL:
        noregret_forest_pack(<const noregret_forest*> at, packed)
        made = <char*> noregret_forest_unpack(packed)
    free(packed)
    return made


cdef void dropped_forest(char* at) noexcept nogil:
    noregret_forest_delete(<noregret_forest*> at)


cdef Py_ssize_t packed_forest(const char* at, char* out) noexcept nogil:
    return noregret_forest_pack(<const noregret_forest*> at, out)


cdef char* unpacked_forest(const char* packed) noexcept nogil:
    return <char*> noregret_forest_unpack(packed)


cdef Memory FOREST_MEMORY
FOREST_MEMORY.copy, FOREST_MEMORY.drop = copied_forest, dropped_forest
FOREST_MEMORY.pack, FOREST_MEMORY.unpack = packed_forest, unpacked_forest


@cython.final
cdef class Trees:
    """A Mondrian forest of numbers, or of two labels.

    Parameters
    ----------
    labels
        True for labels, which it predicts as log-odds.
    trees
        Number of trees.
    """

    def __cinit__(self, labels, trees):
        self.labels, self.trees = labels, trees

    def __dealloc__(self):
        self.end()

    cdef noregret_forest* forest(self) noexcept nogil:
        return <noregret_forest*> self.owned.at

    cdef void end(self) noexcept nogil:
        """Free the forest."""
        noregret_forest_delete(self.forest())
        self.owned.at, self.owned.bytes = NULL, 0

    cdef bint knows(self, Py_ssize_t size) noexcept nogil:
        """Return whether there is a forest, of so many features."""
        return self.owned.at != NULL and self.forest().features == size

    cdef bint speaks(self, Py_ssize_t size) noexcept nogil:
        """Return whether the forest takes part in predictions."""
        return self.knows(size) and self.forest().rounds >= SILENT_ROUNDS

    cdef double say(self, const double* x, double* said) noexcept nogil:
        """Return the prediction of a row with all features; fill in those within the forest."""
        cdef double[2] out
        noregret_forest_predict(self.forest(), x, said, out)
        return log(out[1]) - log(out[0]) if self.labels else self.unit * out[0]

    # Learning.

    cdef bint make_room(self, Py_ssize_t size, double rounds, double extent) noexcept nogil:
        """Begin the forest if it is time, and make room for a round; return whether there was memory.

        ``extent`` is the range of the outcomes so far.
        """
        cdef noregret_forest* made
        cdef int foreseen = 1
        if self.owned.at == NULL and size <= MAX_FOREST_FEATURES and rounds >= FIRST_ROUNDS and (self.labels or extent > 0):
            made = noregret_forest_new(self.trees, FOREST_NODES, 2 if self.labels else 0, 0)
            if made == NULL or 2 * noregret_forest_members(made) > FOREST_SAYS or not noregret_forest_widen(made, size, made.classes):
                noregret_forest_delete(made)
                return False
            self.owned.at, self.owned.bytes = <char*> made, noregret_forest_bytes(made)
            self.unit = UNIT_RANGES * extent
        return not self.knows(size) or noregret_forest_reserve(self.forest(), &foreseen)

    cdef void learn(self, const double* x, Py_ssize_t size, const double* said, double y) noexcept nogil:
        """Learn from a row with all features, for which there is room; ``said`` is NULL if it was not predicted."""
        cdef noregret_forest* f = self.forest()
        if f != NULL and size > MAX_FOREST_FEATURES:
            self.end()
        if not self.knows(size):
            return
        memcpy(f.row, x, size * sizeof(double))
        if said != NULL:
            memcpy(f.said, said, noregret_forest_members(f) * (2 if self.labels else 1) * sizeof(double))
        y = (1 if y > 0 else 0) if self.labels else clip(y / self.unit, -MAX_UNITS, MAX_UNITS)
        noregret_forest_learn(f, y, said != NULL)
        self.owned.bytes = noregret_forest_bytes(f)

    cdef int resize(self, Py_ssize_t size) except -1:
        """Change the number of features; with too many the forest stays as it is, and takes no part."""
        cdef noregret_forest* f = self.forest()
        cdef Py_ssize_t j, before
        if f == NULL or size > MAX_FOREST_FEATURES:
            return 0
        before = f.features
        if not noregret_forest_widen(f, size, f.classes):
            raise MemoryError("no memory left for the boxes of the nodes")
        for j in range(size, before):  # refused features leave nothing behind
            memset(f.column + COLUMN_FIELDS * j, 0, COLUMN_FIELDS * sizeof(double))
        self.owned.bytes = noregret_forest_bytes(f)
        return 0

    # The state.

    cdef void list_state(self, StateParts* parts):
        """Add the places of all numbers that rounds change."""
        add_range(parts, &self.owned, &self.unit + 1)
        add_owned(parts, &self.owned, &FOREST_MEMORY)

    @property
    def n(self) -> int:
        """The number of features of the forest; −1 if there is none."""
        return self.forest().features if self.owned.at != NULL else -1

    def get_state(self) -> tuple[dict[str, Floats], dict[str, Any]]:
        """Return the state: (arrays, numbers); without arrays if there is no forest."""
        cdef Grove lent
        if self.owned.at == NULL:
            return {}, {"features": 0, "unit": 0.0}
        numbers = {"features": self.forest().features, "unit": self.unit}
        lent = Grove.__new__(Grove, self.trees, FOREST_NODES, 0, 2 if self.labels else 0)
        swap(&lent.forest, self.forest())
        try:
            return lent.get_state(), numbers
        finally:
            swap(&lent.forest, self.forest())

    def set_state(self, arrays: dict[str, Floats], numbers: dict[str, Any]) -> None:
        """Restore a state, or raise ValueError if invalid."""
        cdef Grove made = None
        cdef noregret_forest* f = NULL
        state_numbers(numbers, {"features": 0, "unit": 0.0})
        if numbers["features"] > MAX_FOREST_FEATURES or (arrays and not self.labels and not numbers["unit"] > 0):
            raise ValueError("the state's numbers make no sense")
        if arrays:
            made = Grove(self.trees, FOREST_NODES, 0, 2 if self.labels else 0)
            made = made.take(arrays, numbers["features"], made.params[3])
            f = noregret_forest_new(self.trees, FOREST_NODES, 2 if self.labels else 0, 0)
            if f == NULL:
                raise MemoryError
            swap(&made.forest, f)
        self.end()
        self.unit = numbers["unit"]
        if f != NULL:
            self.owned.at, self.owned.bytes = <char*> f, noregret_forest_bytes(f)


cdef void swap(noregret_forest* one, noregret_forest* other) noexcept nogil:
    cdef noregret_forest kept = one[0]
    one[0] = other[0]
    other[0] = kept
