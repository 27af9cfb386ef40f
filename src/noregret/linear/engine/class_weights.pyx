"""Linear learners over several classes: one weight vector per class, stored by feature.

The weights of feature i are stored[i * stride], …, one number per class, so that a row costs
O(non-zeros × classes) over numbers that are contiguous in memory. Every update is

    W ← W − step · g xᵀ,   g the gradient by the scores W x,

and the Frobenius norm that projection on the ball needs follows from numbers of the round:

    |V + a g xᵀ|² = |V|² + 2 a g·(V x) + a² |g|² |x|²

A class joins with weights 0.
"""

from libc.math cimport INFINITY, exp, fabs, isfinite, log, sqrt
from libc.string cimport memset

import numpy as np

cimport cython
cimport numpy as cnp

from noregret.base.compiled.losses cimport class_loss
from noregret.linear.engine.class_engine cimport ClassEngine, stride_for
from noregret.linear.engine.engine cimport DIVERGED, FINE, Engine, Row, as_rate, position, rate_at

from noregret.base.compiled.machine import zeros
from noregret.checks import one_of, positive, state_arrays
from noregret.errors import BadExample, BadLabel
from noregret.limits import MAX_CLASS_WEIGHTS

cnp.import_array()

CLASS_LOSSES = ("softmax", "multiclass-hinge", "multiclass-mistake")
FORMS = ("gradient", "adagrad", "ftrl-proximal")

cdef enum:  # Loss
    SOFTMAX
    HINGE
    MISTAKE

cdef enum:  # Form
    GRADIENT_STEP
    ADAGRAD
    PROXIMAL


