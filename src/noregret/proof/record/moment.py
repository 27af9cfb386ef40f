"""The curve of a game, and its points with hindsight."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.proof.record.best_so_far import Factor, least_loss

if TYPE_CHECKING:
    from noregret.hindsight import LeastSquares

Floats = NDArray[np.float64]


@dataclass
class Moment:
    """A round of the game at which the curve has a point.

    Parameters
    ----------
    rounds, loss, mistakes
        The number of rounds so far, and their loss and mistakes.
    params
        The learner's parameters.
    largest
        The core's measurements so far.
    gradient_squares
        Σ‖g_t‖² so far.
    sums
        Sums of the square loss, if kept; or a factor of the rows in their place.
    hindsight, bound
        The least loss of a predictor and the bound of the theorem; NaN if too few digits are left.
    rows_kept
        True if the rows can give what sums cannot.
    """

    rounds: int
    loss: float
    mistakes: int
    params: dict[str, Any]
    largest: dict[str, float]
    gradient_squares: float
    sums: LeastSquares | Factor | None = None
    hindsight: float | None = None
    bound: float | None = None
    rows_kept: bool = False

    def get_state(self) -> dict[str, Any]:
        """Return the state as JSON, without the parameters."""
        kept = vars(self) | {"largest": {k: v.hex() for k, v in self.largest.items()}}
        for name in ("loss", "gradient_squares", "hindsight", "bound"):
            kept[name] = None if kept[name] is None else float(kept[name]).hex()
        passing = ("params", "sums", "rows_kept")
        return {name: value for name, value in kept.items() if name not in passing}

    @classmethod
    def from_state(cls, kept: dict[str, Any], params: dict[str, Any]) -> Moment:
        """Return the moment of a state."""
        numbers = {
            name: None if kept[name] is None else float.fromhex(kept[name])
            for name in ("loss", "gradient_squares", "hindsight", "bound")
        }
        largest = {name: float.fromhex(value) for name, value in kept["largest"].items()}
        return cls(**(kept | numbers | {"largest": largest, "params": params}))

    def least_loss(self, penalty: float = 0.0, scale: float = 1.0) -> float:
        """Return min over u of  scale · L(u) + penalty · ‖u‖²  for the square loss, not proven.

        It is NaN if the sums have too few digits left for it.
        """
        assert self.sums is not None
        with np.errstate(all="ignore"):
            usual = self.loss / scale
            if isinstance(self.sums, Factor):
                return scale * self.sums.least_loss(penalty / scale, usual)
            return scale * least_loss(self.sums, penalty / scale, usual, self.rows_kept)


class Curve(NamedTuple):
    """The game at about 500 rounds, at growing distances.

    ``regret`` and ``bound`` are NaN where they are expensive, and where rounding leaves too few
    digits: there ``lost`` is True. They are estimates; the certificate has the proven figures.
    """

    rounds: NDArray[np.int64]
    loss: Floats
    mistakes: NDArray[np.int64]
    regret: Floats
    bound: Floats
    lost: NDArray[np.bool_]

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
        np.array([math.isnan(m.hindsight or 0) for m in moments], dtype=np.bool_),
    )
