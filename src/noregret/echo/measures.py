"""Measures of echo cancellation.

The signals are the far end (what the loudspeaker played), the microphone and the output of a
canceller. Measures are in decibels, from energies in frames of 10 ms; signals are cut to the
shortest.

- **ERLE**, the echo return loss enhancement: energy of the microphone over energy of the output,
  while only the far end is active. More is better; below 0 the echo got louder.
- **Near change**: energy of the output over energy of the microphone while there is only near-end
  speech. 0 is best.
- **SDR** of near-end speech, if that signal is known: energy of near-end speech in the output,
  through the best short filter, over energy of the rest.
- **Excess**: by how much the output exceeds the microphone in any 100 ms, at most.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from noregret.echo.fixed import Floats, convolved, least_squares, together
from noregret.echo.frames import FRAME, QUIET, Frames, active, frame_powers, trailing


def erle(mic: ArrayLike, clean: ArrayLike, rate: int, after: float = 3.0) -> float:
    """Return the ERLE in decibels from a time in seconds to the end, NaN if nothing is left.

    Examples
    --------
    >>> mic = np.ones(64000)
    >>> round(erle(mic, 0.1 * mic, 16000), 6)
    20.0
    """
    start = round(after * rate)
    mic, clean = together(mic, clean)
    return ratio(power(mic[start:]), power(clean[start:]))


def erle_over_time(
    mic: ArrayLike, clean: ArrayLike, rate: int, window: float = 0.2
) -> tuple[Floats, Floats]:
    """Return times in seconds and the ERLE over the window ending there, one per frame.

    Examples
    --------
    >>> mic = np.ones(16000)
    >>> times, decibels = erle_over_time(mic, 0.5 * mic, 16000)
    >>> print(times[-1], round(decibels[-1], 2))
    1.0 6.02
    """
    mic, clean = together(mic, clean)
    before, past = (trailing(frame_powers(each, rate), window) for each in (mic, clean))
    return np.arange(1, len(before) + 1) * np.float64(FRAME), decibels(before, past)


def erle_in(mic: ArrayLike, clean: ArrayLike, rate: int, frames: Frames) -> float:
    """Return the ERLE in decibels in some frames only, NaN if there are none.

    Examples
    --------
    >>> mic = np.ones(320)
    >>> clean = np.repeat([0.1, 1.0], 160)
    >>> round(erle_in(mic, clean, 16000, np.array([True, False])), 6)
    20.0
    """
    mic, clean = together(mic, clean)
    before, past = frame_powers(mic, rate), frame_powers(clean, rate)
    chosen = frames[: len(before)]
    return ratio(before[: len(chosen)][chosen], past[: len(chosen)][chosen])


def first_second(
    far: ArrayLike, mic: ArrayLike, clean: ArrayLike, rate: int, seconds: float = 1.0
) -> float:
    """Return the ERLE at the end of the first second of far-end speech, over its last 200 ms.

    The second is of speech: pauses of the far end do not count.

    Examples
    --------
    >>> noise = np.random.default_rng(0).standard_normal(32000)
    >>> clean = np.where(np.arange(32000) < 8000, noise, 0.1 * noise)
    >>> round(first_second(noise, noise, clean, 16000))
    20
    """
    far, mic, clean = together(far, mic, clean)
    speaking = np.flatnonzero(active(far, rate))
    until = speaking[: max(1, round(seconds / FRAME))][-20:]
    frames = np.zeros(len(far) // round(FRAME * rate), dtype=bool)
    frames[until] = True
    return erle_in(mic, clean, rate, frames)


def seconds_to(
    level: float, far: ArrayLike, mic: ArrayLike, clean: ArrayLike, rate: int, window: float = 0.2
) -> float:
    """Return the seconds of far-end speech until the ERLE over the last 200 ms exceeds a level.

    Infinity if it never does.

    Examples
    --------
    >>> noise = np.random.default_rng(0).standard_normal(32000)
    >>> clean = np.where(np.arange(32000) < 8000, noise, 0.1 * noise)
    >>> round(seconds_to(10, noise, noise, clean, 16000), 1)
    0.7
    """
    far, mic, clean = together(far, mic, clean)
    speaking = active(far, rate)
    _, reached = erle_over_time(mic, clean, rate, window)
    there = np.flatnonzero(speaking & (reached >= level))
    return float(FRAME * speaking[: there[0] + 1].sum()) if len(there) else float("inf")


def near_change(mic: ArrayLike, clean: ArrayLike, rate: int, frames: Frames) -> float:
    """Return the change in level, in decibels, in frames with near-end speech only.

    Examples
    --------
    >>> mic = np.ones(320)
    >>> round(near_change(mic, 0.5 * mic, 16000, np.array([True, True])), 2)
    -6.02
    """
    return -erle_in(mic, clean, rate, frames)


def near_distortion(near: ArrayLike, clean: ArrayLike, rate: int, span: float = 0.032) -> float:
    """Return the SDR of near-end speech in decibels, allowing a short linear filter.

    Near-end speech in the output is the near signal through the least-squares filter of ``span``
    seconds, a quarter of it ahead of time; the rest is distortion, noise and echo. So a high-pass
    filter or a small delay costs nothing.

    Examples
    --------
    >>> near, echo = np.random.default_rng(0).standard_normal((2, 64000))
    >>> round(near_distortion(near, np.roll(near, 40) + 0.1 * echo, 16000))
    20
    """
    near, clean = together(near, clean)
    ahead, taps = round(0.25 * span * rate), round(span * rate)
    late = np.concatenate([np.zeros(ahead), clean])
    near = np.concatenate([near, np.zeros(ahead)])
    voice = convolved(near, least_squares(near, late, taps))
    return ratio(power(voice), power(late - voice))


def excess(mic: ArrayLike, clean: ArrayLike, rate: int, window: float = 0.1) -> float:
    """Return by how many decibels the output exceeds the microphone in any 100 ms, at most.

    Levels below −100 dB of full scale count as that.

    Examples
    --------
    >>> mic = np.ones(16000)
    >>> clean = np.where(np.arange(16000) < 12000, 0.1, 2.0)
    >>> round(excess(mic, clean, 16000), 2)
    6.02
    """
    mic, clean = together(mic, clean)
    _, reached = erle_over_time(mic, clean, rate, window)
    whole = reached[round(window / FRAME) - 1 :]
    return float(-whole.min()) if len(whole) else float("nan")


def power(x: Floats) -> float:
    """Return the mean square."""
    return float(np.mean(x**2)) if len(x) else float("nan")


def decibels(before: Floats, past: Floats) -> Floats:
    """Return ratios of powers in decibels; silence counts as −100 dB of full scale."""
    return np.asarray(10 * np.log10(np.maximum(before, QUIET) / np.maximum(past, QUIET)))


def ratio(before: float | Floats, past: float | Floats) -> float:
    """Return mean power over mean power in decibels; NaN if there are none."""
    if not np.size(before):
        return float("nan")
    return float(decibels(np.asarray(np.mean(before)), np.asarray(np.mean(past))))
