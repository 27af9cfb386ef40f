"""The round that every engine plays, and the engine whose weights are given."""

from libc.math cimport INFINITY, fabs, isfinite, sqrt

import numpy as np

cimport cython
cimport numpy as cnp
from cpython.object cimport PyObject

from noregret.base.compiled.losses cimport as_loss
from noregret.base.compiled.state_parts cimport StateParts, add_part

from noregret.base.compiled.machine import copied, zeros
from noregret.checks import one_of, positive, state_arrays, whole

cnp.import_array()


# The round, and the numbers that every engine keeps.

MEASURE_NAMES = ("norm", "peak", "spread", "outcome", "gradient", "gradient_peak")
SCHEDULES: tuple[str, ...] = ("constant", "sqrt", "horizon")

cdef double CLOCK_RANGE = 1e4
# Limits of squared norms, whose roots are below 1e150 like single values, and of losses to add up.
cdef double LARGEST_NORM2 = 1e300
cdef double LARGEST_LOSS = 1e290

cdef extern from *:
    """
    typedef struct {PyObject_HEAD void *table;} noregret_object_head;
    """
    ctypedef struct noregret_object_head:
        pass

cdef enum:  # Schedule
    CONSTANT
    SQRT
    HORIZON


cdef double rate_at(const Rate* rate, long long t) noexcept nogil:
    return rate.value / sqrt(<double> t) if rate.schedule == SQRT else rate.value


cdef Rate as_rate(object rate, object schedule, object horizon):
    cdef Rate made
    one_of("schedule", schedule, SCHEDULES)
    if rate != INFINITY:
        rate = positive("rate", rate)
    if (schedule == "horizon") != (horizon is not None):
        raise ValueError("schedule='horizon' and horizon=T, the number of rounds to come, go together")
    made.schedule = SCHEDULES.index(schedule)
    made.horizon = 0 if horizon is None else whole("horizon", horizon)
    made.value = rate / made.horizon ** 0.5 if horizon is not None else rate
    return made


