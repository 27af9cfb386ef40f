"""The round of learners over several classes: scores, loss, learning, and classes that join.

A class joins in the round in which it first appears, and takes part in that round's loss.
"""

from libc.math cimport INFINITY, exp, fabs, log, sqrt
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from noregret.base.compiled.losses cimport class_loss
from noregret.linear.engine.additive cimport Scaled
from noregret.linear.engine.engine cimport BAD_LABEL, BAD_VALUE, DIVERGED, FINE, NO_MEMORY, Row

from noregret.errors import BadLabel
from noregret.limits import MAX_CLASSES

cdef enum:
    FIRST_STRIDE = 4


cdef Py_ssize_t stride_for(object classes) except -1:
    """Return the room that the classes of a state need, or raise ValueError."""
    cdef Py_ssize_t stride = FIRST_STRIDE
    if not 0 <= classes <= MAX_CLASSES:
        raise ValueError(f"there can be from 0 to {MAX_CLASSES:,} classes: got {classes}")
    while stride < classes:
        stride *= 2
    return stride


cdef Py_ssize_t first_of(const double* scores, Py_ssize_t count) noexcept nogil:
    """Return the class with the highest score, the first of several."""
    cdef Py_ssize_t c, best = 0
    for c in range(1, count):
        if scores[c] > scores[best]:
            best = c
    return best


cdef double lead_of(const double* scores, Py_ssize_t best, Py_ssize_t count) noexcept nogil:
    """Return the probability of the class with the highest score."""
    cdef Py_ssize_t c
    cdef double total = 0
    for c in range(count):
        total += exp(scores[c] - scores[best])
    return 1 / total


