"""Functions of a kernel, expanded over a budget of support vectors."""

from libc.math cimport exp

import numpy as np

cimport numpy as cnp

from noregret.linear.engine.engine cimport Engine, Row, noregret_add_dense, position

from noregret.checks import not_negative, one_of, positive, whole
from noregret import limits
from noregret.errors import BadExample

cnp.import_array()


# Functions f = Σ c_j k(s_j, ·) of a kernel, with a budget of support vectors s_j.
#
# The vectors are stored by feature, so that a row costs its entries times the number of vectors, in
# contiguous loops, and features may join later. Sums run in the order of features and zeros add
# nothing, so dense and sparse rows give the same bits.

KERNELS: tuple[str, ...] = ("rbf", "polynomial", "linear")
# Limit of numbers in all support vectors together: half a gigabyte.
MAX_NUMBERS: int = 2**26

cdef double LARGEST_COEFFICIENT = 1e100
cdef double MAX_VALUE = limits.MAX_VALUE, UNIT = limits.UNIT, SMALLEST = limits.SMALLEST
# An upper bound on the underflow error of exp(−t).
cdef double UNDERFLOW = 1e-100
# exp(−t) is zero from here on.
cdef double LARGEST_EXPONENT = 1e4

cdef enum:
    TILE = 512  # columns whose sums stay in the L1 cache

cdef enum:  # Kernel
    RBF
    POLYNOMIAL
    LINEAR


cdef double power(double base, int degree) noexcept nogil:
    cdef double result = 1
    cdef int k
    for k in range(degree):
        result *= base
    return result


cdef inline void add_squared_distances(
    double* out, double value, const double* values, Py_ssize_t count
) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(count):
        out[j] += (value - values[j]) * (value - values[j])


