"""Every feature twice, as (U x, −U x): signed weights become weights of the simplex."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from noregret.hindsight.blocks import Block, is_sparse, padded
from noregret.hindsight.proofs.rounding import Floats
from noregret.hindsight.rows import Rows, Survey
from noregret.limits import SMALLEST, UNIT


class Doubled(Rows):
    """The examples (U x_t, −U x_t); scores and combinations are computed from the x_t.

    Parameters
    ----------
    rows
        The x_t.
    weight
        U.
    """

    def __init__(self, rows: Rows, weight: float) -> None:
        super().__init__()
        self.single, self.weight = rows, weight
        self.factor = weight * rows.factor

    def blocks(self) -> Iterator[tuple[Block, Floats]]:
        """Yield every block, doubled, with its outcomes."""
        features = self.single.shape[1]
        for block, outcomes in self.single.blocks():
            scaled = padded(block, features) * self.weight
            if is_sparse(scaled):
                from scipy import sparse

                yield sparse.csr_array(sparse.hstack([scaled, -scaled], format="csr")), outcomes
            else:
                yield np.hstack([scaled, -scaled]), outcomes

    @property
    def survey(self) -> Survey:
        """The facts about the doubled rows; two more additions account for the scaling."""
        single = self.single.survey
        return single._replace(
            features=2 * single.features,
            longest=1.5 * self.weight * single.longest,
            numbers=2 * single.numbers,
            filled=single.filled + 2,
            depth=single.depth + 2,
        )

    def scores(self, weights: Floats, *, absolute: bool = False) -> Floats:
        """Return the scores of weights given for both halves."""
        plus, minus = np.split(weights, 2)
        single = plus + minus if absolute else plus - minus
        return self.weight * self.single.scores(single, absolute=absolute)

    def combine(self, shares: Floats, *, absolute: bool = False) -> Floats:
        """Return the combination of the rows, for both halves."""
        single = self.weight * self.single.combine(shares, absolute=absolute)
        return np.concatenate([single, single if absolute else -single])

    def combined(self, shares: Floats) -> tuple[Floats, Floats]:
        """Return the combination of the rows and a bound on its error, for both halves."""
        single, off = self.single.combined(shares)
        single, off = self.weight * single, self.weight * off
        off = (off + UNIT * np.abs(single) + SMALLEST) * (1 + 8 * UNIT)
        return np.concatenate([single, -single]), np.tile(off, 2)
