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

from noregret.hindsight.blocks import DENSE_NUMBERS
from noregret.hindsight.rounding import Floats
from noregret.hindsight.rows import Rows
from noregret.hindsight.square import LeastSquares, Sum

Signals = Callable[[], Iterable[tuple[Floats, Floats]]]
# Products that are added up before what rounding loses is kept.
LONG = 4_096


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
    lagged, moment, energy = Sum((taps,)), Sum((taps,)), Sum(())
    history, rounds = np.zeros(taps - 1), 0
    for history, d in histories(signals, taps, LONG):
        lagged.add(np.correlate(history, history[: len(d)], "valid"))
        moment.add(np.correlate(history, d, "valid")[::-1])
        energy.add(d @ d)
        rounds += len(d)
    gram = np.zeros((taps, taps))
    gram[-1] = lagged.value[::-1]
    newest = history[::-1]
    for i in range(taps - 2, -1, -1):
        gram[i, : i + 1] = gram[i + 1, 1 : i + 2] + newest[i] * newest[: i + 1]
    gram += np.tril(gram, -1).T
    return LeastSquares.from_sums(gram, moment.value, energy.value, rounds, LONG + 2 * taps)


def windows(signals: Signals, taps: int) -> Rows:
    """Return the windows as rows that can be read again."""

    def source() -> Iterator[tuple[Floats, Floats]]:
        for history, d in histories(signals(), taps, max(1, DENSE_NUMBERS // taps)):
            yield sliding_window_view(history, taps)[:, ::-1], d

    return Rows(source=source, features=taps)


def norms(signal: Iterable[Floats], taps: int) -> Iterator[Floats]:
    """Yield the norm of every window."""
    for history, _ in histories(((x, x) for x in signal), taps, LONG):
        yield np.sqrt(np.convolve(history * history, np.ones(taps), "valid"))
