"""The additive engines: gradient descent and its lazy form, the largest margin, follow the leader."""

from libc.math cimport INFINITY, fabs, isfinite, sqrt

import numpy as np

cimport cython
cimport numpy as cnp

from noregret.base.compiled.losses cimport as_loss
from noregret.linear.engine.engine cimport (
    BAD_VALUE, DIVERGED, FINE, LOSS_FAILED, NORM, OUTCOME, Engine, Rate, Row, as_rate, noregret_add_dense,
    noregret_add_sparse, position, rate_at,
)

from noregret.checks import one_of, positive

cnp.import_array()


# Gradient descent with projection, and its lazy (FTRL) form.
#
#     w ← w − step · x,   then back into the domain
#
# The weights are factor × stored. Projection on a ball is a change of the factor alone, and the
# norm that it needs follows from numbers the round has computed anyway:
#
#     |v + a x|² = |v|² + 2 a v·x + a² |x|²
#
# A bound on its rounding error is kept; before that matters, the norm is recomputed.

DOMAINS = ("everything", "ball", "box")
STEPS = ("explicit", "implicit")

cdef enum:  # Domain
    EVERYTHING
    BALL
    BOX

cdef enum:  # Step
    EXPLICIT
    IMPLICIT
    NORMALISED

# The stored numbers are scaled up at most this much before the factor is folded into them.
cdef double SMALLEST_FACTOR = 1e-100
cdef double LARGEST_NORM2 = 1e220
cdef double ROUNDING = 2.3e-16
# Limits of a round, as in ``engine``.
cdef double LARGEST_NORM2_OF_ROW = 1e300
cdef double LARGEST_LOSS = 1e290
# Rounding error of the norm per round, relative to the terms of its sum; the same for dense and
# sparse rows.
cdef double DOUBT_PER_ROUND = 8 * ROUNDING
cdef enum:
    BLOCK = 1024
# Largest relative error of a norm used for projection.
cdef double MAX_DOUBT = 1.5e-9
# Steps that overshoot at predictions this many times larger than any outcome so far are divergence.
cdef double MAX_DISTANCE = 1e3


cdef class Scaled(Engine):
    """An engine whose weights, factor × stored, can be projected on a ball; ``stride`` numbers are stored per feature."""

    NUMBERS = ("norm2", "doubt")

    def __cinit__(self, *args, **options):
        self.stride = 1

    @cython.final
    cdef int grow(self, double moved, double grown) noexcept nogil:
        """Add the two terms by which a step changes the squared norm, or return DIVERGED."""
        cdef double bound = self.norm2 + fabs(moved) + grown
        if not bound < 1e280:
            return DIVERGED
        self.norm2 = max(0.0, self.norm2 + moved + grown)
        self.doubt += DOUBT_PER_ROUND * bound
        return FINE

    @cython.final
    cdef void project_on_ball(self) noexcept nogil:
        cdef double most2 = self.radius * self.radius, factor2 = self.factor * self.factor
        if factor2 * (self.norm2 + self.doubt) <= most2:
            return
        if self.doubt > MAX_DOUBT * self.norm2:
            self.recount()
        if factor2 * self.norm2 > most2:
            self.factor = self.radius / sqrt(self.norm2)
            if self.factor < SMALLEST_FACTOR or self.norm2 > LARGEST_NORM2:
                self.fold()

    @cython.final
    cdef void recount(self) noexcept nogil:
        """Recompute the sum of squares in blocks, accurate for any number of features."""
        cdef double total = 0, part
        cdef Py_ssize_t i = 0, end, count = self.size * self.stride
        while i < count:
            part, end = 0, min(i + BLOCK, count)
            while i < end:
                part += self.stored[i] * self.stored[i]
                i += 1
            total += part
        self.norm2 = total
        self.doubt = ROUNDING * (BLOCK + count / BLOCK) * total

    @cython.final
    cdef void fold(self) noexcept nogil:
        """Multiply the factor into the stored numbers."""
        cdef Py_ssize_t i
        self.flush()
        for i in range(self.size * self.stride):
            self.stored[i] *= self.factor
        self.norm2 *= self.factor * self.factor
        self.doubt *= self.factor * self.factor
        self.factor = 1


