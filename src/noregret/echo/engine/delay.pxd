cdef class Store:
    cdef dict arrays
    cdef float* room(self, str name, ptrdiff_t count) except NULL


cdef class Delay:
    cdef readonly ptrdiff_t found, first
    cdef ptrdiff_t lags, terms, low, slot, agreed, candidate, every
    cdef float likely, keep, loudest
    cdef Store store
    cdef float *usual
    cdef float *frames_re
    cdef float *frames_im
    cdef float *like_re
    cdef float *like_im
    cdef float *phase_re
    cdef float *phase_im
    cdef float *scores
    cdef bint learn(
        self, const float* far_re, const float* far_im, ptrdiff_t step, ptrdiff_t channels,
        const float* mic_re, const float* mic_im) noexcept nogil
    cdef bint look(self) noexcept nogil
