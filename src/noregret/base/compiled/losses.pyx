"""The losses of predictions and of forecasts."""

from libc.math cimport INFINITY, NAN, copysign, exp, fabs, isnan, log, log1p

from noregret.checks import one_of, positive


# The losses of predictions.
#
# Each loss is a value and a slope (its derivative by the score), stable at any finite score,
# and, where it is convex, the exact step of the implicit update: the t in w - t x for the w
# that minimises  rate * loss(w) + |w - w_now|^2 / 2.

cdef inline double clip(double value, double low, double high) noexcept nogil:
    return low if value < low else high if value > high else value


# square: (s - y)^2
cdef double square_value(const LossTable* t, double s, double y) noexcept nogil:
    return (s - y) * (s - y)

cdef double square_slope(const LossTable* t, double s, double y) noexcept nogil:
    return 2 * (s - y)

cdef double square_implicit(const LossTable* t, double s, double y, double rate, double norm2) noexcept nogil:
    return (s - y) / (0.5 / rate + norm2)


# absolute: |s - y|
cdef double absolute_value(const LossTable* t, double s, double y) noexcept nogil:
    return fabs(s - y)

cdef double absolute_slope(const LossTable* t, double s, double y) noexcept nogil:
    return 1.0 if s > y else -1.0 if s < y else 0.0

cdef double absolute_implicit(const LossTable* t, double s, double y, double rate, double norm2) noexcept nogil:
    return clip((s - y) / norm2, -rate, rate)


# quantile q: q (y - s) below the outcome, (1 - q)(s - y) above it
cdef double quantile_value(const LossTable* t, double s, double y) noexcept nogil:
    return (1 - t.parameter) * (s - y) if s > y else t.parameter * (y - s)

cdef double quantile_slope(const LossTable* t, double s, double y) noexcept nogil:
    return 1 - t.parameter if s > y else -t.parameter if s < y else 0.0

cdef double quantile_implicit(const LossTable* t, double s, double y, double rate, double norm2) noexcept nogil:
    return clip((s - y) / norm2, -rate * t.parameter, rate * (1 - t.parameter))


# epsilon-insensitive: max(0, |s - y| - epsilon)
cdef inline double excess(const LossTable* t, double s, double y) noexcept nogil:
    cdef double over = fabs(s - y) - t.parameter
    return over if over > 0 else 0.0

cdef double insensitive_value(const LossTable* t, double s, double y) noexcept nogil:
    return excess(t, s, y)

cdef double insensitive_slope(const LossTable* t, double s, double y) noexcept nogil:
    return copysign(1.0, s - y) if excess(t, s, y) > 0 else 0.0

cdef double insensitive_implicit(const LossTable* t, double s, double y, double rate, double norm2) noexcept nogil:
    return copysign(min(rate, excess(t, s, y) / norm2), s - y)


# squared epsilon-insensitive
cdef double insensitive2_value(const LossTable* t, double s, double y) noexcept nogil:
    return excess(t, s, y) ** 2

cdef double insensitive2_slope(const LossTable* t, double s, double y) noexcept nogil:
    return copysign(2 * excess(t, s, y), s - y)

cdef double insensitive2_implicit(const LossTable* t, double s, double y, double rate, double norm2) noexcept nogil:
    return copysign(excess(t, s, y) / (0.5 / rate + norm2), s - y)


# huber: half a square up to delta, then a line
cdef double huber_value(const LossTable* t, double s, double y) noexcept nogil:
    cdef double d = fabs(s - y)
    return 0.5 * d * d if d <= t.parameter else t.parameter * (d - 0.5 * t.parameter)

cdef double huber_slope(const LossTable* t, double s, double y) noexcept nogil:
    return clip(s - y, -t.parameter, t.parameter)

cdef double huber_implicit(const LossTable* t, double s, double y, double rate, double norm2) noexcept nogil:
    cdef double most = rate * t.parameter
    return clip((s - y) / (1 / rate + norm2), -most, most)


# hinge: max(0, 1 - y s)
cdef inline double shortfall(double s, double y) noexcept nogil:
    cdef double short = 1 - y * s
    return short if short > 0 else 0.0

cdef double hinge_value(const LossTable* t, double s, double y) noexcept nogil:
    return shortfall(s, y)

cdef double hinge_slope(const LossTable* t, double s, double y) noexcept nogil:
    return -y if y * s < 1 else 0.0