cdef class Additive(Scaled):
    """Gradient descent: explicit, implicit or normalised steps; unconstrained, in a ball or a box."""

    FLAT = True
    def __init__(self, loss: str | Loss = "square", rate=0.1, schedule="constant", horizon: int | None = None,
                 domain="everything", radius: float | None = None, step="explicit", loss_parameter: float | None = None,
                 cushion: float | None = None):
        self.loss = as_loss(loss, loss_parameter)
        self.rate = as_rate(rate, schedule, horizon)
        one_of("domain", domain, DOMAINS)
        one_of("step", step, STEPS)
        if step == "implicit" and not self.loss.implicit:
            raise ValueError(f"the {self.loss.name} loss has no implicit step: use step='explicit'")
        if step != "implicit" and not isfinite(self.rate.value):
            raise ValueError("rate must be a positive number: got inf")
        if (domain == "everything") != (radius is None):
            raise ValueError("radius goes with domain='ball' or domain='box'")
        self.domain, self.step = DOMAINS.index(domain), STEPS.index(step)
        self.radius = 0 if radius is None else positive("radius", radius)
        if cushion is not None:  # steps divided by cushion + ‖x‖²
            self.step, self.cushion = NORMALISED, positive("epsilon", cushion)

    @cython.final
    cdef int play_late(self, Row* row, double served, const double* note, Py_ssize_t size, double y) noexcept nogil:
        """Pay for the score that was served, and step by the gradient of then. On anything but FINE nothing has changed."""
        cdef double value, slope
        cdef int status
        self.score(row)  # for the row's measurements
        if not row.norm2 < LARGEST_NORM2_OF_ROW:
            return BAD_VALUE
        value = self.loss.table.value(&self.loss.table, served, y)
        slope = self.loss.table.slope(&self.loss.table, served, y)
        if not fabs(value) < LARGEST_LOSS or not isfinite(slope * row.norm2):
            return LOSS_FAILED if self.loss.table.python != NULL else DIVERGED
        status = self.update(row, served, slope, y)
        if status == FINE:
            self.book(row, served, value, fabs(slope), fabs(slope), fabs(y), self.loss.table.labels and y * served <= 0)
        return status

    @property
    def steps_late(self) -> bool:
        """True if its steps depend on weights only by the gradient: it may be that of earlier weights."""
        return type(self) in (Additive, Lazy) and self.step == EXPLICIT and not self.mean_kept

    @property
    def fixed_rate(self) -> float | None:
        """The rate of all rounds; None if it changes."""
        return None if rate_at(&self.rate, 2) != rate_at(&self.rate, 1) else rate_at(&self.rate, 1)

    @cython.final
    cdef double travel(self, Row* row, double score, double slope, double y) noexcept nogil:
        """Return the length of the step: the t of w − t x.

        A round of importance k takes the implicit step at k times the rate: to first order this equals
        k copies, and it cannot overshoot. A mistake is corrected k times.
        """
        cdef double rate = rate_at(&self.rate, self.rounds + 1)
        if self.importance == 0:
            return 0
        if self.step == EXPLICIT and self.importance == 1:  # no division: the next score depends on this
            return rate * slope
        cdef double divisor = self.cushion + row.norm2 if self.step == NORMALISED else 1.0
        if self.step == IMPLICIT or self.importance != 1:
            rate = self.importance * rate / divisor
            if self.loss.table.implicit is NULL:
                return rate * slope
            return self.loss.table.implicit(&self.loss.table, score, y, rate, row.norm2)
        return rate * slope / divisor

    @cython.final
    cdef bint strays(self, const Row* row, double score, double slope, double y) noexcept nogil:
        """Return whether this explicit step overshoots far from all outcomes, long before infinity.

        It does if the slope at its end is steeper than at its start, with the opposite sign.
        """
        cdef double there
        if (
            self.step != EXPLICIT or self.domain != EVERYTHING or self.importance != 1
            or fabs(score) <= MAX_DISTANCE * max(self.most[OUTCOME], fabs(y))
        ):
            return False
        there = score - rate_at(&self.rate, self.rounds + 1) * slope * row.norm2
        there = self.loss.table.slope(&self.loss.table, there, y)
        return there * slope < 0 and fabs(there) > fabs(slope)

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef double travel
        if row.norm2 == 0:
            return FINE
        travel = self.travel(row, score, slope, y)
        if travel == 0:
            return FINE
        if not isfinite(travel):
            return LOSS_FAILED if self.loss.table.python != NULL else DIVERGED
        if self.factor != 1:
            travel /= self.factor
        if self.strays(row, score, slope, y) or self.add(row, -travel) != FINE:
            return DIVERGED
        self.project(row)
        return FINE

    @cython.final
    cdef int add(self, Row* row, double amount) noexcept nogil:
        """Add amount · x to the stored numbers, and update the norm."""
        if self.grow(2 * amount * row.dot, amount * amount * row.norm2) != FINE:
            return DIVERGED
        self.touch_row(row)
        if row.indices == NULL:
            noregret_add_dense(self.stored, amount, row.values, row.count)
        else:
            noregret_add_sparse(self.stored, amount, row.values, row.indices, row.count)
        return FINE

    @cython.final
    cdef void project(self, Row* row) noexcept nogil:
        """Project on the domain."""
        cdef Py_ssize_t i, k
        if self.domain == BOX:
            for k in range(row.count):
                i = position(row, k)
                self.stored[i] = max(-self.radius, min(self.radius, self.stored[i]))
            self.norm2 = 0  # not needed for a box
        elif self.domain == BALL:
            self.project_on_ball()

    @property
    def takes_importance(self):
        """True if rounds may have importances: with implicit steps, or by correcting a mistake k times."""
        return True

    def advice(self, norm):
        """Return advice for weights that diverge."""
        norm = max(norm, self.most[NORM])
        excess = 0.5 * self.loss.table.curvature * self.rate.value * norm**2
        if not 1 < excess < INFINITY:
            return "use a smaller rate, or scale the examples and outcomes down"
        return (
            f"the rate is too large for examples of norm {norm:.3g}, the largest so far: divide it by {1.1 * excess:.2g}"
            f" or more for those, {self.cure()}, or scale every example to norm 1"
        )

    def cure(self):
        """Return the remedy of this engine for steps that overshoot."""
        return "use step='implicit' or the learner nlms"


