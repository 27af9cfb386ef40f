"""The entry of learners over several classes: labels as numbers, and back."""

from cpython.bytes cimport PyBytes_AS_STRING
from libc.math cimport isfinite

import json
import reprlib

import numpy as np

from noregret.linear.engine.class_engine cimport ClassEngine
from noregret.linear.engine.engine cimport BAD_VALUE, FINE, OVERFLOWED, Engine, Row
from noregret.linear.engine.entry cimport Entry

from noregret.errors import BadExample, BadLabel
from noregret.linear import inputs


cdef class ClassEntry(Entry):
    """The entry of a learner over several classes: it knows their labels, in order of appearance."""

    cdef readonly list labels_known
    cdef dict codes

    def __cinit__(self):
        self.labels_known, self.codes = [], {}
        self.engine = ClassEngine()  # before begin too: calls take it for one without a check

    def begin(self, Engine engine not None):
        """Start with an engine, and with no features and classes."""
        if not isinstance(engine, ClassEngine):
            raise TypeError(f"an entry of classes needs weights of classes: got {type(engine).__name__}")
        Entry.begin(self, engine)
        self.know([])

    cdef ClassEngine matrix(self):
        return <ClassEngine> self.engine

    cdef int know(self, list labels) except -1:
        """Know these classes and no others."""
        self.labels_known, self.codes = labels, {label: code for code, label in enumerate(labels)}
        self.matrix().labelled = len(labels)
        return 0

    def code_of(self, y) -> int:
        """Return the number of a class, the next one for a new class; raise BadLabel for an invalid label."""
        label = as_label(y)
        try:
            self.check_label(y, label, self.labels_known)
        except BadLabel as error:
            raise self.bad_outcome(error) from None
        code = self.codes.get(label)
        if code is None:
            code = self.codes[label] = len(self.labels_known)
            self.labels_known.append(label)
            self.matrix().labelled = len(self.labels_known)
        return code

    def check_label(self, y, label, known):
        """Raise BadLabel for an invalid label, or one of another type than a known one."""
        if label is None:
            raise BadLabel(f"the class is {reprlib.repr(y)}: classes are strings, integers or booleans")
        if known and type(known[0]) is not type(label):
            raise BadLabel(
                f"the class is {reprlib.repr(label)}, but {reprlib.repr(known[0])} was seen before",
                "write all classes as strings, or all as integers",
            )

    cdef double outcome(self, object y) except? -1:
        return self.code_of(y)

    cdef int settle(self, double* y) noexcept nogil:
        return FINE

    def bad_outcome(self, shown):
        """Return the error of an invalid label: its own, or that of a number of no class."""
        if isinstance(shown, BadLabel):
            return shown.at(round=self.engine.rounds + 1)
        return BadLabel(f"there is no class number {shown}", round=self.engine.rounds + 1)

    def outcomes(self, y):
        """Return the labels of many rows, up to the first that is refused."""
        found, bad = [], None
        for given in listed(y):
            label = as_label(given)
            try:
                self.check_label(given, label, found or self.labels_known)
            except BadLabel as error:
                bad = error
                break
            found.append(label)
        return inputs.Outcomes(np.zeros(len(found)), None, bad, found)

    def coded(self, given, part):
        """Return the numbers of the classes of some rows; new classes are known from now on."""
        return np.array([self.code_of(label) for label in given.labels[part]], dtype=np.float64)

    cdef int forget_unplayed(self) except -1:
        """Forget classes that no round has brought."""
        if len(self.labels_known) > self.matrix().classes:
            self.know(self.labels_known[:self.matrix().classes])
        return 0

    cdef int drop(self, Py_ssize_t count, int kind) except -1:
        self.forget_unplayed()
        return Entry.drop(self, count, kind)

    cdef int refuse(self, int status, double given, const Row* row) except -1:
        failure = self.matrix().failure
        if failure is not None:
            self.matrix().failure = None
            raise failure
        return Entry.refuse(self, status, given, row)

    cdef object answer(self, double score):
        return self.labels_known[<Py_ssize_t> score] if score >= 0 else None

    def answers(self, scores):
        """Return the labels of numbers of classes, None where there was none to predict."""
        known = list(self.labels_known)
        labels = np.empty(len(known) + 1, dtype=object)
        labels[:len(known)] = known
        found = labels[np.asarray(scores).astype(np.intp)]
        kinds = {type(label) for label in found.tolist()}
        return found.astype(kinds.pop()) if len(kinds) == 1 and not kinds & {type(None)} else found

    cdef Py_ssize_t width(self) noexcept nogil:
        return (<ClassEngine> self.engine).classes

    cdef int score_into(self, Row* row, double* out, Py_ssize_t count) noexcept nogil:
        (<ClassEngine> self.engine).class_scores(row, out, count)
        return self.checked(row, out, count)

    cdef int checked(self, const Row* row, const double* out, Py_ssize_t count) noexcept nogil:
        """Return whether a row and its scores are finite numbers, or what is wrong."""
        cdef Py_ssize_t c
        if not row.norm2 < 1e300:
            return BAD_VALUE
        for c in range(count):
            if not isfinite(out[c]):
                return OVERFLOWED
        return FINE

    def decision(self, x) -> Floats:
        """Return the scores of one example, one per class."""
        return self.decided_by_class(x, NULL)

    def decide_noting(self, x) -> tuple[Floats, bytes]:
        """Return the scores of one example, and the note of it for ``learn_late``."""
        note = bytes(self.engine.note_size() * sizeof(double))
        return self.decided_by_class(x, <double*> PyBytes_AS_STRING(note)), note

    cdef object decided_by_class(self, object x, double* note):
        cdef Row row
        cdef double[::1] out
        cdef int status
        self.enter(False)
        try:
            self.take(x, &row, False)
            out = np.empty(max(1, self.matrix().classes))
            if note == NULL:
                status = self.score_into(&row, &out[0], self.matrix().classes)
            else:
                self.matrix().class_scores_noting(&row, &out[0], self.matrix().classes, note)
                status = self.checked(&row, &out[0], self.matrix().classes)
            if status != FINE:
                self.refuse(status, 0, &row)
            return np.asarray(out)[:self.matrix().classes]
        finally:
            self.leave()

    def decisions(self, rows):
        """Return the scores of examples, those of the classes known when asked."""
        wide = self.width()
        return np.array([self.decision(x)[:wide] for x in rows], dtype=np.float64).reshape(-1)

    def get_state(self):
        """Return (arrays, numbers, names): all that the learner has learned.

        The labels are an array too: the bytes of their JSON.
        """
        arrays, numbers, names = Entry.get_state(self)
        text = json.dumps(self.labels_known[:numbers["classes"]]).encode()
        return arrays | {"labels": np.frombuffer(text, dtype=np.uint8).astype(np.float64)}, numbers, names

    def set_state(self, arrays, numbers, names):
        """Restore a state, or raise ValueError if it does not fit."""
        arrays = dict(arrays)
        labels = labels_of(arrays.pop("labels", None))
        if len(labels) != numbers.get("classes"):
            raise ValueError(f"{len(labels)} labels for {numbers.get('classes')} classes")
        Entry.set_state(self, arrays, numbers, names)
        self.know(labels)