cdef class ClassWeights(ClassEngine):
    """One weight vector per class: gradient steps, explicit or implicit, or a rate per weight.

    Parameters
    ----------
    loss
        ``softmax``, ``multiclass-hinge`` (Crammer and Singer's) or ``multiclass-mistake``.
    rate, schedule, horizon
        As in ``Additive``.
    radius
        Keep the Frobenius norm of the weights at most this; None for free weights.
    step
        ``explicit`` or ``implicit``.
    form
        ``gradient``, ``adagrad`` or ``ftrl-proximal``.
    l1, l2, beta
        Of FTRL-Proximal.
    """

    NUMBERS = (*ClassEngine.NUMBERS, "farthest", "stepped")
    SIGNED_ARRAYS = ("sums",)

    def __init__(self, loss="softmax", rate=1.0, schedule="constant", horizon: int | None = None,
                 radius: float | None = None, step="explicit", form="gradient", l1=0.0, l2=0.0, beta=1.0):
        one_of("loss", loss, CLASS_LOSSES)
        self.loss = class_loss(loss)
        self.kind = CLASS_LOSSES.index(loss)
        self.probable = self.kind == SOFTMAX
        one_of("form", form, FORMS)
        self.form = FORMS.index(form)
        self.rate = as_rate(rate, schedule, horizon)
        one_of("step", step, ("explicit", "implicit"))
        self.implicit = step == "implicit"
        if self.implicit and (self.kind == MISTAKE or self.form != GRADIENT_STEP):
            raise ValueError("the implicit step is for form='gradient' and a convex loss: use step='explicit'")
        positive("rate", rate)
        if radius is not None and self.form != GRADIENT_STEP:
            raise ValueError("radius goes with form='gradient'")
        self.radius = 0 if radius is None else positive("radius", radius)
        self.l1, self.l2, self.beta = l1, l2, beta
        if self.form != GRADIENT_STEP:
            self.arrays = self.arrays | {"squares": zeros(0)}
        if self.form == PROXIMAL:
            self.arrays = self.arrays | {"sums": zeros(0)}
        self.relocate()

    # The layout.

    cdef void relocate(self):
        Engine.relocate(self)
        self.capacity //= max(self.stride, 1)
        if "squares" in self.arrays:
            self.squares = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["squares"])
        if "sums" in self.arrays:
            self.sums = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["sums"])

    def length(self, name, size):
        """Return the numbers that an array holds, by the number of features."""
        return size * self.stride

    def room_for(self, size):
        """Return the number of features to make room for, at least ``size``."""
        if size * self.stride > MAX_CLASS_WEIGHTS:
            raise BadExample(
                f"{size:,} features times room for {self.stride:,} classes are more than {MAX_CLASS_WEIGHTS:,} weights",
                "hash the features (hash=18), or leave out columns that differ in every row",
            )
        return max(size, min(2 * self.capacity, MAX_CLASS_WEIGHTS // self.stride), 16)

    cdef void begin(self, Py_ssize_t start) noexcept nogil:
        cdef Py_ssize_t count = (self.size - start) * self.stride, k, first = start * self.stride
        for k in range(first, first + count):
            if self.stored[k] != 0:  # what is zero already takes no memory until it is written to
                self.stored[k] = 0

    cdef int widen(self, Py_ssize_t stride) except -1:
        """Make room for ``stride`` classes, or raise BadLabel."""
        if self.size * stride > MAX_CLASS_WEIGHTS:
            raise BadLabel(
                f"{self.size:,} features times {stride:,} classes are more than {MAX_CLASS_WEIGHTS:,} weights",
                "hash the features (hash=18)",
                round=self.rounds + 1,
            )
        old, room = self.stride, self.capacity
        wide = {}
        for name, array in self.arrays.items():
            made = zeros(room * stride).reshape(room, stride)
            made[:, :old] = array[:room * old].reshape(room, old)
            wide[name] = made.reshape(-1)
        ClassEngine.widen(self, stride)
        self.arrays = wide
        self.relocate()
        return 0

    # Scores.

    cdef void class_scores(self, Row* row, double* out, Py_ssize_t count) noexcept nogil:
        """Fill in W x for the first ``count`` classes, and the row's measurements."""
        cdef Py_ssize_t k, c
        cdef const double* weights
        cdef double value
        self.measure(row)
        memset(out, 0, count * sizeof(double))
        for k in range(row.count):
            value = row.values[k]
            weights = self.stored + position(row, k) * self.stride
            for c in range(count):
                out[c] += value * weights[c]
        for c in range(count):
            out[c] *= self.factor

    cdef double judge(self, Py_ssize_t y) noexcept nogil:
        """Return the loss of the scores, and fill in its gradient by them."""
        cdef Py_ssize_t c, rival = -1
        cdef double loss
        if self.kind == SOFTMAX:
            return ClassEngine.judge(self, y)
        memset(self.pull, 0, self.classes * sizeof(double))
        for c in range(self.classes):
            if c != y and (rival < 0 or self.scores[c] > self.scores[rival]):
                rival = c
        if rival < 0:
            return 0
        loss = self.scores[rival] - self.scores[y]
        loss = max(0.0, 1 + loss) if self.kind == HINGE else (1.0 if loss >= 0 else 0.0)
        if loss > 0:
            self.pull[y], self.pull[rival] = -1, 1
        return loss

    # Implicit steps.

    @cython.cdivision(True)
    cdef void implicit_pull(self, Py_ssize_t y, double reach) noexcept nogil:
        """Replace the gradient by that at the scores where the step ends; reach = rate · |x|².

        The new scores s' minimise reach · loss(s') + |s' − s|²/2. For the softmax that is
        s'_c + reach · p_c = s_c + reach · [c = y]  with  p_c = exp(s'_c − Z), so that each s'_c
        follows from Z, and Z is where the p_c sum to 1. Both are found by Newton's method, Z
        within a bracket.
        """
        cdef Py_ssize_t c
        cdef int outer, inner
        cdef double target, s, p, total, slope, low, high, Z, change, top = self.scores[0]
        if self.kind == HINGE:
            self.project_shortfalls(y, reach)
            return
        for c in range(1, self.classes):
            top = max(top, self.scores[c])
        for c in range(self.classes):
            self.spare[c] = self.scores[c] - top + (reach if c == y else 0.0)  # the right-hand sides
        # Chances sum to at most 1, so scores fall by at most reach: Z lies between these.
        low, high = -reach - 1, log(<double> self.classes) + reach + 1
        Z = 0
        for c in range(self.classes):
            Z += exp(self.scores[c] - top)
        Z = log(Z)
        for outer in range(200):
            total = slope = 0
            for c in range(self.classes):
                target = self.spare[c]
                # s + reach · exp(s − Z) = target, solved for p = exp(s − Z):  ln p + reach · p = target − Z.
                s = target - Z
                p = self.pull[c] + (1.0 if c == y else 0.0)
                if outer == 0 or not 0 < p <= 1:
                    p = exp(s) if s < -1 else min(1.0, max(0.3, s / (reach + 1)))
                for inner in range(60):
                    # Newton on ln p + reach p − s, concave: from the left of its root it stays there.
                    change = p * (log(p) + reach * p - s) / (1 + reach * p)
                    if change >= p:
                        change = 0.75 * p
                    p -= change
                    if fabs(change) <= 1e-16 * p:
                        break
                self.pull[c] = p - (1.0 if c == y else 0.0)
                total += p
                slope -= p / (1 + reach * p)
            if total > 1:
                low = Z
            else:
                high = Z
            change = (total - 1) / slope
            if fabs(total - 1) <= 4e-16 * (self.classes + 2):
                break
            Z = Z - change if low < Z - change < high else 0.5 * (low + high)
            if not low < Z < high:
                break

    @cython.cdivision(True)
    cdef void project_shortfalls(self, Py_ssize_t y, double reach) noexcept nogil:
        """Replace the gradient of the hinge by that of its implicit step, all rivals taken together.

        The step takes from rival c the share α_c ≥ 0 of x, Σα_c ≤ rate, and gives Σα_c to y, and
        minimises |x|² (Σα_c² + (Σα_c)²)/2 − Σ α_c (1 + s_c − s_y). So α_c = max(0, short_c/|x|² − θ)
        for one threshold θ, found by sorting the shortfalls. Here in units of the rate, and less the
        largest shortfall, so that a small reach costs no digits.
        """
        cdef Py_ssize_t c, top = -1, m = 0, i, held
        cdef double value, base, total = 0, full, threshold = INFINITY
        cdef double* order = self.spare
        for c in range(self.classes):
            if c != y and (top < 0 or self.scores[c] > self.scores[top]):
                top = c
        memset(self.pull, 0, self.classes * sizeof(double))
        base = (1 + self.scores[top] - self.scores[y]) / reach
        for c in range(self.classes):  # insertion sort: the classes that fall short are few
            value = (self.scores[c] - self.scores[top]) / reach
            if c == y or value + base <= 0:
                continue
            i = m
            while i > 0 and order[i - 1] < value:
                order[i] = order[i - 1]
                i -= 1
            order[i] = value
            m += 1
        for held in range(1, m + 1):
            total += order[held - 1]
            full = (total + held * base) / (1 + held)  # Σα where it is not limited: θ = Σα
            threshold = full - base if full <= 1 else (total - 1) / held
            if held == m or order[held] <= threshold:
                break
        for c in range(self.classes):
            value = (self.scores[c] - self.scores[top]) / reach - threshold
            if c != y and value > 0:
                self.pull[c] = value
                self.pull[y] -= value

    # The round.

    cdef int learn_class(self, Row* row, Py_ssize_t y, double value, double length2) noexcept nogil:
        cdef double rate
        cdef int status
        if not (row.norm2 > 0 and length2 > 0 and self.importance > 0):
            return FINE
        if self.form != GRADIENT_STEP:
            return self.step_by_coordinate(row)
        rate = self.importance * rate_at(&self.rate, self.rounds + 1)
        if self.implicit or (self.importance != 1 and self.kind != MISTAKE):
            self.implicit_pull(y, rate * row.norm2)
        status = self.step(row, rate)
        if status == FINE:
            self.farthest = max(self.farthest, self.factor * sqrt(self.norm2 + self.doubt))
            self.stepped += rate * length2 * row.norm2
        return status

    @cython.cdivision(True)
    cdef int step(self, Row* row, double rate) noexcept nogil:
        """W ← W − rate · g xᵀ, then back into the ball."""
        cdef double amount = -rate / self.factor, moved = 0, grown = 0, value
        cdef Py_ssize_t k, c
        cdef double* weights
        for c in range(self.classes):
            moved += self.pull[c] * self.scores[c]
            grown += self.pull[c] * self.pull[c]
        if self.grow(moved * (2 * amount / self.factor), grown * (amount * amount * row.norm2)) != FINE:
            return DIVERGED
        for k in range(row.count):
            value = amount * row.values[k]
            if value == 0:
                continue
            weights = self.stored + position(row, k) * self.stride
            for c in range(self.classes):
                weights[c] += value * self.pull[c]
        if self.radius > 0:
            self.project_on_ball()
        return FINE

    cdef int step_by_coordinate(self, Row* row) noexcept nogil:
        """A step of AdaGrad or FTRL-Proximal, with a rate for every weight."""
        cdef Py_ssize_t k, c, at
        cdef double gradient, square, rate = self.rate.value, before
        for k in range(row.count):  # nothing changes where a square would overflow
            at = position(row, k) * self.stride
            for c in range(self.classes):
                gradient = self.importance * self.pull[c] * row.values[k]
                if not self.squares[at + c] + gradient * gradient < 1e290:
                    return DIVERGED
        for k in range(row.count):
            at = position(row, k) * self.stride
            for c in range(self.classes):
                gradient = self.importance * self.pull[c] * row.values[k]
                if gradient == 0:
                    continue
                before = sqrt(self.squares[at + c])
                self.squares[at + c] += gradient * gradient
                square = sqrt(self.squares[at + c])
                if self.form == ADAGRAD:
                    self.stored[at + c] -= rate * gradient / square
                else:
                    self.sums[at + c] += gradient - (square - before) / rate * self.stored[at + c]
                    self.stored[at + c] = self.weight_at(at + c)
        return FINE

    cdef double weight_at(self, Py_ssize_t at) noexcept nogil:
        """Return the weight of FTRL-Proximal that the sums say."""
        cdef double z = self.sums[at]
        if fabs(z) <= self.l1:
            return 0
        return -(z - self.l1 if z > 0 else z + self.l1) / ((self.beta + sqrt(self.squares[at])) / self.rate.value + self.l2)

    # The state.

    def weights(self):
        """Return the weights: a row per feature, a column per class."""
        return self.factor * self.arrays["stored"][:self.size * self.stride].reshape(self.size, self.stride)[:, :self.classes]

    def accounts(self):
        """Return the largest norm of the weights, and Σ η‖g‖², as arrays of one number."""
        return {"farthest": np.array([self.farthest]), "stepped": np.array([self.stepped])}

    def get_state(self):
        """Return the state: (arrays, numbers), with one number per feature and class."""
        arrays, numbers = Engine.get_state(self)
        return {name: array.reshape(-1, self.stride)[:, :self.classes].flatten() for name, array in arrays.items()}, numbers

    def set_state(self, arrays, numbers):
        """Restore a state, or raise ValueError if it does not fit."""
        size, classes, before = numbers["size"], numbers["classes"], self.stride
        stride = stride_for(classes)
        if size * stride > MAX_CLASS_WEIGHTS:
            raise ValueError(f"{size:,} features times {classes:,} classes are too many weights")
        if numbers["rounds"] < 0 or not isfinite(numbers["factor"]):
            raise ValueError("the state's numbers make no sense")
        state_arrays(arrays, dict.fromkeys(self.arrays, size * classes))
        wide = {}
        for name, array in arrays.items():
            if name == "squares" and (array < 0).any():
                raise ValueError("squares cannot be negative")
            made = zeros(size * stride).reshape(size, stride)
            made[:, :classes] = array.reshape(size, classes)
            wide[name] = made.reshape(-1)
        self.buffers(max(stride, before))
        self.stride = stride
        try:
            Engine.set_state(self, wide, numbers)
        except BaseException:
            self.stride = before
            raise