cdef double hinge_implicit(const LossTable* t, double s, double y, double rate, double norm2) noexcept nogil:
    return -y * min(rate, shortfall(s, y) / norm2)


# squared hinge
cdef double hinge2_value(const LossTable* t, double s, double y) noexcept nogil:
    return shortfall(s, y) ** 2

cdef double hinge2_slope(const LossTable* t, double s, double y) noexcept nogil:
    return -2 * y * shortfall(s, y)

cdef double hinge2_implicit(const LossTable* t, double s, double y, double rate, double norm2) noexcept nogil:
    return -y * shortfall(s, y) / (0.5 / rate + norm2)


# mistake: 1 where the sign is wrong; a zero score is wrong either way
cdef double mistake_value(const LossTable* t, double s, double y) noexcept nogil:
    return 1.0 if y * s <= 0 else 0.0

cdef double mistake_slope(const LossTable* t, double s, double y) noexcept nogil:
    return -y if y * s <= 0 else 0.0


# logistic: ln(1 + exp(-y s))
cdef double logistic_value(const LossTable* t, double s, double y) noexcept nogil:
    cdef double margin = y * s
    return log1p(exp(-margin)) if margin > 0 else log1p(exp(margin)) - margin

cdef double logistic_slope(const LossTable* t, double s, double y) noexcept nogil:
    cdef double margin = y * s, e
    if margin > 0:
        e = exp(-margin)
        return -y * e / (1 + e)
    return -y / (1 + exp(margin))


# linear: the outcome is the slope itself
cdef double linear_value(const LossTable* t, double s, double y) noexcept nogil:
    return y * s

cdef double linear_slope(const LossTable* t, double s, double y) noexcept nogil:
    return y

cdef double linear_implicit(const LossTable* t, double s, double y, double rate, double norm2) noexcept nogil:
    return rate * y


# A loss written in Python. A failure is kept and shown as NaN; the caller raises it.
cdef double python_call(object function, PythonLoss loss, double s, double y) noexcept:
    try:
        result = function(s, y)
        if result is None or isinstance(result, (str, bytes)):
            raise TypeError(f"the loss {loss.name!r} must return a number: got {result!r}")
        return <double> float(result)
    except BaseException as failure:
        loss.failure = failure
        return NAN

cdef double python_value(const LossTable* t, double s, double y) noexcept nogil:
    with gil:
        return python_call((<PythonLoss> t.python).value_function, <PythonLoss> t.python, s, y)

cdef double python_slope(const LossTable* t, double s, double y) noexcept nogil:
    with gil:
        return python_call((<PythonLoss> t.python).slope_function, <PythonLoss> t.python, s, y)


cdef double solved_implicit(const LossTable* t, double s, double y, double rate, double norm2) noexcept nogil:
    """Solve g = slope(s - rate norm2 g) for g by bisection: slopes of a convex loss only rise."""
    cdef double first = t.slope(t, s, y), low, high, middle, there
    cdef int i
    if first == 0 or isnan(first):
        return first
    low, high = (0.0, first) if first > 0 else (first, 0.0)
    for i in range(200):
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            break
        there = t.slope(t, s - rate * norm2 * middle, y)
        if isnan(there):
            return there
        if there > middle:
            low = middle
        else:
            high = middle
    return rate * 0.5 * (low + high)


cdef class Loss:
    """A loss by name: ``value(score, outcome)`` and ``slope(score, outcome)``."""

    def __cinit__(self, *args, **options):
        self.table.python = NULL

    def value(self, double score, double outcome) -> float:
        """Return the loss of a score for an outcome."""
        check_built(self)
        return self.checked(self.table.value(&self.table, score, outcome))

    def slope(self, double score, double outcome) -> float:
        """Return the derivative of the loss by the score."""
        check_built(self)
        return self.checked(self.table.slope(&self.table, score, outcome))

    def implicit_step(self, double score, double outcome, double rate, double norm2) -> float:
        """Return t such that w - t x minimises rate · loss + ½‖change‖², where ‖x‖² = norm2."""
        if self.table.implicit is NULL:
            raise ValueError(f"the {self.name} loss has no implicit step")
        if norm2 == 0:  # a zero example: no step changes its score
            return 0.0
        return self.checked(self.table.implicit(&self.table, score, outcome, rate, norm2))

    cdef double checked(self, double value) except? -1:
        return value

    @property
    def labels(self) -> bool:
        """True if outcomes are labels, −1 or +1."""
        return bool(self.table.labels)

    def __repr__(self):
        return f"Loss({self.name!r}, {self.parameter:g})" if self.name in PARAMETERS else f"Loss({self.name!r})"

    def __reduce__(self):
        return make_loss, (self.name, self.parameter if self.name in PARAMETERS else None)


