"""Scales: map numbers to positions on an axis, and choose ticks."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.base.numbers import compact

Floats = NDArray[np.float64]
# Steps between ticks are computed only for numbers of these sizes.
SMALLEST, LARGEST = 1e-290, 1e290
# A range narrower than this share of its ends is treated as a single number.
NARROW = 1e-9
# Positions are clipped to this many lengths of the axis.
MAX_POSITION = 20.0


class Tick(NamedTuple):
    """A tick: its position from 0 to 1, and its label."""

    place: float
    label: str


class Scale(NamedTuple):
    """An axis from ``low`` to ``high``.

    On a logarithmic axis both are positive; on an axis of ``whole`` numbers, ticks are integers.
    """

    low: float
    high: float
    log: bool = False
    whole: bool = False

    def place(self, values: Floats | float) -> Floats:
        """Return positions, 0 at the low end and 1 at the high end; NaN for NaN."""
        numbers = np.asarray(values, dtype=np.float64)
        with np.errstate(all="ignore"):
            if self.log:
                low, high = math.log10(self.low), math.log10(self.high)
                places = (np.log10(numbers) - low) / (high - low)
            else:  # divided by the larger end first, so that nothing overflows
                size = max(abs(self.low), abs(self.high))
                low, high = self.low / size, self.high / size
                places = (numbers / size - low) / (high - low)
        return np.clip(places, -MAX_POSITION, MAX_POSITION)

    def ticks(self, about: int = 5) -> list[Tick]:
        """Return the ticks."""
        values = log_ticks(self.low, self.high, about) if self.log else self._steps(about)
        return [Tick(float(self.place(value)), label) for value, label in values]

    def _steps(self, about: int) -> list[tuple[float, str]]:
        size = max(abs(self.low), abs(self.high))
        if not SMALLEST < size < LARGEST:
            return [(end, compact(end, 3)) for end in (self.low, self.high)]
        step = nice((self.high - self.low) / about)
        step = max(1.0, step) if self.whole else step
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        # Enough digits to distinguish neighbouring ticks.
        digits = max(3, math.floor(math.log10(size) + 1e-9) - math.floor(math.log10(step)) + 1)
        return [(i * step, compact(i * step, digits)) for i in range(first, last + 1)]


def nice(step: float) -> float:
    """Return the least of 1, 2, 5, 10, 20, 50, … that is at least a step.

    >>> [nice(step) for step in (0.7, 3.0, 0.05, 120.0)]
    [1.0, 5.0, 0.05, 200.0]
    """
    unit = 10.0 ** math.floor(math.log10(step))
    return float(next((m * unit for m in (1, 2, 5) if m * unit >= step * (1 - 1e-9)), 10 * unit))


def log_ticks(low: float, high: float, about: int) -> list[tuple[float, str]]:
    """Return powers of ten; also their 2 and 5 multiples if there are fewer than three."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    every = max(1, math.ceil((last - first) / (about + 1)))
    powers = [10.0**power for power in range(first, last + 1) if power % every == 0]
    within = [p for p in powers if low * (1 - 1e-9) <= p <= high * (1 + 1e-9)]
    if len(within) < 3 and every == 1:
        within = [p * m for p in powers for m in (1, 2, 5)]
    return [
        (p, compact(p, 3)) for p in within if p > 0 and low * (1 - 1e-9) <= p <= high * (1 + 1e-9)
    ]


def fitted(*values: Floats, zero: bool = False, pad: float = 0.06) -> Scale:
    """Return a linear scale that fits all finite numbers, and zero if asked for."""
    numbers = finite(*values)
    low, high = (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 1.0)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    size = max(abs(low), abs(high))
    if size == 0 or size < 1e-300:
        return Scale(-1.0 if low < 0 else 0.0, 1.0) if size == 0 else Scale(-size, size)
    if high / size - low / size < NARROW:
        low, high = low - size * 0.1, high + size * 0.1
    else:
        more = pad * (high / size - low / size) * size
        low = low - more if low != 0 else low
        high = high + more if high != 0 else high
    return Scale(max(low, -1.7e308), min(high, 1.7e308))


def fitted_log(*values: Floats) -> Scale:
    """Return a logarithmic scale that fits all positive numbers."""
    numbers = finite(*values)
    numbers = numbers[numbers > SMALLEST]
    low, high = (float(numbers.min()), float(numbers.max())) if len(numbers) else (1.0, 10.0)
    low, high = max(low, SMALLEST), min(high, LARGEST)
    return Scale(low, high if high > low * 1.001 else low * 10, log=True)


def finite(*values: Floats) -> Floats:
    """Return all finite numbers."""
    flat = [np.ravel(one).astype(np.float64) for one in values]
    numbers: Floats = np.concatenate([np.empty(0), *flat])
    return numbers[np.isfinite(numbers)]