cdef class Engine:
    """One point of the table loss × distance × domain × rate, with its weights."""

    ADVICE = "use a smaller rate"  # against weights that diverge
    # Attributes of the state besides those of every engine.
    NUMBERS = ()
    # Numbers of the state that may be negative.
    SIGNED = ("offset", "clock", "offset_sum", "loss_sum", "loss_rest")
    # Whether rounds with the features at hand change nothing but what ``list_state`` adds.
    FLAT = False

    def __cinit__(self, *args, **options):
        cdef int k
        self.arrays = {"stored": np.zeros(0)}
        self.factor = self.importance = 1.0
        for k in range(MEASURES):
            self.limit[k] = INFINITY
        self.relocate()

    # The update of an engine.

    cdef double score(self, Row* row) noexcept nogil:
        """Return w·x for the current weights, and fill in the row's measurements."""
        cdef noregret_scan scan
        if row.indices == NULL:
            scan = noregret_scan_dense(self.stored, row.values, row.count)
        else:
            scan = noregret_scan_sparse(self.stored, row.values, row.indices, row.count)
        if row.count < max(self.size, self.dimension) or row.count == 0:
            scan.low, scan.high = min(scan.low, 0.0), max(scan.high, 0.0)
        row.dot, row.norm2 = scan.dot, scan.norm2
        row.peak, row.spread = max(-scan.low, scan.high), scan.high - scan.low
        return self.factor * (row.dot + self.initial * row.unseen_sum) + self.offset

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        """Learn from the outcome, or return the reason not to and change nothing."""
        return FINE

    cdef void begin(self, Py_ssize_t start) noexcept nogil:
        """Set the initial weights of the features from start on."""
        cdef Py_ssize_t i
        for i in range(start, self.size):
            if self.stored[i] != self.initial:  # untouched pages take no memory
                self.stored[i] = self.initial

    # The weights and their mean.

    cdef void relocate(self):
        """Update the pointers after the arrays moved."""
        self.stored = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["stored"])
        self.capacity = cnp.PyArray_DIM(<cnp.ndarray> self.arrays["stored"], 0)
        if self.mean_kept:
            self.mean_sum = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["mean_sum"])
            self.mean_clock = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["mean_clock"])

    def length(self, name, size):
        """Return the length of an array for a number of features."""
        return size

    def room_for(self, size):
        """Return the number of features to allocate room for."""
        return max(size, 2 * self.capacity, 16)

    cdef int resize(self, Py_ssize_t size) except -1:
        """Allocate room for more features, or remove the latest."""
        cdef Py_ssize_t before = self.size, i
        if size > self.capacity:
            room = self.room_for(size)
            self.arrays = {name: copied(array, self.length(name, room)) for name, array in self.arrays.items()}
            self.relocate()
        cdef double credit = self.outside_mean() if self.mean_kept else 0.0
        self.size = size
        if size > before:
            self.begin(before)
            if self.mean_kept:
                for i in range(before, size):
                    if self.mean_sum[i] != credit or self.mean_clock[i] != self.clock:
                        self.mean_sum[i], self.mean_clock[i] = credit, self.clock
        return 0

    def keep_mean(self) -> None:
        """Keep the mean of the weights of every round from now on; only before the first."""
        if not self.linear:
            raise ValueError("this learner's predictions are not w·x alone, so that the mean of its weights says nothing")
        if self.rounds:
            raise ValueError(
                f"the mean runs over all rounds, and {self.rounds} were already played without it:"
                " ask for it before learning"
            )
        self.mean_kept = True
        self.arrays = self.arrays | {name: zeros(self.capacity) for name in ("mean_sum", "mean_clock")}
        self.relocate()

    cdef void flush(self) noexcept nogil:
        """Update the mean of every feature and restart the clock, before the scale changes."""
        cdef Py_ssize_t i
        if self.mean_kept:
            for i in range(self.size):
                self.touch(i)
                self.mean_clock[i] = 0
            self.clock = self.clock_rounds = 0

    cdef void touch_row(self, const Row* row) noexcept nogil:
        cdef Py_ssize_t k
        if self.mean_kept:
            for k in range(row.count):
                if row.values[k] != 0:  # zeros written out count as absent, here too
                    self.touch(position(row, k))

    cdef double outside_mean(self) noexcept nogil:
        """The sum of weights, over the rounds so far, of a feature that was never present."""
        return 0.0

    cdef double mean_score(self, Row* row) noexcept nogil:
        """Return v·x for the mean v of the weights of all rounds so far."""
        cdef double total = 0
        cdef Py_ssize_t i, k
        if self.rounds == 0:
            return self.score(row)
        for k in range(row.count):
            i = position(row, k)
            total += row.values[k] * (self.mean_sum[i] + (self.clock - self.mean_clock[i]) * self.stored[i])
        total += self.outside_mean() * row.unseen_sum
        return (total + self.offset_sum) / self.rounds

    cdef int list_state(self, StateParts* parts) except -1:
        """Add the places of all numbers that rounds change, while the features are the same."""
        cdef Py_ssize_t head = sizeof(noregret_object_head)
        add_part(parts, <char*> <PyObject*> self + head, type(self).__basicsize__ - head)
        for name, array in self.arrays.items():
            add_part(parts, cnp.PyArray_DATA(<cnp.ndarray> array), array[:self.length(name, self.size)].nbytes)
        return 0

    cdef void restored(self) noexcept nogil:
        """Update what follows from the state, after that was replaced."""

    def weights(self) -> Floats:
        """Return the weights that the next prediction uses."""
        return self.factor * self.arrays["stored"][:self.size]

    def mean_weights(self):
        """Return the mean of the weights used in all rounds so far."""
        if self.rounds == 0:
            return self.weights()
        cut = {name: array[:self.size] for name, array in self.arrays.items()}
        return (cut["mean_sum"] + (self.clock - cut["mean_clock"]) * cut["stored"]) / self.rounds

    # The round.

    cdef int play(self, Row* row, double y) noexcept nogil:
        """Predict, pay, learn, measure. On anything but FINE nothing has changed."""
        cdef double score = self.score(row), value, slope
        cdef double clock = self.clock, offset = self.offset
        cdef int status
        if not row.norm2 < LARGEST_NORM2:
            return BAD_VALUE
        value = self.importance * self.loss.table.value(&self.loss.table, score, y)
        slope = self.loss.table.slope(&self.loss.table, score, y)
        if not fabs(value) < LARGEST_LOSS or not isfinite(slope * row.norm2):
            return LOSS_FAILED if self.loss.table.python != NULL else DIVERGED
        if self.mean_kept:
            self.clock += self.factor
        status = self.update(row, score, slope, y)
        if status != FINE:
            self.clock = clock
            return status
        if self.mean_kept:
            self.clock_rounds += 1
            # A factor far below those before it would be lost in the clock's rounding.
            if self.clock > CLOCK_RANGE * self.clock_rounds * self.factor:
                self.flush()
        self.offset_sum += offset
        self.book(row, score, value, fabs(slope), fabs(slope), fabs(y), self.loss.table.labels and y * score <= 0)
        return FINE

    # Late outcomes: a note of each prediction has what learning needs of the state that predicted.

    cdef Py_ssize_t note_size(self) noexcept nogil:
        """Return how many numbers the note of a prediction has now."""
        return 0

    cdef bint is_note(self, const double* note, Py_ssize_t size) noexcept nogil:
        """Return whether numbers can be the note of a prediction."""
        return size == 0

    cdef double score_noting(self, Row* row, double* note) noexcept nogil:
        """Return the score, and fill in the note."""
        return self.score(row)

    cdef int play_late(self, Row* row, double served, const double* note, Py_ssize_t size, double y) noexcept nogil:
        """Play a row that was predicted before others were learned, by its score of then and its note."""
        return self.play(row, y)

    @cython.final
    cdef void book(
        self, const Row* row, double score, double value, double slope, double steepest, double outcome, bint mistaken
    ) noexcept nogil:
        """Count a round: its loss, its mistake and its measurements.

        ``slope`` is the norm of the gradient by the scores, ``steepest`` its largest entry.
        """
        cdef double total = self.loss_sum + value, reading
        cdef int k
        cdef double[6] readings
        self.rounds += 1
        self.loss_rest += (self.loss_sum - total) + value if fabs(self.loss_sum) >= fabs(value) else (value - total) + self.loss_sum
        self.loss_sum = total
        self.mistakes += mistaken
        readings[NORM] = sqrt(row.norm2)
        readings[PEAK] = row.peak
        readings[SPREAD] = row.spread
        readings[OUTCOME] = outcome
        readings[GRADIENT] = self.importance * slope * readings[NORM]
        readings[GRADIENT_PEAK] = self.importance * steepest * row.peak
        self.last_score, self.last_loss, self.last_gradient = score, value, readings[GRADIENT]
        for k in range(MEASURES):
            reading = readings[k]
            if reading > self.most[k]:
                self.most[k] = reading
                if reading > self.limit[k] and self.first_over[k] == 0:
                    self.first_over[k] = self.rounds

    @property
    def takes_importance(self) -> bool:
        """True if rounds may have importances; needs an implicit step, which never overshoots."""
        return False

    @property
    def linear(self) -> bool:
        """True if predictions are w·x, with weights that do not depend on x."""
        return True

    # What was measured, and the whole state as named arrays and numbers.

    @property
    def total_loss(self) -> float:
        """The cumulative loss of the rounds so far."""
        return self.loss_sum + self.loss_rest

    @property
    def played(self) -> int:
        """The number of rounds so far."""
        return self.rounds

    @property
    def mistake_count(self) -> int:
        """The number of rounds with the wrong sign; a zero score is wrong."""
        return self.mistakes

    def watch(self, str measure, double limit) -> None:
        """Record the first round from now on in which a measurement exceeds the limit."""
        cdef int k = MEASURE_NAMES.index(measure)
        if not limit >= 0:
            raise ValueError(f"a limit is a number of at least 0: got {limit!r}")
        if self.most[k] > limit:
            raise ValueError(f"{measure} already exceeded {limit:g} in an earlier round; watch it from the start")
        self.limit[k], self.first_over[k] = limit, 0

    def measured(self) -> dict[str, tuple[float, float, int | None]]:
        """Return {measure: (largest so far, limit, first round above the limit or None)}."""
        return {
            name: (self.most[k], self.limit[k], self.first_over[k] or None)
            for k, name in enumerate(MEASURE_NAMES)
        }

    def scalars(self) -> dict[str, Any]:
        """Return the numbers of the state."""
        state = {
            "size": self.size, "factor": self.factor, "offset": self.offset, "clock": self.clock,
            "clock_rounds": self.clock_rounds,
            "offset_sum": self.offset_sum, "rounds": self.rounds, "loss_sum": self.loss_sum,
            "loss_rest": self.loss_rest, "mistakes": self.mistakes, "mean_kept": bool(self.mean_kept),
        }
        for k, name in enumerate(MEASURE_NAMES):
            state[f"most_{name}"] = self.most[k]
            state[f"limit_{name}"] = self.limit[k]
            state[f"first_over_{name}"] = self.first_over[k]
        return state | {name: getattr(self, name) for name in self.NUMBERS}

    def get_state(self) -> tuple[dict[str, Floats], dict[str, Any]]:
        """Return the state: (arrays, numbers)."""
        cut = {name: copied(array[:self.length(name, self.size)]) for name, array in self.arrays.items()}
        return cut, self.scalars()

    def set_state(self, arrays, numbers):
        """Restore a state, or raise ValueError if it does not fit."""
        size = numbers["size"]
        mean = {"mean_sum", "mean_clock"}
        expected = self.arrays.keys() | mean if numbers["mean_kept"] else self.arrays.keys() - mean
        state_arrays(arrays, {name: self.length(name, size) for name in expected})
        self.check_state(arrays, numbers)
        self.mean_kept = numbers["mean_kept"]
        self.arrays = {name: copied(array) for name, array in arrays.items()}
        self.size = size
        self.relocate()
        self.restore(numbers)

    def check_state(self, arrays, numbers):
        """Raise ValueError if arrays of the right size have invalid contents."""

    def restore(self, numbers):
        """Restore the numbers of a state."""
        cdef int k
        if numbers["rounds"] < 0 or not np.isfinite(numbers["factor"]):
            raise ValueError("the state's numbers make no sense")
        self.factor, self.offset, self.clock = numbers["factor"], numbers["offset"], numbers["clock"]
        self.offset_sum, self.rounds = numbers["offset_sum"], numbers["rounds"]
        self.loss_sum, self.loss_rest = numbers["loss_sum"], numbers["loss_rest"]
        self.mistakes, self.clock_rounds = numbers["mistakes"], numbers["clock_rounds"]
        for k, name in enumerate(MEASURE_NAMES):
            self.most[k] = numbers[f"most_{name}"]
            self.limit[k] = numbers[f"limit_{name}"]
            self.first_over[k] = numbers[f"first_over_{name}"]
        for name in self.NUMBERS:
            setattr(self, name, numbers[name])

    def advice(self, norm):
        """Return advice for weights that diverge."""
        return self.ADVICE


# An engine that does not learn: it checks, measures and records rows. Batch methods set its weights.

cdef class FixedWeights(Engine):
    """An engine with given weights."""

    ADVICE = "scale the outcomes down"

    def __init__(self, loss: str | Loss = "square", loss_parameter: float | None = None):
        self.loss = as_loss(loss, loss_parameter)

    def give(self, weights: Floats, double offset=0.0) -> None:
        """Predict with these weights from now on, plus the offset."""
        if len(weights) != self.size:
            raise ValueError(f"{len(weights)} weights for {self.size} features")
        self.arrays["stored"][:self.size] = weights
        self.offset = offset
