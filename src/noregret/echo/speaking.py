"""A synthetic voice: the rhythm, pitch and spectrum of speech, without the words.

A pulse train goes through the three resonances, or formants, of a vowel, another one in every
syllable. Some syllables begin with a hiss; a few make a phrase, and pauses separate phrases.

It is synthesised because no recording of two voices is at hand whose licence allows shipping it;
and the demo needs the near speaker and the echo as separate signals, which recordings rarely have.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# The formants, in hertz, of the vowels of heed, head, had, hod, hawed, who'd and heard.
VOWELS = (
    (270, 2290, 3010), (530, 1840, 2480), (660, 1720, 2410), (730, 1090, 2440),
    (570, 840, 2410), (300, 870, 2240), (490, 1350, 1690),
)  # fmt: skip
BANDWIDTHS = (80.0, 100.0, 140.0)
HISS_SHARE, HISS_SECONDS = 0.4, 0.07


def voice(
    seconds: float, rate: int, seed: int | np.random.Generator, *, pitch: float = 115.0
) -> Floats:
    """Return a voice-like signal.

    Parameters
    ----------
    seconds
        Duration.
    rate
        Samples per second.
    seed
        A seed or a generator; the same seed gives the same voice.
    pitch
        Mean pitch in hertz: about 115 for a man, 200 for a woman. High voices get higher formants.

    Returns
    -------
    ndarray
        Samples with a root mean square of about 0.1 while the voice speaks.

    Examples
    --------
    >>> said = voice(2.0, 16_000, seed=1)
    >>> said.shape, bool(abs(said).max() < 1)
    ((32000,), True)
    """
    random = np.random.default_rng(seed)
    spoken = np.zeros(round(seconds * rate))
    at, left = 0.05, 0
    while at < seconds:
        if not left:
            at, left = at + random.uniform(0.25, 0.7) * (at > 0.05), int(random.integers(4, 11))
        made = syllable(rate, pitch * random.uniform(0.92, 1.12), random)
        start = round(at * rate)
        kept = spoken[start : start + len(made)]
        kept += made[: len(kept)]
        at, left = at + len(made) / rate - 0.02, left - 1
    loud = np.abs(spoken) > 0.02 * np.abs(spoken).max(initial=0.0)
    level = np.sqrt(np.mean(np.square(spoken[loud]))) if loud.any() else 1.0
    return np.asarray(0.8 * np.tanh(0.125 * spoken / level), dtype=np.float64)


def syllable(rate: int, pitch: float, random: np.random.Generator) -> Floats:
    """Return one syllable: a vowel with falling pitch, sometimes after a hiss."""
    hiss = round(HISS_SECONDS * rate) * bool(random.random() < HISS_SHARE)
    size = hiss + round(random.uniform(0.1, 0.24) * rate)
    phase = np.cumsum(pitch * np.linspace(1.03, 0.97, size - hiss) / rate) % 1.0
    breath = random.standard_normal(size)
    sound = np.concatenate((np.zeros(hiss), np.interp(phase, (0.0, 0.4, 0.55), (0.0, 1.0, 0.0))))
    sound = np.diff(sound, prepend=0.0) + 0.002 * breath
    scale = (1.0 if pitch < 160 else 1.16) * random.uniform(0.95, 1.05)
    spectrum = np.fft.rfft(sound, 2 * size)
    delay = np.exp(-1j * np.pi * np.arange(size + 1) / size)  # by one sample
    for frequency, width in zip(VOWELS[random.integers(len(VOWELS))], BANDWIDTHS, strict=True):
        if scale * frequency < 0.45 * rate:
            radius = np.exp(-np.pi * width / rate)
            turn = 2 * radius * np.cos(2 * np.pi * scale * frequency / rate)
            spectrum *= (1 - turn + radius**2) / (1 - turn * delay + (radius * delay) ** 2)
    sound = np.fft.irfft(spectrum, 2 * size)[:size]
    sound /= np.sqrt(np.mean(np.square(sound)))
    sound[:hiss] = 0.3 * np.diff(breath[:hiss], prepend=0.0)  # hisses are high
    ramps = np.minimum(1.0, np.minimum(np.arange(size), np.arange(size)[::-1]) / (0.03 * rate))
    return np.asarray(random.uniform(0.6, 1.2) * np.sin(0.5 * np.pi * ramps) * sound)