cdef class Lazy(Additive):
    """Follow the regularised leader: w = −rate · (sum of gradients), projected in each round.

    With an infinite rate the regulariser vanishes: follow the leader on the ball.
    """

    def __init__(self, loss: str | Loss = "linear", rate=0.1, schedule="constant", horizon: int | None = None,
                 radius: float | None = None, loss_parameter: float | None = None):
        Additive.__init__(
            self, loss, 1.0 if rate == INFINITY else rate, schedule, horizon,
            "everything" if radius is None else "ball", radius, loss_parameter=loss_parameter,
        )
        if rate == INFINITY:
            if radius is None:
                raise ValueError("the leader of all linear losses needs a ball to stay in: give a radius")
            self.rate.value = INFINITY
        self.refactor()

    @property
    def takes_importance(self):
        """True if rounds may have importances."""
        return False

    def cure(self):
        """Return the remedy of this engine for steps that overshoot."""
        return "give a radius"

    cdef void refactor(self) noexcept nogil:
        """Set the factor of the coming round."""
        self.factor = rate_at(&self.rate, self.rounds + 1)
        if self.domain == BALL and self.norm2 > 0:
            self.factor = min(self.factor, self.radius / sqrt(self.norm2))
        elif not isfinite(self.factor):
            self.factor = 0

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        if slope != 0 and row.norm2 != 0:
            if self.strays(row, score, slope, y) or self.add(row, -slope) != FINE:
                return DIVERGED
        if self.domain == BALL and self.doubt > MAX_DOUBT * self.norm2:
            self.recount()
        self.rounds += 1
        self.refactor()
        self.rounds -= 1
        return FINE


# The engine of ``max-margin``: shrinking corrections by examples scaled to norm 1, in the unit ball.

# Shorter rows are skipped, as their squares underflow.
cdef double SHORTEST_NORM2 = 1e-290


cdef class ShrinkingMargin(Additive):
    """After k − 1 corrections, an example with a margin below (1 − α)·B/√k moves w by C/√k."""

    NUMBERS = (*Additive.NUMBERS, "corrections")
    cdef double accuracy
    cdef public long long corrections

    def __init__(self, accuracy=0.5):
        Additive.__init__(self, "mistake", rate=sqrt(2.0), schedule="sqrt", domain="ball", radius=1.0)
        if not 0 < positive("accuracy", accuracy) <= 1:
            raise ValueError(f"accuracy must be above 0 and at most 1: got {accuracy!r}")
        self.accuracy = accuracy

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef double norm = sqrt(row.norm2), turn = sqrt(<double> (self.corrections + 1))
        cdef int status
        if row.norm2 < SHORTEST_NORM2 or y * score > (1 - self.accuracy) * (sqrt(8.0) / self.accuracy / turn) * norm:
            return FINE
        status = self.add(row, y * (self.rate.value / turn) / norm / self.factor)
        if status == FINE:
            self.corrections += 1
            self.project(row)
        return status

    @property
    def correction_count(self) -> int:
        """The number of corrections."""
        return self.corrections

    def accounts(self):
        """Return the quantity that the theorem bounds."""
        return {"corrections": [float(self.corrections)]}

    @property
    def takes_importance(self):
        """True if rounds may have importances."""
        return False

    def check_state(self, arrays, numbers):
        """Raise ValueError if there are more corrections than rounds."""
        if numbers["corrections"] > numbers["rounds"]:
            raise ValueError("the state has more corrections than rounds")

# Follow the leader on the box: the best corner so far.

cdef class Leader(Engine):
    """The corner of the box [−radius, radius]ⁿ with the least linearised loss so far."""

    FLAT = True
    cdef double* sums               # of the gradients

    def __init__(self, loss: str | Loss = "linear", radius=1.0, loss_parameter: float | None = None):
        self.loss = as_loss(loss, loss_parameter)
        self.factor = positive("radius", radius)
        self.arrays = {name: np.zeros(0) for name in ("stored", "sums")}
        self.relocate()

    cdef void relocate(self):
        Engine.relocate(self)
        if "sums" in self.arrays:
            self.sums = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["sums"])

    cdef void begin(self, Py_ssize_t start) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(start, self.size):
            if self.sums[i] != 0 or self.stored[i] != 0:  # untouched pages take no memory
                self.sums[i] = self.stored[i] = 0

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef Py_ssize_t i, k
        for k in range(row.count):
            if not fabs(self.sums[position(row, k)] + slope * row.values[k]) < 1e300:
                return DIVERGED
        self.touch_row(row)
        for k in range(row.count):
            i = position(row, k)
            self.sums[i] += slope * row.values[k]
            self.stored[i] = -1 if self.sums[i] > 0 else 1 if self.sums[i] < 0 else 0
        return FINE
