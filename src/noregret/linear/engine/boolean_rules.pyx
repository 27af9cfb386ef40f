"""Linear learners of Boolean rules: Littlestone's Winnow1 and conjunctions."""

from noregret.linear.engine.engine cimport FINE, NOT_BOOLEAN, Engine, Row, position
from noregret.base.compiled.losses cimport as_loss

from noregret.checks import whole


cdef bint boolean(const Row* row) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(row.count):
        if row.values[k] != 0 and row.values[k] != 1:
            return False
    return True


cdef class Winnow1(Engine):
    """Weights start at 1, double after a false negative, become 0 after a false positive.

    The prediction is positive if the weights of the features present exceed n/2. Weights are
    integers, so a threshold of n/2 + 1/4 is the same rule and no score is ever zero.
    """

    FLAT = True
    def __init__(self, dimension: int | None = None):
        self.loss = as_loss("mistake", None)
        self.dimension = 0 if dimension is None else whole("dimension", dimension, below=2**31)
        self.initial = 1
        self.set_threshold(0)

    cdef double threshold(self, Py_ssize_t unseen) noexcept nogil:
        return 0.5 * max(self.dimension, self.size + unseen) + 0.25

    cdef void set_threshold(self, Py_ssize_t unseen) noexcept nogil:
        self.offset = -self.threshold(unseen)

    cdef void begin(self, Py_ssize_t start) noexcept nogil:
        Engine.begin(self, start)
        self.set_threshold(0)

    cdef int resize(self, Py_ssize_t size) except -1:
        Engine.resize(self, size)
        self.set_threshold(0)
        return 0

    cdef double score(self, Row* row) noexcept nogil:
        return Engine.score(self, row) - self.offset - self.threshold(row.unseen)

    cdef double outside_mean(self) noexcept nogil:
        return self.clock if self.dimension > self.size else 0

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef double change = 2 if y > 0 else 0
        cdef Py_ssize_t i, k
        if not boolean(row):
            return NOT_BOOLEAN
        if slope != 0:
            self.touch_row(row)
            for k in range(row.count):
                if row.values[k] == 1:
                    i = position(row, k)
                    self.stored[i] *= change
        return FINE


cdef class Conjunction(Engine):
    """All literals at first; every false negative removes those it falsifies.

    A kept literal "x_i" is stored as 1, "not x_i" as −1, neither as 0. The score is ½ minus the
    number of kept literals that the example falsifies. Before the first positive all 2n literals
    are kept, which no example satisfies, and the score is −½.
    """

    FLAT = True
    NUMBERS = ("started", "clock_at_start")
    cdef public bint started
    cdef public double clock_at_start
    SIGNED = (*Engine.SIGNED, "clock_at_start")

    def __init__(self):
        self.loss = as_loss("mistake", None)
        self.offset = -0.5

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef Py_ssize_t i, k = 0, kept = 0
        cdef bint present
        if not boolean(row):
            return NOT_BOOLEAN
        if slope == 0 or y < 0:
            return FINE
        # At most n + 1 rounds get here, so a loop over all features is affordable.
        for i in range(self.size):
            present = False
            if k < row.count and position(row, k) == i:
                present = row.values[k] == 1
                k += 1
            if self.mean_kept:
                self.touch(i)
            if not self.started:
                self.stored[i] = 1 if present else -1
            elif self.stored[i] == (-1 if present else 1):
                self.stored[i] = 0
            kept += self.stored[i] == 1
        if not self.started:
            self.started, self.initial, self.clock_at_start = True, -1, self.clock
        self.offset = 0.5 - kept
        return FINE

    cdef double outside_mean(self) noexcept nogil:
        """Initialise new features: absent from every positive example, so their negations are kept."""
        return self.clock_at_start - self.clock if self.started else 0

    def restore(self, numbers):
        """Restore the numbers of a state."""
        Engine.restore(self, numbers)
        self.initial = -1 if self.started else 0
