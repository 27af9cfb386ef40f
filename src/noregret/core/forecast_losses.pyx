"""The losses of forecasts: those of the linear learners that suit them, and some of their own."""

from libc.math cimport fabs, log

from noregret.core.losses cimport Loss, LossTable, as_loss


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
    return paid + 0.0  # minus zero is zero

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
EXPERT_LOSSES = ("square", "absolute", "zero-one", "log", "quantile", "percentage")


def find_loss(loss, parameter=None):
    """Return the loss of that name, or one of your own as it is."""
    if isinstance(loss, str) and loss not in EXPERT_LOSSES:
        raise ValueError(f"unknown loss {loss!r}: choose one of {', '.join(EXPERT_LOSSES)}")
    if isinstance(loss, str) and loss in FORECAST_LOSSES:
        if parameter is not None:
            raise ValueError(f"the {loss} loss takes no parameter")
        return FORECAST_LOSSES[loss]
    return as_loss(loss, parameter)
