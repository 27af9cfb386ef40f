"""The entry of a learner: reads and checks examples and passes them to the engine.

The learner's methods for one example call it directly, compiled, so that a call costs little more than
its arithmetic. ``block_rows`` plays blocks of rows through the same entry.
"""

from cpython.bytes cimport PyBytes_AS_STRING
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.pythread cimport PyThread_get_thread_ident
from libc.math cimport INFINITY, NAN, fabs, isfinite, isnan, sqrt
from libc.stdint cimport int32_t

import reprlib

import numpy as np

cimport numpy as cnp

from noregret.linear.engine.engine cimport (
    BAD_INDICES, BAD_LABEL, BAD_OUTCOME, BAD_VALUE, OVERFLOWED, FINE, LOSS_FAILED, MIXED_LABELS, NO_MEMORY, NOT_BOOLEAN,
    SEEN_BOOL, SEEN_MINUS, SEEN_ZERO, Engine, Row, position,
)
from noregret.base.compiled.machine cimport come_in, generation, go_out
from noregret.linear.engine.features cimport BY_NAME, BY_POSITION, MAX_VALUE, UNKNOWN, Features
from noregret.base.compiled.losses cimport as_loss
from noregret.linear.engine.additive cimport Additive
from noregret.linear.engine.recorder cimport Recorder

from time import sleep

from noregret.checks import state_numbers
from noregret.errors import BadExample, BadLabel, Diverged, NoRegretError
from noregret.limits import MAX_COLUMNS

cnp.import_array()

# Seconds between two polls of a learner that another thread uses.
POLL_SECONDS = 1e-4


