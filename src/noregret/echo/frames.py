"""Levels and voice activity in frames of 10 ms.

Echo is measured in frames without near-end speech, and near-end speech in frames without echo. If
the near-end signal is known, levels are compared. If not, frames while the far end is silent have
near-end speech only, and frames that the best fixed filter in hindsight predicts well have echo
only: near-end speech cannot be predicted from the far end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noregret.echo.fixed import Floats, hindsight, together

Frames = NDArray[np.bool_]

FRAME = 0.01
QUIET = 1e-10
"""Mean square that counts as silence: −100 dB of full scale, a third of a 16-bit step."""


def frame_powers(x: ArrayLike, rate: int) -> Floats:
    """Return the mean square of each whole frame."""
    x = np.asarray(x, dtype=float)
    length = max(1, round(FRAME * rate))
    whole = x[: len(x) // length * length].reshape(-1, length)
    return np.asarray((whole**2).mean(axis=1))


def active(x: ArrayLike, rate: int, below: float = 35.0) -> Frames:
    """Return the frames with sound: at most ``below`` decibels below loud ones, and not silent."""
    return loud(frame_powers(x, rate), below)


def loud(powers: Floats, below: float = 35.0) -> Frames:
    """Return the frames with sound, from the mean square of each.

    Loud is the level that one frame in twenty exceeds; ``below`` is in decibels.
    """
    most = float(np.quantile(powers, 0.95)) if len(powers) else 0.0
    return np.asarray(powers > max(most * 10 ** (-below / 10), QUIET))


def near_only(far: ArrayLike, mic: ArrayLike, rate: int, near: ArrayLike | None = None) -> Frames:
    """Return the frames with near-end speech and no echo.

    ``near`` is the near-end signal at the microphone. It must be within 20 dB of loud, with the
    rest of the microphone signal 20 dB below it, in the 100 ms around the frame. If it is not
    known, the far end must have been silent (30 dB below loud) for 300 ms, so that echoes decay.
    """
    far, mic, voice = together(far, mic, mic if near is None else near)
    if near is None:
        return ~lasting(active(far, rate, 30.0), 0.3) & active(mic, rate, 20.0)
    echo = smooth(mic - voice, rate)
    return active(voice, rate, 20.0) & (echo < 0.01 * smooth(voice, rate))


def echo_only(far: ArrayLike, mic: ArrayLike, rate: int, near: ArrayLike | None = None) -> Frames:
    """Return the frames with echo and no near-end speech.

    The far end is active, or was in the last 100 ms, and the near-end signal at the microphone is
    30 dB below the rest in the 100 ms around the frame. If it is not known, the best fixed filter
    in hindsight must explain two thirds of the microphone's energy there, nearly as much as in the
    best fifth of the frames, and half of it wherever there is sound in the 200 ms before and after;
    frequencies below speech do not count. A recording whose echo is too distorted for any linear
    filter has no such frames.
    """
    far, mic, voice = together(far, mic, mic if near is None else near)
    heard = lasting(active(far, rate), 0.1)
    if near is None:
        far, mic = voiced(far, rate), voiced(mic, rate)
        rest = mic - hindsight(far, mic, rate).echo
        left = smooth(rest, rate) / np.maximum(smooth(mic, rate), QUIET)
        usual = float(np.quantile(left[heard], 0.2)) if heard.any() else 0.0
        speech = active(mic, rate, 20.0) & (left > 0.5)
        around = lasting(speech, 0.2) | lasting(speech[::-1], 0.2)[::-1]
        return heard & (left < min(1 / 3, 0.01 + 3 * usual)) & ~around
    return heard & (smooth(voice, rate) < 1e-3 * smooth(mic - voice, rate))


def voiced(x: Floats, rate: int) -> Floats:
    """Return a signal without the frequencies below speech."""
    from scipy import signal

    sections = signal.butter(2, 80, "high", fs=rate, output="sos")
    return np.asarray(signal.sosfilt(sections, x))


def smooth(x: Floats, rate: int) -> Floats:
    """Return the mean square in the 100 ms around each frame."""
    from scipy import ndimage

    return np.asarray(ndimage.uniform_filter1d(frame_powers(x, rate), round(0.1 / FRAME)))


def trailing(powers: Floats, window: float) -> Floats:
    """Return the mean over the window that ends at each frame, shorter at the start."""
    width = round(window / FRAME)
    total = np.concatenate([[0.0], np.cumsum(powers)])
    end = np.arange(1, len(powers) + 1)
    start = np.maximum(end - width, 0)
    return np.asarray(np.maximum(total[end] - total[start], 0) / (end - start))


def lasting(frames: Frames, seconds: float) -> Frames:
    """Return the given frames and those within some seconds after one of them."""
    count = np.concatenate([[0], np.cumsum(frames)])
    end = np.arange(1, len(frames) + 1)
    return np.asarray(count[end] > count[np.maximum(end - 1 - round(seconds / FRAME), 0)])
