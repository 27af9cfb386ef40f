"""The linear part of echo cancelling: the high-pass filter, and the path of the echo."""

from libc.math cimport M_PI, exp, sqrt, tan
from libc.string cimport memcpy, memmove, memset

import numpy as np

from noregret.echo.engine.delay cimport Delay, Store
from noregret.echo.engine.fft cimport (
    noregret_fourier, noregret_fourier_forward, noregret_fourier_free, noregret_fourier_inverse,
    noregret_fourier_new,
)


# High-pass filter: frequencies below speech would leak into every bin of a block's transform.

cdef class HighPass:
    """A second-order Butterworth high-pass filter, for several signals side by side."""

    def __cinit__(self, double rate, ptrdiff_t lines, double corner):
        cdef double k = tan(M_PI * corner / rate), norm = 1 / (1 + sqrt(2) * k + k * k)
        self.b, self.a1, self.a2 = norm, 2 * (k * k - 1) * norm, (1 - sqrt(2) * k + k * k) * norm
        self.first, self.second = np.zeros(lines), np.zeros(lines)

    cdef void filter(self, ptrdiff_t line, const float* x, ptrdiff_t step, float* y, ptrdiff_t n) noexcept nogil:
        """Filter the next samples of a signal."""
        cdef ptrdiff_t t
        cdef double v, out, first = self.first[line], second = self.second[line]
        for t in range(n):
            v = self.b * x[t * step]
            out = v + first
            first = second - 2 * v - self.a1 * out
            second = v - self.a2 * out
            y[t] = <float> out
        # Subnormal numbers would slow down every later product.
        self.first[line] = first if first > 1e-30 or first < -1e-30 else 0
        self.second[line] = second if second > 1e-30 or second < -1e-30 else 0


# The path of an echo from a loudspeaker to a microphone, learned and subtracted block by block.
#
# Every bin of the transform has its own Kalman filter over the parts of the path. Its step is the
# variance of a weight relative to that of noise and near-end speech, so no double-talk detector is
# needed. The output is the error after the step, since the block is known when it is sent.

cdef extern from "path_loops.h" nogil:
    ctypedef struct noregret_path:
        ptrdiff_t width, parts, channels, slots, newest, delay
        float *far_re
        float *far_im
        float *re
        float *im
        float *doubt
        float *size
    ctypedef struct noregret_pace:
        float keep, share, least, most
    void noregret_path_predict(const noregret_path* path, float* echo_re, float* echo_im, float* explained)
    void noregret_path_learn(
        const noregret_path* path, const noregret_pace* pace, const float* error_re, const float* error_im,
        const float* inverse)

DEF LANES = 8
DEF RECALL = 50  # blocks that are learned again once the delay is found
DEF FLOOR = 1e-9  # least noise, relative to the loudest block of the microphone
DEF LEVEL_SECONDS = 0.3  # seconds with a far end that set the initial variances
# They are set again while the path does not help, if the far end becomes that much louder than it was
# then, or the microphone relative to it.
DEF LOUDER = 100
DEF LEVEL_RATIO = 100
DEF OVERSIZE = 200  # weights learned before may then be as large, relative to that level


# The speed of learning: tuned on recordings of many kinds.
PACES = {
    "memory": 1.3,  # seconds in which the path is assumed to change
    "noise": 0.08,  # seconds over which the energy of errors is averaged
    "caution": 0.6,  # the share of that energy that counts as noise
    "share": 0.85,  # the share of a frame's energy that is in one block
    "least": 0.8,  # least variance of a change of a weight, relative to the mean square of its part
    "prior": 0.8,  # initial variance of weights, if microphone and far end are equally loud
    "decay": 5.0,  # its decay per second of the path
    "likely": 2.5,  # factor by which the likeness of one lag must exceed the others'
}