def listed(y):
    """Return labels as a list, or raise BadExample."""
    if getattr(y, "ndim", 1) != 1 or isinstance(y, (str, bytes, dict, set)):
        raise BadExample(f"outcomes must be one class per row: got {inputs.kind_of(y)}")
    for name in ("tolist", "to_list", "to_pylist"):
        if hasattr(y, name):
            return getattr(y, name)()
    try:
        return list(y)
    except TypeError:
        raise BadExample(f"outcomes must be one class per row: got {inputs.kind_of(y)}") from None


def as_label(y):
    """Return a label as a string, integer or boolean of Python; None if it is none of them."""
    if type(y) is str or type(y) is bool:
        return y
    if isinstance(y, np.generic):
        y = y.item()
    if type(y) is float and y == y and abs(y) < 2**53 and y == int(y):
        return int(y)
    if type(y) is int:
        return y if -2**63 <= y < 2**63 else None
    return y if type(y) in (str, bool) else None


def labels_of(array):
    """Return the labels of a state, or raise ValueError."""
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype != np.float64 \
            or not ((array >= 0) & (array < 256) & (array == np.floor(array))).all():
        raise ValueError("the labels of the classes are missing")
    try:
        labels = json.loads(array.astype(np.uint8).tobytes().decode())
    except RecursionError:
        raise ValueError("the labels of the classes are not a list") from None
    if not isinstance(labels, list) or any(as_label(label) is None or type(label) is float for label in labels):
        raise ValueError("the labels of the classes are strings, integers or booleans")
    if len(set(map(type, labels))) > 1 or len(set(labels)) != len(labels):
        raise ValueError("the labels of the classes are of one type, each once")
    return labels
