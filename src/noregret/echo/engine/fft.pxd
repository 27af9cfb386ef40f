cdef extern from "fft.h" nogil:
    ctypedef struct noregret_fourier:
        pass
    noregret_fourier* noregret_fourier_new(ptrdiff_t n, ptrdiff_t lanes)
    void noregret_fourier_free(noregret_fourier* plan)
    void noregret_fourier_forward(noregret_fourier* plan, const float* x, float* re, float* im, ptrdiff_t lanes)
    void noregret_fourier_inverse(noregret_fourier* plan, const float* re, const float* im, float* x, ptrdiff_t lanes)
