"""What a microphone hears below all voices: it would spread over every term of a block's transform."""

from libc.math cimport M_PI, sqrt, tan

import numpy as np


cdef class Rumble:
    """Butterworth's high-pass of second order, for several signals beside each other."""

    def __cinit__(self, double rate, ptrdiff_t lines, double corner):
        cdef double k = tan(M_PI * corner / rate), norm = 1 / (1 + sqrt(2) * k + k * k)
        self.b, self.a1, self.a2 = norm, 2 * (k * k - 1) * norm, (1 - sqrt(2) * k + k * k) * norm
        self.first, self.second = np.zeros(lines), np.zeros(lines)

    cdef void take_away(self, ptrdiff_t line, const float* x, ptrdiff_t step, float* y, ptrdiff_t n) noexcept nogil:
        """Let the next samples of a signal through."""
        cdef ptrdiff_t t
        cdef double v, out, first = self.first[line], second = self.second[line]
        for t in range(n):
            v = self.b * x[t * step]
            out = v + first
            first = second - 2 * v - self.a1 * out
            second = v - self.a2 * out
            y[t] = <float> out
        # Numbers too small for a normal form would slow down every product to come.
        self.first[line] = first if first > 1e-30 or first < -1e-30 else 0
        self.second[line] = second if second > 1e-30 or second < -1e-30 else 0