cdef class ClassEngine(Scaled):
    """An engine with a score per class, whose outcomes are numbers of classes."""

    def __cinit__(self, *args, **options):
        self.probable = True
        self.chances = None  # a view that was never set would not be None
        self.stride = FIRST_STRIDE
        self.buffers(self.stride)

    def __init__(self):
        self.loss = class_loss("softmax")

    def __dealloc__(self):
        free(self.scores)

    cdef int buffers(self, Py_ssize_t stride) except -1:
        """Make room for the numbers of one round."""
        cdef double* made = <double*> malloc(4 * stride * sizeof(double))
        if made == NULL:
            raise MemoryError("no memory left for the scores of the classes")
        free(self.scores)
        self.scores, self.pull, self.spare = made, made + stride, made + 2 * stride
        return 0

    cdef int admit_class(self) except -1:
        """Make room for one more class."""
        if self.classes >= MAX_CLASSES:
            raise BadLabel(
                f"there are more than {MAX_CLASSES:,} classes",
                "is the target a number, or a column that differs in every row?",
                round=self.rounds + 1,
            )
        if self.classes == self.stride:
            self.widen(2 * self.stride)
        self.classes += 1
        return 0

    cdef int widen(self, Py_ssize_t stride) except -1:
        """Make room for ``stride`` classes, or raise BadLabel."""
        self.buffers(stride)
        self.stride = stride
        return 0

    # Scores.

    cdef void measure(self, Row* row) noexcept nogil:
        """Fill in the row's measurements."""
        cdef Py_ssize_t k
        cdef double value, low = INFINITY, high = -INFINITY, norm2 = 0
        for k in range(row.count):
            value = row.values[k]
            low, high = min(low, value), max(high, value)
            norm2 += value * value
        if row.count < self.size or row.count == 0:
            low, high = min(low, 0.0), max(high, 0.0)
        row.norm2, row.peak, row.spread = norm2, max(-low, high), high - low

    cdef void class_scores(self, Row* row, double* out, Py_ssize_t count) noexcept nogil:
        """Fill in the scores of the first ``count`` classes, and the row's measurements."""

    cdef void class_scores_noting(self, Row* row, double* out, Py_ssize_t count, double* note) noexcept nogil:
        """Do the same, and fill in the note."""
        self.class_scores(row, out, count)

    cdef double score(self, Row* row) noexcept nogil:
        """Return the number of the class with the highest score, the first of several; −1 for none."""
        cdef double* out
        cdef double[64] few
        cdef Py_ssize_t best
        if self.classes <= 64:
            out = few
        else:
            out = <double*> malloc(self.classes * sizeof(double))
        if out == NULL:
            return INFINITY
        self.class_scores(row, out, self.classes)
        best = first_of(out, self.classes)
        if self.classes > 64:
            free(out)
        return <double> best if self.classes else -1.0

    cdef double judge(self, Py_ssize_t y) noexcept nogil:
        """Return the loss of the scores, here that of the softmax, and fill in its gradient by them."""
        cdef Py_ssize_t c
        cdef double top = self.scores[0], total = 0
        memset(self.pull, 0, self.classes * sizeof(double))
        for c in range(1, self.classes):
            top = max(top, self.scores[c])
        for c in range(self.classes):
            self.pull[c] = exp(self.scores[c] - top)
            total += self.pull[c]
        for c in range(self.classes):
            self.pull[c] /= total
        self.pull[y] -= 1
        return log(total) + (top - self.scores[y])

    # The round.

    def note_chances(self, double[::1] out: Floats | None) -> None:
        """Fill in the chance of the class that is predicted in each round to come; None to stop."""
        self.chances, self.chances_noted = out, 0

    cdef int learn_class(self, Row* row, Py_ssize_t y, double value, double length2) noexcept nogil:
        """Learn from the class, or return the reason not to and change nothing.

        ``value`` is the loss of the scores and ``length2`` the squared norm of its gradient by them.
        """
        return FINE

    cdef int admit(self) noexcept with gil:
        """Admit a class; a function of its own, as it takes the GIL on entry."""
        try:
            self.admit_class()
        except BaseException as failure:
            self.failure = failure
            return False
        return True

    cdef int play(self, Row* row, double given) noexcept nogil:
        """Predict, pay, learn, measure. On anything but FINE nothing has changed."""
        cdef Py_ssize_t y = <Py_ssize_t> given, before = self.classes, c, best = 0
        cdef double value, length2 = 0, peak = 0, chance = 0
        cdef int status
        cdef bint wrong = False
        if y < 0 or y > before or y >= self.labelled or given != y:
            return BAD_LABEL
        if y == before:
            if before:  # what is predicted before the class joins
                self.class_scores(row, self.scores, before)
                best = first_of(self.scores, before)
                if self.chances is not None and self.probable:
                    chance = lead_of(self.scores, best, before)
            if not self.admit():
                return NO_MEMORY
        self.class_scores(row, self.scores, self.classes)
        status = FINE
        if not row.norm2 < 1e300:
            status = BAD_VALUE
        else:
            value = self.judge(y)
            if not fabs(value) < 1e290:
                status = DIVERGED
        if status == FINE:
            if y < before:
                best = first_of(self.scores, before)
                if self.chances is not None and self.probable:
                    chance = self.pull[best] + (1.0 if best == y else 0.0)
            for c in range(self.classes):
                wrong = wrong or (c != y and self.scores[c] >= self.scores[y])
                length2 += self.pull[c] * self.pull[c]
                peak = max(peak, fabs(self.pull[c]))
            status = self.learn_class(row, y, value, length2)
        if status != FINE:
            self.classes = before
            return status
        if self.chances is not None and self.chances_noted < self.chances.shape[0]:
            self.chances[self.chances_noted] = chance
            self.chances_noted += 1
        self.book(row, <double> best if before else -1.0, self.importance * value, sqrt(length2), peak, 0, wrong)
        return FINE

    # The state.

    @property
    def linear(self):
        """False: predictions have one score per class, not w·x alone."""
        return False

    @property
    def takes_importance(self):
        """True: a round may stand for several."""
        return True

    def scalars(self):
        """Return the numbers that, with the arrays, make up the state."""
        return Scaled.scalars(self) | {"classes": self.classes}

    def restore(self, numbers):
        """Take the numbers of a state over."""
        Scaled.restore(self, numbers)
        self.classes = numbers["classes"]
