"""The forest of ``auto`` with several classes: a member that sees thresholds and products of features.

It begins after some rounds, so that small learners stay small, and ends when there are too many
features or classes.
"""

cimport cython

from noregret.forests.forest cimport Grove, noregret_forest_admit, noregret_forest_reserve, noregret_forest_widen
from noregret.linear.engine.engine cimport Row

from noregret.checks import state_numbers

cdef enum:
    FOREST_TREES = 10
    FOREST_NODES = 1500        # per tree
    MAX_FOREST_FEATURES = 128
    MAX_FOREST_CLASSES = 32
    FIRST_ROUNDS = 64          # learned before the forest begins
    SILENT_ROUNDS = 64         # that it has learned before it takes part


def new_grove() -> Grove:
    """Return the trees of a forest that knows no class yet."""
    return Grove(FOREST_TREES, FOREST_NODES, 0, 0, 3)


@cython.final
cdef class ClassTrees:
    """A Mondrian forest of classes, with the features and classes of its bank."""

    cdef bint knows(self, Py_ssize_t size, Py_ssize_t classes) noexcept nogil:
        """Return whether there is a forest, of so many features and classes."""
        return self.grove is not None and self.grove.forest.features == size and self.grove.forest.classes == classes

    cdef bint say(self, const Row* row, Py_ssize_t size, Py_ssize_t classes, bint learning, double* out) noexcept nogil:
        """Fill in the probabilities of a row's classes; return whether the forest takes part."""
        # New features of this row count, as they will when it is learned.
        if not self.knows(size, classes) or size + row.unseen > MAX_FOREST_FEATURES:
            return False
        if learning:
            self.grove.foresee(row, out)
        elif not self.grove.predict(row, out):
            return False
        return self.grove.forest.rounds >= SILENT_ROUNDS

    # Learning.

    cdef void start_round(self) noexcept nogil:
        """Forget what was predicted for a row that was not learned."""
        if self.grove is not None:
            self.grove.foreseen = False

    cdef bint make_room(self, Py_ssize_t size, Py_ssize_t classes, double rounds) noexcept nogil:
        """Begin the forest if it is time, and make room for a round; return whether there was memory."""
        cdef int foreseen
        if self.grove is None and rounds >= FIRST_ROUNDS and size <= MAX_FOREST_FEATURES and classes <= MAX_FOREST_CLASSES:
            return self.begin(size, classes)
        if not self.knows(size, classes):
            return True
        foreseen = self.grove.foreseen
        if not noregret_forest_reserve(&self.grove.forest, &foreseen):
            return False
        self.grove.foreseen = foreseen
        return True

    cdef bint begin(self, Py_ssize_t size, Py_ssize_t classes) noexcept with gil:
        cdef Grove made
        cdef Py_ssize_t c
        cdef int foreseen = False
        try:
            made = new_grove()
        except MemoryError:
            return False
        if not noregret_forest_widen(&made.forest, size, <int> classes) or not noregret_forest_reserve(&made.forest, &foreseen):
            return False
        for c in range(classes):
            noregret_forest_admit(&made.forest)
        self.grove = made
        return True

    cdef void learn(self, const Row* row, Py_ssize_t size, Py_ssize_t classes, Py_ssize_t y) noexcept nogil:
        """Learn a row's class, for which there is room."""
        if self.knows(size, classes):
            self.grove.learn(row, <double> y)
        elif self.grove is not None and (size > MAX_FOREST_FEATURES or classes > MAX_FOREST_CLASSES):
            self.end()

    cdef void end(self) noexcept with gil:
        self.grove = None

    # New features and classes. With too many, the forest stays as it is and takes no part, as the row may be refused.

    cdef int resize(self, Py_ssize_t size) except -1:
        """Change the number of features."""
        if self.grove is not None and size <= MAX_FOREST_FEATURES:
            self.grove.resize(size)
        return 0

    cdef int admit(self, Py_ssize_t classes) except -1:
        """Add the last of so many classes."""
        if self.grove is None or classes > MAX_FOREST_CLASSES:
            return 0
        if not noregret_forest_widen(&self.grove.forest, self.grove.forest.features, <int> classes):
            raise MemoryError("no memory left for another class")
        noregret_forest_admit(&self.grove.forest)
        return 0

    cdef void withdraw(self, Py_ssize_t classes) noexcept nogil:
        """Leave out a class that joined in a round that was refused."""
        if self.grove is not None and self.grove.forest.classes > classes:
            self.grove.forest.classes = <int> classes

    # The state.

    def get_state(self) -> tuple[dict[str, Floats], dict[str, int]]:
        """Return the state: (arrays, numbers); without arrays if there is no forest."""
        if self.grove is None:
            return {}, {"features": 0, "classes": 0}
        return self.grove.get_state(), {"features": self.grove.forest.features, "classes": self.grove.forest.classes}

    def set_state(self, arrays: dict[str, Floats], numbers: dict[str, int]) -> None:
        """Restore a state, or raise ValueError if invalid."""
        state_numbers(numbers, {"features": 0, "classes": 0})
        if numbers["features"] > MAX_FOREST_FEATURES or numbers["classes"] > MAX_FOREST_CLASSES or (arrays and not numbers["classes"]):
            raise ValueError("the state's numbers make no sense")
        self.grove = new_grove().take(arrays, numbers["features"], numbers["classes"]) if arrays else None
