"""A filter as the textbook has it: an explicit covariance, and nothing factored while it learns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# Spreads are looked at this often at first; after SURE rounds, only every so many.
OFTEN, SURE = 16, 256


def factored(P: Floats) -> tuple[Floats, Floats]:
    """Return U, unit upper triangular, and D with P = U D Uᵀ."""
    turned = np.linalg.cholesky(P[::-1, ::-1])[::-1, ::-1]
    size = np.diag(turned)
    return turned / size, size**2


class Filter:
    """Ridge regression that keeps `keep` of what it knew, a round; x[0] is 1.

    The weight of an input is granted the variance `most`/spread, raised when the input turns out to
    vary less than half as much; what is forgotten never takes a variance beyond that. An input is
    counted from its mean: its weight is granted together with so much less of the constant.
    """

    def __init__(self, n: int, keep: float, most: float, constant: float) -> None:
        self.keep, self.most, self.w = keep, most, np.zeros(n)
        self.seen, self.rounds = np.zeros((0, n)), 0
        self.prior = np.zeros(n)
        self.prior[0] = constant
        self.P = np.diag(most * self.prior)

    def grow(self, n: int) -> None:
        """Add inputs, which were 0 so far."""
        more = n - len(self.w)
        self.w, self.prior = np.pad(self.w, (0, more)), np.pad(self.prior, (0, more))
        self.P, self.seen = np.pad(self.P, (0, more)), np.pad(self.seen, ((0, 0), (0, more)))

    def observe(self, x: Floats) -> None:
        """Raise what is granted, by the spread of each input where it is not zero."""
        self.rounds += 1
        if self.rounds > SURE and self.rounds % OFTEN and (self.prior > 0).all():
            return
        self.seen = np.vstack([self.seen, x])
        for j in np.flatnonzero(x[1:]) + 1:
            column = self.seen[self.seen[:, j] != 0, j]
            if len(column) > OFTEN and len(column) % OFTEN and self.rounds <= SURE:
                continue
            mean = column.sum() / len(self.seen)
            spread = (column**2).mean() - (column.mean() * mean if len(column) > 1 else 0.0)
            if spread > 1e-12 * x[j] ** 2 and 1 / spread > 2 * self.prior[j]:
                along = np.zeros(len(x))
                along[0], along[j] = -mean, 1
                self.P += self.most * (1 / spread - self.prior[j]) * np.outer(along, along)
                self.prior[j] = 1 / spread

    def learn(self, x: Floats, y: float, worth: float = 1.0) -> None:
        """Take a row in that counts as so many."""
        gain = self.P @ x / (self.keep + worth * x @ self.P @ x)
        self.w = self.w + worth * gain * (y - self.w @ x)
        self.P = (self.P - worth * np.outer(gain, self.P @ x)) / self.keep
        known = np.flatnonzero(self.prior)
        U, D = factored(self.P[np.ix_(known, known)])
        D = np.minimum(D, self.most * self.prior[known])
        self.P[np.ix_(known, known)] = U * D @ U.T
