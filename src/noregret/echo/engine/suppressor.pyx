"""The non-linear part of echo cancelling: the suppressor and the loudness guard."""

from libc.math cimport M_PI, exp, expf, log, logf, sin, sqrt
from libc.string cimport memcpy, memmove, memset

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
#
# With the weights of a network, that decides who speaks: every 10 ms or so it estimates which share of
# each band is the near speaker, from ratios of the powers of the linear part's output, of the subtracted
# echo, of the microphone and of the expected residual. So levels do not matter to it. While the near
# speaker is heard, and shortly after, gains are a root of these shares; otherwise they are the least of the
# network's and the rules', which remove noise as well where it hides behind an echo.
#
# A moment is too short to tell a faint voice from the residual of a distorting loudspeaker, and gains
# that come and go with every syllable cost more intelligibility than the residual does. So at first, and
# while the near speaker takes part, weak evidence counts as a voice and nothing is suppressed; after some
# seconds of the far end alone, strong evidence is needed.

cdef extern from "minimum_phase.h" nogil:
    void noregret_exponential(const float* c, float* out, float* work, ptrdiff_t n)

cdef extern from "postfilter.h" nogil:
    ctypedef struct noregret_postfilter:
        ptrdiff_t inputs, hidden, outputs
        const float *weights
        float *state
        float *work
    ptrdiff_t noregret_postfilter_weights(ptrdiff_t inputs, ptrdiff_t hidden, ptrdiff_t outputs)
    void noregret_postfilter_step(const noregret_postfilter* net, const float* x, float* y)

cdef extern from "noise.h" nogil:
    ctypedef struct noregret_noise:
        ptrdiff_t bins, window
        float smooth, forget, settle, keep, factor, least
        float *mean
        float *lowest
        float *next
        float *presence
        float *power
        float *speech
    void noregret_noise_learn(noregret_noise* noise, const float* power)
    void noregret_noise_reduce(noregret_noise* noise, const float* power, float* gain)
    void noregret_noise_comfort(noregret_noise* noise, const float* gain, float* re, float* im)

DEF BANDS = 24
DEF RATIOS = 6  # inputs of the network per band
DEF TOP = 8000.0  # hertz; frequencies above get the gain of the last band
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
    # Of the network:
    "fainter": 0.997,  # the share of the loudest level kept per block
    "climb": 0.05,  # dB per block by which the estimated noise rises
    "lowest": 0.05,  # the smallest gain
    "faint": 1e-4,  # the subtracted echo, relative to the output, at which gains are half as deep
    "sure": 0.75,  # the share of the near speaker in a frame above which it is heard, noise left out,
    "unsure": 0.1,  # and while that takes part:
    "steep": 20.0,  # slope of that probability, in logits,
    "hold": 0.985,  # and the share of it kept per block as it falls
    "notice": 0.006,  # the share of that probability by which the near speaker takes part, per block,
    "forget": 0.996,  # the share of that kept per block as it falls,
    "enough": 0.5,  # and that from which nothing is suppressed
    "hum": 20.0,  # multiple of a band's lowest power that may be noise,
    "murmur": 0.25,  # and the share of all power that is added to what exceeds it
    "mild": 0.5,  # exponent of the network's gains while the near speaker is heard
    # Of the noise suppressor:
    "quieter": -12.0,  # gain of the noise in dB
    "average": 0.8,  # the share of the mean power kept per block,
    "stay": 0.2,  # of the presence of speech,
    "settle": 0.95,  # of the noise's power,
    "speech": 0.88,  # and of the last block in the estimated ratio of speech to noise
    "factor": 2.5,  # multiple of the lowest power from which a bin has speech
    "window": 0.8,  # seconds of which the lowest power is taken, and as many again
}


