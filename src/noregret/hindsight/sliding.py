"""Sliding windows of a signal: their Gram matrix from correlations, and the windows as rows.

Row t holds x_t, x_{t−1}, … of a signal, with zeros before its start; its outcome is d_t of another
signal. The Gram matrix R_ij = Σ_t x_{t−i} x_{t−j} is nearly Toeplitz: R_ij = R_{i+1,j+1} +
x_{T−i} x_{T−j}. Its last row is a correlation, with T·n products in total instead of T·n². The
other rows follow by additions alone, so each R_ij has the error of a sum of as many products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from noregret.hindsight.blocks import DENSE_NUMBERS, DENSE_ROWS
from noregret.hindsight.proofs.rounding import Floats, growth
from noregret.hindsight.rows import ROWS_PER_SUM, Rows
from noregret.hindsight.solvers.square import LeastSquares, Sum
from noregret.limits import SMALLEST

Signals = Callable[[], Iterable[tuple[Floats, Floats]]]
# Products per plain sum; these sums are then added with compensation.
MAX_PLAIN_PRODUCTS = 4_096


def histories(
    signals: Iterable[tuple[Floats, Floats]], taps: int, length: int
) -> Iterator[tuple[Floats, Floats]]:
    """Yield the signals in pieces of up to ``length``, each x with the taps − 1 samples before."""
    before = np.zeros(taps - 1)
    for x, d in signals:
        for start in range(0, len(x), length):
            part = slice(start, start + length)
            history = np.concatenate([before, x[part]])
            yield history, d[part]
            before = history[len(history) - taps + 1 :]


def correlated(signals: Iterable[tuple[Floats, Floats]], taps: int) -> LeastSquares:
    """Return the sums over all windows, from correlations of the signals.

    Examples
    --------
    >>> x, d = np.array([1.0, 2.0, 3.0]), np.array([2.0, 5.0, 8.0])
    >>> sums = correlated([(x, d)], taps=2)
    >>> sums.gram
    array([[14.,  8.],
           [ 8.,  5.]])
    >>> sums.best().witness.round(6)
    array([2., 1.])
    """
    newer, moment, energy = Sum((taps,)), Sum((taps,)), Sum(())
    history, rounds = np.zeros(taps - 1), 0
    for history, d in histories(signals, taps, MAX_PLAIN_PRODUCTS):
        newer.add(np.correlate(history, history[: len(d)], "valid"))
        moment.add(lagged(history, d))
        energy.add(d @ d)
        rounds += len(d)
    gram = np.zeros((taps, taps))
    gram[-1] = newer.value[::-1]
    newest = history[::-1]
    for i in range(taps - 2, -1, -1):
        gram[i, : i + 1] = gram[i + 1, 1 : i + 2] + newest[i] * newest[: i + 1]
    gram += np.tril(gram, -1).T
    return LeastSquares.from_sums(
        gram, moment.value, energy.value, rounds, MAX_PLAIN_PRODUCTS + 2 * taps
    )


class Windows(Rows):
    """The windows as rows; most passes do not materialise them.

    Parameters
    ----------
    signals
        Returns a new iterator over blocks of the two signals each time it is called.
    taps
        n, the length of a window.
    """

    def __init__(self, signals: Signals, taps: int) -> None:
        super().__init__(source=self.materialised, features=taps)
        self.signals, self.taps = signals, taps
        self.length = min(DENSE_ROWS, max(1, DENSE_NUMBERS // taps))

    def materialised(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield the windows, newest sample first, with their outcomes."""
        for history, d in histories(self.signals(), self.taps, self.length):
            yield sliding_window_view(history, self.taps)[:, ::-1], d

    def scores(self, weights: Floats, *, absolute: bool = False) -> Floats:
        """Return X w, or |X| |w|, which bounds the rounding error of X w."""
        parts = [
            np.convolve(np.abs(history) if absolute else history, weights, "valid")
            for history, _ in histories(self.signals(), self.taps, self.length)
        ]
        return np.concatenate([np.zeros(0), *parts])

    def combine(self, shares: Floats, *, absolute: bool = False) -> Floats:
        """Return Xᵀ a, or |X|ᵀ |a|, which bounds the rounding error of Xᵀ a."""
        sums = np.zeros(self.taps)
        for history, part in self.with_histories(shares):
            sums += lagged(np.abs(history) if absolute else history, part)
        return sums

    def combined(self, shares: Floats) -> tuple[Floats, Floats]:
        """Return Xᵀ a from compensated sums, and bounds on the errors."""
        sums, sizes = Sum((self.taps,)), np.zeros(self.taps)
        for history, part in self.with_histories(shares):
            for start in range(0, len(part), ROWS_PER_SUM):
                a = part[start : start + ROWS_PER_SUM]
                few = history[start : start + len(a) + self.taps - 1]
                sums.add(lagged(few, a))
                sizes += lagged(np.abs(few), np.abs(a))
        return sums.value, growth(ROWS_PER_SUM + 8) * sizes + len(shares) * SMALLEST

    def with_histories(self, values: Floats) -> Iterator[tuple[Floats, Floats]]:
        """Yield the pieces of the input, each with its part of a vector over all rounds."""
        start = 0
        for history, d in histories(self.signals(), self.taps, self.length):
            yield history, values[start : start + len(d)]
            start += len(d)


def lagged(history: Floats, a: Floats) -> Floats:
    """Return Σ_t a_t x_{t−i} for every lag i."""
    return np.correlate(history, a, "valid")[::-1]


def norms(signal: Iterable[Floats], taps: int) -> Iterator[Floats]:
    """Yield the norms of the windows, block by block."""
    for history, _ in histories(((x, x) for x in signal), taps, MAX_PLAIN_PRODUCTS):
        yield np.sqrt(np.convolve(history * history, np.ones(taps), "valid"))
