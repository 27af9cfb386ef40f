# What a learner and a row are besides the entry: included in entry.pyx.

cdef class ExampleCalls:
    """The methods of a learner for one example, which call its entry.

    Parameters
    ----------
    engine
        The engine.
    """

    _entry_kind = Entry  # type: type[Entry]

    def __cinit__(self, *args, **options):
        self._entry = type(self)._entry_kind()

    def __init__(self, Engine engine not None):
        self._entry.begin(engine)

    def learn_one(self, x, y) -> None:
        """Learn from one example: x, a dict of names to values or a 1-d array, and its outcome y."""
        self._entry.play(x, y, NULL)

    def play_one(self, x, y) -> Any:
        """Predict, then learn; return the prediction, made before the outcome was seen."""
        cdef double score
        self._entry.play(x, y, &score)
        return self._entry.answer(score)

    def predict_one(self, x) -> Any:
        """Predict the outcome of one example; the learner does not change."""
        return self._entry.answer(self._entry.decide(x))

    def decision_one(self, x) -> float:
        """Return the score w·x; a classifier's label is its sign."""
        return self._entry.decide(x)


cdef class SparseRow:
    """A sparse row of columns: increasing indices and their values."""

    cdef readonly object indices  # type: Indices
    cdef readonly object data  # type: Floats
    cdef readonly Py_ssize_t width

    def __cinit__(self, const int32_t[:] indices not None, const double[:] data not None, Py_ssize_t width):
        cdef Py_ssize_t k, before = -1
        if indices.shape[0] != data.shape[0]:
            raise BadExample("a sparse row has as many indices as values")
        # Private copies that no other code can write to or replace.
        self.indices, self.data = np.array(indices, dtype=np.int32), np.array(data, dtype=np.float64)
        self.width = width
        indices = self.indices
        for k in range(indices.shape[0]):
            if not before < indices[k] < width:
                raise BadExample(f"the indices of a sparse row must increase and lie within {width} columns")
            before = indices[k]
        self.indices.flags.writeable = False