cdef class Support(Engine):
    """A kernel, the support vectors and their score."""

    ADVICE = "use a smaller rate, or scale the examples down"

    def build(self, kernel, width, degree, offset, budget):
        """Start with the zero function."""
        one_of("kernel", kernel, KERNELS)
        self.kernel = KERNELS.index(kernel)
        self.width, self.shift = positive("width", width), not_negative("offset", offset)
        self.degree = whole("degree", degree, below=21)
        self.budget = whole("budget", budget, below=MOST_VECTORS + 1)
        if not 1e-100 < self.width:
            raise ValueError(f"width must lie above 1e-100: got {width!r}")
        self.arrays = {name: np.zeros(self.length(name, 0)) for name in ("stored", "support", "coefficients")}
        self.squares = np.zeros(self.budget)
        self.relocate()

    def length(self, name, size):
        """Return the length of an array for a number of features."""
        return {"stored": size, "support": size * self.budget}.get(name, self.budget)

    cdef void relocate(self):
        Engine.relocate(self)
        if "support" in self.arrays:
            self.values = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["support"])
            self.coefficients = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["coefficients"])

    cdef int resize(self, Py_ssize_t size) except -1:
        if size * self.budget > MAX_NUMBERS:
            raise BadExample(
                f"{size} features are too many for {self.budget} support vectors",
                f"use a smaller budget ({MAX_NUMBERS // size} would do), or fewer features",
                round=self.rounds + 1,
            )
        return Engine.resize(self, size)

    # The kernel.

    cdef double kernel_of(self, double dot, double one, double other) noexcept nogil:
        """k(x, s) from x·s, |x|² and |s|²."""
        if self.kernel == RBF:
            return exp(-0.5 * max(0.0, (one - dot) + (other - dot)) / self.width / self.width)
        return power(dot + self.shift, self.degree) if self.kernel == POLYNOMIAL else dot

    cdef double own_kernel(self, double square) noexcept nogil:
        """k(x, x) from |x|²."""
        return self.kernel_of(square, square, square)

    cdef double square_of(self, const Row* row) noexcept nogil:
        """|x|², added up as dot products with support vectors are."""
        cdef double total = 0
        cdef Py_ssize_t k
        for k in range(row.count):
            total += row.values[k] * row.values[k]
        return total + row.unseen_norm2

    cdef void kernels_at(self, const Row* row, double square, double* out) noexcept nogil:
        """k(x, s) for every support vector s."""
        cdef Py_ssize_t j, k
        for j in range(self.vectors):
            out[j] = 0
        for k in range(row.count):
            if row.values[k] != 0:
                noregret_add_dense(out, row.values[k], self.values + position(row, k) * self.budget, self.vectors)
        for j in range(self.vectors):
            out[j] = self.kernel_of(out[j], square, self.squares[j])

    cdef void kernels_of(self, Py_ssize_t j, double* out) noexcept nogil:
        """k(s_j, s) for every support vector s."""
        cdef Py_ssize_t i, k
        cdef double* values
        for k in range(self.vectors):
            out[k] = 0
        for i in range(self.size):
            values = self.values + i * self.budget
            if values[j] != 0:
                noregret_add_dense(out, values[j], values, self.vectors)
        for k in range(self.vectors):
            out[k] = self.kernel_of(out[k], self.squares[j], self.squares[k])

    cdef double score(self, Row* row) noexcept nogil:
        cdef double[1024] found
        cdef double total = 0
        cdef Py_ssize_t j
        Engine.score(self, row)
        self.kernels_at(row, self.square_of(row), found)
        for j in range(self.vectors):
            total += self.coefficients[j] * found[j]
        row.dot = total
        return self.factor * total

    cdef void write(self, Py_ssize_t j, const Row* row, double square) noexcept nogil:
        """Store the row as support vector j."""
        cdef Py_ssize_t i, k
        for i in range(self.size):
            self.values[i * self.budget + j] = 0
        for k in range(row.count):
            self.values[position(row, k) * self.budget + j] = row.values[k]
        self.squares[j] = square

    # The kernel between tables, with error bounds, for proofs.

    def gram_of(self, X: Floats, Z: Floats | None = None) -> Floats:
        """Return k(x, z) for every row x of one table and z of another."""
        return self.gram_within(X, Z)[0]

    def gram_within(self, X: Floats, Z: Floats | None = None) -> tuple[Floats, Floats]:
        """Return k(x, z) for all pairs of rows, with error bounds.

        The exact value is that of real arithmetic on the same numbers.
        """
        X = np.ascontiguousarray(X, dtype=np.float64)
        Z = X if Z is None else np.ascontiguousarray(Z, dtype=np.float64)
        if self.kernel == RBF:
            return self.rbf_within(X, Z)
        error, lost = (X.shape[1] + 8) * UNIT, (X.shape[1] + 8) * SMALLEST
        values, off = X @ Z.T, np.abs(X) @ np.abs(Z).T
        if self.kernel == LINEAR:
            return values, off * error + lost
        off = (off + self.shift) * error + lost
        values += self.shift
        # The error of base^d is d·(|base| + off)^(d−1)·off, plus one rounding per product.
        largest = np.abs(values) + off
        off = self.degree * largest ** (self.degree - 1) * (off + largest * 2 * UNIT)
        off += lost * np.maximum(1.0, largest) ** self.degree
        made = np.ones_like(values)
        for _ in range(self.degree):
            made *= values
        return made, off * (1 + 64 * UNIT)

    def rbf_within(self, X, Z):
        """Return the same for exp(−‖x − z‖²/(2 width²)), from differences: k(x, x) is exactly 1.

        The relative error of an exponent t is one rounding per feature and a few more; times t it is
        the relative error of exp(−t).
        """
        cdef double[:, ::1] values
        cdef Py_ssize_t i, j
        exponents = self.exponents(X, Z)
        made = np.empty_like(exponents)
        values = made
        made[:] = -exponents
        for i in range(values.shape[0]):
            for j in range(values.shape[1]):
                values[i, j] = exp(values[i, j])
        error = 1.01 * (X.shape[1] + 8) * UNIT
        off = np.minimum(exponents, LARGEST_EXPONENT) * error + np.where(exponents > 0, 4 * UNIT, 0.0)
        return made, made * off + UNDERFLOW

    def exponents(self, X, Z):
        """Return ‖x − z‖²/(2 width²) for all pairs of rows."""
        cdef const double[:, ::1] x = X, z = np.ascontiguousarray(Z.T)
        made = np.zeros((X.shape[0], Z.shape[0]))
        cdef double[:, ::1] out = made
        cdef Py_ssize_t i, k, start = 0, size, count = z.shape[1]
        with nogil:
            while start < count:
                size = min(<Py_ssize_t> TILE, count - start)
                for i in range(x.shape[0]):
                    for k in range(x.shape[1]):
                        add_squared_distances(&out[i, start], x[i, k], &z[k, start], size)
                start += size
        with np.errstate(over="ignore"):
            made *= 0.5
            made /= self.width
            made /= self.width
        return made

    # Results.

    @property
    def linear(self):
        """True if predictions are w·x."""
        return False

    def weights(self):
        """Return the gradient of f at x = 0, which determines f for the linear kernel only."""
        cdef double[::1] made = np.zeros(self.size)
        cdef double slope
        cdef Py_ssize_t i, j
        for j in range(self.vectors):
            slope = self.factor * self.coefficients[j]
            if self.kernel == RBF:
                slope *= exp(-0.5 * self.squares[j] / self.width / self.width) / self.width / self.width
            elif self.kernel == POLYNOMIAL:
                slope *= self.degree * power(self.shift, self.degree - 1)
            for i in range(self.size):
                made[i] += slope * self.values[i * self.budget + j]
        return np.asarray(made)

    def support(self) -> tuple[Floats, Floats]:
        """Return (vectors, coefficients): one row per vector, in the order of features."""
        table = self.arrays["support"][:self.size * self.budget].reshape(self.size, self.budget)
        return table[:, :self.vectors].T.copy(), self.factor * self.arrays["coefficients"][:self.vectors]

    # The state.

    def scalars(self):
        """Return the numbers of the state."""
        return Engine.scalars(self) | {"vectors": self.vectors}

    def check_state(self, arrays, numbers):
        """Raise ValueError if unused vectors are nonzero."""
        size, vectors = numbers["size"], numbers["vectors"]
        if vectors > min(self.budget, numbers["rounds"]) or size * self.budget > MAX_NUMBERS:
            raise ValueError(f"the state has {vectors} support vectors: more than rounds, or than the budget")
        table = arrays["support"].reshape(size, self.budget)
        if arrays["stored"].any() or table[:, vectors:].any() or arrays["coefficients"][vectors:].any():
            raise ValueError("the state has numbers where no support vector is")
        if not (np.abs(table) < MAX_VALUE).all() or not (np.abs(arrays["coefficients"]) < LARGEST_COEFFICIENT).all():
            raise ValueError("the state has support vectors that are too large")

    def restore(self, numbers):
        """Restore the numbers of a state."""
        cdef Py_ssize_t i, j
        cdef double value
        Engine.restore(self, numbers)
        self.vectors = numbers["vectors"]
        for j in range(self.budget):
            self.squares[j] = 0
        for i in range(self.size):
            for j in range(self.vectors):
                value = self.values[i * self.budget + j]
                self.squares[j] += value * value
