"""Filters over a sliding window of samples: everything but their steps."""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport fabs, isfinite, sqrt
from libc.string cimport memmove

import numpy as np

cimport numpy as cnp

from noregret.base.compiled.machine cimport come_in, go_out

from noregret.checks import whole
from noregret.errors import BadExample, Diverged, NoRegretError

cnp.import_array()


#     ŷ = w·x,   e = d − ŷ,   w ← w + a x
#
# The buffer ``line`` holds several windows, newest sample first: a sample is written before the others,
# and only when the buffer is full, a window is moved to its end. A step is taken in the same pass over
# the weights as the next prediction, w ← w + a x' and w·x; until then it is pending in ``amounts``.
#
# ‖x‖², and the sums x_t·x_{t−k} of other lags, are a running sum over new samples plus a suffix sum over
# old ones, which is recomputed once per window: nothing is ever subtracted, so rounding errors do not
# accumulate, and silence is exactly zero.

cdef extern from "window_loops.h" nogil:
    double noregret_slide(double* w, double a, const double* p, const double* q, Py_ssize_t n) noexcept
    double noregret_tap(const double* w, const double* q, Py_ssize_t n) noexcept

MAX_TAPS = 1 << 20
MAX_ORDER = 1 << 10
# The length of the buffer in windows, and its minimum in samples.
WINDOWS, MIN_SAMPLES = 2, 512
# Operations between two checks for Ctrl-C.
OPERATIONS_PER_CHECK = 1 << 27

cdef double MAX_SAMPLE = 1e100
cdef double MAX_ERROR = 1e130
cdef double MAX_WEIGHT = 1e150
cdef double MAX_STATE_WEIGHT = 1e200  # in a state, also of least squares, which have their own limit


