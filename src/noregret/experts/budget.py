"""A budget for being worse than the average; what it does not allow, a mixture does not risk.

In round t the forecast is aₜ + θₜ·(bₜ − aₜ), with a the average and b the mixture that is shielded.
Let A be the loss of the average so far, D the loss paid beyond it, and m the largest loss in a
round so far: of the average, or of b beyond the average. Then

    θ = max(0, min(1, G/m)),    with  G = A/100 + m/4 − D,    and  θ = 1/4  if  m = 0.

If the loss is convex, the loss beyond that of the average is at most A/100 + m/4 + j after every
round, whatever the outcomes. Here j is the largest (θ − 1/4)·(d − m) of a round in which b loses d
beyond the average, with m taken before that round: it is above 0 only if d is a new largest loss.

Proof. The loss beyond the average in a round is at most θd. If d ≤ m, D becomes at most D + G, or
stays if G < 0. Otherwise it becomes at most A/100 + m/4 + θ(d − m), and the largest loss at least
d, which makes that at most A/100 + d/4 + (θ − 1/4)(d − m). So the last jump alone counts. Where
losses are below 0, A/100 is the sum over rounds in which the average's is above.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.checks import state_numbers

Floats = NDArray[np.float64]
# The losses of forecasts in some rows.
Cost = Callable[[Floats, slice], Floats]
# The parts of the average's loss and of the largest loss that may be lost beyond the average.
PART, LARGEST = 0.01, 0.25
# Rows that are computed at once, unless the budget is short.
ROWS_AT_ONCE = 256
FRESH = {"average": 0.0, "allowed": 0.0, "beyond": 0.0, "largest": 0.0, "jump": 0.0, "moved": 0.0}


class Budget:
    """The loss beyond the average that is still allowed, and the trust in the mixture."""

    def __init__(self) -> None:
        # The loss of the average; the part of it that may be lost beyond it; the loss paid beyond
        # it; the largest loss in a round; the largest jump, j; the loss paid minus that of the
        # mixture that is shielded.
        self.numbers: dict[str, float] = dict(FRESH)

    @property
    def trust(self) -> float:
        """The part of the shielded mixture in the next forecast, θ."""
        held = self.numbers
        largest = held["largest"]
        if largest == 0:
            return LARGEST
        return max(0.0, min(1.0, (held["allowed"] + LARGEST * largest - held["beyond"]) / largest))

    @property
    def limit(self) -> float:
        """The loss that is never exceeded."""
        held = self.numbers
        return held["average"] + held["allowed"] + LARGEST * held["largest"] + held["jump"]

    def spend(self, mixed: Floats, average: Floats, cost: Cost) -> tuple[Floats, Floats] | None:
        """Return θ of each row and the loss paid minus that of the mixture; None if θ is 1.

        Parameters
        ----------
        mixed
            The forecasts of the mixture.
        average
            Those of the average.
        cost
            The losses of forecasts in some rows.
        """
        trust, moved = np.ones(len(mixed)), np.zeros(len(mixed))
        with np.errstate(over="ignore", invalid="ignore"):
            paid, plain = cost(mixed, slice(None)), cost(average, slice(None))
            for start in range(0, len(plain), ROWS_AT_ONCE):
                part = slice(start, min(start + ROWS_AT_ONCE, len(plain)))
                for t in range(start + self._trusted(paid[part], plain[part]), part.stop):
                    row, theta = slice(t, t + 1), self.trust
                    own = paid[t]
                    if theta < 1:
                        own = cost(within(mixed[row], average[row], theta), row)[0]
                        trust[t], moved[t] = theta, own - paid[t]
                    self._add(float(plain[t]), float(paid[t]), float(own), theta)
        return None if (trust == 1).all() else (trust, moved)

    def _trusted(self, paid: Floats, plain: Floats) -> int:
        """Add the rounds before the first in which θ is below 1; return their number."""
        if len(plain) == 1 or self.trust < 1:
            return 0
        held, more = self.numbers, paid - plain
        averages = np.cumsum(np.append(held["average"], plain))
        allowed = np.cumsum(np.append(held["allowed"], PART * np.maximum(plain, 0.0)))
        beyond = np.cumsum(np.append(held["beyond"], more))
        sizes = np.maximum(more, np.abs(plain))
        largest = np.maximum.accumulate(np.append(held["largest"], sizes))
        jumps = np.maximum.accumulate((1 - LARGEST) * np.maximum(more - largest[:-1], 0.0))
        short = np.flatnonzero((allowed + LARGEST * largest - beyond) / largest < 1)
        first = int(short[0]) if short.size else len(plain)
        self.numbers = {
            "average": float(averages[first]),
            "allowed": float(allowed[first]),
            "beyond": float(beyond[first]),
            "largest": float(largest[first]),
            "jump": max(held["jump"], float(jumps[first - 1])),
            "moved": held["moved"],
        }
        return first

    def _add(self, plain: float, paid: float, own: float, theta: float) -> None:
        """Add a round: the loss of the average, of the mixture, and that paid, with trust θ."""
        held, more = self.numbers, paid - plain
        jump = max(0.0, theta - LARGEST) * max(0.0, more - held["largest"])
        self.numbers = {
            "average": held["average"] + plain,
            "allowed": held["allowed"] + PART * max(plain, 0.0),
            "beyond": held["beyond"] + (own - plain),
            "largest": max(held["largest"], more, abs(plain)),
            "jump": max(held["jump"], jump),
            "moved": held["moved"] + (own - paid),
        }

    def set_state(self, numbers: dict[str, Any]) -> None:
        """Restore a state; raise ValueError if it is invalid."""
        state_numbers(numbers, FRESH, ("average", "beyond", "moved"))
        self.numbers = {name: numbers[name] for name in FRESH}


def within(mixed: Any, average: Any, trust: Any) -> Any:
    """Return the forecast that trusts a mixture to some degree; that itself if wholly."""
    return np.where(trust >= 1, mixed, average + trust * (mixed - average))
