"""A weigher that follows whoever leads now."""

from noregret.core.sharing cimport Holding


cdef class Tracker(Holding):
    cdef public double rate                # of the log loss, or 0: adapted to what mixing has cost
    cdef public double mixing_cost
    cdef public long long turns            # rounds so far

    cdef double rate_now(self) noexcept nogil