cdef class PythonLoss(Loss):
    """A custom loss: ``PythonLoss(value, slope, name="custom", labels=False)``.

    value and slope are functions of (score, outcome); with labels the outcomes are −1 and +1.

    The slope must not decrease with the score (a convex loss), else no theorem applies and the
    implicit step is undefined.
    """

    def __init__(self, value: Callable[[float, float], float] | None = None,
                 slope: Callable[[float, float], float] | None = None, name="custom", labels=False):
        if not callable(value) or not callable(slope):
            raise TypeError("a loss of your own needs two functions: value(score, outcome) and slope(score, outcome)")
        self.value_function, self.slope_function, self.name = value, slope, name
        self.table.value, self.table.slope, self.table.implicit = python_value, python_slope, solved_implicit
        self.table.labels = labels
        self.table.python = <void*> self
        self.implicit = True

    cdef double checked(self, double value) except? -1:
        self.raise_failure()
        return value

    def raise_failure(self):
        """Raise the exception of the Python functions, if any."""
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure

    def __reduce__(self):
        return PythonLoss, (self.value_function, self.slope_function, self.name, bool(self.table.labels))


cdef int check_built(Loss loss) except -1:
    """Raise ValueError for a loss without functions, built neither by make_loss nor by PythonLoss."""
    if loss.table.value is NULL or loss.table.slope is NULL:
        raise ValueError("this loss was never built: use make_loss(name), or PythonLoss(value, slope)")
    return 0


cdef Loss built(str name, LossTable table, double parameter):
    cdef Loss loss = Loss.__new__(Loss)
    loss.name, loss.table, loss.parameter = name, table, parameter
    loss.table.parameter = parameter
    loss.table.python = NULL
    loss.implicit = table.implicit is not NULL
    return loss


# The losses of several classes are computed from all their scores, by the engine that has these.
cdef double of_scores(const LossTable* t, double s, double y) noexcept nogil:
    return NAN

cdef LossTable OF_CLASSES = LossTable(of_scores, of_scores, NULL, 0, 0, True, NULL)


cdef Loss class_loss(str name):
    """Return the loss of that name over several classes."""
    return built(name, OF_CLASSES, 0)


# name: (value, slope, implicit, its parameter's range and default)
cdef LossTable SQUARE = LossTable(square_value, square_slope, square_implicit, 0, 2, False, NULL)
cdef LossTable ABSOLUTE = LossTable(absolute_value, absolute_slope, absolute_implicit, 0, 0, False, NULL)
cdef LossTable QUANTILE = LossTable(quantile_value, quantile_slope, quantile_implicit, 0, 0, False, NULL)
cdef LossTable INSENSITIVE = LossTable(insensitive_value, insensitive_slope, insensitive_implicit, 0, 0, False, NULL)
cdef LossTable INSENSITIVE2 = LossTable(insensitive2_value, insensitive2_slope, insensitive2_implicit, 0, 2, False, NULL)
cdef LossTable HUBER = LossTable(huber_value, huber_slope, huber_implicit, 0, 0, False, NULL)
cdef LossTable HINGE = LossTable(hinge_value, hinge_slope, hinge_implicit, 0, 0, True, NULL)
cdef LossTable HINGE2 = LossTable(hinge2_value, hinge2_slope, hinge2_implicit, 0, 2, True, NULL)
cdef LossTable MISTAKE = LossTable(mistake_value, mistake_slope, NULL, 0, 0, True, NULL)
cdef LossTable LOGISTIC = LossTable(logistic_value, logistic_slope, solved_implicit, 0, 0, True, NULL)
cdef LossTable LINEAR = LossTable(linear_value, linear_slope, linear_implicit, 0, 0, False, NULL)

