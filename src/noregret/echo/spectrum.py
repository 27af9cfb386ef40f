"""The spectrogram of a recording, computed piece by piece in bounded memory."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# Seconds per spectrum.
WINDOW = 0.032
# Most columns and rows.
MAX_COLUMNS, MAX_ROWS = 900, 256
# Highest frequency shown, in hertz.
MAX_HERTZ = 12_000


class Spectrogram:
    """Mean power by time and frequency.

    Parameters
    ----------
    frames
        Number of samples to come.
    rate
        Samples per second.

    Examples
    --------
    >>> seen = Spectrogram(16_000, 16_000)
    >>> seen.add(np.sin(2 * np.pi * 1000 * np.arange(16_000) / 16_000))
    >>> low = seen.powers[:, 10]
    >>> float(low.argmax() * 8000 / len(low))  # hertz
    1000.0
    """

    def __init__(self, frames: int, rate: int) -> None:
        self.rate, self.seconds = rate, frames / rate
        self._size = 1 << max(5, round(np.log2(WINDOW * rate)))
        self._hop = int(np.clip(frames // MAX_COLUMNS, self._size // 8, self._size // 2))
        self._total = max(1, -(-frames // self._hop))
        self._window = np.hanning(self._size)
        bins = min(self._size // 2, round(self._size * MAX_HERTZ / rate))
        self._group = -(-bins // MAX_ROWS)  # neighbouring bins per row
        self._bins = bins // self._group * self._group
        columns = min(MAX_COLUMNS, self._total)
        self._sums = np.zeros((columns, self._bins // self._group))
        self._counts = np.zeros(columns)
        self._rest = np.zeros(self._size // 2)  # centres each column on its time
        self._seen = 0

    @property
    def highest(self) -> float:
        """The upper frequency of the last row in hertz."""
        return float(self._bins * self.rate / self._size)

    def add(self, samples: Floats) -> None:
        """Add the next samples."""
        self._take(np.concatenate((self._rest, samples)))

    def _take(self, samples: Floats) -> None:
        if len(samples) < self._size:
            self._rest = samples
            return
        views = sliding_window_view(samples, self._size)[:: self._hop]
        self._rest = samples[len(views) * self._hop :]
        spectra = np.abs(np.fft.rfft(views * self._window, axis=1)[:, : self._bins]) ** 2
        rows = spectra.reshape(len(views), -1, self._group).mean(axis=2)
        at = (np.arange(self._seen, self._seen + len(views)) * len(self._sums)) // self._total
        self._seen += len(views)
        inside = at < len(self._sums)
        np.add.at(self._sums, at[inside], rows[inside])
        np.add.at(self._counts, at[inside], 1.0)

    def end(self) -> None:
        """Finish the last columns, and drop those without samples."""
        self._take(np.concatenate((self._rest, np.zeros(self._size))))
        known = max(1, int(np.count_nonzero(self._counts)))
        self.seconds *= known / len(self._counts)
        self._sums, self._counts = self._sums[:known], self._counts[:known]

    @property
    def powers(self) -> Floats:
        """Powers, one row per frequency and one column per time; a full-scale tone is 1."""
        seen = self._sums / np.maximum(self._counts, 1.0)[:, None]
        return np.asarray(seen.T / (self._window.sum() / 2) ** 2)
