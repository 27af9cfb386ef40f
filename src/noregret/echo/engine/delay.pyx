"""The delay of an echo, and the arrays that all parts of the canceller use."""

from libc.math cimport exp, sqrt

import numpy as np


cdef class Store:
    """Single-precision arrays of zeros by name, and pointers to them."""

    def __cinit__(self):
        self.arrays = {}

    cdef float* room(self, str name, ptrdiff_t count) except NULL:
        """Return a new array, which lives as long as the store."""
        if count < 1:
            raise ValueError(f"no room for {count} numbers")
        cdef float[::1] array = np.zeros(count, dtype=np.float32)
        self.arrays[name] = array
        return &array[0]


# The delay of the echo: the earlier frames of the far end that the microphone correlates with.
#
# For every lag in blocks and every bin in the range of speech, average the product of the far end's
# earlier frame and the phase of the microphone's current one. It vanishes unless the two are related,
# whatever else is recorded; the lag with the largest mean square is the delay.

cdef extern from "delay_loops.h" nogil:
    void noregret_delay_learn(
        float* likeness_re, float* likeness_im, const float* frames_re, const float* frames_im, ptrdiff_t newest,
        ptrdiff_t lags, ptrdiff_t terms, const float* mic_re, const float* mic_im, float keep)
    void noregret_delay_scores(
        const float* likeness_re, const float* likeness_im, ptrdiff_t lags, ptrdiff_t terms, float* scores)


cdef class Delay:
    """The delay of an echo in blocks; −1 until there is evidence."""

    def __cinit__(self, double rate, ptrdiff_t block, ptrdiff_t lags, double likely):
        if not (8 <= block <= 2**20 and 1 <= lags <= 2**20 and 100 <= rate <= 1e6):
            raise ValueError(f"no delays of {lags} blocks of {block} samples at {rate:g} samples per second")
        cdef double hertz = rate / (2 * block), seconds = block / rate
        self.lags, self.likely = lags, likely
        self.keep, self.every = exp(-seconds), max(1, round(0.04 / seconds))
        self.low = max(1, round(250 / hertz))
        self.terms = max(4, min(block, round(3800 / hertz)) - self.low)
        if not self.low + self.terms <= block:
            raise ValueError(f"blocks of {block} samples at {rate:g} samples per second are too short for speech")
        self.found = self.first = self.candidate = -1
        cdef Store store = Store()
        self.store = store
        self.usual, self.scores = store.room("usual", self.terms), store.room("scores", lags)
        self.frames_re = store.room("frames_re", lags * self.terms)
        self.frames_im = store.room("frames_im", lags * self.terms)
        self.like_re = store.room("like_re", lags * self.terms)
        self.like_im = store.room("like_im", lags * self.terms)
        self.phase_re, self.phase_im = store.room("phase_re", self.terms), store.room("phase_im", self.terms)

    cdef bint learn(
        self, const float* far_re, const float* far_im, ptrdiff_t step, ptrdiff_t channels,
        const float* mic_re, const float* mic_im,
    ) noexcept nogil:
        """Add a frame of each, with the far end's channels summed; return whether a delay was found."""
        cdef ptrdiff_t k, c, x, at
        cdef float re, im, size, loud = 0
        self.slot = (self.slot if self.slot else self.lags) - 1
        at = self.slot * self.terms
        for k in range(self.terms):
            # Hann's window, applied to the transform.
            re = im = 0
            for c in range(channels):
                x = c * step + self.low + k
                re += far_re[x] - <float> 0.5 * (far_re[x - 1] + far_re[x + 1])
                im += far_im[x] - <float> 0.5 * (far_im[x - 1] + far_im[x + 1])
            size = re * re + im * im
            self.usual[k] = max(<float> 0.998 * self.usual[k], <float> 0.9 * self.usual[k] + <float> 0.1 * size) + <float> 1e-30
            loud = max(loud, self.usual[k])
            size = 1 / sqrt(self.usual[k] + <float> 1e-8 * self.loudest)
            self.frames_re[at + k], self.frames_im[at + k] = re * size, im * size
            x = self.low + k
            re = mic_re[x] - <float> 0.5 * (mic_re[x - 1] + mic_re[x + 1])
            im = mic_im[x] - <float> 0.5 * (mic_im[x - 1] + mic_im[x + 1])
            size = 1 / sqrt(re * re + im * im + <float> 1e-30)
            self.phase_re[k], self.phase_im[k] = re * size, im * size
        self.loudest = max(self.loudest, loud)
        if loud < <float> 1e-8 * self.loudest or loud < <float> 1e-20:
            return False
        noregret_delay_learn(
            self.like_re, self.like_im, self.frames_re, self.frames_im, self.slot, self.lags, self.terms,
            self.phase_re, self.phase_im, self.keep)
        return self.slot % self.every == 0 and self.look()

    cdef bint look(self) noexcept nogil:
        """Return whether one lag stands out three times in a row; its echo begins at ``first``."""
        cdef ptrdiff_t k, best = 0
        cdef float peak, others = 0
        noregret_delay_scores(self.like_re, self.like_im, self.lags, self.terms, self.scores)
        for k in range(self.lags):
            others += self.scores[k]
            if self.scores[k] > self.scores[best]:
                best = k
        peak = self.scores[best]
        others = (others - peak) / max(self.lags - 1, <ptrdiff_t> 1)
        if peak < self.likely * others or peak < <float> 1e-4:
            self.agreed = 0
            return False
        self.agreed = self.agreed + 1 if best == self.candidate else 1
        self.candidate = best
        if self.agreed < 3:
            return False
        self.found = best
        for k in range(best + 1):
            if self.scores[k] > others + <float> 0.15 * (peak - others):
                self.first = k
                break
        return True
