from noregret.core.losses cimport LossTable

cdef double log_value(const LossTable* t, double s, double y) noexcept nogil
cdef double percentage_value(const LossTable* t, double s, double y) noexcept nogil
