"""Four recursive least-squares filters on the same inputs.

The first input is the constant 1. The others may be in any unit: the initial variance of a weight is
inverse to the measured spread of its input, and is raised if that turns out smaller than at first.
"""

from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

cimport cython

import numpy as np

cimport numpy as cnp

from noregret.base.compiled.state_parts cimport StateParts, add_part, add_range

from noregret.checks import state_arrays, state_numbers

cnp.import_array()

cdef extern from "memory_filters_loops.h" nogil:
    void noregret_filters_score(const double* w, const double* x, Py_ssize_t n, int sets, double* out) noexcept
    void noregret_filters_project(const double* U, const double* D, const double* x, Py_ssize_t n, double* f, double* v, double* z) noexcept
    bint noregret_filters_learn(double* U, double* D, const double* x, Py_ssize_t stride, int rows, const double* prior, const double* most, const double* forget, const double* r, double* k, Py_ssize_t n) noexcept
    void noregret_filters_step(double* w, const double* k, const double* e, Py_ssize_t n, int sets) noexcept
    void noregret_filters_raise(double* U, double* D, Py_ssize_t j, const double* more, double mean, double* scratch) noexcept

cdef extern from "first_order.h" nogil:
    double noregret_spread(double count, double sum, double sum2, double rounds) noexcept

# Smaller spreads, relative to the square of a value, are ignored.
cdef double MIN_SPREAD_SHARE = 1e-12
# Values with a square up to this count as zero: their variance would overflow.
cdef double MIN_SQUARE = 1e-150
# Variances are raised when they should be at least this many times as large.
cdef double RAISE_FACTOR = 2.0
# Spreads are checked for the first LOOK_PERIOD values of an input and then once per LOOK_PERIOD; after
# SURE_ROUNDS they are also updated only once per LOOK_PERIOD rounds.
cdef enum:
    LOOK_PERIOD = 16
    SURE_ROUNDS = 256
cdef enum:
    EARLY_ROUNDS = 16           # rounds per input before which every row is learned at once
# All arrays, in the order in which they lie in one block of memory: k is scratch, and the next four are the queue.
ORDER = ("U", "D", "w", "k", "rows", "told", "unsure", "worth", "prior", "count", "total", "squares")
cdef enum:
    MATRIX, DIAGONAL, WEIGHTS, GAINS, ROWS, TOLD, UNSURE, WORTH, PRIOR, COUNT, TOTAL, SQUARES
    ARRAYS = 12
    LINE_NUMBERS = 8            # per cache line
# The queued rows.
QUEUE = {name: numbers * MAX_QUEUED_ROWS
         for name, numbers in {"rows": MAX_INPUTS, "told": 2, "unsure": FOUR, "worth": FOUR}.items()}


def column_places(n):
    """Return where the numbers of U are in memory, where columns are filled up to an even number of inputs."""
    columns = np.repeat(np.arange(n), np.arange(n))
    inputs = np.arange(len(columns)) - columns * (columns - 1) // 2
    half = columns // 2
    return (FOUR * (2 * half * (half + columns % 2) + inputs)[:, None] + np.arange(FOUR)).ravel()


cdef Shape shape_of(Py_ssize_t n, int variants, int rows) noexcept nogil:
    """Return where the arrays of filters are, with room for some queued rows."""
    cdef Py_ssize_t even = n + n % 2, half = n // 2
    cdef Shape made
    cdef int k
    made.sizes = [
        2 * FOUR * half * (half + n % 2), FOUR * n, FOUR * n * variants, FOUR * even * rows,
        MAX_INPUTS * rows if rows > 1 else even * rows, 2 * rows, FOUR * rows, FOUR * rows, n, n, n, n,
    ]
    made.total = 0
    for k in range(ARRAYS):
        made.starts[k] = made.total
        made.total += made.sizes[k]
        if k < ROWS:
            made.total = (made.total + LINE_NUMBERS - 1) // LINE_NUMBERS * LINE_NUMBERS
    return made


