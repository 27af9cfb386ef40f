"""A voice that says nothing: what speech is made of, without the words.

A glottal pulse train whose pitch wanders goes through four resonances, the formants, which glide
from vowel to vowel. Syllables begin with a hiss, a burst, a hum or nothing; some make a phrase, and
between phrases the voice draws breath.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# The first three formants of vowels as a man speaks them, in hertz: of heed, hid, head, had, hod,
# hawed, hood, who'd, hud and heard.
VOWELS = np.array(
    [
        (270, 2290, 3010),
        (390, 1990, 2550),
        (530, 1840, 2480),
        (660, 1720, 2410),
        (730, 1090, 2440),
        (570, 840, 2410),
        (440, 1020, 2240),
        (300, 870, 2240),
        (640, 1190, 2390),
        (490, 1350, 1690),
    ],
    dtype=np.float64,
)
FOURTH = 3500.0
BANDWIDTHS = np.array([80.0, 100.0, 140.0, 220.0])
# Where the noise of s, sh, f and the like is strongest, and how wide it is.
HISSES = ((5500.0, 1800.0), (3000.0, 1200.0), (4200.0, 3000.0), (6500.0, 2500.0))
ONSETS = ("hiss", "burst", "hum", "none")
# How often each onset begins a syllable.
OFTEN = (0.28, 0.27, 0.25, 0.2)
# Seconds between two settings of the formants.
STEP = 0.005


class Syllable(NamedTuple):
    """A syllable: when it begins, how long onset and vowel last, and how they sound."""

    start: float
    onset: float
    length: float
    kind: str
    hiss: tuple[float, float]
    vowel: Floats
    loud: float
    pitch: float

    @property
    def end(self) -> float:
        """When it ends."""
        return self.start + self.onset + self.length


def voice(
    seconds: float, rate: int, seed: int | np.random.Generator, *, pitch: float = 115.0
) -> Floats:
    """Return a voice-like signal.

    Parameters
    ----------
    seconds
        How long it is.
    rate
        Samples a second.
    seed
        A seed, or a generator to draw from: the same seed gives the same voice.
    pitch
        The middle of the pitch in hertz: about 115 for a man, 200 for a woman. The formants of
        high voices are higher, too.

    Returns
    -------
    ndarray
        Samples; their root mean square is 0.1 where the voice speaks.

    Examples
    --------
    >>> said = voice(2.0, 16_000, seed=1)
    >>> said.shape, bool(abs(said).max() < 1)
    ((32000,), True)
    """
    random = np.random.default_rng(seed)
    size = round(seconds * rate)
    if not size:
        return np.zeros(0)
    said = syllables(seconds, pitch, random)
    scale = 1.0 if pitch < 160 else 1.16
    spoken = vowels(said, size, rate, scale, random) + onsets(said, size, rate, random)
    loud = np.abs(spoken) > 0.02 * np.abs(spoken).max()
    level = np.sqrt(np.mean(np.square(spoken[loud]))) if loud.any() else 1.0
    return np.asarray(0.8 * np.tanh(0.125 * spoken / level), dtype=np.float64)


def syllables(seconds: float, pitch: float, random: np.random.Generator) -> list[Syllable]:
    """Return the rhythm: phrases of a few syllables, and pauses."""
    said: list[Syllable] = []
    at = random.uniform(0.02, 0.12)
    while at < seconds:
        count = int(random.integers(4, 11))
        for number in range(count):
            kind = str(random.choice(ONSETS, p=OFTEN))
            stressed = bool(random.random() < 0.4)
            fall = 1.12 - 0.24 * number / count
            one = Syllable(
                at,
                0.0 if kind == "none" else random.uniform(0.05, 0.11),
                random.uniform(0.09, 0.16) * (1.5 if stressed or number == count - 1 else 1.0),
                kind,
                HISSES[random.integers(len(HISSES))],
                VOWELS[random.integers(len(VOWELS))] * random.uniform(0.95, 1.05),
                random.uniform(0.75, 1.0) * (1.25 if stressed else 0.8),
                pitch * fall * random.uniform(0.94, 1.06) * (1.12 if stressed else 1.0),
            )
            said.append(one)
            at = one.end + (random.uniform(0.0, 0.05) if random.random() < 0.4 else 0.0)
        at += random.uniform(0.25, 0.7)
    return said


def vowels(
    said: list[Syllable], size: int, rate: int, scale: float, random: np.random.Generator
) -> Floats:
    """Return what is voiced: pulses through formants that glide."""
    times = np.arange(size) / rate
    middles = np.array([one.start + one.onset + one.length / 2 for one in said])
    pitches = np.interp(times, middles, [one.pitch for one in said])
    steps = max(2, round(size / rate * 12))
    wander = np.interp(times, np.linspace(0, size / rate, steps), random.normal(0, 0.012, steps))
    source = pulses(pitches * np.exp(wander), rate)
    source += 0.012 * random.standard_normal(size)
    loudness = np.zeros(size)
    for one in said:
        begin = one.start + (0.0 if one.kind == "hum" else one.onset)
        swell(loudness, rate, begin, one.end, one.loud)
        if one.kind == "hum":
            swell(loudness, rate, one.start, one.start + one.onset, 0.35 * one.loud)
    # Onsets pull the formants towards the middle, so that they move within a syllable as well.
    marks, targets = [0.0], [VOWELS.mean(axis=0)]
    for one in said:
        pulled = 0.45 * one.vowel + 0.55 * np.array([320.0, 1700.0, 2600.0])
        begin = one.start + one.onset
        marks += [begin, begin + 0.35 * one.length, begin + 0.75 * one.length]
        targets += [pulled, one.vowel, one.vowel]
    return glided(source, np.array(marks), np.array(targets) * scale, rate) * loudness


def pulses(pitches: Floats, rate: int) -> Floats:
    """Return the flow through the glottis, differentiated: a sharp close once a period."""
    phase = np.cumsum(pitches / rate)
    phase -= np.floor(phase)
    opening, closing = 0.42, 0.16
    flow = np.where(
        phase < opening,
        0.5 * (1 - np.cos(np.pi * phase / opening)),
        np.where(phase < opening + closing, np.cos(0.5 * np.pi * (phase - opening) / closing), 0.0),
    )
    return np.diff(flow, prepend=flow[:1]) * rate / 1000


def glided(source: Floats, marks: Floats, targets: Floats, rate: int) -> Floats:
    """Return a signal through resonances that move from target to target.

    In overlapping pieces, each multiplied by what the resonances are just then.
    """
    hop = max(1, round(STEP * rate))
    size = 4 * hop
    starts = np.arange(-size + hop, len(source), hop)
    middle = (starts + size / 2) / rate
    formants = [np.interp(middle, marks, targets[:, k]) for k in range(3)]
    formants.append(np.full(len(starts), FOURTH * targets[0, 2] / VOWELS[:, 2].mean()))
    long = 4 * size  # so that what rings after a piece has room
    padded = np.concatenate((np.zeros(size), source, np.zeros(long)))
    pieces = padded[(starts + size)[:, None] + np.arange(size)] * np.hanning(size + 1)[:size] / 2
    spectra = np.fft.rfft(pieces, long, axis=1)
    for frequency, width in zip(formants, BANDWIDTHS, strict=True):
        if frequency.min() < 0.45 * rate:
            spectra *= resonance(np.minimum(frequency, 0.47 * rate), width, rate, long)
    made = np.zeros(len(padded) + long)
    sounding = np.fft.irfft(spectra, long, axis=1)
    for start, piece in zip((starts + size).tolist(), sounding, strict=True):
        made[start : start + long] += piece
    return made[size : size + len(source)]


def resonance(
    frequency: Floats | float, width: float, rate: int, size: int
) -> NDArray[np.complex128]:
    """Return what resonances do to a spectrum, one row each; constants pass as they are."""
    radius = np.exp(-np.pi * width / rate)
    around = -2 * radius * np.cos(2 * np.pi * np.atleast_1d(frequency)[:, None] / rate)
    back = np.exp(-2j * np.pi * np.arange(size // 2 + 1) / size)  # a delay of one sample
    return np.asarray((1 + around + radius**2) / (1 + around * back + radius**2 * back**2))


def onsets(said: list[Syllable], size: int, rate: int, random: np.random.Generator) -> Floats:
    """Return what is not voiced: hisses, and bursts after a short silence."""
    made = np.zeros(size)
    for one in said:
        if one.kind not in ("hiss", "burst"):
            continue
        hiss = one.kind == "hiss"
        begin = one.start if hiss else one.start + 0.7 * one.onset
        first = round(begin * rate)
        last = min(size, round((one.start + one.onset + (0.015 if hiss else 0.02)) * rate))
        if last - first < 4:
            continue
        centre, width = one.hiss
        if centre > 0.4 * rate:
            centre, width = 0.38 * rate, min(width, 0.2 * rate)
        noise = np.diff(random.standard_normal(last - first), prepend=0.0)
        long = 2 * len(noise)
        heard = np.fft.rfft(noise, long) * resonance(centre, width, rate, long)[0]
        shaped = np.fft.irfft(heard, long)[: len(noise)]
        shaped /= np.sqrt(np.mean(np.square(shaped))) + 1e-12
        window = np.hanning(last - first + 2)[1:-1]
        shape = np.sqrt(window) if hiss else np.exp(-np.linspace(0, 5, last - first))
        made[first:last] += (0.28 if hiss else 0.4) * one.loud * shaped * shape
    return made


def swell(loudness: Floats, rate: int, begin: float, end: float, top: float) -> None:
    """Let the voice swell and fade between two moments."""
    first, last = round(begin * rate), min(len(loudness), round(end * rate))
    if last - first < 2:
        return
    length = last - first
    ramp = min(length // 2, max(1, round(0.03 * rate)))
    shape = np.full(length, top)
    rise = 0.5 - 0.5 * np.cos(np.pi * (np.arange(ramp) + 0.5) / ramp)
    shape[:ramp] *= rise
    shape[length - ramp :] *= rise[::-1]
    loudness[first:last] = np.maximum(loudness[first:last], shape)
