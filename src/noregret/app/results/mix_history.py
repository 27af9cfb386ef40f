"""The history of a mixture in bounded memory: sums over stretches of rounds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# If there would be more stretches, every two are merged into one.
MAX_STRETCHES = 800


class Thinned:
    """Sums of rows over stretches of equal length.

    Parameters
    ----------
    width
        The number of values per row.

    Examples
    --------
    >>> thinned = Thinned(1)
    >>> thinned.add(np.ones((2000, 1)))
    >>> thinned.step, thinned.counts[:2].tolist(), float(thinned.sums.sum())
    (4, [4, 4], 2000.0)
    """

    def __init__(self, width: int) -> None:
        self.step, self.rows = 1, 0
        self._sums = np.zeros((MAX_STRETCHES, width))

    def add(self, rows: Floats) -> None:
        """Take rows into account."""
        at = 0
        while at < len(rows):
            if self.rows == MAX_STRETCHES * self.step:
                self._sums[: MAX_STRETCHES // 2] = self._sums[0::2] + self._sums[1::2]
                self._sums[MAX_STRETCHES // 2 :] = 0.0
                self.step *= 2
            part = rows[at : at + MAX_STRETCHES * self.step - self.rows]
            first, begun = divmod(self.rows, self.step)
            starts = np.arange(self.step - begun, len(part), self.step)
            sums = np.add.reduceat(part, np.concatenate([[0], starts]), axis=0)
            self._sums[first : first + len(sums)] += sums
            self.rows, at = self.rows + len(part), at + len(part)

    @property
    def ends(self) -> NDArray[np.int64]:
        """The last round of each stretch."""
        return np.minimum(np.arange(1, self._count + 1) * self.step, self.rows)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of rounds per stretch."""
        return np.diff(self.ends, prepend=0)

    @property
    def sums(self) -> Floats:
        """The sums, a row a stretch."""
        return self._sums[: self._count]

    @property
    def _count(self) -> int:
        return -(-self.rows // self.step)


class Scattered(Thinned):
    """The same for rows of many series: those of the same rounds are added up."""

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self._counts = np.zeros(MAX_STRETCHES, dtype=np.int64)

    def scatter(self, rows: Floats, at: NDArray[np.int64]) -> None:
        """Take rows into account, each at a round of its series, counted from 0."""
        self.rows = max(self.rows, int(at.max(initial=-1)) + 1)
        while self.rows > MAX_STRETCHES * self.step:
            for held in (self._sums, self._counts):
                held[: MAX_STRETCHES // 2] = held[0::2] + held[1::2]
                held[MAX_STRETCHES // 2 :] = 0
            self.step *= 2
        np.add.at(self._sums, at // self.step, rows)
        np.add.at(self._counts, at // self.step, 1)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of rows per stretch of rounds."""
        return self._counts[: self._count]


class History(NamedTuple):
    """Losses and weights over stretches of rounds; of many series, of each one's own rounds.

    ``rounds`` are the last of each stretch; ``loss`` and ``losses`` what the mixture and each
    expert paid in it; ``weights`` the mean weight of each expert in it.
    """

    rounds: NDArray[np.int64]
    loss: Floats
    losses: Floats
    weights: Floats


class Watching:
    """The record of every round for the charts.

    Parameters
    ----------
    experts
        How many there are.
    grouped
        Whether there are many series.
    """

    def __init__(self, experts: int, grouped: bool = False) -> None:
        kind = Scattered if grouped else Thinned
        self.loss, self.losses, self.weights = kind(1), kind(experts), kind(experts)

    def note(
        self, own: Floats, each: Floats, weights: Floats, at: NDArray[np.int64] | None = None
    ) -> None:
        """Note rounds: what the mixture and each expert paid, the weights; and which they were."""
        pairs = ((self.loss, own[:, None]), (self.losses, each), (self.weights, weights))
        for kept, rows in pairs:
            if isinstance(kept, Scattered) and at is not None:
                kept.scatter(rows, at)
            else:
                kept.add(rows)

    def history(self) -> History:
        """Return what was noted."""
        return History(
            self.loss.ends,
            self.loss.sums[:, 0].copy(),
            self.losses.sums.copy(),
            self.weights.sums / np.maximum(1, self.weights.counts)[:, None],
        )