cdef class Entry:
    """The engine and the features of a learner, for one thread at a time.

    Parameters
    ----------
    engine
        The engine; an empty one before ``begin``.
    """

    def __cinit__(self):
        # Calls before begin must raise, not crash.
        self.engine = Engine.__new__(Engine)
        self.engine.loss = as_loss("square", None)
        self.known = Features()

    def begin(self, Engine engine not None) -> None:
        """Start with an engine, and with no features."""
        if engine.loss is None:
            raise ValueError("this engine was never built")
        if self.built:
            self.wait(True)
        self.engine, self.known, self.built = engine, Features(), True

    # Reading an example.

    cdef int take(self, object x, Row* row, bint learning) except -1:
        """Read x into a row; when learning, add its new features."""
        if self.prepare is not None:
            self.held = x = self.prepare.row(x, learning, self.engine.rounds + 1)
        if isinstance(x, dict):
            if self.known.kind == BY_POSITION:
                self.meet_names()
            self.known.read(<dict> x, self.engine.rounds + 1)
            if learning:
                self.known.admit()
                if self.known.count != self.engine.size:
                    self.engine.resize(self.known.count)
            self.known.row(row)
            return 0
        if type(x) is cnp.ndarray and cnp.PyArray_NDIM(<cnp.ndarray> x) == 1 \
                and cnp.PyArray_TYPE(<cnp.ndarray> x) == cnp.NPY_DOUBLE \
                and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray> x):
            row.values, row.indices = <const double*> cnp.PyArray_DATA(<cnp.ndarray> x), NULL
            row.count = cnp.PyArray_DIM(<cnp.ndarray> x, 0)
            return self.columns(row.count, row, learning)
        if type(x) is SparseRow:
            row.values = <const double*> cnp.PyArray_DATA(<cnp.ndarray> (<SparseRow> x).data)
            row.indices = <const int32_t*> cnp.PyArray_DATA(<cnp.ndarray> (<SparseRow> x).indices)
            row.count = cnp.PyArray_DIM(<cnp.ndarray> (<SparseRow> x).data, 0)
            return self.columns((<SparseRow> x).width, row, learning)
        from noregret.linear.inputs import as_example

        self.held = as_example(x)
        return self.take(self.held, row, learning)

    cdef int columns(self, Py_ssize_t count, Row* row, bint learning) except -1:
        """Check the width of a row of columns, which the first learned row fixes."""
        cdef Py_ssize_t k
        row.unseen, row.unseen_sum, row.unseen_norm2, row.spread = 0, 0, 0, 0
        if self.known.kind == BY_POSITION and count == self.known.count:
            return 0
        self.meet_columns(count, learning)
        if not learning:  # a prediction before any learning: every column is unseen
            for k in range(row.count):
                row.unseen_sum += row.values[k]
                row.unseen_norm2 += row.values[k] * row.values[k]
                if not fabs(row.values[k]) < MAX_VALUE:
                    self.refuse(BAD_VALUE, 0, row)
            row.unseen, row.count = count, 0
        return 0

    def meet_columns(self, Py_ssize_t count, bint learning) -> None:
        """Check the number of columns, or fix it."""
        if self.known.kind == BY_NAME:
            raise BadExample(
                f"this learner knows its features by name ({', '.join(self.known.names[:3])}, …)",
                "give a dict or a data frame, not an array",
            )
        if self.known.kind == BY_POSITION and count != self.known.count:
            raise BadExample(
                f"expected {self.known.count} columns, got {count}",
                round=self.engine.rounds + 1,
            )
        if learning and self.known.kind == UNKNOWN:
            if not 0 <= count <= MAX_COLUMNS:
                raise BadExample(f"there can be from 0 to {MAX_COLUMNS:,} columns: got {count}")
            self.settle_columns(count)

    cdef int settle_columns(self, Py_ssize_t count) except -1:
        """Fix the number of columns."""
        cdef bint inside = self.busy and self.owner == PyThread_get_thread_ident()
        if not inside:
            self.enter(True)
        try:
            self.engine.resize(count)
            self.known.kind, self.known.count = BY_POSITION, count
        finally:
            if not inside:
                self.leave()
        return 0

    def meet_names(self) -> None:
        """Raise BadExample for names if features have positions."""
        if self.known.kind == BY_POSITION:
            raise BadExample(
                f"this learner knows its features by position ({self.known.count} columns)", "give an array, not names"
            )

    cdef double outcome(self, object y) except? -1:
        if self.prepare is not None:
            y = self.prepare.outcome(y, self.engine.rounds + 1)
        if PyFloat_CheckExact(y):
            return PyFloat_AS_DOUBLE(y)
        try:
            if y is None or isinstance(y, (str, bytes, complex, np.complexfloating)):
                raise TypeError
            number = float(y)
        except (TypeError, ValueError, OverflowError):
            raise self.bad_outcome(reprlib.repr(y)) from None
        if isinstance(y, (bool, np.bool_)) and self.engine.loss.table.labels:
            self.labels |= SEEN_BOOL
        return number

    def outcomes(self, y) -> noregret.linear.inputs.Outcomes:
        """Return the outcomes of many rows, up to the first that is refused."""
        from noregret.linear.inputs import as_outcomes

        if self.prepare is not None:
            y = self.prepare.outcomes(y, self.engine.rounds + 1)
        return as_outcomes(y)

    def coded(self, given: noregret.linear.inputs.Outcomes, part: slice) -> Floats:
        """Return the outcomes of some rows as the engine takes them; call it under the lock."""
        return given.values[part]

    def bad_outcome(self, shown: str) -> BadExample:
        """Return the error of an invalid outcome."""
        return invalid_outcome(self, shown)

    cdef int settle(self, double* y) noexcept nogil:
        """Check an outcome; labels 0 and 1 become −1 and +1."""
        if not self.engine.loss.table.labels:
            return FINE if fabs(y[0]) < MAX_VALUE else BAD_OUTCOME
        if y[0] == 1:
            return FINE
        if y[0] == -1:
            if self.labels & SEEN_ZERO:
                return MIXED_LABELS
            self.labels |= SEEN_MINUS
            return FINE
        if y[0] == 0:
            if self.labels & SEEN_MINUS:
                return MIXED_LABELS
            self.labels |= SEEN_ZERO
            y[0] = -1
            return FINE
        return BAD_LABEL

    # One example.

    cdef double score(self, Row* row) noexcept nogil:
        """Return the score, or NaN if x is invalid."""
        cdef double score = self.engine.score(row)
        if not row.norm2 < MAX_VALUE * MAX_VALUE:
            return NAN
        if self.engine.mean_kept:
            score = self.engine.mean_score(row)
        return INFINITY if isnan(score) else score

    cdef Py_ssize_t width(self) noexcept nogil:
        """The number of scores per row."""
        return 1

    cdef int score_into(self, Row* row, double* out, Py_ssize_t count) noexcept nogil:
        """Fill in the first ``count`` scores of a row; return the status of a row without scores."""
        out[0] = self.score(row)
        return FINE if isfinite(out[0]) else BAD_VALUE if isnan(out[0]) else OVERFLOWED

    @property
    def outputs(self) -> int:
        """The number of scores per row: one per class where there are several."""
        return self.width()

    def decisions(self, rows: Iterable[Any]) -> Floats:
        """Return the scores of examples, one after the other."""
        return np.array([self.decide(x) for x in rows], dtype=np.float64)

    # One thread at a time: the GIL is released while a block is played, and Python code may run while
    # an example is read.

    cdef int wait(self, bint readers_too) except -1:
        """Wait until no other thread has the lock."""
        if self.owner != 0 and self.owner == PyThread_get_thread_ident():
            raise NoRegretError("a loss, or a value being read, must not use the learner that is using it")
        while self.owner != 0 or (readers_too and self.readers):
            if self.since != generation():
                raise NoRegretError(
                    "the process was forked in the middle of an update of this learner, by a thread that the copy does"
                    " not have", "use another, or fork when no thread learns",
                )
            sleep(POLL_SECONDS)
        return 0 if self.is_whole() else refuse_parts(self)

    cdef bint is_whole(self) noexcept:
        """Return whether the numbers of features and weights agree."""
        return self.built and self.known.count == self.engine.size and self.engine.size <= self.engine.capacity

    cdef int enter(self, bint readers_too) except -1:
        """Lock the learner for one call."""
        if not (self.claimed and not self.busy and self.owner == PyThread_get_thread_ident()):
            self.take_turn(readers_too)
        self.owner, self.busy = PyThread_get_thread_ident(), True
        return 0

    cdef int take_turn(self, bint readers_too) except -1:
        """Lock the learner, and hold off forks, until ``go_out``."""
        come_in()
        # Usually there is nothing to wait for, and entering a try statement takes time.
        if self.owner != 0 or (readers_too and self.readers) or not self.is_whole():
            try:
                self.wait(readers_too)
            except BaseException:
                go_out()
                raise
        self.since = generation()
        return 0

    cdef int read_along(self) except -1:
        """Register a reader that scores a block with the GIL released."""
        self.take_turn(False)
        self.readers += 1
        return 0

    cdef void read_on(self) noexcept:
        """Unregister a reader."""
        self.readers -= 1
        go_out()

    cdef void leave(self) noexcept:
        """Release the lock."""
        self.busy = False
        if not self.claimed:
            self.owner = 0
            go_out()

    cpdef int hold(self) except -1:
        """Lock the learner for several calls."""
        self.take_turn(True)
        self.owner, self.claimed = PyThread_get_thread_ident(), True
        return 0

    cpdef void let_go(self) noexcept:
        """Release the lock; only by the thread that holds it."""
        if self.claimed and not self.busy and self.owner == PyThread_get_thread_ident():
            self.forget_unplayed()
            self.owner, self.claimed = 0, False
            go_out()

    cdef int forget_unplayed(self) except -1:
        """Forget what outcomes brought of rows that were not played."""
        return 0

    cdef int play(self, object x, object y, double* prediction) except -1:
        cdef Py_ssize_t count
        cdef int kind, labels, status
        cdef bint played = False
        cdef double given, target
        cdef Row row
        self.enter(True)
        count, kind, labels = self.known.count, self.known.kind, self.labels
        try:
            given = target = self.outcome(y)
            status = self.settle(&target)
            if status == FINE:
                self.take(x, &row, True)
                if prediction != NULL and self.engine.mean_kept:
                    prediction[0] = self.score(&row)
                status = self.play_recorded(&row, target, given)
                if prediction != NULL and not self.engine.mean_kept:
                    prediction[0] = self.engine.last_score
            if status != FINE:
                self.refuse(status, given, &row)
            played = True
            if self.due:
                self.hand_over()
        finally:  # an except clause would take time in every round
            try:
                if not played:
                    self.labels = labels
                    self.drop(count, kind)
            finally:
                self.leave()
        return 0

    cdef int play_recorded(self, Row* row, double y, double given) noexcept nogil:
        """Play a row, and record it with the original outcome if there is a recorder."""
        cdef int status
        if self.recorder is not None and not self.recorder.reserve(row):
            return NO_MEMORY
        if self.late:
            status = self.engine.play_late(row, self.served, self.note, self.note_size, y)
        else:
            status = self.engine.play(row, y)
        if status == FINE and self.recorder is not None and self.recorder.write(row, given):
            self.due = True
        return status

    def learn_late(self, x, y, double served, bytes note = b"") -> None:
        """Learn from an example that was predicted before others were learned.

        Engines that ``steps_late`` use the score that it was given, those that ``weighs_late`` its note.
        """
        cdef const double* numbers = <const double*> PyBytes_AS_STRING(note)
        cdef Py_ssize_t size = len(note) // sizeof(double)
        engine = self.engine
        if not isfinite(served) or not (engine.weighs_late or isinstance(engine, Additive) and engine.steps_late):
            raise ValueError("this learner has no step for an outcome that comes late")
        if len(note) % sizeof(double) or not self.engine.is_note(numbers, size):
            raise ValueError("this is not the note of a prediction of this learner")
        self.hold()
        try:
            self.late, self.served, self.note, self.note_size = True, served, numbers, size
            self.play(x, y, NULL)
        finally:
            self.late, self.note = False, NULL
            self.let_go()

    cdef int hand_over(self) except -1:
        """Flush the recorder's page."""
        self.due = False
        self.recorder.hand_over()
        return 0

    def record(self, Recorder recorder: Recorder | None) -> None:
        """Set the recorder of the following rounds, or None."""
        self.wait(True)
        if recorder is not None and self.recorder is not None:
            raise NoRegretError("this learner is in the middle of another game")
        if recorder is not None and recorder.engine is not self.engine:
            raise ValueError("this recorder is for another learner")
        self.recorder, self.due = recorder, False

    def undo(self, Py_ssize_t count, int kind) -> None:
        """Remove the features of a refused example."""
        if not 0 <= count <= self.engine.size or kind not in (UNKNOWN, BY_POSITION, BY_NAME) or (kind == UNKNOWN and count):
            raise ValueError(f"there is no way back to {count} features")
        self.enter(True)
        try:
            self.drop(count, kind)
        finally:
            self.leave()

    cdef int drop(self, Py_ssize_t count, int kind) except -1:
        """Restore the number and kind of features."""
        self.known.forget(count, kind)
        if self.engine.size != count:
            self.engine.resize(count)
        return 0

    cpdef double decide(self, object x) except? -1:
        """Return the score of one example."""
        return self.decided(x, NULL)

    def decide_noting(self, x) -> tuple[Any, bytes]:
        """Return the score of one example, and the note of it for ``learn_late``."""
        note = bytes(self.engine.note_size() * sizeof(double))
        return self.decided(x, <double*> PyBytes_AS_STRING(note)), note

    cdef double decided(self, object x, double* note) except? -1:
        cdef Row row
        cdef double score
        self.enter(False)
        try:
            self.take(x, &row, False)
            score = self.score(&row) if note == NULL else self.engine.score_noting(&row, note)
            if not isfinite(score):
                self.refuse(BAD_VALUE if isnan(score) else OVERFLOWED, 0, &row)
        finally:
            self.leave()
        return score

    cdef object answer(self, double score):
        """Convert a score to the user's kind of outcome: a number, or a label like those seen."""
        if not self.engine.loss.table.labels:
            return score
        if self.prepare is not None and self.prepare.labels is not None:
            return self.prepare.labels[score > 0]
        if self.labels & SEEN_BOOL:
            return score > 0
        return 1 if score > 0 else self.negative_label

    def answers(self, scores: Floats) -> NDArray[Any]:
        """Convert scores to the user's kind of outcomes: numbers, or labels like those seen."""
        if not self.engine.loss.table.labels:
            return scores
        if self.prepare is not None and self.prepare.labels is not None:
            return np.array(self.prepare.labels)[(scores > 0).astype(np.intp)]
        if self.labels & SEEN_BOOL:
            return scores > 0
        return np.where(scores > 0, 1, self.negative_label)

    @property
    def negative_label(self) -> int:
        """The negative label in the data: −1 or 0."""
        return 0 if self.labels & SEEN_ZERO else -1

    @property
    def predicts_booleans(self) -> bool:
        """True if labels are False and True."""
        return bool(self.labels & SEEN_BOOL)

    def note_booleans(self) -> None:
        """Record that labels are False and True."""
        if self.engine.loss.table.labels:
            self.labels |= SEEN_BOOL

    @property
    def feature_kind(self) -> int:
        """The kind of features: by position, by name, or not known yet."""
        return self.known.kind

    cdef int refuse(self, int status, double given, const Row* row) except -1:
        """Raise the error of a status, with the round and the feature."""
        return refuse_row(self, status, given, row)

    # The state.

    def get_state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any], list[str]]:
        """Return the state: (arrays, numbers, names)."""
        self.enter(False)
        try:
            arrays, numbers = self.engine.get_state()
            numbers["labels"], numbers["kind"] = self.labels, self.known.kind
            return arrays, numbers, list(self.known.names)
        finally:
            self.leave()

    def current_weights(self) -> Floats:
        """Return the weights that predict: the latest, or their mean."""
        self.enter(False)
        try:
            return self.engine.mean_weights() if self.engine.mean_kept else self.engine.weights()
        finally:
            self.leave()

    def undisturbed(self, ask: Callable[[], T]) -> T:
        """Return the result of ``ask()``, called under the lock."""
        self.enter(False)
        try:
            return ask()
        finally:
            self.leave()

    def set_state(self, arrays: dict[str, NDArray[Any]], numbers: dict[str, Any], names: list[str]) -> None:
        """Restore a state, or raise ValueError if it does not fit."""
        state_numbers(numbers, self.get_state()[1], self.engine.SIGNED)
        check_state(numbers, names)
        self.enter(True)
        try:
            self.engine.set_state(arrays, numbers)
            self.labels = numbers["labels"]
            self.known = Features()
            self.known.kind, self.known.count = numbers["kind"], numbers["size"]
            self.known.names = list(names)
            self.known.index = {name: i for i, name in enumerate(names)}
        finally:
            self.leave()


include "entry_errors.pxi"
include "example_calls.pxi"