cdef class Sliding:
    """The base: a window, weights, and sums over the window for lags 0 to K − 1."""

    ADVICE = "use a smaller rate"  # against weights that diverge
    # Numbers of the state that may be negative.
    SIGNED = ("loss_rest",)  # type: tuple[str, ...]

    def __cinit__(self, taps, *args, **options):
        self.taps = whole("taps", taps, below=MAX_TAPS + 1)
        self.share = 1

    def __init__(self, taps, order=1):
        self.begin(order)
        self.ready = True

    cdef int begin(self, Py_ssize_t order) except -1:
        """Allocate the window and the sums of ``order`` lags; the caller sets ``ready``."""
        if self.busy or self.ready:
            raise NoRegretError("this filter's engine is built already", "build another")
        if not 1 <= order <= MAX_ORDER:
            raise ValueError(f"the order must be from 1 to {MAX_ORDER}: got {order}")
        self.order = order
        self.span = self.taps + self.order
        self.room = max(WINDOWS * self.span, MIN_SAMPLES)
        self.start = self.room - self.span
        self.arrays = {
            "line": np.zeros(self.room), "weights": np.zeros(self.taps), "amounts": np.zeros(order),
            "past": np.zeros(order * self.taps), "fresh": np.zeros(order), "undo": np.zeros(order),
        }
        self.locate()
        return 0

    cdef void locate(self):
        """Set the pointers to the arrays."""
        self.line = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["line"])
        self.weights = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["weights"])
        self.amounts = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["amounts"])
        self.past = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["past"])
        self.fresh = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["fresh"])
        self.undo = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["undo"])

    # The window.

    cdef void enter(self, double x) noexcept nogil:
        """Push a sample into the window."""
        cdef Py_ssize_t lag
        if self.phase == 0:
            self.recompute_sums(0)
        if self.start == 0:
            self.start = self.room - self.span
            memmove(self.line + self.start, self.line, self.span * sizeof(double))
        self.start -= 1
        self.line[self.start] = x
        for lag in range(self.order):
            self.undo[lag] = self.fresh[lag]
            self.fresh[lag] += x * self.line[self.start + lag]

    cdef void leave(self) noexcept nogil:
        """Remove the newest sample, which restores the previous window exactly."""
        cdef Py_ssize_t lag
        self.start += 1
        for lag in range(self.order):
            self.fresh[lag] = self.undo[lag]

    cdef void recompute_sums(self, Py_ssize_t age) noexcept nogil:
        """Recompute the suffix sums of products at least ``age`` samples old, and the sums of newer ones."""
        cdef const double* x = self.line + self.start
        cdef double* sums
        cdef Py_ssize_t lag, k
        for lag in range(self.order):
            sums = self.past + lag * self.taps
            sums[0] = self.fresh[lag] = 0
            for k in range(1, self.taps - age):
                sums[k] = sums[k - 1] + x[age + k - 1] * x[age + k - 1 + lag]
            for k in range(age - 1, -1, -1):
                self.fresh[lag] += x[k] * x[k + lag]

    # The round.

    def work(self):
        """Return the approximate number of operations per sample."""
        return self.taps + 32

    cdef double guess(self) noexcept nogil:
        """Apply the oldest pending step, and return w·x."""
        cdef Py_ssize_t last = self.order - 1, k
        cdef const double* x = self.line + self.start
        cdef double score = noregret_slide(self.weights, self.amounts[last], x + self.order, x, self.taps)
        self.amounts[last] = 0
        for k in range(last):
            score += self.amounts[k] * self.correlation(k + 1)
        return score

    cdef double step(self, double error) noexcept nogil:
        """Return the multiple of x to add to the weights."""
        return 0

    cdef int learn(self, double error) noexcept nogil:
        """Take a step; return a status, and change nothing unless it is FINE."""
        cdef double amount = self.step(error)
        if not self.may_move(fabs(amount) * sqrt(self.correlation(0)), &amount):
            return DIVERGED
        self.amounts[0] = amount
        return FINE

    cdef bint may_move(self, double by, const double* amounts) noexcept nogil:
        """Return whether a step keeps the weights within bounds."""
        cdef double there = self.most + by
        if not there < MAX_WEIGHT:
            there = self.furthest(amounts)
        if not there < MAX_WEIGHT:
            return False
        self.most = there
        return True

    cdef double furthest(self, const double* amounts) noexcept nogil:
        """Return the largest weight after adding multiples of the last K windows."""
        cdef const double* x = self.line + self.start
        cdef double most = 0, w
        cdef Py_ssize_t i, k
        for i in range(self.taps):
            w = self.weights[i]
            for k in range(self.order):
                w += amounts[k] * x[i + k]
            most = fabs(w) if not fabs(w) <= most else most
        return most

    cdef int play(self, double x, double d, double* out) noexcept nogil:
        """Predict, add the loss, learn; return a status, and change nothing unless it is FINE."""
        cdef double score, error
        cdef int status = DIVERGED
        if not fabs(x) <= MAX_SAMPLE:
            return BAD_INPUT
        if not fabs(d) <= MAX_SAMPLE:
            return BAD_OUTCOME
        self.enter(x)
        score = self.guess()
        error = d - score
        if fabs(error) < MAX_ERROR:
            status = self.learn(error)
        if status != FINE:
            self.leave()
            return status
        self.rounds += 1
        self.phase = self.phase + 1 if self.phase + 1 < self.taps else 0
        add(&self.loss_sum, &self.loss_rest, error * error)
        add(&self.scaled_sum, &self.scaled_rest, error * error * self.share)
        out[0] = score
        return FINE

    cdef int check_free(self) except -1:
        """Raise an error if another thread plays, or ``__init__`` has not run."""
        if not self.ready:
            raise NoRegretError("this filter's engine was never built: its __init__ has not run")
        if self.busy:
            raise NoRegretError("this filter is being played in another thread", "use a copy in each")
        return 0

    def play_block(self, const double[::1] x not None, const double[::1] d not None, double[::1] out not None) -> None:
        """Play samples in order; Ctrl-C is checked from time to time."""
        cdef Py_ssize_t k = 0, stop, count = len(x), step = max(1, OPERATIONS_PER_CHECK // self.work())
        cdef int status = FINE
        self.check_free()
        if d.shape[0] != count or out.shape[0] != count:
            raise ValueError(f"{count} samples of the input, but {d.shape[0]} outcomes and {out.shape[0]} predictions to fill")
        while k < count:
            come_in()
            try:
                self.check_free()
            except BaseException:
                go_out()
                raise
            stop = min(count, k + step)
            self.busy = True
            with nogil:
                while k < stop and status == FINE:
                    status = self.play(x[k], d[k], &out[k])
                    k += 1
            self.busy = False
            go_out()
            if status != FINE:
                raise self.refusal(status, x[k - 1], d[k - 1])
            PyErr_CheckSignals()

    def predict_one(self, double x) -> float:
        """Return the prediction for a next sample, without learning."""
        if not fabs(x) <= MAX_SAMPLE:
            raise self.refusal(BAD_INPUT, x, 0.0)
        self.check_free()
        self.enter(x)
        score = self.guess()
        self.leave()
        return score

    def predict_block(self, const double[::1] x not None, double[::1] out not None) -> None:
        """Predict next samples with the present weights."""
        cdef Py_ssize_t k, count = len(x)
        if out.shape[0] != count:
            raise ValueError(f"{count} samples, but {out.shape[0]} predictions to fill")
        cdef double[::1] w = self.impulse_response()
        for k in range(count):
            if not fabs(x[k]) <= MAX_SAMPLE:
                raise self.refusal(BAD_INPUT, x[k], 0.0, k)
        heard = np.concatenate([np.asarray(x)[::-1], self.window()[:self.taps]])
        cdef const double[::1] line = heard
        with nogil:
            for k in range(count):
                out[k] = noregret_tap(&w[0], &line[count - 1 - k], self.taps)

    def refusal(self, int status, double x, double d, long long ahead=0):
        """Return the error for a status."""
        number = self.rounds + 1 + ahead
        if status == DIVERGED:
            norm = np.linalg.norm(self.window()[:self.taps])
            return Diverged(
                "the weights diverge", self.advice(norm), round=number, unit="sample"
            )
        name, value = ("the input", x) if status == BAD_INPUT else ("the outcome", d)
        why, cure = (f"beyond {MAX_SAMPLE:g}", "scale the signal") if isfinite(value) else ("not a finite number", ())
        return BadExample(f"{name} is {value!r}, {why}", cure, round=number, unit="sample")

    def advice(self, norm):
        """Return the remedy for diverging weights."""
        return self.ADVICE

    # The weights, and the state as named arrays and numbers.

    def window(self) -> Floats:
        """Return the samples of the window, newest first."""
        self.check_free()
        return self.arrays["line"][self.start:self.start + self.span].copy()

    def impulse_response(self) -> Floats:
        """Return the weights of the next prediction, that of the newest sample first."""
        self.check_free()
        x, w = self.window(), self.arrays["weights"].copy()
        for k in range(self.order - 1, -1, -1):
            w += self.arrays["amounts"][k] * x[k:k + self.taps]
        return w

    @property
    def total_loss(self) -> float:
        """The sum of squared errors."""
        return self.loss_sum + self.loss_rest

    @property
    def scaled_loss(self) -> float:
        """The sum of squared errors, each with its factor in the filter's theorem."""
        return self.scaled_sum + self.scaled_rest

    def kept(self):
        """Return the arrays of a state besides the window."""
        self.check_free()
        return {name: self.arrays[name] for name in ("weights", "amounts")}

    def scalars(self) -> dict[str, Any]:
        """Return the numbers of a state."""
        return {
            "rounds": self.rounds, "loss_sum": self.loss_sum, "loss_rest": self.loss_rest,
            "scaled.loss_sum": self.scaled_sum, "scaled.loss_rest": self.scaled_rest,
        }

    def get_state(self) -> tuple[dict[str, Floats], dict[str, Any]]:
        """Return the arrays and numbers of the state."""
        return {"window": self.window()} | {k: v.copy() for k, v in self.kept().items()}, self.scalars()

    def set_state(self, arrays: dict[str, Any], numbers: dict[str, Any]) -> None:
        """Restore a state in a new engine; raise ValueError if it is invalid."""
        limits = {"window": MAX_SAMPLE, "weights": MAX_STATE_WEIGHT}
        for name, like in self.get_state()[0].items():
            array = arrays[name]
            if array.shape != like.shape or array.dtype != np.float64:
                raise ValueError(f"array {name} should hold {len(like)} numbers of type float64")
            if not (np.abs(array) <= limits.get(name, 1e300)).all():
                raise ValueError(f"array {name} holds NaN or a number that is too large")
        for name, array in self.kept().items():
            array[:] = arrays[name]
        self.arrays["line"][self.start:self.start + self.span] = arrays["window"]
        self.restore(numbers)

    def restore(self, numbers):
        """Restore the numbers of a state."""
        self.check_free()
        self.rounds = numbers["rounds"]
        self.loss_sum, self.loss_rest = numbers["loss_sum"], numbers["loss_rest"]
        self.scaled_sum, self.scaled_rest = numbers["scaled.loss_sum"], numbers["scaled.loss_rest"]
        self.most = np.abs(self.impulse_response()).max()
        if not self.most <= MAX_STATE_WEIGHT:
            raise ValueError("array amounts makes a weight too large")
        self.phase = self.rounds % self.taps
        self.recompute_sums(self.phase)


cdef void add(double* sum, double* rest, double value) noexcept nogil:
    """Add a nonnegative value to a sum in two parts; the second is the rounding error."""
    cdef double total = sum[0] + value
    rest[0] += (sum[0] - total) + value if sum[0] >= value else (value - total) + sum[0]
    sum[0] = total


# The entry: samples are checked, then filtered.

cdef class Listener:
    """The methods of a filter for one sample."""

    def __init__(self, Sliding core not None):
        self._core = core

    def play_one(self, x, d) -> float:
        """Predict d from a sample and those before it, then learn from d.

        Parameters
        ----------
        x
            The sample of the input.
        d
            The sample to predict: that of the other signal at the same time.

        Returns
        -------
        float
            The prediction, made before ``d`` is used.
        """
        cdef double out = 0, heard = x if type(x) is float else self._number("the input", x)
        cdef double wanted = d if type(d) is float else self._number("the outcome", d)
        if self._core is None:
            raise NoRegretError(f"this {type(self).__name__} was never built: its __init__ has not run")
        self._core.check_free()
        cdef int status = self._core.play(heard, wanted, &out)
        if status != FINE:
            raise self._core.refusal(status, heard, wanted)
        return out

    def _number(self, name: str, value) -> float:
        """Return a number, or raise BadExample."""
        from noregret.linear.inputs import NOT_NUMBERS
        try:
            if np.ndim(value) or isinstance(value, NOT_NUMBERS):
                raise TypeError
            return float(value)
        except (TypeError, ValueError, OverflowError):
            sample = self._core.rounds + 1
            raise BadExample(
                f"{name} is {value!r:.40}: a number is expected", round=sample, unit="sample") from None
