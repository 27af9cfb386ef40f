"""A point of a game's curve: where things stood, and what hindsight says of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret.hindsight import LeastSquares


@dataclass
class Moment:
    """A round of the game at which the curve has a point.

    Parameters
    ----------
    rounds, loss, mistakes
        The number of rounds so far, and what they cost.
    params
        The learner's parameters.
    largest
        The core's measurements so far.
    gradient_squares
        Σ‖g_t‖² so far.
    sums
        Of the square loss, where they are kept.
    """

    rounds: int
    loss: float
    mistakes: int
    params: dict[str, Any]
    largest: dict[str, float]
    gradient_squares: float
    sums: LeastSquares | None = None
    hindsight: float | None = None
    bound: float | None = None

    def get_state(self) -> dict[str, Any]:
        """Return what JSON can hold of it, all but the parameters."""
        kept = vars(self) | {"largest": {k: v.hex() for k, v in self.largest.items()}}
        for name in ("loss", "gradient_squares", "hindsight", "bound"):
            kept[name] = None if kept[name] is None else float(kept[name]).hex()
        return {name: value for name, value in kept.items() if name not in ("params", "sums")}

    @classmethod
    def from_state(cls, kept: dict[str, Any], params: dict[str, Any]) -> Moment:
        """Return the moment that was kept."""
        numbers = {
            name: None if kept[name] is None else float.fromhex(kept[name])
            for name in ("loss", "gradient_squares", "hindsight", "bound")
        }
        largest = {name: float.fromhex(value) for name, value in kept["largest"].items()}
        return cls(**(kept | numbers | {"largest": largest, "params": params}))

    def least_loss(self, penalty: float = 0.0, scale: float = 1.0) -> float:
        """Return min over u of  scale · L(u) + penalty · ‖u‖²  for the square loss, not proven."""
        from scipy.linalg.lapack import dposv

        assert self.sums is not None
        gram, moment, energy = self.sums.gram, self.sums.moment, self.sums.energy
        if not len(moment):
            return scale * energy
        size = float(np.trace(gram)) / max(1, len(moment)) or 1.0
        system = gram + (penalty / scale + 1e-13 * size) * np.eye(len(moment))
        _, u, failed = dposv(system, moment, overwrite_a=True)
        if failed:
            u = np.linalg.lstsq(system, moment, rcond=None)[0]
        return max(0.0, scale * (energy - float(moment @ u)))
