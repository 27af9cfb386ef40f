"""The curve of a game, and its points with hindsight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from noregret.hindsight import LeastSquares

Floats = NDArray[np.float64]
# Features up to which NumPy solves the system, ignoring its symmetry: importing SciPy's linear
# algebra takes 0.2 s, more than everything else before the first row is learned.
MAX_NUMPY_FEATURES = 64


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
        Sums of the square loss, if kept.
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
        """Return the state as JSON, without the parameters."""
        kept = vars(self) | {"largest": {k: v.hex() for k, v in self.largest.items()}}
        for name in ("loss", "gradient_squares", "hindsight", "bound"):
            kept[name] = None if kept[name] is None else float(kept[name]).hex()
        return {name: value for name, value in kept.items() if name not in ("params", "sums")}

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
        """Return min over u of  scale · L(u) + penalty · ‖u‖²  for the square loss, not proven."""
        assert self.sums is not None
        whole = self.sums.whole
        gram, moment, energy = whole[1:, 1:], whole[0, 1:], float(whole[0, 0])
        if not len(moment):
            return scale * energy
        size = float(np.trace(gram)) / max(1, len(moment)) or 1.0
        system = gram + (penalty / scale + 1e-13 * size) * np.eye(len(moment))
        return max(0.0, scale * (energy - float(moment @ solved(system, moment))))


def solved(system: Floats, moment: Floats) -> Floats:
    """Return the solution of a symmetric system, or of least squares if it is singular."""
    if len(moment) > MAX_NUMPY_FEATURES:
        from scipy.linalg.lapack import dposv

        _, u, failed = dposv(system, moment)
        if not failed:
            return np.asarray(u)
    else:
        try:
            return np.asarray(np.linalg.solve(system, moment), np.float64)
        except np.linalg.LinAlgError:
            pass
    return np.asarray(np.linalg.lstsq(system, moment, rcond=None)[0], np.float64)


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
