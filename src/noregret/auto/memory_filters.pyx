"""Four recursive least-squares filters on the same inputs.

The first input is the constant 1. The others may be in any unit: the initial variance of a weight is
inverse to the measured spread of its input, and is raised if that turns out smaller than at first.
"""

from libc.string cimport memcpy

cimport cython

import numpy as np

cimport numpy as cnp

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
# Filters with more inputs learn MAX_QUEUED_ROWS rows at a time, as their matrix does not fit the cache.
cdef enum:
    MAX_UNQUEUED_INPUTS = 16
    EARLY_ROUNDS = 16           # rounds per input before which every row is learned at once
# Arrays with one number per input, and scratch.
SINGLE = ("prior", "count", "total", "squares")
SCRATCH = ("k",)
# The queued rows.
QUEUE = {name: numbers * MAX_QUEUED_ROWS
         for name, numbers in {"rows": MAX_INPUTS, "told": 2, "unsure": FOUR, "worth": FOUR}.items()}
# Bytes per cache line.
LINE_BYTES = 64


def aligned(count):
    """Return zeros that begin with a cache line."""
    made = np.zeros(count + LINE_BYTES // 8)
    start = -made.ctypes.data % LINE_BYTES // 8
    return made[start:start + count]


def column_places(n):
    """Return where the numbers of U are in memory, where columns are filled up to an even number of inputs."""
    columns = np.repeat(np.arange(n), np.arange(n))
    inputs = np.arange(len(columns)) - columns * (columns - 1) // 2
    half = columns // 2
    return (FOUR * (2 * half * (half + columns % 2) + inputs)[:, None] + np.arange(FOUR)).ravel()


@cython.final
cdef class Filters:
    """Four filters, with one or more sets of weights each."""

    def __cinit__(self, forget: Sequence[float], most: Sequence[float], constant: float, variants=1):
        cdef int i
        for i in range(FOUR):
            self.forget[i], self.most[i] = forget[i], most[i]
        self.constant, self.variants = constant, variants
        self.arrays = {name: np.zeros(0) for name in (*SINGLE, *SCRATCH, *QUEUE, "U", "D", "w")}
        self.grow(1)

    # Growing.

    cdef void grow(self, Py_ssize_t n):
        """Change the number of inputs to n; new ones start at zero, those beyond n are dropped."""
        cdef Py_ssize_t old = self.n, variant, kept = min(old, n)
        if n == old:
            return
        sizes = self.sizes(n)
        made = {name: aligned(size) for name, size in sizes.items()}
        for name in (*SINGLE, *QUEUE, "U", "D"):
            part = min(sizes[name], len(self.arrays[name]))
            made[name][:part] = self.arrays[name][:part]
        for variant in range(self.variants):
            at, was = variant * n * FOUR, variant * old * FOUR
            made["w"][at:at + kept * FOUR] = self.arrays["w"][was:was + kept * FOUR]
        self.arrays, self.n = made, n
        self.granted = int(np.count_nonzero(made["prior"][1:]))
        self.relocate()
        if old == 0:
            self.restart()

    cdef void widen(self, int variants):
        """Change the number of sets of weights; new ones start at zero."""
        cdef Py_ssize_t kept = min(self.variants, variants) * self.n * FOUR
        made = aligned(FOUR * self.n * variants)
        made[:kept] = self.arrays["w"][:kept]
        self.arrays["w"], self.variants = made, variants
        self.relocate()

    def sizes(self, n):
        """Return the length of each array for n inputs."""
        even, half = n + n % 2, n // 2
        found = {name: n for name in SINGLE} | {"D": FOUR * n, "k": FOUR * even * MAX_QUEUED_ROWS} | QUEUE
        if n <= MAX_UNQUEUED_INPUTS and self.waiting == 0:  # rows are learned at once: there is a single one
            found |= {name: size // MAX_QUEUED_ROWS for name, size in QUEUE.items()} | {"rows": even, "k": FOUR * even}
        return found | {"U": 2 * FOUR * half * (half + n % 2), "w": FOUR * n * self.variants}

    cdef void relocate(self):
        """Update the pointers after the arrays moved."""
        self.U, self.D, self.w, self.k = self.at("U"), self.at("D"), self.at("w"), self.at("k")
        self.prior, self.count = self.at("prior"), self.at("count")
        self.total, self.squares = self.at("total"), self.at("squares")
        self.rows, self.told, self.unsure, self.worth = self.at("rows"), self.at("told"), self.at("unsure"), self.at("worth")

    cdef double* at(self, str name):
        return <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays[name])

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
        noregret_filters_score(self.w, x, self.n, self.variants, out)

    cdef void scores_of(self, const double* x, double* out, Py_ssize_t sets) noexcept nogil:
        """Fill in w·x of the first sets of weights."""
        cdef Py_ssize_t each
        for each in range(sets):
            noregret_filters_score(self.w + each * FOUR * self.n, x, self.n, 1, out + each * FOUR)

    cdef void spread(self, const double* x, double* z) noexcept nogil:
        """Fill in the variance of each filter's score; thread-safe."""
        cdef double[4 * MAX_INPUTS] f
        cdef double[4 * MAX_INPUTS] v
        noregret_filters_project(self.U, self.D, x, self.n, f, v, z)

    # Learning.

    cdef void observe(self, const double* x) noexcept nogil:
        """Update the spreads of the inputs before a round is learned."""
        cdef Py_ssize_t i, count
        cdef double spread
        self.rounds += 1
        if self.rounds > SURE_ROUNDS and <long long> self.rounds % LOOK_PERIOD != 0 and self.granted == self.n - 1:
            return
        self.looked += 1
        for i in range(1, self.n):
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
            self.U, self.D, rows, MAX_INPUTS, count, self.prior, self.most, self.forget, worth, self.k, self.n)
        if not sane:
            self.restart()
        return sane

    cdef double* gains(self, int row) noexcept nogil:
        return self.k + row * FOUR * (self.n + self.n % 2)

    cdef void step(self, int row, const double* errors) noexcept nogil:
        """Move the weights by the gain of a row times the errors, four per set."""
        noregret_filters_step(self.w, self.gains(row), errors, self.n, self.variants)

    cdef void step_of(self, int row, const double* errors, Py_ssize_t sets) noexcept nogil:
        """Move the first sets of weights."""
        cdef Py_ssize_t each
        for each in range(sets):
            noregret_filters_step(self.w + each * FOUR * self.n, self.gains(row), errors + each * FOUR, self.n, 1)

    def weights(self, variant: int, lane: int) -> Floats:
        """Return the weights of one filter, the constant's first."""
        at = variant * FOUR * self.n
        return self.arrays["w"][at + lane:at + FOUR * self.n:FOUR].copy()

    # The state.

    def get_state(self) -> tuple[dict[str, Floats], dict[str, Any]]:
        """Return the state: (arrays, numbers)."""
        kept = {name: array.copy() for name, array in self.arrays.items() if name not in SCRATCH}
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
        sizes = {name: size for name, size in (self.sizes(n) | QUEUE).items() if name not in SCRATCH}
        state_arrays(arrays, sizes | {"U": FOUR * (n * (n - 1) // 2)})
        for name in (*SINGLE[:2], "squares", "D"):
            if (arrays[name] < 0).any():
                raise ValueError(f"array {name} holds a negative number")
        self.n, self.rounds, self.looked, self.waiting = n, numbers["rounds"], numbers["looked"], numbers["waiting"]
        self.arrays = {name: aligned(size) for name, size in self.sizes(n).items()}
        for name, array in arrays.items():
            self.arrays[name][column_places(n) if name == "U" else slice(None)] = array[:len(self.arrays[name])] if name in QUEUE else array
        self.granted = int(np.count_nonzero(self.arrays["prior"][1:]))
        self.relocate()