cdef class Suppressor:
    """The residual suppressor of an echo canceller.

    Parameters
    ----------
    rate
        Samples per second.
    block
        Samples per block.
    weights
        Those of the network, as ``noregret.echo.postfilter`` has them; without, it follows rules.
    denoise
        Whether to reduce stationary noise, and to fill gaps with as much of it as is left.
    **paces
        Other values of ``PACES``.
    """

    cdef noregret_fourier* plan
    cdef noregret_postfilter net
    cdef noregret_noise hiss
    cdef readonly ptrdiff_t block, hop
    cdef ptrdiff_t bins, bands, turn, turns
    cdef double rise, quantile, pace, offset, loudest, level, fainter, climb, usual, spread, release, presence
    cdef double bold, shy, band, least, kept, sure, steep, hold, hum, murmur, unsure, deep, deepest
    cdef double notice, forget, enough, lately
    cdef float smooth, fade, steady, low, faint, lowest, mild
    cdef bint learned, denoise
    cdef Store store
    cdef float *left_line
    cdef float *echo_line
    cdef float *re
    cdef float *im
    cdef float *left_re
    cdef float *left_im
    cdef float *left_power
    cdef float *echo_power
    cdef float *mic_power
    cdef float *gain
    cdef float *left_now
    cdef float *speech
    cdef float *before_re
    cdef float *before_im
    cdef float *after_re
    cdef float *after_im
    cdef float *sent
    cdef float *work
    cdef float *response
    cdef float *inputs
    cdef float *outputs
    cdef float *net_gain
    cdef float *echo_gain
    cdef float *comfort
    cdef float *slope
    cdef bint busy  # a thread uses it with the GIL released
    cdef bint passing
    cdef bint passed
    cdef const float[::1] weights
    cdef double[::1] share, band_left, band_echo, band_mic, band_weight, noise, centre
    cdef float[::1] band_gain
    cdef ptrdiff_t[::1] edges

    def __cinit__(self, double rate, ptrdiff_t block, const float[::1] weights=None, bint denoise=False,
                  **paces: float):
        if not (2 <= block <= 2**20 and 100 <= rate <= 1e6):
            raise ValueError(f"no suppressor for blocks of {block} samples at {rate:g} samples per second")
        cdef dict t = PACES | paces
        cdef double hops
        self.learned, self.denoise = weights is not None, denoise
        self.block, self.turns = block, max(1, round(0.01 * rate / block)) if self.learned else 1
        self.hop = self.turns * block
        self.bins, hops = self.hop + 1, self.hop / rate / 0.01
        self.quantile, self.pace, self.rise = t["quantile"], t["pace"] * hops * DECIBEL, t["rise"] * DECIBEL
        self.smooth, self.fade, self.offset = t["smooth"] ** hops, t["fade"] ** hops, t["offset"] * DECIBEL
        self.usual, self.spread = t["usual"] * DECIBEL, t["spread"] * DECIBEL
        self.release = t["release"] ** hops
        self.fainter, self.climb = t["fainter"] ** hops, t["climb"] * hops * DECIBEL
        self.bold, self.shy, self.band = log(t["bold"]), log(t["shy"]), t["band"] * DECIBEL
        self.kept, self.steady = log(t["kept"]), t["steady"] ** hops
        self.deep = self.least = log(t["least"])
        self.deepest, self.lowest, self.faint = log(t["lowest"]), t["lowest"], t["faint"]
        self.sure, self.unsure, self.steep, self.hold = t["sure"], t["unsure"], t["steep"], t["hold"] ** hops
        self.notice, self.forget, self.enough = 1 - (1 - t["notice"]) ** hops, t["forget"] ** hops, t["enough"]
        self.hum, self.murmur, self.mild = t["hum"], t["murmur"], t["mild"]
        self.plan = noregret_fourier_new(2 * self.hop, 1)
        if self.plan == NULL:
            raise MemoryError("no memory for the transforms")
        self.weights = weights
        self.allocate()
        if self.learned:
            self.connect()
        if denoise:
            self.listen(t, hops, rate)
        self.cut(rate)
        self.presence = self.lately = 1 if self.learned else 0
        self.share = np.full(self.bands, t["share"] * DECIBEL)
        self.passed = self.passing = True

    def __dealloc__(self):
        noregret_fourier_free(self.plan)

    cdef allocate(self):
        cdef ptrdiff_t n = self.hop
        cdef Store store = Store()
        self.store = store
        self.left_line, self.echo_line = store.room("left_line", 2 * n), store.room("echo_line", 2 * n)
        self.re, self.im = store.room("re", n + 1), store.room("im", n + 1)
        self.left_re, self.left_im = store.room("left_re", n + 1), store.room("left_im", n + 1)
        self.left_power, self.echo_power = store.room("left_power", n + 1), store.room("echo_power", n + 1)
        self.mic_power, self.gain = store.room("mic_power", n + 1), store.room("gain", n + 1)
        self.before_re, self.before_im = store.room("before_re", n + 1), store.room("before_im", n + 1)
        self.after_re, self.after_im = store.room("after_re", n + 1), store.room("after_im", n + 1)
        self.sent, self.work = store.room("sent", 2 * n), store.room("work", 2 * n)
        self.response = store.room("response", 2 * n)  # the second half stays zero
        self.left_now, self.speech = store.room("left_now", n + 1), store.room("speech", n + 1)

    cdef connect(self):
        """Lay out the network."""
        cdef Store store = self.store
        self.net.inputs, self.net.outputs, self.net.hidden = RATIOS * BANDS, BANDS, 1
        while noregret_postfilter_weights(self.net.inputs, self.net.hidden, self.net.outputs) < self.weights.shape[0]:
            self.net.hidden += 1
        if noregret_postfilter_weights(self.net.inputs, self.net.hidden, self.net.outputs) != self.weights.shape[0]:
            raise ValueError(f"no network has {self.weights.shape[0]:,} weights")
        self.net.weights, self.net.state = &self.weights[0], store.room("state", self.net.hidden)
        self.net.work = store.room("net", 7 * self.net.hidden)
        self.inputs, self.outputs = store.room("inputs", self.net.inputs), store.room("outputs", self.net.outputs)
        self.net_gain = store.room("net_gain", self.bins)

    cdef listen(self, dict t, double hops, double rate):
        """Prepare the noise suppressor."""
        cdef Store store = self.store
        cdef noregret_noise* hiss = &self.hiss
        hiss.bins, hiss.window = self.bins, max(1, round(t["window"] * rate / self.hop))
        hiss.smooth, hiss.forget = t["average"] ** hops, t["stay"] ** hops
        hiss.settle, hiss.keep = t["settle"] ** hops, t["speech"] ** hops
        hiss.factor, hiss.least = t["factor"], exp(t["quieter"] * DECIBEL / 2)
        hiss.mean, hiss.lowest = store.room("hiss_mean", self.bins), store.room("hiss_lowest", self.bins)
        hiss.next, hiss.presence = store.room("hiss_next", self.bins), store.room("hiss_presence", self.bins)
        hiss.power, hiss.speech = store.room("hiss_power", self.bins), store.room("hiss_speech", self.bins)
        self.echo_gain = store.room("echo_gain", self.bins)
        self.comfort, self.slope = store.room("comfort", 2 * self.hop), store.room("slope", 2 * self.hop)
        for k in range(2 * self.hop):
            self.slope[k] = <float> sin(M_PI * (k + 0.5) / (2 * self.hop))

    cdef cut(self, double rate):
        """Set bands as wide as the ear's, and their weights.

        Rules take every band of at least one bin up to half the rate; the network has learned bands up
        to ``TOP``, of which the last are empty at low rates.
        """
        hertz = np.arange(self.bins) * rate / 2 / self.hop
        bark, top = (26.81 * each / (1960 + each) for each in (hertz, TOP))
        if self.learned:
            position = np.minimum(bark / top * BANDS, BANDS)
            self.edges = np.searchsorted(position, np.arange(BANDS + 1) - 1e-9).astype(np.intp)
            if self.edges[1] < 1:
                raise ValueError(f"blocks of {self.block} samples at {rate:g} samples per second are too long")
            self.bands = int(np.count_nonzero(np.diff(self.edges)))
            self.centre = position - 0.5
        else:
            band = np.minimum((bark / bark.max() * BANDS).astype(int), BANDS - 1)
            self.edges = np.append(np.unique(band, return_index=True)[1], self.bins).astype(np.intp)
            self.bands = self.edges.shape[0] - 1
        emphasis = 2 - 1.9 * np.cos(np.pi * np.minimum(hertz / 8000, 1))
        self.band_weight = np.array(
            [np.mean(emphasis[a:b]) for a, b in zip(self.edges[:self.bands], self.edges[1:self.bands + 1])])
        self.band_left, self.band_echo, self.band_mic, self.noise = np.zeros((4, self.bands))
        self.band_gain = np.ones(self.bands, dtype=np.float32)

    @property
    def bounds(self) -> list[int]:
        """The first frequency of each band, and that after the last."""
        return list(self.edges)

    @property
    def answer(self) -> Singles:
        """What the network said of the last block: a gain per band."""
        return np.array([self.outputs[k] for k in range(self.net.outputs)], dtype=np.float32)

    def run(self, const float[::1] heard not None, const float[::1] left not None, float[::1] out not None,
            float[:, ::1] seen=None) -> None:
        """Process whole blocks of the microphone and of the linear part's output.

        ``seen``, if given, is filled with what the network was shown in each block.
        """
        cdef ptrdiff_t k, i, n = self.block
        if heard.shape[0] % n or left.shape[0] != heard.shape[0] or out.shape[0] != heard.shape[0] \
                or (seen is not None and (seen.shape[0] * n != heard.shape[0] or seen.shape[1] != self.net.inputs)):
            raise ValueError("not whole blocks of every signal")
        if self.busy:
            raise RuntimeError("this suppressor is in use by another thread")
        self.busy = True
        with nogil:
            for k in range(heard.shape[0] // n):
                self.play(&heard[k * n], &left[k * n], &out[k * n])
                if seen is not None:
                    for i in range(self.net.inputs):
                        seen[k, i] = self.inputs[i]
        self.busy = False

    cdef void play(self, const float* heard, const float* left, float* out) noexcept nogil:
        cdef ptrdiff_t k, n = self.block, kept = 2 * self.hop - n
        cdef bint now
        memmove(self.left_line, self.left_line + n, kept * sizeof(float))
        memmove(self.echo_line, self.echo_line + n, kept * sizeof(float))
        memcpy(self.left_line + kept, left, n * sizeof(float))
        for k in range(n):
            self.echo_line[kept + k] = heard[k] - left[k]
        self.turn = self.turn + 1 if self.turn + 1 < self.turns else 0
        now = self.turn == 0
        if now or not (self.passed and self.passing):
            noregret_fourier_forward(self.plan, self.left_line, self.left_re, self.left_im, 1)
        if now:
            noregret_fourier_forward(self.plan, self.echo_line, self.re, self.im, 1)
            self.see()
            self.weigh()
            if self.denoise:
                self.fill_up()
        self.send(left, out)
        if self.denoise:
            for k in range(n):
                out[k] += self.comfort[self.turn * n + k]

    cdef void send(self, const float* left, float* out) noexcept nogil:
        """Filter the block, crossfading from the filter of the previous block to the new one."""
        cdef ptrdiff_t k, n = self.block, last = 2 * self.hop - n
        cdef float part
        if self.passed and self.passing:
            memcpy(out, left, n * sizeof(float))
            return
        if self.turn == 0:
            self.through(self.before_re, self.before_im, self.passed)
            for k in range(n):
                out[k] = self.sent[last + k]
        self.through(self.after_re, self.after_im, self.passing)
        for k in range(n):
            part = <float> (k + 1) / n if self.turn == 0 else 1
            out[k] = self.sent[last + k] if part == 1 else out[k] + part * (self.sent[last + k] - out[k])
        memcpy(self.before_re, self.after_re, self.bins * sizeof(float))
        memcpy(self.before_im, self.after_im, self.bins * sizeof(float))
        self.passed = self.passing

    cdef void through(self, const float* re, const float* im, bint passing) noexcept nogil:
        cdef ptrdiff_t k
        if passing:
            memcpy(self.sent, self.left_line, 2 * self.hop * sizeof(float))
            return
        for k in range(self.bins):
            self.re[k] = self.left_re[k] * re[k] - self.left_im[k] * im[k]
            self.im[k] = self.left_re[k] * im[k] + self.left_im[k] * re[k]
        noregret_fourier_inverse(self.plan, self.re, self.im, self.sent, 1)

    cdef void see(self) noexcept nogil:
        """Add the powers of the frame to their means over time, or to the echo's decaying peak."""
        cdef ptrdiff_t k, n = self.hop, low, high
        cdef float left_re, left_im, echo_re, echo_im, first, tiny = <float> 1e-30
        for k in range(self.bins):
            # Hann's window, applied to the transform.
            low, high, first = k - 1 if k else 1, k + 1 if k < n else n - 1, 1 if k else -1
            left_re = self.left_re[k] - <float> 0.5 * (self.left_re[low] + self.left_re[high])
            echo_re = self.re[k] - <float> 0.5 * (self.re[low] + self.re[high])
            left_im = self.left_im[k] - <float> 0.5 * (first * self.left_im[low] + (self.left_im[high] if k < n else -self.left_im[high]))
            echo_im = self.im[k] - <float> 0.5 * (first * self.im[low] + (self.im[high] if k < n else -self.im[high]))
            self.left_now[k] = <float> 0.25 * (left_re * left_re + left_im * left_im)
            self.left_power[k] = self.smooth * self.left_power[k] + (1 - self.smooth) * self.left_now[k] + tiny
            self.echo_power[k] = max(
                self.fade * self.echo_power[k] + tiny, <float> 0.25 * (echo_re * echo_re + echo_im * echo_im))
            left_re, left_im = left_re + echo_re, left_im + echo_im
            self.mic_power[k] = self.smooth * self.mic_power[k] + (1 - self.smooth) * <float> 0.25 * (
                left_re * left_re + left_im * left_im) + tiny

    cdef void weigh(self) noexcept nogil:
        """Compute the gains of this block from the expected residual echo."""
        cdef ptrdiff_t k, b
        cdef double left = 0, expected = 0, excess, near, step, above, most = 0, whole = 0, width, release
        for k in range(self.bins):
            most += self.left_power[k] + self.echo_power[k]
            whole += self.mic_power[k]
        self.loudest = max(self.loudest, most)
        self.level = max(self.fainter * self.level, whole)
        for b in range(self.bands):
            self.band_left[b] = self.band_echo[b] = self.band_mic[b] = QUIET * self.loudest + 1e-30
            for k in range(self.edges[b], self.edges[b + 1]):
                self.band_left[b] += self.left_power[k]
                self.band_echo[b] += self.echo_power[k]
                self.band_mic[b] += self.mic_power[k]
            left += self.band_weight[b] * self.band_left[b]
            expected += self.band_weight[b] * exp(self.share[b] + self.offset) * self.band_echo[b]
        excess = log(left / expected)
        if self.learned:
            near = self.ask(left)
            self.take_part(near)
        else:
            near = self.likely(excess - self.usual)
        release = self.hold if self.learned else self.release
        self.presence = near if near > self.presence else release * self.presence + (1 - release) * near
        step = max(excess, 0.) / self.rise
        step = self.pace / (1 + step * step * step * step)
        for b in range(self.bands):
            above = log(self.band_left[b] / self.band_echo[b]) - self.share[b]
            near = 0 if self.learned else self.likely(above - self.offset - self.band)
            self.gains(b, 1 - (1 - self.presence) * (1 - near))
            width = self.edges[b + 1] - self.edges[b]
            if self.band_echo[b] > SILENT * self.loudest * width and self.share[b] + above < 20 * DECIBEL:
                self.share[b] += self.quantile * step if above > 0 else -(1 - self.quantile) * self.pace
                self.share[b] = min(10 * DECIBEL, max(-40 * DECIBEL, self.share[b]))
        if self.learned:
            self.blend()
        if self.denoise:
            memcpy(self.echo_gain, self.gain, self.bins * sizeof(float))
            noregret_noise_learn(&self.hiss, self.left_now)
            noregret_noise_reduce(&self.hiss, self.left_now, self.gain)
        self.low = 1
        for k in range(self.bins):
            self.low = min(self.low, self.gain[k])
        self.passing = self.low > <float> 0.999
        if not self.passing:
            self.causal()

    cdef void take_part(self, double near) noexcept nogil:
        """Note whether the near speaker is heard; limit the depth of gains if that speaker was lately."""
        cdef double part
        if near > self.lately:
            self.lately += self.notice * (near - self.lately)
        else:
            self.lately *= self.forget
        part = max(0., 1 - self.lately / self.enough)
        self.least, self.lowest = part * self.deep, <float> exp(part * self.deepest)

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
        for k in range(self.edges[b], self.bins if b + 1 == self.bands else self.edges[b + 1]):
            residual = share * self.echo_power[k] + <float> 1e-30
            ratio = self.steady * self.speech[k] / residual + (1 - self.steady) * max(
                self.left_now[k] / residual - 1, <float> 0)
            ratio = max(ratio, self.left_power[k] / residual - 1)
            self.gain[k] = max(least, ratio / (1 + ratio))
            self.speech[k] = self.gain[k] * self.gain[k] * self.left_now[k]

    cdef void compare(self, ptrdiff_t b) noexcept nogil:
        """Compute what the network sees of a band: ratios of powers, in units of 10 dB."""
        cdef double above = log(self.band_left[b] / self.band_echo[b]) - self.share[b]
        self.noise[b] = self.band_left[b] if self.noise[b] == 0 else min(
            self.noise[b] * exp(self.climb), self.band_left[b])
        self.show(b, 0, above, 4)
        self.show(b, 1, log(self.band_left[b] / self.band_mic[b]), 4)
        self.show(b, 2, log(self.band_left[b] / self.band_echo[b]), 5)
        self.show(b, 3, log(BANDS * self.band_left[b] / (self.level + 1e-30)), 6)
        self.show(b, 4, log(BANDS * self.band_echo[b] / (self.level + 1e-30)), 6)
        self.show(b, 5, log(self.band_left[b] / self.noise[b]), 5)

    cdef inline void show(self, ptrdiff_t b, ptrdiff_t which, double ratio, double most) noexcept nogil:
        self.inputs[which * BANDS + b] = <float> min(most, max(-most, ratio / (10 * DECIBEL)))

    cdef double ask(self, double left) noexcept nogil:
        """Ask the network for gains; return the probability that the near speaker is heard.

        Where hardly any echo was subtracted, gains are 1. They are interpolated between bands. ``left``
        is the weighted power of the bands.
        """
        cdef ptrdiff_t k, b
        cdef double echo, sound, sure, whole = self.murmur * left, near = 0
        cdef float part
        for b in range(self.bands):
            self.compare(b)
        noregret_postfilter_step(&self.net, self.inputs, self.outputs)
        for b in range(self.bands):
            echo = self.band_echo[b] - QUIET * self.loudest - 1e-30
            part = <float> (echo / (echo + self.faint * self.band_left[b]))
            self.band_gain[b] = max(self.lowest, 1 - (1 - self.outputs[b]) * part)
            sound = self.band_weight[b] * max(self.band_left[b] - self.hum * self.noise[b], 0.)
            near += self.outputs[b] * self.outputs[b] * sound
            whole += sound
        for k in range(self.bins):
            part = <float> min(max(self.centre[k], 0.), <double> (self.bands - 1))
            b = min(<ptrdiff_t> part, self.bands - 2)
            part -= b
            self.net_gain[k] = self.band_gain[b] + part * (self.band_gain[b + 1] - self.band_gain[b])
        sure = self.sure + self.lately * (self.unsure - self.sure)
        return 1 / (1 + exp(-self.steep * (near / whole - sure)))

    cdef void blend(self) noexcept nogil:
        """Combine the network's gains with the rules'."""
        cdef ptrdiff_t k
        cdef float near = <float> self.presence, net
        for k in range(self.bins):
            net = logf(self.net_gain[k])
            self.gain[k] = expf(near * self.mild * net + (1 - near) * min(net, logf(self.gain[k])))

    cdef void fill_up(self) noexcept nogil:
        """Make as much of the reduced noise as was taken away with the echo, in overlapping frames."""
        cdef ptrdiff_t k, n = self.hop
        noregret_noise_comfort(&self.hiss, self.echo_gain, self.re, self.im)
        noregret_fourier_inverse(self.plan, self.re, self.im, self.sent, 1)
        for k in range(n):
            self.comfort[k] = self.comfort[n + k] + self.slope[k] * self.sent[k]
            self.comfort[n + k] = self.slope[n + k] * self.sent[n + k]

    cdef void causal(self) noexcept nogil:
        """Compute the minimum-phase filter of the gains, by the cepstrum."""
        cdef ptrdiff_t k, n = self.hop
        for k in range(self.bins):
            self.re[k] = logf(
                <float> 0.5 * self.gain[k]
                + <float> 0.25 * (self.gain[max(k - 1, <ptrdiff_t> 0)] + self.gain[min(k + 1, n)]))
            self.im[k] = 0
        noregret_fourier_inverse(self.plan, self.re, self.im, self.sent, 1)
        for k in range(1, n):
            self.sent[k] *= 2
        noregret_exponential(self.sent, self.response, self.work, n)
        noregret_fourier_forward(self.plan, self.response, self.after_re, self.after_im, 1)


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
