"""The non-linear part of echo cancelling: the suppressor and the loudness guard."""

from libc.math cimport exp, log, logf, sqrt
from libc.string cimport memcpy, memset

import numpy as np

from noregret.echo.engine.fft cimport (
    noregret_fourier, noregret_fourier_forward, noregret_fourier_free, noregret_fourier_inverse,
    noregret_fourier_new,
)
from noregret.echo.engine.delay cimport Store


# The suppressor: attenuate the residual echo of the linear part while there is no near-end speech.
#
# In every band the residual is modelled as a share of the subtracted echo. The share is a quantile of
# the observed ones, tracked by steps of the pinball loss; steps are shorter the more the level of the
# bands exceeds its expectation, as that means near-end speech.

cdef extern from "minimum_phase.h" nogil:
    void noregret_exponential(const float* c, float* out, float* work, ptrdiff_t n)

DEF BANDS = 24
# Powers, relative to the loudest block: added to those of each band, and least per bin to learn from.
DEF QUIET = 1e-13
DEF SILENT = 1e-10
DEF DECIBEL = 0.23025850929940458  # natural logarithms of power in a decibel


# Tuned on recordings; rates are per block of 10 ms.
PACES = {
    "share": -12.0,  # initial residual in dB relative to the echo
    "quantile": 0.4,  # the quantile of the residual that is tracked,
    "offset": 3.0,  # and its mean in dB above that
    "pace": 2.0,  # dB per block
    "rise": 4.0,  # dB above expectation at which upward steps are halved
    "usual": 3.0,  # dB above expectation at which near-end speech has probability 1/2
    "band": 5.0,  # the same for one band alone
    "spread": 1.5,  # scale of these probabilities in dB
    "release": 0.85,  # the share of that probability kept per block as it falls
    "bold": 100.0,  # multiple of the expected residual to remove without near-end speech,
    "shy": 0.3,  # and with it
    "smooth": 0.5,  # the share of the residual's mean power kept per block,
    "fade": 0.6,  # and of the echo's, like a room's decay
    "steady": 0.9,  # the share of the last block in the estimated ratio of speech to residual
    "least": 0.03,  # the smallest gain without near-end speech,
    "kept": 0.7,  # and with it
}