cdef dict TABLES = {
    "square": built("square", SQUARE, 0),
    "absolute": built("absolute", ABSOLUTE, 0),
    "quantile": built("quantile", QUANTILE, 0.5),
    "epsilon-insensitive": built("epsilon-insensitive", INSENSITIVE, 0.1),
    "squared-epsilon-insensitive": built("squared-epsilon-insensitive", INSENSITIVE2, 0.1),
    "huber": built("huber", HUBER, 1),
    "hinge": built("hinge", HINGE, 0),
    "squared-hinge": built("squared-hinge", HINGE2, 0),
    "mistake": built("mistake", MISTAKE, 0),
    "logistic": built("logistic", LOGISTIC, 0),
    "linear": built("linear", LINEAR, 0),
}

LOSSES: tuple[str, ...] = tuple(TABLES)
# The losses with a parameter: its name, and its upper limit.
PARAMETERS: dict[str, tuple[str, float]] = {
    "quantile": ("q", 1.0),
    "epsilon-insensitive": ("epsilon", INFINITY),
    "squared-epsilon-insensitive": ("epsilon", INFINITY),
    "huber": ("delta", INFINITY),
}


cdef Loss as_loss(object loss, object parameter):
    """Return a loss by name, or a Loss as it is; the parameter has a default."""
    cdef Loss found
    if isinstance(loss, Loss):
        check_built(loss)
        if parameter is not None:
            raise ValueError("loss_parameter goes with a loss given by name")
        return loss
    if callable(loss):
        raise ValueError("a loss of your own is PythonLoss(value, slope), two functions of (score, outcome)")
    one_of("loss", loss, LOSSES)
    found = TABLES[loss]
    if parameter is None:
        return found
    if loss not in PARAMETERS:
        raise ValueError(f"the {loss} loss takes no parameter")
    name, high = PARAMETERS[loss]
    if not (name == "epsilon" and parameter == 0 and parameter is not False):
        positive(f"{name}, the loss_parameter of {loss},", parameter, below=high)
    return built(found.name, found.table, parameter)


def make_loss(loss: str | Loss, parameter: float | None = None) -> Loss:
    """Return the named loss; ``parameter`` is its ε, δ or quantile, if it has one."""
    return as_loss(loss, parameter)


# The losses of forecasts: some of those above, and zero-one, log and percentage.

cdef double different_value(const LossTable* t, double s, double y) noexcept nogil:
    return 1.0 if s != y else 0.0

cdef double different_slope(const LossTable* t, double s, double y) noexcept nogil:
    return 0.0

cdef double log_value(const LossTable* t, double s, double y) noexcept nogil:
    cdef double paid = 0
    if y > 0:
        paid -= y * log(s)
    if y < 1:
        paid -= (1 - y) * log(1 - s)
    return paid + 0.0  # turns −0 into 0

cdef double log_slope(const LossTable* t, double s, double y) noexcept nogil:
    cdef double slope = 0
    if y > 0:
        slope -= y / s
    if y < 1:
        slope += (1 - y) / (1 - s)
    return slope

cdef double percentage_value(const LossTable* t, double s, double y) noexcept nogil:
    return fabs(s - y) / fabs(y)

cdef double percentage_slope(const LossTable* t, double s, double y) noexcept nogil:
    return (1.0 if s > y else -1.0 if s < y else 0.0) / fabs(y)

cdef LossTable DIFFERENT = LossTable(different_value, different_slope, NULL, 0, 0, False, NULL)
cdef LossTable LOG = LossTable(log_value, log_slope, NULL, 0, 0, False, NULL)
cdef LossTable PERCENTAGE = LossTable(percentage_value, percentage_slope, NULL, 0, 0, False, NULL)

cdef Loss forecast_loss(str name, LossTable table):
    cdef Loss loss = Loss.__new__(Loss)
    loss.name, loss.table = name, table
    return loss

FORECAST_LOSSES = {
    "zero-one": forecast_loss("zero-one", DIFFERENT),
    "log": forecast_loss("log", LOG),
    "percentage": forecast_loss("percentage", PERCENTAGE),
}
EXPERT_LOSSES: tuple[str, ...] = ("square", "absolute", "zero-one", "log", "quantile", "percentage")


def find_loss(loss, parameter: float | None = None) -> Loss:
    """Return the named loss, or a custom one as it is."""
    if isinstance(loss, str):
        one_of("loss", loss, EXPERT_LOSSES)
    if isinstance(loss, str) and loss in FORECAST_LOSSES:
        if parameter is not None:
            raise ValueError(f"the {loss} loss takes no parameter")
        return FORECAST_LOSSES[loss]
    return as_loss(loss, parameter)
