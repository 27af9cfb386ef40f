"""Windows that slide over a signal: their Gram matrix from correlations, and the windows as rows.

Row t holds x_t, x_{t−1}, … of a signal, zeros before the first; its outcome is d_t of another. The
Gram matrix R_ij = Σ_t x_{t−i} x_{t−j} is nearly Toeplitz: R_ij = R_{i+1,j+1} + x_{T−i} x_{T−j}. Its
last row is a correlation, of T·n products in all instead of T·n²; the others follow from it by
additions alone, so that every R_ij is off by no more than a sum of as many products is.
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
# Products that are added up before what rounding loses is kept.
MAX_PLAIN_PRODUCTS = 4_096


def histories(
    signals: Iterable[tuple[Floats, Floats]], taps: int, most: int
) -> Iterator[tuple[Floats, Floats]]:
    """Yield signals in pieces, each x with the taps − 1 samples before it."""
    before = np.zeros(taps - 1)
    for x, d in signals:
        for start in range(0, len(x), most):
            part = slice(start, start + most)
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
    """The windows as rows that can be read again; most passes are made without writing them out.

    Parameters
    ----------
    signals
        Returns a fresh iterator of the signals, block by block, each time it is called.
    taps
        n, the length of a window.
    """

    def __init__(self, signals: Signals, taps: int) -> None:
        super().__init__(source=self.written_out, features=taps)
        self.signals, self.taps = signals, taps
        self.most = min(DENSE_ROWS, max(1, DENSE_NUMBERS // taps))

    def written_out(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield the windows, newest sample first, with their outcomes."""
        for history, d in histories(self.signals(), self.taps, self.most):
            yield sliding_window_view(history, self.taps)[:, ::-1], d

    def scores(self, weights: Floats, *, absolute: bool = False) -> Floats:
        """Return X w, or |X| |w|, from which the rounding error of the former is bounded."""
        parts = [
            np.convolve(np.abs(history) if absolute else history, weights, "valid")
            for history, _ in histories(self.signals(), self.taps, self.most)
        ]
        return np.concatenate([np.zeros(0), *parts])

    def combine(self, shares: Floats, *, absolute: bool = False) -> Floats:
        """Return Xᵀ a, or |X|ᵀ |a|, from which the rounding error of the former is bounded."""
        sums = np.zeros(self.taps)
        for history, part in self.with_histories(shares):
            sums += lagged(np.abs(history) if absolute else history, part)
        return sums

    def combined(self, shares: Floats) -> tuple[Floats, Floats]:
        """Return Xᵀ a, summed with care, and by how much each of its numbers may be off."""
        sums, sizes = Sum((self.taps,)), np.zeros(self.taps)
        for history, part in self.with_histories(shares):
            for start in range(0, len(part), ROWS_PER_SUM):
                a = part[start : start + ROWS_PER_SUM]
                few = history[start : start + len(a) + self.taps - 1]
                sums.add(lagged(few, a))
                sizes += lagged(np.abs(few), np.abs(a))
        return sums.value, growth(ROWS_PER_SUM + 8) * sizes + len(shares) * SMALLEST

    def with_histories(self, values: Floats) -> Iterator[tuple[Floats, Floats]]:
        """Yield every piece of the input with its own part of a vector over all rounds."""
        start = 0
        for history, d in histories(self.signals(), self.taps, self.most):
            yield history, values[start : start + len(d)]
            start += len(d)


def lagged(history: Floats, a: Floats) -> Floats:
    """Return Σ_t a_t x_{t−i} for every lag i."""
    return np.correlate(history, a, "valid")[::-1]


def norms(signal: Iterable[Floats], taps: int) -> Iterator[Floats]:
    """Yield the norm of every window."""
    for history, _ in histories(((x, x) for x in signal), taps, MAX_PLAIN_PRODUCTS):
        yield np.sqrt(np.convolve(history * history, np.ones(taps), "valid"))
