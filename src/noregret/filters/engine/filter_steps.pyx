"""The steps of each filter over a sliding window."""

from libc.math cimport fabs, sqrt

import numpy as np

cimport numpy as cnp

from noregret.filters.engine.window cimport DIVERGED, FINE, Sliding
from noregret.linear.engine.engine cimport Row
from noregret.linear.engine.second_order cimport Forward

cnp.import_array()

cdef extern from "window_loops.h" nogil:
    double noregret_tap(const double* w, const double* q, Py_ssize_t n) noexcept
    void noregret_solve(double* m, double* e, Py_ssize_t k, double floor) noexcept

# Added to the diagonal relative to the largest ‖x‖²: more than the rounding errors of the matrix.
cdef double DIAGONAL_SHARE = 1e-12
# The squares of smaller errors may underflow.
cdef double MIN_ERROR = 1e-150


cdef class Steepest(Sliding):
    """Least mean squares: a = rate · e."""

    cdef double rate

    def __init__(self, taps: int, rate: float):
        Sliding.__init__(self, taps)
        self.rate = rate

    cdef double step(self, double error) noexcept nogil:
        return self.rate * error

    def advice(self, norm):
        """Return the remedy for diverging weights."""
        return f"the window's norm is {norm:.3g}: use norm={1.1 * norm:.2g} or more, a smaller rate, or nlms"


cdef class Normalised(Sliding):
    """Normalised least mean squares: a = rate · e / (ε + ‖x‖²)."""

    ADVICE = "use a larger epsilon, or scale the signals to ordinary sizes"
    cdef double rate, cushion

    def __init__(self, taps: int, rate: float, cushion: float):
        Sliding.__init__(self, taps)
        self.rate, self.cushion = rate, cushion

    cdef double step(self, double error) noexcept nogil:
        self.share = 1 / (self.cushion + self.correlation(0))
        return self.rate * error * self.share


cdef class Signed(Sliding):
    """Sign of the error: a = ± rate. The scaled loss is the absolute loss."""

    cdef double rate

    def __init__(self, taps: int, rate: float):
        Sliding.__init__(self, taps)
        self.rate = rate

    cdef double step(self, double error) noexcept nogil:
        self.share = 1 / fabs(error) if fabs(error) > MIN_ERROR else 0.0
        return self.rate if error > 0 else -self.rate if error < 0 else 0.0


cdef class Projecting(Sliding):
    """Affine projection: w ← w + rate · X (XᵀX + εI)⁻¹ e, for the last K windows X and their errors.

    Multiples of a window are pending in ``amounts`` until no step changes them, so each window is
    added to the weights once, whatever K. The errors after a step are e − rate · XᵀX g, and XᵀX
    shifts along its diagonal: a sample costs two passes over the weights, plus about K³/6 operations.
    """

    ADVICE = "use a larger epsilon, or scale the signals to ordinary sizes"
    cdef double rate, cushion
    cdef double* matrix                 # XᵀX of the last window
    cdef double* errors                 # of the last K windows, after the last step
    cdef double* scratch                # the next of both, the solution, and the amounts

    def __init__(self, taps: int, rate: float, cushion: float, order: int):
        self.begin(order)
        self.rate, self.cushion = rate, cushion
        self.arrays |= {
            "matrix": np.zeros(order * order), "errors": np.zeros(order),
            "scratch": np.zeros(2 * order * order + 3 * order),
        }
        self.matrix = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["matrix"])
        self.errors = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["errors"])
        self.scratch = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["scratch"])
        self.ready = True

    cdef int learn(self, double error) noexcept nogil:
        cdef Py_ssize_t order = self.order, i, j
        cdef double* gram = self.scratch
        cdef double* factors = gram + order * order
        cdef double* errors = factors + order * order
        cdef double* solution = errors + order
        cdef double* amounts = solution + order
        cdef double largest = 0, moved = 0, cushion
        for i in range(order):
            gram[i] = gram[i * order] = self.correlation(i)
            errors[i] = self.errors[i - 1] if i else error
            for j in range(1, order if i else 0):
                gram[i * order + j] = self.matrix[(i - 1) * order + j - 1]
            largest = max(largest, gram[i * order + i])
        cushion = self.cushion + DIAGONAL_SHARE * largest
        for i in range(order * order):
            factors[i] = gram[i] + (cushion if i % (order + 1) == 0 else 0.0)
        for i in range(order):
            solution[i] = errors[i]
        noregret_solve(factors, solution, order, cushion)
        for i in range(order):
            solution[i] *= self.rate
            amounts[i] = solution[i] + (self.amounts[i - 1] if i else 0.0)
            moved += fabs(solution[i]) * sqrt(largest)
        if not self.may_move(moved, amounts):
            return DIVERGED
        for i in range(order):
            for j in range(order):
                errors[i] -= gram[i * order + j] * solution[j]
        for i in range(order):
            self.errors[i], self.amounts[i] = errors[i], amounts[i]
        for i in range(order * order):
            self.matrix[i] = gram[i]
        return FINE

    def kept(self):
        """Return the arrays of a state besides the window."""
        self.check_free()
        return {name: self.arrays[name] for name in ("weights", "amounts", "matrix", "errors")}


cdef class Recursive(Sliding):
    """Recursive least squares: ridge regression on all windows so far, with forgetting."""

    ADVICE = "scale the signals to ordinary sizes, or use a larger penalty"
    cdef Forward ridge                  # P, and the weights
    cdef Row row
    cdef bint forgets

    def __init__(self, taps: int, penalty: float, forgetting: float):
        self.begin(1)
        self.ridge = Forward(penalty, forgetting)
        self.ridge.resize(self.taps)
        self.forgets = forgetting < 1
        self.row.count = self.taps
        self.ready = True

    def work(self):
        """Return the approximate number of operations per sample."""
        return 3 * self.taps * self.taps + 32

    cdef double guess(self) noexcept nogil:
        return noregret_tap(self.ridge.stored, self.line + self.start, self.taps)

    cdef int learn(self, double error) noexcept nogil:
        cdef double square
        self.row.values = self.line + self.start
        square = self.ridge.weigh(&self.row)
        if self.ridge.learn(&self.row, 1, error / (1 + square)) != FINE:
            return DIVERGED
        if self.forgets:
            self.ridge.forget()
        self.share = 1 / (1 + square)
        return FINE

    def impulse_response(self):
        """Return the weights of the next prediction, that of the newest sample first."""
        self.check_free()
        return self.ridge.weights()

    def kept(self):
        """Return the arrays of a state besides the window."""
        self.check_free()
        arrays, _ = self.ridge.get_state()
        return {"weights": arrays["stored"], "spreads": arrays["spreads"], "factors": arrays["factors"]}

    def scalars(self):
        """Return the numbers of a state."""
        self.check_free()
        return Sliding.scalars(self) | {"reach": self.ridge.scalars()["reach"]}

    def set_state(self, arrays, numbers):
        """Restore a state in a new engine; raise ValueError if it is invalid."""
        Sliding.set_state(self, arrays, numbers)
        whole = {"stored": arrays["weights"], "spreads": arrays["spreads"], "factors": arrays["factors"]}
        self.ridge.set_state(whole, self.ridge.scalars() | {"reach": numbers["reach"]})
        self.restore(numbers)