@cython.final
cdef class Filters:
    """Four filters, with one or more sets of weights each."""

    def __cinit__(self, forget: Sequence[float], most: Sequence[float], constant: float, variants=1, n=1, direct=True):
        cdef int i
        for i in range(FOUR):
            self.forget[i], self.most[i] = forget[i], most[i]
        self.constant, self.variants, self.direct = constant, variants, direct
        self.grow(n)

    def __dealloc__(self):
        free(self.block)

    # Growing.

    cdef Shape shape(self) noexcept nogil:
        """Return where the arrays are."""
        return shape_of(self.n, self.variants, self.queue_rows)

    cdef int allocate(self, Py_ssize_t n, int variants) except -1:
        """Allocate zeros for n inputs and for sets of weights, from a cache line on; without changes if memory is short."""
        # Rows of filters with few inputs are learned at once.
        cdef int rows = MAX_QUEUED_ROWS if n > MAX_UNQUEUED_INPUTS or self.waiting > 0 else 0 if self.direct else 1
        cdef Shape made = shape_of(n, variants, rows)
        cdef Py_ssize_t* starts = made.starts
        cdef double* block = <double*> calloc(made.total + LINE_NUMBERS, sizeof(double))
        if block == NULL:
            raise MemoryError
        self.block = block
        block += (LINE_NUMBERS - (<size_t> block) // sizeof(double) % LINE_NUMBERS) % LINE_NUMBERS
        self.U, self.D, self.w = block, block + starts[DIAGONAL], block + starts[WEIGHTS]
        self.k = block + starts[GAINS] if rows else NULL
        self.rows, self.told = block + starts[ROWS], block + starts[TOLD]
        self.unsure, self.worth = block + starts[UNSURE], block + starts[WORTH]
        self.prior, self.count = block + starts[PRIOR], block + starts[COUNT]
        self.total, self.squares = block + starts[TOTAL], block + starts[SQUARES]
        self.n, self.used, self.variants, self.queue_rows = n, n, variants, rows
        return 0

    cdef int grow(self, Py_ssize_t n) except -1:
        """Change the number of inputs to n; new ones start at zero, those beyond n are dropped."""
        cdef Py_ssize_t old = self.n, variant
        cdef Shape before = self.shape(), now
        cdef double* block = self.block
        cdef double* was = self.U
        cdef int k
        if n == old:
            return 0
        self.allocate(n, self.variants)
        now = self.shape()
        for k in range(ARRAYS):
            if k != GAINS and k != WEIGHTS and old:
                memcpy(self.U + now.starts[k], was + before.starts[k], min(now.sizes[k], before.sizes[k]) * sizeof(double))
        for variant in range(self.variants if old else 0):
            memcpy(self.w + variant * n * FOUR, was + before.starts[WEIGHTS] + variant * old * FOUR, min(old, n) * FOUR * sizeof(double))
        free(block)
        self.count_granted()
        if old == 0:
            self.restart()
        return 0

    cdef int widen(self, int variants) except -1:
        """Change the number of sets of weights; new ones start at zero."""
        cdef Shape before = self.shape(), now
        cdef double* block = self.block
        cdef double* was = self.U
        cdef int k
        self.allocate(self.n, variants)
        now = self.shape()
        for k in range(ARRAYS):
            memcpy(self.U + now.starts[k], was + before.starts[k], min(now.sizes[k], before.sizes[k]) * sizeof(double))
        free(block)
        return 0

    cdef void count_granted(self) noexcept nogil:
        """Count the inputs with nonzero variance."""
        cdef Py_ssize_t i
        self.granted = 0
        for i in range(1, self.n):
            self.granted += self.prior[i] != 0

    cdef void restart(self) noexcept nogil:
        """Reset the weights and covariances, but not the spreads of the inputs."""
        cdef Py_ssize_t i, lane
        self.prior[0] = self.constant / self.most[0]
        for i in range(2 * FOUR * (self.n // 2) * (self.n // 2 + self.n % 2)):
            self.U[i] = 0
        for i in range(FOUR * self.n * self.variants):
            self.w[i] = 0
        for i in range(self.n):
            for lane in range(FOUR):
                self.D[FOUR * i + lane] = self.most[lane] * self.prior[i]

    # Scores.

    cdef void scores(self, const double* x, double* out) noexcept nogil:
        """Fill in w·x: four numbers per set of weights."""
        noregret_filters_score(self.w, x, self.used, self.variants, out)

    cdef void scores_of(self, const double* x, double* out, Py_ssize_t sets) noexcept nogil:
        """Fill in w·x of the first sets of weights."""
        cdef Py_ssize_t each
        for each in range(sets):
            noregret_filters_score(self.w + each * FOUR * self.n, x, self.n, 1, out + each * FOUR)

    cdef void spread(self, const double* x, double* z) noexcept nogil:
        """Fill in the variance of each filter's score; thread-safe."""
        cdef double[4 * MAX_INPUTS] f
        cdef double[4 * MAX_INPUTS] v
        noregret_filters_project(self.U, self.D, x, self.used, f, v, z)

    # Learning.

    cdef void observe(self, const double* x) noexcept nogil:
        """Update the spreads of the inputs before a round is learned."""
        cdef Py_ssize_t i, count
        cdef double spread
        self.rounds += 1
        if self.rounds > SURE_ROUNDS and <long long> self.rounds % LOOK_PERIOD != 0 and self.granted == self.used - 1:
            return
        self.looked += 1
        for i in range(1, self.used):
            if not x[i] * x[i] > MIN_SQUARE:
                continue
            self.count[i] += 1
            self.total[i] += x[i]
            self.squares[i] += x[i] * x[i]
            count = <Py_ssize_t> self.count[i]
            if count <= LOOK_PERIOD or count % LOOK_PERIOD == 0 or self.rounds > SURE_ROUNDS:
                spread = x[i] * x[i] if count == 1 else noregret_spread(self.count[i], self.total[i], self.squares[i], self.looked)
                if spread > max(MIN_SQUARE, MIN_SPREAD_SHARE * x[i] * x[i]) and 1 > RAISE_FACTOR * self.prior[i] * spread:
                    self.grant(i, 1 / spread)

    cdef void grant(self, Py_ssize_t i, double prior) noexcept nogil:
        """Raise the variance of an input's weight."""
        cdef double[4] more
        cdef int lane
        for lane in range(FOUR):
            more[lane] = self.most[lane] * (prior - self.prior[i])
        self.granted += self.prior[i] == 0
        self.prior[i] = prior
        noregret_filters_raise(self.U, self.D, i, more, self.total[i] / self.looked, self.k)

    cdef bint queue(self, const double* x, double y, double importance, const double* z, const double* r) noexcept nogil:
        """Queue a row; return whether the queue is full."""
        cdef int lane, row = self.waiting
        memcpy(self.rows + row * MAX_INPUTS, x, self.n * sizeof(double))
        self.told[2 * row], self.told[2 * row + 1] = y, importance
        for lane in range(FOUR):
            self.unsure[FOUR * row + lane], self.worth[FOUR * row + lane] = z[lane], r[lane]
        self.waiting += 1
        return self.waiting >= self.queue_length()

    cdef int queue_length(self) noexcept nogil:
        """Return the number of rows to learn at a time."""
        return MAX_QUEUED_ROWS if self.n > MAX_UNQUEUED_INPUTS and self.rounds > EARLY_ROUNDS * self.n else 1

    cdef bint learn(self, const double* rows, const double* worth, int count) noexcept nogil:
        """Update the covariances by rows, MAX_INPUTS apart; return whether the gains are finite."""
        cdef bint sane = noregret_filters_learn(
            self.U, self.D, rows, MAX_INPUTS, count, self.prior, self.most, self.forget, worth, self.k, self.used)
        if not sane:
            self.restart()
        return sane

    cdef double* gains(self, int row) noexcept nogil:
        return self.k + row * FOUR * (self.used + self.used % 2)

    cdef void step(self, int row, const double* errors) noexcept nogil:
        """Move the weights by the gain of a row times the errors, four per set."""
        noregret_filters_step(self.w, self.gains(row), errors, self.used, self.variants)

    cdef void step_of(self, int row, const double* errors, Py_ssize_t sets) noexcept nogil:
        """Move the first sets of weights."""
        cdef Py_ssize_t each
        for each in range(sets):
            noregret_filters_step(self.w + each * FOUR * self.n, self.gains(row), errors + each * FOUR, self.n, 1)

    def weights(self, variant: int, lane: int) -> Floats:
        """Return the weights of one filter, the constant's first."""
        at = variant * FOUR * self.n
        return self.copy_of(WEIGHTS)[at + lane:at + FOUR * self.n:FOUR].copy()

    # The state.

    cdef void list_state(self, StateParts* parts):
        """Add the places of all numbers that rounds change."""
        add_range(parts, &self.rounds, &self.waiting + 1)
        add_part(parts, self.U, self.shape().total * sizeof(double))

    cdef object copy_of(self, int array):
        """Return a copy of one of the arrays."""
        cdef Shape at = self.shape()
        made = np.empty(at.sizes[array])
        memcpy(cnp.PyArray_DATA(<cnp.ndarray> made), self.U + at.starts[array], at.sizes[array] * sizeof(double))
        return made

    def get_state(self) -> tuple[dict[str, Floats], dict[str, Any]]:
        """Return the state: (arrays, numbers)."""
        kept = {name: self.copy_of(k) for k, name in enumerate(ORDER) if k != GAINS}
        kept["U"] = kept["U"][column_places(self.n)]
        for name, size in QUEUE.items():
            kept[name] = np.append(kept[name], np.zeros(size - len(kept[name])))
        return kept, {"n": self.n, "rounds": self.rounds, "looked": self.looked, "waiting": self.waiting}

    def set_state(self, arrays: dict[str, Floats], numbers: dict[str, Any]) -> None:
        """Restore a state, or raise ValueError if invalid."""
        state_numbers(numbers, {"n": 1, "rounds": 0.0, "looked": 0.0, "waiting": 0})
        n = numbers["n"]
        if not 1 <= n <= MAX_INPUTS or numbers["waiting"] >= MAX_QUEUED_ROWS:
            raise ValueError("the state's numbers make no sense")
        sizes = dict.fromkeys(("prior", "count", "total", "squares"), n) | {"D": FOUR * n, "w": FOUR * n * self.variants}
        state_arrays(arrays, sizes | QUEUE | {"U": FOUR * (n * (n - 1) // 2)})
        for name in ("prior", "count", "squares", "D"):
            if (arrays[name] < 0).any():
                raise ValueError(f"array {name} holds a negative number")
        cdef double* before = self.block
        cdef Shape now
        self.waiting = numbers["waiting"]
        self.allocate(n, self.variants)
        free(before)
        now = self.shape()
        self.rounds, self.looked = numbers["rounds"], numbers["looked"]
        for k, name in enumerate(ORDER):
            if k == GAINS:
                continue
            given = arrays[name]
            if k == MATRIX:
                given = np.zeros(now.sizes[k])
                given[column_places(n)] = arrays[name]
            self.fill(k, np.ascontiguousarray(given[:now.sizes[k]]))
        self.count_granted()

    cdef void fill(self, int array, const double[::1] numbers):
        if numbers.shape[0]:
            memcpy(self.U + self.shape().starts[array], &numbers[0], numbers.shape[0] * sizeof(double))
