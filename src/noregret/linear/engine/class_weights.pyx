"""Linear learners over several classes: one weight vector per class, stored by feature.

The weights of feature i are stored[i * stride], …, one number per class, so that a row costs
O(non-zeros × classes) over numbers that are contiguous in memory. Every update is

    W ← W − step · g xᵀ,   g the gradient by the scores W x,

and the Frobenius norm that projection on the ball needs follows from numbers of the round:

    |V + a g xᵀ|² = |V|² + 2 a g·(V x) + a² |g|² |x|²

A class joins in the round in which it first appears, with weights 0.
"""

from libc.math cimport INFINITY, exp, fabs, isfinite, log, sqrt
from libc.stdlib cimport free, malloc
from libc.string cimport memset


cimport cython
cimport numpy as cnp

from noregret.base.compiled.losses cimport class_loss
from noregret.linear.engine.additive cimport Scaled
from noregret.linear.engine.engine cimport (
    BAD_LABEL, BAD_VALUE, DIVERGED, FINE, NO_MEMORY, Engine, Row, as_rate, position, rate_at,
)

from noregret.base.compiled.machine import zeros
from noregret.checks import one_of, positive, state_arrays
from noregret.errors import BadExample, BadLabel
from noregret.limits import MAX_CLASSES, MAX_CLASS_WEIGHTS

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

cdef enum:
    FIRST_STRIDE = 4