cdef class Suppressor:
    """The residual suppressor of an echo canceller.

    Parameters
    ----------
    rate
        Samples per second.
    block
        Samples per block.
    **paces
        Other values of ``PACES``.
    """

    cdef noregret_fourier* plan
    cdef readonly ptrdiff_t block
    cdef ptrdiff_t bins, bands
    cdef double rise, quantile, pace, bold, shy, usual, spread, release, presence, loudest
    cdef double offset, band, least, kept
    cdef float smooth, fade, steady, low
    cdef Store store
    cdef float *frame
    cdef float *left_past
    cdef float *echo_past
    cdef float *re
    cdef float *im
    cdef float *left_power
    cdef float *echo_power
    cdef float *gain
    cdef float *left_now
    cdef float *speech
    cdef float *before_re
    cdef float *before_im
    cdef float *after_re
    cdef float *after_im
    cdef float *left_re
    cdef float *left_im
    cdef float *sent
    cdef float *work
    cdef bint busy  # a thread uses it with the GIL released
    cdef bint passing
    cdef bint passed
    cdef float *emphasis
    cdef double[::1] share, band_left, band_echo, band_weight
    cdef ptrdiff_t[::1] edges

    def __cinit__(self, double rate, ptrdiff_t block, **paces: float):
        if not (2 <= block <= 2**20 and 100 <= rate <= 1e6):
            raise ValueError(f"no suppressor for blocks of {block} samples at {rate:g} samples per second")
        cdef dict t = PACES | paces
        cdef double blocks = block / rate / 0.01
        self.block, self.bins = block, block + 1
        self.quantile, self.pace, self.rise = t["quantile"], t["pace"] * blocks * DECIBEL, t["rise"] * DECIBEL
        self.bold, self.shy = log(t["bold"]), log(t["shy"])
        self.usual, self.spread = t["usual"] * DECIBEL, t["spread"] * DECIBEL
        self.release, self.smooth, self.fade = t["release"] ** blocks, t["smooth"] ** blocks, t["fade"] ** blocks
        self.least, self.kept, self.steady = log(t["least"]), log(t["kept"]), t["steady"] ** blocks
        self.offset, self.band = t["offset"] * DECIBEL, t["band"] * DECIBEL
        self.plan = noregret_fourier_new(2 * block, 1)
        if self.plan == NULL:
            raise MemoryError("no memory for the transforms")
        self.allocate()
        self.cut(rate)
        self.share = np.full(self.bands, t["share"] * DECIBEL)
        self.passed = True

    def __dealloc__(self):
        noregret_fourier_free(self.plan)

    cdef allocate(self):
        cdef ptrdiff_t n = self.block
        cdef Store store = Store()
        self.store = store
        self.frame = store.room("frame", 2 * n)
        self.left_past, self.echo_past = store.room("left_past", n), store.room("echo_past", n)
        self.re, self.im = store.room("re", n + 1), store.room("im", n + 1)
        self.left_power, self.echo_power = store.room("left_power", n + 1), store.room("echo_power", n + 1)
        self.left_now, self.speech = store.room("left_now", n + 1), store.room("speech", n + 1)
        self.gain, self.emphasis = store.room("gain", n + 1), store.room("emphasis", n + 1)
        self.left_re, self.left_im = store.room("left_re", n + 1), store.room("left_im", n + 1)
        self.before_re, self.before_im = store.room("before_re", n + 1), store.room("before_im", n + 1)
        self.after_re, self.after_im = store.room("after_re", n + 1), store.room("after_im", n + 1)
        self.sent, self.work = store.room("sent", 2 * n), store.room("work", 2 * n)

    cdef cut(self, double rate):
        """Set bands as wide as the ear's, of at least one bin, and the weight of each bin."""
        cdef ptrdiff_t k
        hertz = np.arange(self.bins) * rate / 2 / self.block
        bark = 26.81 * hertz / (1960 + hertz)
        band = np.minimum((bark / bark.max() * BANDS).astype(int), BANDS - 1)
        self.edges = np.append(np.unique(band, return_index=True)[1], self.bins).astype(np.intp)
        self.bands = self.edges.shape[0] - 1
        self.band_left, self.band_echo = np.zeros(self.bands), np.zeros(self.bands)
        emphasis = 2 - 1.9 * np.cos(np.pi * np.minimum(hertz / 8000, 1))
        for k in range(self.bins):
            self.emphasis[k] = emphasis[k]
        self.band_weight = np.add.reduceat(emphasis, np.asarray(self.edges)[:self.bands])

    def run(self, const float[::1] heard not None, const float[::1] left not None, float[::1] out not None) -> None:
        """Process whole blocks of the microphone and of the linear part's output."""
        cdef ptrdiff_t k, n = self.block
        if heard.shape[0] % n or left.shape[0] != heard.shape[0] or out.shape[0] != heard.shape[0]:
            raise ValueError("not whole blocks of every signal")
        if self.busy:
            raise RuntimeError("this suppressor is in use by another thread")
        self.busy = True
        with nogil:
            for k in range(heard.shape[0] // n):
                self.play(&heard[k * n], &left[k * n], &out[k * n])
        self.busy = False

    cdef void play(self, const float* heard, const float* left, float* out) noexcept nogil:
        cdef ptrdiff_t k, n = self.block
        memcpy(self.frame, self.left_past, n * sizeof(float))
        memcpy(self.frame + n, left, n * sizeof(float))
        memcpy(self.left_past, left, n * sizeof(float))
        noregret_fourier_forward(self.plan, self.frame, self.left_re, self.left_im, 1)
        self.see(self.left_re, self.left_im, self.left_power, self.smooth, True)
        memcpy(self.frame, self.echo_past, n * sizeof(float))
        for k in range(n):
            self.frame[n + k] = heard[k] - left[k]
        memcpy(self.echo_past, self.frame + n, n * sizeof(float))
        noregret_fourier_forward(self.plan, self.frame, self.re, self.im, 1)
        self.see(self.re, self.im, self.echo_power, self.fade, False)
        self.weigh()
        self.send(left, out)

    cdef void send(self, const float* left, float* out) noexcept nogil:
        """Filter the block, crossfading from the filter of the previous block to the new one."""
        cdef ptrdiff_t k, n = self.block
        cdef float part
        if self.passed and self.passing:
            memcpy(out, left, n * sizeof(float))
            return
        self.through(self.before_re, self.before_im, self.passed, left)
        for k in range(n):
            out[k] = self.sent[n + k]
        self.through(self.after_re, self.after_im, self.passing, left)
        for k in range(n):
            part = <float> (k + 1) / n
            out[k] += part * (self.sent[n + k] - out[k])
        memcpy(self.before_re, self.after_re, self.bins * sizeof(float))
        memcpy(self.before_im, self.after_im, self.bins * sizeof(float))
        self.passed = self.passing

    cdef void through(self, const float* re, const float* im, bint passing, const float* left) noexcept nogil:
        cdef ptrdiff_t k
        if passing:
            memcpy(self.sent + self.block, left, self.block * sizeof(float))
            return
        for k in range(self.bins):
            self.re[k] = self.left_re[k] * re[k] - self.left_im[k] * im[k]
            self.im[k] = self.left_re[k] * im[k] + self.left_im[k] * re[k]
        noregret_fourier_inverse(self.plan, self.re, self.im, self.sent, 1)

    cdef void see(self, const float* at_re, const float* at_im, float* power, float keep, bint mean) noexcept nogil:
        """Add the power of the frame to its mean over time, or to its decaying peak."""
        cdef ptrdiff_t k, n = self.block
        cdef float re, im, now
        for k in range(self.bins):
            # Hann's window, applied to the transform.
            re = at_re[k] - <float> 0.5 * (at_re[k - 1 if k else 1] + at_re[k + 1 if k < n else n - 1])
            im = at_im[k] - <float> 0.5 * (
                (at_im[k - 1] if k else -at_im[1]) + (at_im[k + 1] if k < n else -at_im[n - 1]))
            now = <float> 0.25 * (re * re + im * im)
            if mean:
                self.left_now[k] = now
                power[k] = keep * power[k] + (1 - keep) * now + <float> 1e-30
            else:
                power[k] = max(keep * power[k] + <float> 1e-30, now)

    cdef void weigh(self) noexcept nogil:
        """Compute the gains of this block from the expected residual echo."""
        cdef ptrdiff_t k, b
        cdef double left = 0, expected = 0, excess, near, step, above, most = 0, width
        for k in range(self.bins):
            most += self.left_power[k] + self.echo_power[k]
        self.loudest = max(self.loudest, most)
        for b in range(self.bands):
            self.band_left[b] = self.band_echo[b] = QUIET * self.loudest + 1e-30
            for k in range(self.edges[b], self.edges[b + 1]):
                self.band_left[b] += self.left_power[k]
                self.band_echo[b] += self.echo_power[k]
            near = self.band_weight[b] / (self.edges[b + 1] - self.edges[b])
            left += near * self.band_left[b]
            expected += near * exp(self.share[b] + self.offset) * self.band_echo[b]
        excess = log(left / expected)
        near = self.likely(excess - self.usual)
        self.presence = near if near > self.presence else self.release * self.presence + (1 - self.release) * near
        step = max(excess, 0.) / self.rise
        step = self.pace / (1 + step * step * step * step)
        self.low = 1
        for b in range(self.bands):
            above = log(self.band_left[b] / self.band_echo[b]) - self.share[b]
            near = self.likely(above - self.offset - self.band)
            self.gains(b, 1 - (1 - self.presence) * (1 - near))
            width = self.edges[b + 1] - self.edges[b]
            if self.band_echo[b] > SILENT * self.loudest * width and self.share[b] + above < 20 * DECIBEL:
                self.share[b] += self.quantile * step if above > 0 else -(1 - self.quantile) * self.pace
                self.share[b] = min(10 * DECIBEL, max(-40 * DECIBEL, self.share[b]))
        self.passing = self.low > <float> 0.999
        if not self.passing:
            self.causal()

    cdef inline double likely(self, double above) noexcept nogil:
        """Return the probability of near-end speech, given the level above the usual one."""
        return 1 / (1 + exp(-above / self.spread))

    cdef void gains(self, ptrdiff_t b, double near) noexcept nogil:
        """Set the gains of a band, given the probability of near-end speech in it.

        They are Wiener's, with the ratio of speech to residual that the last block suggests, or the
        present one if that is larger: so the gain falls slowly and rises at once.
        """
        cdef ptrdiff_t k
        cdef float residual, ratio
        cdef float share = <float> exp(
            self.share[b] + self.offset + self.bold * (1 - near) + self.shy * near)
        cdef float least = <float> exp(self.least * (1 - near) + self.kept * near)
        for k in range(self.edges[b], self.edges[b + 1]):
            residual = share * self.echo_power[k] + <float> 1e-30
            ratio = self.steady * self.speech[k] / residual + (1 - self.steady) * max(
                self.left_now[k] / residual - 1, <float> 0)
            ratio = max(ratio, self.left_power[k] / residual - 1)
            self.gain[k] = max(least, ratio / (1 + ratio))
            self.speech[k] = self.gain[k] * self.gain[k] * self.left_now[k]
            self.low = min(self.low, self.gain[k])

    cdef void causal(self) noexcept nogil:
        """Compute the minimum-phase filter of the gains, by the cepstrum."""
        cdef ptrdiff_t k, n = self.block
        for k in range(self.bins):
            self.re[k] = logf(
                <float> 0.5 * self.gain[k]
                + <float> 0.25 * (self.gain[max(k - 1, <ptrdiff_t> 0)] + self.gain[min(k + 1, n)]))
            self.im[k] = 0
        noregret_fourier_inverse(self.plan, self.re, self.im, self.sent, 1)
        for k in range(1, n):
            self.sent[k] *= 2
        noregret_exponential(self.sent, self.frame, self.work, n)
        memset(self.frame + n, 0, n * sizeof(float))
        noregret_fourier_forward(self.plan, self.frame, self.after_re, self.after_im, 1)


# The loudness guard, the last step of the canceller: the output is never louder than the microphone.

DEF SLACK = 1.2  # 0.8 dB: a high-pass moves energy by a few milliseconds
DEF LOCAL = 4  # 6 dB, within a quarter of a block
DEF WINDOW = 0.1  # seconds


cdef class Guard:
    """Keeps the output no louder than the microphone.

    This holds for every block, which is scaled as a whole, and for the 100 ms up to any sample,
    which is clipped. If the microphone falls silent within a block, the samples before stay.

    Parameters
    ----------
    rate
        Samples per second.
    block
        Samples per block.
    """

    cdef ptrdiff_t block, at, window
    cdef bint busy  # a thread uses it with the GIL released
    cdef bint quiet  # whether the last microphone sample was 0
    cdef double before, after  # the energy of the last 100 ms, heard and sent
    cdef double[::1] heard, sent  # the squares of their samples

    def __cinit__(self, double rate, ptrdiff_t block):
        if not (1 <= block and 100 <= rate <= 1e6):
            raise ValueError(f"no guard for blocks of {block} samples at {rate:g} samples per second")
        self.block, self.window = block, <ptrdiff_t> (WINDOW * rate + 0.5)
        self.heard, self.sent = np.zeros(self.window), np.zeros(self.window)

    def run(self, const float[::1] mic not None, float[::1] out not None) -> None:
        """Limit every block to the level of the microphone's, and silence it where that is silent."""
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
        """Limit every quarter of a block too: sound may end within a block."""
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
        """Return the next sample, limited by the last 100 ms."""
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
        """Recompute the sums, without accumulated rounding errors."""
        cdef ptrdiff_t k
        self.before = self.after = 0
        for k in range(self.window):
            self.before += self.heard[k]
            self.after += self.sent[k]
