"""The engine of Mondrian forests for several classes: scores are logarithms of probabilities."""

from libc.math cimport NAN, log
from libc.stdlib cimport free, malloc

import numpy as np

cimport cython

from noregret.base.compiled.losses cimport class_loss
from noregret.forests.forest cimport Grove, noregret_forest_admit, noregret_forest_widen
from noregret.linear.engine.class_engine cimport ClassEngine, stride_for
from noregret.linear.engine.engine cimport FINE, Row


@cython.final
cdef class ClassForest(ClassEngine):
    """A Mondrian forest for several classes.

    Parameters
    ----------
    trees, nodes, seed, edition
        As in ``Grove``.
    """

    ADVICE = "use fewer classes"

    cdef readonly Grove grove
    cdef bint learning  # whether the row at hand will be learned

    def __cinit__(self, trees=10, nodes=3500, seed=0, edition=2):
        self.grove = Grove(trees, nodes, seed, 0, edition)

    def __init__(self, trees=10, nodes=3500, seed=0, edition=2):
        self.loss = class_loss("softmax")

    cdef int resize(self, Py_ssize_t size) except -1:
        self.grove.resize(size)
        self.size, self.capacity = size, max(size, self.capacity)
        return 0

    cdef int admit_class(self) except -1:
        ClassEngine.admit_class(self)
        if not noregret_forest_widen(&self.grove.forest, self.grove.forest.features, <int> self.classes):
            self.classes -= 1
            raise MemoryError("no memory left for another class")
        noregret_forest_admit(&self.grove.forest)
        return 0

    cdef void class_scores(self, Row* row, double* out, Py_ssize_t count) noexcept nogil:
        """Fill in the logarithms of the probabilities of the first ``count`` classes, and the row's measurements."""
        cdef Py_ssize_t c
        cdef double[64] few
        cdef double* chances = few
        cdef bint fits = True
        self.measure(row)
        if count == 0:
            return
        if self.grove.forest.classes > 64:
            chances = <double*> malloc(self.grove.forest.classes * sizeof(double))
        if chances == NULL or not row.norm2 < 1e300:
            fits = False
        elif self.learning:
            self.grove.foresee(row, chances)
        else:
            fits = self.grove.predict(row, chances)
        for c in range(count):
            out[c] = log(chances[c]) if fits else NAN
        if chances != few:
            free(chances)

    cdef int play(self, Row* row, double given) noexcept nogil:
        cdef int status
        self.learning, self.grove.foreseen = True, False
        status = ClassEngine.play(self, row, given)
        self.learning = False
        if status != FINE:
            self.grove.forest.classes = <int> self.classes
        return status

    cdef int learn_class(self, Row* row, Py_ssize_t y, double value, double length2) noexcept nogil:
        return self.grove.learn(row, <double> y)

    @property
    def takes_importance(self):
        """False: a row counts once."""
        return False

    def accounts(self) -> dict[str, Floats]:
        """Return the evidence for the theorems, a number per tree in each array."""
        return self.grove.accounts()

    def weights(self):
        """Return zeros, a row per feature, a column per class: a forest has no weights."""
        return np.zeros((self.size, self.classes))

    # The state.

    def get_state(self):
        """Return the state: (arrays, numbers)."""
        return self.grove.get_state(), self.scalars()

    def set_state(self, arrays, numbers):
        """Restore a state, or raise ValueError and stay unchanged."""
        if numbers["mean_kept"] or (numbers["rounds"] > 0) != (numbers["classes"] > 0):
            raise ValueError("the state's numbers make no sense")
        size, classes = numbers["size"], numbers["classes"]
        stride = stride_for(classes)
        grove = self.grove.take(dict(arrays), size, classes)
        self.buffers(stride)
        self.restore(numbers)
        self.grove, self.stride = grove, stride
        self.size = self.capacity = size
