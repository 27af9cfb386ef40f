"""Kernel learners: gradient descent on functions of a kernel."""

from libc.math cimport fabs, isfinite, sqrt

import numpy as np

from noregret.base.compiled.losses cimport as_loss
from noregret.linear.engine.engine cimport (
    DIVERGED, FINE, OUTCOME, Engine, Rate, Row, as_rate, noregret_add_dense, rate_at,
)
from noregret.linear.engine.kernel_expansion cimport Support

from noregret.checks import positive

cdef extern from "row_loops.h" nogil:
    void noregret_add_two(double* v, double a, const double* x, double b, const double* y, Py_ssize_t n)


# Gradient descent in the space of a kernel, with a budget of support vectors.
#
#     f ← f − rate · loss'(f(x), y) · k(x, ·)
#
# At the budget, one vector is removed, possibly the new one, and its part of f is projected on the
# others: f moves by e = c (φ_j − Σ a_i φ_i) for the best a. The vector with the shortest e is removed.
# The best a follows from the inverse of the (normalised, slightly lifted) Gram matrix, kept from round
# to round; |e| is computed with that a from the Gram matrix itself and rounded up. So the sums that
# theorems need are valid whatever the rounding of the inverse.

# Added to the diagonal of the normalised Gram matrix, which rounding may have made singular.
cdef double LIFT = 1e-5
cdef double ROUNDING = 2.3e-16
# Sums in bounds are rounded up by more than the rounding error of an addition.
cdef double UPWARD = 1 + 4.5e-16
cdef double LARGEST_KERNEL = 1e100
# Examples with a smaller k(x, x) are treated as zero.
cdef double SMALLEST_KERNEL = 1e-200
cdef double LARGEST_NORM2 = 1e180
cdef double SMALLEST_FACTOR = 1e-60
# Largest relative error of a norm used for projection.
cdef double MAX_DOUBT = 1.5e-9
# Steps that overshoot at predictions this many times larger than any outcome so far are divergence.
cdef double MAX_DISTANCE = 1e3


