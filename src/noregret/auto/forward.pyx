"""A filter over all rounds that predicts forward: the member of ``auto`` with a promise against linear predictors.

    p = w·x,   z = xᵀ P x,   prediction  p/(1 + z),   P ← (P⁻¹ + c x xᵀ)⁻¹,   w ← w + c P x (y − p)

for a row of importance c. Inputs are counted from the first row, outcomes from the first outcome, so that
all weights at 0 repeat the latter. The penalty of a weight is the square of the first value of its input
that is not 0: no unit matters. The least penalised loss of a predictor so far is Σ c(y − p)²/(1 + cz), and
the prediction costs at most c y² cz/(1 + cz) more in each round.
"""

from libc.math cimport isfinite
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

cimport cython
cimport numpy as cnp

import numpy as np

from noregret.base.compiled.state_parts cimport StateParts, add_part, add_range

from noregret.checks import state_arrays, state_numbers

cnp.import_array()

cdef extern from "udu_factors.h" nogil:
    void noregret_through(const double* u, const double* x, Py_ssize_t n, double* f)
    void noregret_refactor(double* u, double* d, const double* f, double c, double* b, Py_ssize_t n)

cdef enum:
    MAX_INPUTS = 264
# Differences with a square up to this count as zero, and those above the other are not learned from.
cdef double MIN_SQUARE = 1e-150, MAX_SQUARE = 1e150
# Larger weights, variances and losses lose their digits.
cdef double MAX_SIZE = 1e150
ORDER = ("w", "first", "penalty", "d", "u")


@cython.final
cdef class Forward:
    """The filter, and the two sums of its promise."""

    def __cinit__(self, n=1):
        self.grow(n)

    def __dealloc__(self):
        free(self.block)

    cdef int grow(self, Py_ssize_t n) except -1:
        """Change the number of inputs to n; new ones were 0 so far, those beyond n are dropped."""
        cdef Py_ssize_t k, old = self.n, kept = min(self.n, n)
        cdef double* was = self.block
        cdef double* made
        if n == old:
            return 0
        made = <double*> calloc(4 * n + n * (n - 1) // 2 + 1, sizeof(double))
        if made == NULL:
            raise MemoryError
        for k in range(4):
            if kept:
                memcpy(made + k * n, was + k * old, kept * sizeof(double))
        if kept:
            memcpy(made + 4 * n, was + 4 * old, kept * (kept - 1) // 2 * sizeof(double))
        self.block, self.n = made, n
        self.w, self.first, self.penalty, self.d, self.u = made, made + n, made + 2 * n, made + 3 * n, made + 4 * n
        if not old:
            self.penalty[0] = self.d[0] = 1
        free(was)
        return 0

    cdef double score(self, const double* x, double* through, double* plain, double* z) noexcept nogil:
        """Return the prediction for inputs; fill in Uᵀx, w·x and the variance of it."""
        cdef double[MAX_INPUTS] centred
        cdef Py_ssize_t i
        plain[0] = z[0] = 0
        self.centre(x, centred)
        noregret_through(self.u, centred, self.n, through)
        for i in range(self.n):
            plain[0] += self.w[i] * centred[i]
            z[0] += self.d[i] * through[i] * through[i]
        return plain[0] / (1 + z[0])

    cdef void centre(self, const double* x, double* centred) noexcept nogil:
        """Fill in the differences from the first row."""
        cdef Py_ssize_t i
        cdef double square
        centred[0] = 1
        for i in range(1, self.n):
            centred[i] = x[i] - self.first[i] if self.rounds > 0 else 0
            square = centred[i] * centred[i]
            if not MIN_SQUARE < square:
                centred[i] = 0

    cdef void learn(self, const double* x, const double* through, double plain, double z, double said, double y, double importance) noexcept nogil:
        """Learn an outcome that was predicted as ``said``; ``through``, ``plain`` and ``z`` are those of the score."""
        cdef double[MAX_INPUTS] centred
        cdef double[MAX_INPUTS] gain
        cdef double least, most, step
        cdef Py_ssize_t i
        if self.lost > 0:
            return
        if self.rounds == 0:
            memcpy(self.first, x, self.n * sizeof(double))
        self.rounds += 1
        self.centre(x, centred)
        for i in range(1, self.n):
            if centred[i] != 0 and self.penalty[i] == 0:
                self.penalty[i] = centred[i] * centred[i]
                self.d[i] = 1 / self.penalty[i]
                z += 1  # the square of the first difference over the penalty
        least = importance * (y - plain) / (1 + importance * z) * (y - plain)
        most = importance * y * (importance * z / (1 + importance * z)) * y
        step = importance * (y - plain) / (1 + importance * z)
        noregret_refactor(self.u, self.d, through, importance, gain, self.n)
        for i in range(self.n):
            self.w[i] += step * gain[i]
            if not (-MAX_SIZE < self.w[i] < MAX_SIZE and 0 <= self.d[i] < MAX_SIZE):
                self.lost += 1
        # Clipping may cost more, and new inputs and importances, which the prediction did not know of.
        most = max(most, importance * (y - said) * (y - said) - least)
        if not (isfinite(least) and isfinite(most)):
            self.lost += 1
            return
        self.least += least
        self.price += most

    # The state.

    cdef void list_state(self, StateParts* parts):
        """Add the places of all numbers that rounds change."""
        add_range(parts, &self.rounds, &self.lost + 1)
        add_part(parts, self.block, (4 * self.n + self.n * (self.n - 1) // 2) * sizeof(double))

    def weights(self) -> Floats:
        """Return the weights, the constant's first, of inputs counted from the first row."""
        return self.copies()["w"]

    def copies(self):
        """Return copies of all arrays."""
        cdef Py_ssize_t length
        made, start = {}, 0
        for name in ORDER:
            length = self.n * (self.n - 1) // 2 if name == "u" else self.n
            made[name] = np.zeros(length)
            memcpy(cnp.PyArray_DATA(<cnp.ndarray> made[name]), self.block + <Py_ssize_t> start, length * sizeof(double))
            start += length
        return made

    def get_state(self) -> tuple[dict[str, Floats], dict[str, Any]]:
        """Return the state: (arrays, numbers)."""
        numbers = {"n": self.n, "rounds": self.rounds, "least": self.least, "price": self.price, "lost": self.lost}
        return self.copies(), numbers

    def set_state(self, arrays: dict[str, Floats], numbers: dict[str, Any]) -> None:
        """Restore a state, or raise ValueError if invalid."""
        state_numbers(numbers, {"n": 1, "rounds": 0.0, "least": 0.0, "price": 0.0, "lost": 0.0})
        n = numbers["n"]
        if not 1 <= n <= MAX_INPUTS:
            raise ValueError("the state's numbers make no sense")
        state_arrays(arrays, {name: n * (n - 1) // 2 if name == "u" else n for name in ORDER})
        if (arrays["d"] < 0).any() or (arrays["penalty"] < 0).any():
            raise ValueError("array d or penalty holds a negative number")
        self.grow(n)
        start = 0
        for name in ORDER:
            self.fill(start, np.ascontiguousarray(arrays[name]))
            start += len(arrays[name])
        self.rounds, self.least, self.price, self.lost = (numbers[name] for name in ("rounds", "least", "price", "lost"))

    cdef void fill(self, Py_ssize_t start, const double[::1] numbers):
        if numbers.shape[0]:
            memcpy(self.block + start, &numbers[0], numbers.shape[0] * sizeof(double))