cdef class Path:
    """The linear part of an echo canceller.

    Parameters
    ----------
    rate
        Samples per second.
    block
        Samples per block, and per part of the path.
    parts
        Number of parts of the path, without its delay.
    channels
        Channels of the far end, each with its own path.
    lags
        Number of delays to try, in blocks from 0; with 1, none is estimated.
    corner
        Cutoff of the high-pass filter in hertz.
    **paces
        Other values of ``PACES``.
    """

    cdef noregret_path path
    cdef noregret_pace pace
    cdef noregret_fourier* plan
    cdef noregret_fourier* side
    cdef readonly ptrdiff_t block, channels, parts, lags
    cdef ptrdiff_t bins, width, turn, seen, mic_slot, active, level_blocks
    cdef float settle, caution, prior, decay, scale, forget, floor
    cdef double far_energy, mic_energy, left_energy, mic_most, reference
    cdef bint resting, counted
    cdef bint busy  # a thread uses it with the GIL released
    cdef Store store
    cdef HighPass high_pass
    cdef Delay lag
    cdef float *frame
    cdef float *past
    cdef float *mic_past
    cdef float *mics
    cdef float *echo_re
    cdef float *echo_im
    cdef float *explained
    cdef float *error_re
    cdef float *error_im
    cdef float *inverse
    cdef float *noise
    cdef float *time
    cdef float *mic_re
    cdef float *mic_im
    cdef float *lane_re
    cdef float *lane_im
    cdef float *lane_time

    def __cinit__(self, double rate, ptrdiff_t block, ptrdiff_t parts, ptrdiff_t channels, ptrdiff_t lags,
                  double corner, **paces: float):
        if not (1 <= parts <= 2**16 and 1 <= channels <= 2**8 and 0 <= corner < rate / 2):
            raise ValueError(f"no path of {parts} parts and {channels} channels above {corner:g} Hz")
        cdef dict t = PACES | paces
        cdef double seconds = block / rate
        self.block, self.channels, self.parts, self.lags = block, channels, parts, lags
        self.bins, self.width = block + 1, (block + 8) // 8 * 8
        self.high_pass = HighPass(rate, channels + 1, corner)
        self.lag = Delay(rate, block, lags, t["likely"])
        self.pace.keep = exp(-2 * seconds / t["memory"])
        self.pace.share, self.pace.least, self.pace.most = t["share"], t["least"], 1e4
        self.settle, self.caution = exp(-seconds / t["noise"]), t["caution"]
        self.prior, self.decay, self.scale = t["prior"], t["decay"] * seconds, 1
        self.forget, self.level_blocks = 1 - exp(-seconds / 2), max(1, round(LEVEL_SECONDS / seconds))
        self.plan = noregret_fourier_new(2 * block, 1)
        self.side = noregret_fourier_new(2 * block, LANES)
        if self.plan == NULL or self.side == NULL:
            raise MemoryError("no memory for the transforms")
        self.allocate()
        self.expect(0, parts)

    def __dealloc__(self):
        noregret_fourier_free(self.plan)
        noregret_fourier_free(self.side)

    cdef allocate(self):
        cdef ptrdiff_t w = self.width, weights = self.channels * self.parts * w
        cdef Store store = Store()
        self.store = store
        self.path.width, self.path.parts, self.path.channels = w, self.parts, self.channels
        self.path.slots = self.parts + self.lags + RECALL
        self.path.newest = self.path.delay = 0
        self.path.far_re = store.room("far_re", self.channels * self.path.slots * w)
        self.path.far_im = store.room("far_im", self.channels * self.path.slots * w)
        self.path.re, self.path.im = store.room("re", weights), store.room("im", weights)
        self.path.doubt = store.room("doubt", weights)
        self.path.size = store.room("size", self.channels * self.parts)
        self.frame = store.room("frame", 2 * self.block)
        self.past = store.room("past", self.channels * self.block)
        self.mic_past = store.room("mic_past", self.block)
        self.mics = store.room("mics", RECALL * self.block)
        self.echo_re, self.echo_im = store.room("echo_re", w), store.room("echo_im", w)
        self.explained = store.room("explained", w)
        self.error_re, self.error_im = store.room("error_re", w), store.room("error_im", w)
        self.inverse, self.noise = store.room("inverse", w), store.room("noise", w)
        self.time = store.room("time", 2 * self.block)
        self.mic_re, self.mic_im = store.room("mic_re", w), store.room("mic_im", w)
        self.lane_re, self.lane_im = store.room("lane_re", LANES * w), store.room("lane_im", LANES * w)
        self.lane_time = store.room("lane_time", LANES * 2 * self.block)

    cdef void expect(self, ptrdiff_t first, ptrdiff_t end) noexcept nogil:
        """Reset the variances of some parts to the prior."""
        cdef ptrdiff_t c, p, k, w
        cdef float doubt
        for c in range(self.channels):
            for p in range(first, end):
                w = (c * self.parts + p) * self.width
                doubt = self.prior * self.scale * exp(-self.decay * p)
                memset(self.path.re + w, 0, self.width * sizeof(float))
                memset(self.path.im + w, 0, self.width * sizeof(float))
                self.path.size[c * self.parts + p] = 0
                for k in range(self.bins):
                    self.path.doubt[w + k] = doubt
                for k in range(self.bins, self.width):
                    self.path.doubt[w + k] = 0

    def run(self, const float[:, ::1] far not None, const float[::1] mic not None, float[::1] heard not None,
            float[::1] left not None, float[:, ::1] said=None) -> None:
        """Process whole blocks.

        ``heard`` is filled with the microphone after the high-pass filter, ``left`` with the output
        and ``said``, if given, with the far end after the high-pass filter.
        """
        cdef ptrdiff_t k, c, t, n = self.block
        if far.shape[0] != mic.shape[0] or far.shape[1] != self.channels or mic.shape[0] % n \
                or heard.shape[0] != mic.shape[0] or left.shape[0] != mic.shape[0] \
                or (said is not None and (said.shape[0] != mic.shape[0] or said.shape[1] != self.channels)):
            raise ValueError("not whole blocks of every signal")
        self.check_free()
        self.busy = True
        for k in range(mic.shape[0] // n):
            with nogil:
                self.play(&far[k * n, 0], &mic[k * n], &heard[k * n], &left[k * n])
            if said is not None:
                for c in range(self.channels):
                    for t in range(n):
                        said[k * n + t, c] = self.past[c * n + t]
        self.busy = False

    cdef int check_free(self) except -1:
        """Raise an error if another thread uses it."""
        if self.busy:
            raise RuntimeError("this path is in use by another thread")
        return 0

    cdef void play(self, const float* far, const float* mic, float* heard, float* left) noexcept nogil:
        cdef ptrdiff_t c, n = self.block
        self.path.newest = (self.path.newest if self.path.newest else self.path.slots) - 1
        for c in range(self.channels):
            self.take_far(far + c, c)
        self.high_pass.filter(self.channels, mic, 1, heard, n)
        self.mic_slot = (self.mic_slot if self.mic_slot else RECALL) - 1
        memcpy(self.mics + self.mic_slot * n, heard, n * sizeof(float))
        self.seen += self.seen < RECALL
        self.weigh_scale(heard)
        self.find_delay(heard)
        self.adapt(heard, left)

    cdef void take_far(self, const float* far, ptrdiff_t c) noexcept nogil:
        """Add a block of a channel of the far end."""
        cdef ptrdiff_t n = self.block, x = (c * self.path.slots + self.path.newest) * self.width
        memcpy(self.frame, self.past + c * n, n * sizeof(float))
        self.high_pass.filter(c, far, self.channels, self.frame + n, n)
        memcpy(self.past + c * n, self.frame + n, n * sizeof(float))
        noregret_fourier_forward(self.plan, self.frame, self.path.far_re + x, self.path.far_im + x, 1)

    cdef void weigh_scale(self, const float* heard) noexcept nogil:
        """Track the level of the microphone relative to the far end; at first, set variances by it."""
        cdef ptrdiff_t k, c, n = self.block
        cdef double far = 0, mic = 0
        for c in range(self.channels):
            for k in range(n):
                far += <double> self.past[c * n + k] * self.past[c * n + k]
        for k in range(n):
            mic += <double> heard[k] * heard[k]
        self.mic_most = max(self.mic_most, mic)
        self.floor = <float> (FLOOR * self.mic_most + 1e-30)
        self.counted = far > 1e-16 * n and far >= 0.01 * self.far_energy * self.forget
        if not self.counted:
            return
        self.far_energy += far - self.forget * self.far_energy
        self.mic_energy += mic - self.forget * self.mic_energy
        if self.active >= self.level_blocks and self.misjudged(far):
            self.active, self.far_energy, self.mic_energy, self.left_energy = 0, far, mic, mic
            self.set_scale(self.loudness())
            self.expect_again()
        if self.active < self.level_blocks:
            self.active += 1
            self.reference += (far - self.reference) / self.active
            self.rescale(self.loudness())

    cdef void expect_again(self) noexcept nogil:
        """Scale the weights down to the level of the prior, and set variances to cover both."""
        cdef ptrdiff_t c, p, k, w
        cdef float doubt, part = 1
        cdef double sizes = 0
        for p in range(self.channels * self.parts):
            sizes += self.path.size[p]
        if sizes > OVERSIZE * self.scale:
            part = <float> sqrt(OVERSIZE * self.scale / sizes)
        for c in range(self.channels):
            for p in range(self.parts):
                w = (c * self.parts + p) * self.width
                doubt = self.prior * self.scale * exp(-self.decay * p)
                self.path.size[c * self.parts + p] *= part * part
                for k in range(w, w + self.bins):
                    self.path.re[k] *= part
                    self.path.im[k] *= part
                    self.path.doubt[k] = doubt + self.path.re[k] * self.path.re[k] + self.path.im[k] * self.path.im[k]

    cdef bint misjudged(self, double far) noexcept nogil:
        """Return whether the first level does not fit any more, and the path does not help yet."""
        return self.left_energy > 0.5 * self.mic_energy and (
            far > LOUDER * self.reference or self.loudness() > LEVEL_RATIO * self.scale)

    cdef void set_scale(self, float scale) noexcept nogil:
        self.scale, self.pace.most = scale, <float> 1e4 * scale

    cdef void rescale(self, float scale) noexcept nogil:
        """Set the variances by another level, in proportion."""
        cdef ptrdiff_t k
        cdef float factor = scale / self.scale
        for k in range(self.channels * self.parts * self.width):
            self.path.doubt[k] *= factor
        self.set_scale(scale)

    cdef float loudness(self) noexcept nogil:
        return <float> min(1e12, max(1e-12, self.mic_energy / self.far_energy)) if self.far_energy > 0 else 1

    cdef void adapt(self, const float* heard, float* left) noexcept nogil:
        """Predict a block, learn from it, and subtract the new estimate; ``left`` may be NULL."""
        cdef ptrdiff_t k, n = self.block
        cdef double wrong = 0
        cdef float loudness, inverse
        noregret_path_predict(&self.path, self.echo_re, self.echo_im, self.explained)
        noregret_fourier_inverse(self.plan, self.echo_re, self.echo_im, self.time, 1)
        memset(self.frame, 0, n * sizeof(float))
        for k in range(n):
            self.frame[n + k] = heard[k] - self.time[n + k]
            wrong += <double> self.frame[n + k] * self.frame[n + k]
        if left != NULL and self.counted:
            self.left_energy += wrong - self.forget * self.left_energy
        noregret_fourier_forward(self.plan, self.frame, self.error_re, self.error_im, 1)
        for k in range(self.bins):
            loudness = self.error_re[k] * self.error_re[k] + self.error_im[k] * self.error_im[k]
            self.noise[k] = self.settle * self.noise[k] + (1 - self.settle) * loudness + <float> 1e-30
            self.inverse[k] = 1 / (self.pace.share * self.explained[k] + self.caution * self.noise[k] + self.floor)
        if self.heard_far():
            noregret_path_learn(&self.path, &self.pace, self.error_re, self.error_im, self.inverse)
            self.constrain()
        if left != NULL:
            for k in range(self.bins):
                inverse = self.inverse[k] * self.explained[k]
                self.echo_re[k] += inverse * self.error_re[k]
                self.echo_im[k] += inverse * self.error_im[k]
            noregret_fourier_inverse(self.plan, self.echo_re, self.echo_im, self.time, 1)
            self.subtract(heard, self.time + n, left)

    cdef bint heard_far(self) noexcept nogil:
        """Return whether the microphone can contain far-end sound to learn from."""
        cdef ptrdiff_t k
        cdef float most = 0
        for k in range(self.bins):
            most = max(most, self.explained[k] / (self.noise[k] + self.floor))
        return most > <float> 1e-4

    cdef void subtract(self, const float* heard, const float* echo, float* left) noexcept nogil:
        """Subtract an echo, or as much of it as does not make the block louder."""
        cdef ptrdiff_t k
        cdef double before = 0, after = 0, along = 0, square = 0
        cdef float part = 1
        for k in range(self.block):
            before += <double> heard[k] * heard[k]
            along += <double> heard[k] * echo[k]
            square += <double> echo[k] * echo[k]
        after = before - 2 * along + square
        if not after <= before:
            part = <float> min(1., max(0., along / square)) if square > 0 else 0
        for k in range(self.block):
            left[k] = heard[k] - part * echo[k]

    cdef void constrain(self) noexcept nogil:
        """Constrain some parts of the path, in turn, to the taps of one block."""
        cdef ptrdiff_t count = self.channels * self.parts, turns = (count + 4 * LANES - 1) // (4 * LANES)
        cdef ptrdiff_t k, l, part, w = self.width, n = self.block
        cdef ptrdiff_t lanes = min(<ptrdiff_t> LANES, count)
        self.resting = not self.resting and count > LANES
        if self.resting:
            return
        for _ in range(turns):
            for l in range(LANES):
                part = (self.turn + l) % count
                for k in range(self.bins):
                    self.lane_re[k * LANES + l] = self.path.re[part * w + k]
                    self.lane_im[k * LANES + l] = self.path.im[part * w + k]
            noregret_fourier_inverse(self.side, self.lane_re, self.lane_im, self.lane_time, LANES)
            memset(self.lane_time + n * LANES, 0, n * LANES * sizeof(float))
            noregret_fourier_forward(self.side, self.lane_time, self.lane_re, self.lane_im, LANES)
            for l in range(lanes):
                part = (self.turn + l) % count
                for k in range(self.bins):
                    self.path.re[part * w + k] = self.lane_re[k * LANES + l]
                    self.path.im[part * w + k] = self.lane_im[k * LANES + l]
            self.turn = (self.turn + lanes) % count

    cdef void find_delay(self, const float* heard) noexcept nogil:
        """Track the delay of the echo."""
        cdef ptrdiff_t n = self.block, x = self.path.newest * self.width
        if self.lags < 2:
            return
        memcpy(self.frame, self.mic_past, n * sizeof(float))
        memcpy(self.frame + n, heard, n * sizeof(float))
        memcpy(self.mic_past, heard, n * sizeof(float))
        noregret_fourier_forward(self.plan, self.frame, self.mic_re, self.mic_im, 1)
        if self.lag.learn(self.path.far_re + x, self.path.far_im + x, self.path.slots * self.width, self.channels,
                          self.mic_re, self.mic_im):
            self.settle_on(self.lag.first, self.lag.found)

    cdef void settle_on(self, ptrdiff_t first, ptrdiff_t best) noexcept nogil:
        """Move the path to just before the echo, unless the echo is well within."""
        cdef ptrdiff_t wanted = max(<ptrdiff_t> 0, first - 2), slack = max(<ptrdiff_t> 4, self.parts // 3)
        if (best > self.path.delay + slack or best < self.path.delay + (1 if self.path.delay else 0)) \
                and wanted != self.path.delay:
            self.shift(wanted)

    cdef void shift(self, ptrdiff_t delay) noexcept nogil:
        """Start the path at another delay, keep the overlap, and learn the last blocks again."""
        cdef ptrdiff_t c, moved = delay - self.path.delay, w = self.width, at, k, newest = self.path.newest
        cdef ptrdiff_t kept = max(<ptrdiff_t> 0, self.parts - max(moved, -moved))
        cdef ptrdiff_t source = max(<ptrdiff_t> 0, moved), target = max(<ptrdiff_t> 0, -moved)
        for c in range(self.channels):
            at = c * self.parts
            if kept:
                memmove(self.path.re + (at + target) * w, self.path.re + (at + source) * w, kept * w * sizeof(float))
                memmove(self.path.im + (at + target) * w, self.path.im + (at + source) * w, kept * w * sizeof(float))
                memmove(
                    self.path.doubt + (at + target) * w, self.path.doubt + (at + source) * w, kept * w * sizeof(float))
                memmove(self.path.size + at + target, self.path.size + at + source, kept * sizeof(float))
        self.path.delay = delay
        self.set_scale(self.loudness())
        if moved > 0:
            self.expect(kept, self.parts)
        else:
            self.expect(0, min(-moved, self.parts))
        for k in range(self.seen - 1, 0, -1):
            self.path.newest = (newest + k) % self.path.slots
            self.adapt(self.mics + (self.mic_slot + k) % RECALL * self.block, NULL)
        self.path.newest = newest

    @property
    def delay_found(self) -> int:
        """The delay of the echo in blocks; −1 until there is evidence."""
        return self.lag.found

    @property
    def delay(self) -> int:
        """Blocks before the first part of the path."""
        return self.path.delay

    def response(self) -> Singles:
        """Return the learned path: samples after the shortest delay, by channel."""
        self.check_free()
        cdef float[::1] out = np.zeros(2 * self.block, dtype=np.float32)
        cdef ptrdiff_t part
        found = np.zeros((self.parts * self.block, self.channels), dtype=np.float32)
        for part in range(self.channels * self.parts):
            noregret_fourier_inverse(
                self.plan, self.path.re + part * self.width, self.path.im + part * self.width, &out[0], 1)
            c, p = divmod(part, self.parts)
            found[p * self.block:(p + 1) * self.block, c] = np.asarray(out)[:self.block]
        return found
