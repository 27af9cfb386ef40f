"""The curve of a game, from its moments."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from noregret.proof.record.moment import Moment

Floats = NDArray[np.float64]


class Curve(NamedTuple):
    """The game at about 500 rounds, at growing distances.

    ``regret`` and ``bound`` are NaN where they are expensive. They are estimates; the certificate
    has the proven figures.
    """

    rounds: NDArray[np.int64]
    loss: Floats
    mistakes: NDArray[np.int64]
    regret: Floats
    bound: Floats

    def __repr__(self) -> str:
        last = f", loss {self.loss[-1]:.6g}" if len(self.rounds) else ""
        return f"<Curve of {len(self.rounds)} points{last}>"


def curve_of(moments: list[Moment]) -> Curve:
    """Return the moments of a game as columns."""
    loss = np.array([m.loss for m in moments])
    best = np.array([np.nan if m.hindsight is None else m.hindsight for m in moments])
    return Curve(
        np.array([m.rounds for m in moments], dtype=np.int64),
        loss,
        np.array([m.mistakes for m in moments], dtype=np.int64),
        loss - best,
        np.array([np.nan if m.bound is None else m.bound for m in moments]),
    )
