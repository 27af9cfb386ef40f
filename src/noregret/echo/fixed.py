"""The best fixed filter in hindsight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import fft, linalg

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FixedFilter:
    """A filter from the far end to the microphone, and the echo that it predicts.

    Parameters
    ----------
    delay
        Samples before the first tap.
    taps
        The filter.
    echo
        The far end through the filter, as long as the microphone signal.
    """

    delay: int
    taps: Floats
    echo: Floats


def hindsight(
    far: ArrayLike, mic: ArrayLike, rate: int, tail: float = 0.256, delay: int | None = None
) -> FixedFilter:
    """Return the fixed filter that would have left the least energy in the microphone signal.

    Least squares over the whole recording, from its auto- and cross-correlations, as if silence
    followed; the filter begins 32 ms before the delay, which is found where not given.

    Examples
    --------
    >>> far = np.random.default_rng(0).standard_normal(16000)
    >>> far[-5000:] = 0
    >>> mic = convolved(far, np.array([0] * 700 + [0.5, -0.2]))
    >>> found = hindsight(far, mic, 16000)
    >>> bool(np.std(mic - found.echo) < 0.001 * np.std(mic))
    True
    """
    far, mic = together(far, mic)
    if delay is None:
        delay = max(0, best_delay(far, mic, rate) - round(0.032 * rate))
    shifted = np.concatenate([np.zeros(delay), far])[: len(mic)]
    taps = least_squares(shifted, mic, round(tail * rate))
    return FixedFilter(delay, taps, convolved(shifted, taps))


def best_delay(far: ArrayLike, mic: ArrayLike, rate: int, longest: float = 0.6) -> int:
    """Return the samples by which the echo lags the far end: the peak of their cross-correlation.

    Both spectra are flattened first, so that the peak is sharp for speech too (the phase
    transform).
    """
    far, mic = together(far, mic)
    size = fft.next_fast_len(2 * len(far), real=True)
    cross = fft.rfft(mic, size) * np.conj(fft.rfft(far, size))
    likeness = fft.irfft(cross / (np.abs(cross) + 1e-3 * np.abs(cross).mean() + 1e-30), size)
    return int(np.argmax(np.abs(likeness[: min(len(far), round(longest * rate)) + 1])))


def least_squares(x: Floats, y: Floats, taps: int) -> Floats:
    """Return the filter h that minimises ‖h∗x − y‖."""
    size = fft.next_fast_len(len(x) + taps, real=True)
    spectrum = fft.rfft(x, size)
    own = fft.irfft(np.abs(spectrum) ** 2, size)[:taps]
    cross = fft.irfft(fft.rfft(y, size) * np.conj(spectrum), size)[:taps]
    if own[0] <= 0:
        return np.zeros(taps)
    own[0] *= 1 + 1e-7  # the rounding of a spectrum with gaps
    return np.asarray(linalg.solve_toeplitz(own, cross))


def convolved(x: Floats, taps: Floats) -> Floats:
    """Return a signal through a filter, cut to the length of the signal."""
    size = fft.next_fast_len(len(x) + len(taps), real=True)
    return np.asarray(fft.irfft(fft.rfft(x, size) * fft.rfft(taps, size), size)[: len(x)])


def together(*signals: ArrayLike) -> list[Floats]:
    """Return signals as floats, cut to the length of the shortest."""
    arrays = [np.asarray(each, dtype=float) for each in signals]
    length = min(map(len, arrays))
    return [each[:length] for each in arrays]


def ahead(far: Floats, mic: Floats, rate: int, most: float = 2.0) -> float:
    """Return by how many seconds an echo comes before the far end; 0 if none does.

    The lag is that of the largest correlation of the phases, if that stands out.
    """
    if len(far) < rate:
        return 0.0
    size = 1 << (2 * len(far) - 1).bit_length()
    cross = np.fft.rfft(mic, size) * np.conj(np.fft.rfft(far, size))
    like = np.abs(np.fft.irfft(cross / (np.abs(cross) + 1e-6 * np.abs(cross).max() + 1e-30), size))
    span = min(round(most * rate), len(far) // 2)
    near = np.concatenate([like[-span:], like[:span]])  # lags from -span
    best = int(near.argmax()) - span
    return -best / rate if best < 0 and near.max() > 10 * np.sqrt(np.mean(near**2)) else 0.0