cdef class ClassWeights(Scaled):
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

    SIGNED_ARRAYS = ("sums",)

    def __init__(
        self, loss="softmax", rate=1.0, schedule="constant", horizon=None, radius=None, step="explicit",
        form="gradient", l1=0.0, l2=0.0, beta=1.0,
    ):
        one_of("loss", loss, CLASS_LOSSES)
        self.chances = None  # a view that was never set would not be None
        self.loss = class_loss(loss)
        self.kind = CLASS_LOSSES.index(loss)
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
        self.stride = FIRST_STRIDE
        self.relocate()
        self.buffers(self.stride)

    def __dealloc__(self):
        free(self.scores)

    cdef int buffers(self, Py_ssize_t stride) except -1:
        """Make room for the numbers of one round."""
        cdef double* made = <double*> malloc(4 * stride * sizeof(double))
        if made == NULL:
            raise MemoryError("no memory left for the scores of the classes")
        free(self.scores)
        self.scores, self.pull, self.spare = made, made + stride, made + 2 * stride
        return 0

    # The layout.

    cdef void relocate(self):
        Engine.relocate(self)
        self.capacity //= max(self.stride, 1)
        if "squares" in self.arrays:
            self.squares = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["squares"])
        if "sums" in self.arrays:
            self.sums = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["sums"])

    def length(self, name, size):
        """Return how many numbers an array holds for so many features."""
        return size * self.stride

    def room_for(self, size):
        """Return for how many features to make room where so many need it."""
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

    cdef int admit_class(self) except -1:
        """Make room for one more class."""
        if self.classes >= MAX_CLASSES:
            raise BadLabel(
                f"there are more than {MAX_CLASSES:,} classes",
                "is the target a number, or a column that differs in every row?",
                round=self.rounds + 1,
            )
        if self.classes == self.stride:
            if self.size * 2 * self.stride > MAX_CLASS_WEIGHTS:
                raise BadLabel(
                    f"{self.size:,} features times {2 * self.stride:,} classes are more than {MAX_CLASS_WEIGHTS:,} weights",
                    "hash the features (hash=18)",
                    round=self.rounds + 1,
                )
            old, room = self.stride, self.capacity
            wide = {}
            for name, array in self.arrays.items():
                made = zeros(room * 2 * old).reshape(room, 2 * old)
                made[:, :old] = array[:room * old].reshape(room, old)
                wide[name] = made.reshape(-1)
            self.buffers(2 * old)
            self.stride = 2 * old
            self.arrays = wide
            self.relocate()
        self.classes += 1
        return 0

    # Scores.

    @cython.cdivision(True)
    cdef void class_scores(self, Row* row, double* out, Py_ssize_t count) noexcept nogil:
        """Fill in W x for the first so many classes, and the row's measurements."""
        cdef Py_ssize_t k, c
        cdef const double* weights
        cdef double value, low = INFINITY, high = -INFINITY, norm2 = 0
        memset(out, 0, count * sizeof(double))
        for k in range(row.count):
            value = row.values[k]
            low, high = min(low, value), max(high, value)
            norm2 += value * value
            weights = self.stored + position(row, k) * self.stride
            for c in range(count):
                out[c] += value * weights[c]
        if row.count < self.size or row.count == 0:
            low, high = min(low, 0.0), max(high, 0.0)
        for c in range(count):
            out[c] *= self.factor
        row.norm2, row.peak, row.spread = norm2, max(-low, high), high - low

    cdef double score(self, Row* row) noexcept nogil:
        """Return the number of the class with the highest score, the first of several; −1 for none."""
        cdef double* out
        cdef double[64] few
        cdef Py_ssize_t c, best = 0
        if self.classes <= 64:
            out = few
        else:
            out = <double*> malloc(self.classes * sizeof(double))
        if out == NULL:
            return INFINITY
        self.class_scores(row, out, self.classes)
        for c in range(1, self.classes):
            if out[c] > out[best]:
                best = c
        if self.classes > 64:
            free(out)
        return <double> best if self.classes else -1.0

    cdef double judge(self, Py_ssize_t y) noexcept nogil:
        """Return the loss of the scores, and fill in its gradient by them."""
        cdef Py_ssize_t c, rival = -1
        cdef double top = self.scores[0], total = 0, loss
        memset(self.pull, 0, self.classes * sizeof(double))
        if self.kind == SOFTMAX:
            for c in range(1, self.classes):
                top = max(top, self.scores[c])
            for c in range(self.classes):
                self.pull[c] = exp(self.scores[c] - top)
                total += self.pull[c]
            for c in range(self.classes):
                self.pull[c] /= total
            self.pull[y] -= 1
            return log(total) + (top - self.scores[y])
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

    def note_chances(self, double[::1] out):
        """Fill in the chance of the class that is predicted in each round to come; None to stop."""
        self.chances, self.chances_noted = out, 0

    cdef double chance_of(self, Py_ssize_t best, Py_ssize_t y, Py_ssize_t before) noexcept nogil:
        """Return the chance of a class among those known before the round, from the gradient."""
        cdef double chance = self.pull[best] + (1.0 if best == y else 0.0)
        return chance / -self.pull[y] if y == before else chance

    cdef int play(self, Row* row, double given) noexcept nogil:
        """Predict, pay, learn, measure. On anything but FINE nothing has changed."""
        cdef Py_ssize_t y = <Py_ssize_t> given, before = self.classes, c, best = 0
        cdef double value, rate, length2 = 0, peak = 0, chance = 0
        cdef int status
        cdef bint wrong = False
        if y < 0 or y > before or y >= self.labelled or given != y:
            return BAD_LABEL
        if y == before:
            with gil:
                try:
                    self.admit_class()
                except BaseException as failure:
                    self.failure = failure
                    return NO_MEMORY
        self.class_scores(row, self.scores, self.classes)
        status = FINE
        if not row.norm2 < 1e300:
            status = BAD_VALUE
        else:
            value = self.judge(y)
            if not fabs(value) < 1e290:
                status = DIVERGED
        if status == FINE:
            for c in range(self.classes):
                if c < before and self.scores[c] > self.scores[best]:
                    best = c
                wrong = wrong or (c != y and self.scores[c] >= self.scores[y])
                length2 += self.pull[c] * self.pull[c]
                peak = max(peak, fabs(self.pull[c]))
            if self.chances is not None and self.kind == SOFTMAX and before:
                chance = self.chance_of(best, y, before)
            if row.norm2 > 0 and length2 > 0 and self.importance > 0:
                if self.form != GRADIENT_STEP:
                    status = self.step_by_coordinate(row)
                else:
                    rate = self.importance * rate_at(&self.rate, self.rounds + 1)
                    if self.implicit or (self.importance != 1 and self.kind != MISTAKE):
                        self.implicit_pull(y, rate * row.norm2)
                    status = self.step(row, rate)
        if status != FINE:
            self.classes = before
            return status
        if self.chances is not None and self.chances_noted < self.chances.shape[0]:
            self.chances[self.chances_noted] = chance
            self.chances_noted += 1
        self.book(row, <double> best if before else -1.0, self.importance * value, sqrt(length2), peak, 0, wrong)
        return FINE

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

    @property
    def linear(self):
        """False: predictions have one score per class, not w·x alone."""
        return False

    @property
    def takes_importance(self):
        """True: a round may stand for several."""
        return True

    def weights(self):
        """Return the weights: a row per feature, a column per class."""
        return self.factor * self.arrays["stored"][:self.size * self.stride].reshape(self.size, self.stride)[:, :self.classes]

    def scalars(self):
        """Return the numbers that, with the arrays, make up the state."""
        return Scaled.scalars(self) | {"classes": self.classes}

    def get_state(self):
        """Return the state: (arrays, numbers), with one number per feature and class."""
        arrays, numbers = Engine.get_state(self)
        return {name: array.reshape(-1, self.stride)[:, :self.classes].flatten() for name, array in arrays.items()}, numbers

    def set_state(self, arrays, numbers):
        """Restore a state, or raise ValueError if it does not fit."""
        size, classes, before = numbers["size"], numbers["classes"], self.stride
        if not 0 <= classes <= MAX_CLASSES:
            raise ValueError(f"there can be from 0 to {MAX_CLASSES:,} classes: got {classes}")
        stride = FIRST_STRIDE
        while stride < classes:
            stride *= 2
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

    def restore(self, numbers):
        """Take the numbers of a state over."""
        Scaled.restore(self, numbers)
        self.classes = numbers["classes"]
