"""A budget for being worse than the average: when it is spent, a mixture returns to the average.

In round t the forecast is aₜ + θₜ·(bₜ − aₜ), with a the average and b the mixture that is shielded.
Let A be the loss of the average so far, D the loss paid beyond it, and m the largest loss of b
beyond the average in a round. Then

    θ = 1  if  G ≥ m,  else  G/m,    with  G = A/100 + 2m − D.

If the loss is convex, the loss beyond that of the average is at most A/100 + 2m after every round,
whatever the outcomes: the loss beyond in a round is at most θ times that of b. If that is at most
m, D grows by at most G, and by at most m where θ = 1. If it is a new largest d, D was at most
A/100 + 2m − G and grows by at most min(1, G/m)·d, which makes it at most A/100 + m + d.
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
# The part of the average's loss that may be lost beyond it, and the number of largest losses.
PART, LARGEST = 0.01, 2.0
FRESH = {"average": 0.0, "beyond": 0.0, "largest": 0.0, "moved": 0.0}


class Budget:
    """The loss beyond the average that is still allowed, and the trust in the mixture."""

    def __init__(self) -> None:
        # The loss of the average; the loss paid beyond it; the largest loss of the mixture beyond
        # the average in a round; the loss paid minus that of the mixture that is shielded.
        self.numbers: dict[str, float] = dict(FRESH)

    @property
    def trust(self) -> float:
        """The part of the shielded mixture in the next forecast, θ."""
        average, beyond, largest, _ = self.numbers.values()
        left = PART * average + LARGEST * largest - beyond
        return 1.0 if left >= largest else max(0.0, left / largest)

    @property
    def limit(self) -> float:
        """The loss that is never exceeded."""
        return (1 + PART) * self.numbers["average"] + LARGEST * self.numbers["largest"]

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
        rows = slice(None)
        with np.errstate(over="ignore", invalid="ignore"):
            paid, plain = cost(mixed, rows), cost(average, rows)
            if len(plain) == 1 and self.trust >= 1:  # the same without arrays, for single rounds
                self._add(float(plain[0]), float(paid[0] - plain[0]), float(paid[0] - plain[0]))
                return None
            more = paid - plain
            held = self.numbers
            averages = np.cumsum(np.append(held["average"], plain))
            beyond = np.cumsum(np.append(held["beyond"], more))
            largest = np.maximum.accumulate(np.append(held["largest"], more))
            short = PART * averages + LARGEST * largest - beyond < largest
        spent = np.flatnonzero(short[:-1])
        first = int(spent[0]) if spent.size else len(plain)
        self.numbers = {
            "average": float(averages[first]),
            "beyond": float(beyond[first]),
            "largest": float(largest[first]),
            "moved": held["moved"],
        }
        if not spent.size:
            return None
        trust, moved = np.ones(len(plain)), np.zeros(len(plain))
        for t in range(first, len(plain)):
            row = slice(t, t + 1)
            trust[t] = theta = self.trust
            own = float(cost(within(mixed[row], average[row], theta), row)[0])
            moved[t] = own - paid[t]
            self._add(float(plain[t]), own - float(plain[t]), float(more[t]), float(moved[t]))
        return trust, moved

    def _add(self, plain: float, beyond: float, more: float, moved: float = 0.0) -> None:
        """Add a round: the loss of the average, and what was lost beyond it and moved."""
        held = self.numbers
        self.numbers = {
            "average": held["average"] + plain,
            "beyond": held["beyond"] + beyond,
            "largest": max(held["largest"], more),
            "moved": held["moved"] + moved,
        }

    def set_state(self, numbers: dict[str, Any]) -> None:
        """Restore a state; raise ValueError if it is invalid."""
        state_numbers(numbers, FRESH, ("average", "beyond", "moved"))
        self.numbers = dict(numbers)


def within(mixed: Any, average: Any, trust: Any) -> Any:
    """Return the forecast that trusts a mixture to some degree; that itself if wholly."""
    return np.where(trust >= 1, mixed, average + trust * (mixed - average))