cdef class KernelMachine(Support):
    """Explicit steps on any loss, unconstrained or in a ball; the perceptron has the mistake loss."""

    NUMBERS = (*Support.NUMBERS, "norm2", "doubt", "reach", "steepness", "removals", "first_removal", "moved", "exchanged")
    SIGNED = (*Engine.SIGNED, "exchanged")

    cdef Rate rate
    cdef double radius                     # 0 if unconstrained
    cdef public double norm2, doubt        # |f|² in units of the factor, and its error bound
    cdef public double reach               # the largest √k(x, x)
    cdef public double steepness           # Σ |gradient|²
    cdef public long long removals         # vectors removed
    cdef public long long first_removal    # round of the first removal
    cdef public double moved               # Σ |e|
    cdef public double exchanged           # Σ |e|² − 2 e·f
    cdef double[::1] lengths               # √k(s, s)
    cdef double[:, ::1] gram, inverse      # of the vectors at length 1, once the budget is full
    cdef double[:, ::1] scratch

    def __init__(self, loss: str | Loss = "square", rate=0.1, schedule="constant", horizon: int | None = None,
                 radius: float | None = None, loss_parameter: float | None = None, kernel="rbf", width=1.0, degree=2,
                 offset=1.0, budget=256):
        self.loss = as_loss(loss, loss_parameter)
        self.rate = as_rate(rate, schedule, horizon)
        if not isfinite(self.rate.value):
            raise ValueError("rate must be a positive number: got inf")
        self.radius = 0 if radius is None else positive("radius", radius)
        self.build(kernel, width, degree, offset, budget)
        self.lengths = np.zeros(self.budget)
        # In lines of the cache: sums that are stored across two are slow to read again.
        width = (self.budget + 7) // 8 * 8
        room = np.zeros(5 * width + 8)
        start = -room.ctypes.data // 8 % 8
        self.scratch = room[start:start + 5 * width].reshape(5, width)
        # Untouched until the budget is full, so they take no memory before.
        self.gram, self.inverse = np.zeros((self.budget, self.budget)), np.zeros((self.budget, self.budget))

    # A round.

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef double rate = rate_at(&self.rate, self.rounds + 1), square = self.square_of(row)
        cdef double own = self.own_kernel(square), amount = -rate * slope / self.factor
        if not own < LARGEST_KERNEL or not isfinite(amount) or self.strays(rate, score, slope, own, y):
            return DIVERGED
        if amount != 0 and own >= SMALLEST_KERNEL:
            if not self.norm2 + fabs(2 * amount * row.dot) + amount * amount * own < LARGEST_NORM2:
                return DIVERGED
            self.step(row, square, own, amount)
        self.reach = max(self.reach, sqrt(own))
        self.steepness = (self.steepness + slope * slope * own * UPWARD) * UPWARD
        return FINE

    cdef bint strays(self, double rate, double score, double slope, double own, double y) noexcept nogil:
        """Return whether this step overshoots far from all outcomes."""
        cdef double there
        if self.radius > 0 or fabs(score) <= MAX_DISTANCE * max(self.most[OUTCOME], fabs(y)):
            return False
        there = self.loss.table.slope(&self.loss.table, score - rate * slope * own, y)
        return there * slope < 0 and fabs(there) > fabs(slope)

    cdef void step(self, const Row* row, double square, double own, double amount) noexcept nogil:
        """Add amount · k(x, ·) to f, within the budget and the ball."""
        cdef double* near = &self.scratch[0, 0]
        cdef double rough = 0
        cdef Py_ssize_t j, n = self.vectors
        self.kernels_at(row, square, near)
        for j in range(n):
            rough += fabs(self.coefficients[j] * near[j])
        self.norm2 = max(0.0, self.norm2 + 2 * amount * row.dot + amount * amount * own)
        self.doubt += ROUNDING * (2 * (n + 8) * fabs(amount) * rough + 8 * (self.norm2 + amount * amount * own))
        if n == self.budget:
            self.exchange(row, square, own, amount)
        else:
            self.put(n, row, square, own, amount)
            self.vectors = n + 1
            if self.vectors == self.budget:
                self.count_gram()
                self.invert()
        if self.radius > 0:
            self.project()

    cdef void put(self, Py_ssize_t j, const Row* row, double square, double own, double amount) noexcept nogil:
        """Store the row as vector j, with its length."""
        self.write(j, row, square)
        self.coefficients[j], self.lengths[j] = amount, sqrt(own)

    cdef void project(self) noexcept nogil:
        """Project on the ball, by changing the factor."""
        cdef double most2 = self.radius * self.radius, factor2 = self.factor * self.factor
        cdef Py_ssize_t j
        if factor2 * (self.norm2 + self.doubt) <= most2:
            return
        if self.doubt > MAX_DOUBT * self.norm2:
            self.recount()
        if factor2 * self.norm2 > most2:
            self.factor = self.radius / sqrt(self.norm2)
        if self.factor < SMALLEST_FACTOR:
            for j in range(self.vectors):
                self.coefficients[j] *= self.factor
            self.norm2, self.doubt = self.norm2 * self.factor * self.factor, self.doubt * self.factor * self.factor
            self.factor = 1

    cdef void recount(self) noexcept nogil:
        """Recompute |f|²."""
        cdef double* row = &self.scratch[4, 0]
        cdef double total = 0, rough = 0, term
        cdef Py_ssize_t i, j
        for j in range(self.vectors):
            self.kernels_of(j, row)
            for i in range(self.vectors):
                term = self.coefficients[i] * (row[i] * self.coefficients[j])
                total += term
                rough += fabs(term)
        self.norm2, self.doubt = max(0.0, total), ROUNDING * (2 * self.vectors + 8) * rough

    # The budget.

    cdef void count_gram(self) noexcept nogil:
        """Fill in the Gram matrix of the vectors at length 1."""
        cdef Py_ssize_t i, j
        for j in range(self.vectors):
            self.kernels_of(j, &self.gram[j, 0])
        for j in range(self.vectors):
            self.lengths[j] = sqrt(self.gram[j, j])
        for j in range(self.vectors):
            for i in range(self.vectors):
                self.gram[j, i] = 1.0 if i == j else self.gram[j, i] / (self.lengths[i] * self.lengths[j])

    cdef void invert(self) noexcept nogil:
        """Invert the lifted Gram matrix by elimination, in place."""
        cdef Py_ssize_t i, j, n = self.budget
        cdef double share
        for i in range(n):
            for j in range(n):
                self.inverse[i, j] = self.gram[i, j]
            self.inverse[i, i] += LIFT
        for j in range(n):
            share = 1 / max(LIFT, self.inverse[j, j])
            self.inverse[j, j] = 1
            for i in range(n):
                self.inverse[j, i] *= share
            for i in range(n):
                if i != j:
                    share, self.inverse[i, j] = self.inverse[i, j], 0
                    noregret_add_dense(&self.inverse[i, 0], -share, &self.inverse[j, 0], n)

    cdef double regress(self, const double* g, double* q) noexcept nogil:
        """Fill in q of the best Σ q_i φ_i for a vector with products g; return the squared distance."""
        cdef double rest = 1 + LIFT
        cdef Py_ssize_t i, n = self.budget
        for i in range(n):
            q[i] = 0
        for i in range(n):
            noregret_add_dense(q, g[i], &self.inverse[i, 0], n)
        for i in range(n):
            rest -= g[i] * q[i]
        return max(LIFT, rest)

    cdef void exchange(self, const Row* row, double square, double own, double amount) noexcept nogil:
        """Add the row, and remove the vector that the others approximate best."""
        cdef double* g = &self.scratch[0, 0]
        cdef double* q = &self.scratch[1, 0]
        cdef double length = sqrt(own), rest, foreseen
        cdef Py_ssize_t i, j, turn
        for i in range(self.budget):
            g[i] /= self.lengths[i] * length
        for turn in range(3):  # again if the inverse has drifted; at last without projection
            rest = self.regress(g, q)
            j = self.choose(q, rest, amount * length, &foreseen)
            if self.let_go(j, rest, amount * length, foreseen, turn == 2):
                break
            self.invert()
        if j < self.budget:
            self.replace(j, rest)
            self.put(j, row, square, own, self.scratch[2, j] / length)

    cdef Py_ssize_t choose(self, const double* q, double rest, double fresh, double* foreseen) noexcept nogil:
        """Return the vector with the smallest residual, or budget for the new one."""
        cdef Py_ssize_t i, best = self.budget
        cdef double cost, size
        foreseen[0] = fresh * fresh * rest
        for i in range(self.budget):
            size = self.coefficients[i] * self.lengths[i]
            cost = size * size / (self.inverse[i, i] + q[i] * q[i] / rest)
            if 0 <= cost < foreseen[0]:
                best, foreseen[0] = i, cost
        return best

    cdef bint let_go(self, Py_ssize_t j, double rest, double fresh, double foreseen, bint plainly) noexcept nogil:
        """Project vector j on the others, unless that moves f much further than expected; or just drop it.

        The coefficient of the new vector is left in scratch[2, j].
        """
        cdef double* g = &self.scratch[0, 0]
        cdef double* a = &self.scratch[2, 0]
        cdef double* far = &self.scratch[3, 0]
        cdef double* f = &self.scratch[4, 0]
        cdef double new_a = 0, gone, square = 1, inner, sizes = 1, largest = 0, f_new = fresh, f_gone, doubt
        cdef Py_ssize_t i, n = self.budget
        if j == n:
            gone = fresh
            for i in range(n):
                a[i] = self.scratch[1, i]
        else:
            gone = self.coefficients[j] * self.lengths[j]
            new_a = self.column(j, rest, a)
        if plainly:
            new_a = 0
            for i in range(n):
                a[i] = 0
        # far = (G a − g_j), f = G c: products of every vector with the residual, and with f.
        for i in range(n):
            far[i] = new_a * g[i] - (self.gram[j, i] if j < n else g[i])
            f[i] = fresh * g[i]
        for i in range(n):
            noregret_add_dense(far, a[i], &self.gram[i, 0], n)
            noregret_add_dense(f, self.coefficients[i] * self.lengths[i], &self.gram[i, 0], n)
            f_new += self.coefficients[i] * self.lengths[i] * g[i]
        f_gone = f[j] if j < n else f_new
        inner, square = f_gone - new_a * f_new, 1 - (new_a * g[j] if j < n else 0.0)
        for i in range(n):
            square -= a[i] * (self.gram[j, i] if j < n else g[i])
            square += a[i] * far[i]
            inner -= a[i] * f[i]
            sizes += fabs(a[i])
            largest = max(largest, fabs(f[i]))
        if new_a != 0:
            square += new_a * self.last_product(g, a, new_a, j)
            sizes += fabs(new_a)
        square = max(0.0, square) + ROUNDING * (n + 8) * sizes * sizes
        if not plainly and not square * gone * gone <= 4 * foreseen + 1e-4 * gone * gone:
            return False
        doubt = ROUNDING * (2 * n + 16) * fabs(gone) * sizes * max(largest, fabs(f_new))
        self.account(gone * gone * square, gone * inner, doubt)
        for i in range(n):
            self.coefficients[i] += gone * a[i] / self.lengths[i]
        if j < n:
            self.scratch[2, j] = fresh + gone * new_a
        return True

    cdef double last_product(self, const double* g, const double* a, double new_a, Py_ssize_t j) noexcept nogil:
        """Return the product of the new vector with Σ a_i φ_i − φ_j."""
        cdef double total = new_a - g[j]
        cdef Py_ssize_t i
        for i in range(self.budget):
            total += a[i] * g[i]
        return total

    cdef double column(self, Py_ssize_t j, double rest, double* a) noexcept nogil:
        """Fill in a of the best Σ a_i φ_i for vector j; return the a of the new vector."""
        cdef double* q = &self.scratch[1, 0]
        cdef double own = self.inverse[j, j] + q[j] * q[j] / rest
        cdef Py_ssize_t i
        for i in range(self.budget):
            a[i] = -(self.inverse[j, i] + q[j] / rest * q[i]) / own
        a[j] = 0
        return q[j] / rest / own

    cdef void account(self, double square, double inner, double doubt) noexcept nogil:
        """Record that f moves by e, given a bound on its squared length and its product with f."""
        self.removals += 1
        if self.first_removal == 0:
            self.first_removal = self.rounds + 1
        self.moved = (self.moved + self.factor * sqrt(square) * UPWARD) * UPWARD
        self.exchanged += self.factor * self.factor * (square - 2 * inner + doubt)
        self.norm2 = max(0.0, self.norm2 - 2 * inner + square)
        self.doubt += 2 * doubt + ROUNDING * 8 * self.norm2 + ROUNDING * 2 * self.budget * square

    cdef void replace(self, Py_ssize_t j, double rest) noexcept nogil:
        """Replace vector j by the new one, in the Gram matrix and its inverse."""
        cdef double* g = &self.scratch[0, 0]
        cdef double* q = &self.scratch[1, 0]
        cdef double* p = &self.scratch[3, 0]
        cdef double own = self.inverse[j, j] + q[j] * q[j] / rest, new = -q[j] / rest
        cdef Py_ssize_t i
        for i in range(self.budget):
            p[i] = self.inverse[j, i] + q[j] / rest * q[i]
        for i in range(self.budget):
            if i != j:
                noregret_add_two(&self.inverse[i, 0], q[i] / rest, q, -p[i] / own, p, self.budget)
                self.inverse[i, j] = self.inverse[j, i] = -q[i] / rest - new * p[i] / own
                self.gram[i, j] = self.gram[j, i] = g[i]
        self.inverse[j, j] = 1 / rest - new * new / own
        self.gram[j, j] = 1

    # Evidence for theorems, and the state.

    @property
    def removed(self) -> int:
        """The number of support vectors removed so far."""
        return self.removals

    def norm(self) -> float:
        """Return the recomputed norm of f."""
        vectors, coefficients = self.support()
        return sqrt(max(0.0, float(coefficients @ self.gram_of(vectors) @ coefficients)))

    def accounts(self):
        """Return the parts of the state that theorems need."""
        vectors, coefficients = self.support()
        return {
            "vectors": vectors, "coefficients": coefficients, "norm": np.array([self.norm()]),
            "reach": np.array([self.reach]), "gradient_squares": np.array([self.steepness]),
            "removals": np.array([float(self.removals)]),
            "first_removal": np.array([float(self.first_removal)]), "moved": np.array([self.moved]),
            "exchanged": np.array([self.exchanged]),
        }

    def get_state(self):
        """Return the state: (arrays, numbers)."""
        if self.loss is None:
            raise ValueError("this engine was never built")
        arrays, numbers = Support.get_state(self)
        return arrays | {"inverse": np.array(self.inverse).ravel()}, numbers

    def set_state(self, arrays, numbers):
        """Restore a state, or raise ValueError and stay unchanged."""
        before = self.get_state()
        try:
            self.take(dict(arrays), numbers)
        except ValueError:
            self.take(*before)
            raise

    def take(self, arrays, numbers):
        """Replace the state."""
        inverse = arrays.pop("inverse", None)
        count, full = self.budget**2, numbers["vectors"] == self.budget
        if inverse is None or inverse.shape != (count,) or inverse.dtype != np.float64 or not np.isfinite(inverse).all():
            raise ValueError(f"array inverse should hold {count} finite numbers of type float64")
        if inverse.any() and not full:
            raise ValueError("array inverse is not zero, though the budget is not full")
        if numbers["removals"] > numbers["rounds"] or numbers["factor"] <= 0:
            raise ValueError("the state's numbers make no sense")
        Support.set_state(self, arrays, numbers)
        for k in range(self.vectors):
            self.lengths[k] = sqrt(self.own_kernel(self.squares[k]))
        self.inverse = inverse.reshape(self.budget, self.budget).copy()
        if full:
            self.count_gram()
        kept = numbers["norm2"]
        self.recount()
        if not fabs(self.norm2 - kept) <= 1e-6 * (self.norm2 + kept) + numbers["doubt"] + self.doubt:
            raise ValueError("the state's norm is not that of its function")
        self.norm2, self.doubt = kept, numbers["doubt"]
