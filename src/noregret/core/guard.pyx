"""The last step of an echo canceller: nothing sent is louder than what was heard."""

from libc.math cimport sqrt

import numpy as np

DEF SLACK = 1.2  # 0.8 dB: a high-pass moves energy by a few milliseconds
DEF LOCAL = 4  # 6 dB, within a quarter of a block
DEF WINDOW = 0.1  # seconds


cdef class Guard:
    """Sees to it that nothing sent is louder than what the microphone heard.

    Neither in a block, which is made quieter as a whole, nor in the 100 ms up to any sample, which
    is cut to what they leave to be sent. Where the microphone falls silent within a block, what was
    sent before is sent.

    Parameters
    ----------
    rate
        Samples a second.
    block
        Samples in a block.
    """

    cdef ptrdiff_t block, at, window
    cdef bint busy  # a thread is at it with the GIL released
    cdef bint quiet  # whether the last sample heard was none
    cdef double before, after  # the energy of those 100 ms, heard and sent
    cdef double[::1] heard, sent  # the squares of their samples

    def __cinit__(self, double rate, ptrdiff_t block):
        if not (1 <= block and 100 <= rate <= 1e6):
            raise ValueError(f"no guard for blocks of {block} samples, {rate:g} of them a second")
        self.block, self.window = block, <ptrdiff_t> (WINDOW * rate + 0.5)
        self.heard, self.sent = np.zeros(self.window), np.zeros(self.window)

    def run(self, const float[::1] mic not None, float[::1] out not None):
        """Make every block as quiet as the microphone's, and silent where that is."""
        cdef ptrdiff_t k, n = self.block
        if mic.shape[0] % n or mic.shape[0] != out.shape[0]:
            raise ValueError("not whole blocks of both signals")
        if self.busy:
            raise RuntimeError("this guard is in use by another thread")
        self.busy = True
        with nogil:
            for k in range(mic.shape[0] // n):
                self.limit(&mic[k * n], &out[k * n], n)
                self.hold(&mic[k * n], &out[k * n], n)
        self.busy = False

    cdef void limit(self, const float* mic, float* out, ptrdiff_t n) noexcept nogil:
        """Let no quarter of a block be much louder: what was heard may end within a block."""
        cdef ptrdiff_t k, t, size = (n + 3) // 4, end
        cdef double before, after
        cdef float part
        for k in range(4):
            before = after = 0
            end = min(n, (k + 1) * size)
            for t in range(k * size, end):
                before += <double> mic[t] * mic[t]
                after += <double> out[t] * out[t]
            if not after <= LOCAL * before:
                part = <float> sqrt(LOCAL * before / after)
                for t in range(k * size, end):
                    out[t] *= part

    cdef void hold(self, const float* mic, float* out, ptrdiff_t n) noexcept nogil:
        cdef ptrdiff_t t
        cdef double before = 0, after = 0, part
        cdef bint silent
        for t in range(n):
            before += <double> mic[t] * mic[t]
            after += <double> out[t] * out[t]
        part = sqrt(before / after) if not after <= SLACK * before else 1
        for t in range(n):
            silent = mic[t] == 0 and (self.quiet or t + 1 == n or mic[t + 1] == 0)
            self.quiet = mic[t] == 0
            out[t] = self.at_most(mic[t], 0 if silent else <float> (part * out[t]))

    cdef inline float at_most(self, double mic, float out) noexcept nogil:
        """The next sample, as large as the last 100 ms allow."""
        cdef double left, square = <double> out * out
        cdef ptrdiff_t k = self.at
        if k == 0:
            self.sum_up()
        self.before += mic * mic - self.heard[k]
        self.after -= self.sent[k]
        self.heard[k] = mic * mic
        left = max(0., SLACK * self.before - self.after)
        if square > left:
            out = <float> (sqrt(left) if out > 0 else -sqrt(left))
            square = left
        self.after += square
        self.sent[k] = square
        self.at = k + 1 if k + 1 < self.window else 0
        return out

    cdef void sum_up(self) noexcept nogil:
        """Forget what rounding made of the sums."""
        cdef ptrdiff_t k
        self.before = self.after = 0
        for k in range(self.window):
            self.before += self.heard[k]
            self.after += self.sent[k]
