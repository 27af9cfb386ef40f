"""Resample a signal piece by piece, with the same result as in one piece."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# Zero crossings of the filter on either side, and its Kaiser window: about 80 dB down.
CROSSINGS, KAISER = 24, 8.0


class Resampler:
    """Frames of a source at another rate.

    The low-pass filter keeps the frequencies that both rates can represent. The signal is padded
    with silence on both sides.

    Parameters
    ----------
    read
        Returns the next frames of the source, the requested number of them; fewer only at the end.
    channels
        Channels per frame.
    old, new
        Frames per second of the source and of the result.

    Examples
    --------
    >>> tone = np.sin(2 * np.pi * 440 * np.arange(8000) / 8000)[:, None]
    >>> rest = [tone]
    >>> def read(count):
    ...     piece, rest[0] = rest[0][:count], rest[0][count:]
    ...     return piece
    >>> louder = Resampler(read, 1, 8000, 16000)
    >>> samples = louder.read(16000)
    >>> same = np.sin(2 * np.pi * 440 * np.arange(16000) / 16000)
    >>> samples.shape, bool(abs(samples[500:-500, 0] - same[500:-500]).max() < 1e-3)
    ((16000, 1), True)
    """

    def __init__(self, read: Callable[[int], Floats], channels: int, old: int, new: int) -> None:
        from scipy.signal import firwin

        common = gcd(old, new)
        self._read, self._channels = read, channels
        self._up, self._down = new // common, old // common
        most = max(self._up, self._down)
        # A whole number of steps long on either side, so that nothing is shifted.
        self._half = -(-CROSSINGS * most // self._down) * self._down
        self._taps = self._up * firwin(2 * self._half + 1, 1 / most, window=("kaiser", KAISER))
        self._margin = -(-self._half // self._up) + 1  # source frames on either side of a new one
        self._first = -self._down * -(-self._margin // self._down)  # number of the first one kept
        self._kept = np.zeros((-self._first, channels))
        self._next = 0
        self._ended = False

    def read(self, count: int) -> Floats:
        """Return the next frames; after the end of the source, silence."""
        from scipy.signal import upfirdn

        last = self._next + count - 1
        self._pull(last * self._down // self._up + self._margin + 1)
        made = upfirdn(self._taps, self._kept, self._up, self._down, axis=0)
        # Index 0 is the first kept frame, and the filter delays by half its length.
        begin = self._next + (self._half - self._first * self._up) // self._down
        wanted: Floats = made[begin : begin + count]
        self._next += count
        self._forget()
        return np.ascontiguousarray(wanted)

    def _pull(self, until: int) -> None:
        """Read the source up to a frame."""
        missing = until - (self._first + len(self._kept))
        if missing <= 0:
            return
        piece = np.empty((0, self._channels)) if self._ended else self._read(missing)
        self._ended = len(piece) < missing
        silence = np.zeros((missing - len(piece), self._channels))
        self._kept = np.concatenate((self._kept, piece, silence))

    def _forget(self) -> None:
        """Drop the frames that are no longer needed, in steps that keep the phase."""
        needed = self._next * self._down // self._up - self._margin
        gone = max(0, (needed - self._first) // self._down) * self._down
        self._kept, self._first = self._kept[gone:], self._first + gone
