from noregret.core.weigher cimport Weigher


cdef class Holding(Weigher):
    cdef double* held


cdef class Sharing(Holding):
    cdef public double rate, share
    cdef public bint variable

    cdef void decay_from_the_best(self, const double* losses) noexcept nogil
