"""Custom losses of experts' advice, evaluated on whole arrays.

A mixture never leaves the range of the advice, and a loss may be undefined elsewhere. Outside this
range it is continued by its tangents at the ends, which keeps it convex.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from noregret.base.compiled.losses import Loss
from noregret.hindsight.opaque import Opaque, difference_quotient
from noregret.hindsight.proofs.rounding import Floats

Function = Callable[[Floats, Floats], Any]
# Steps of the search for a root, which alternates between the secant method and bisection.
MAX_ROOT_STEPS = 100


class Confined:
    """A convex loss that is defined between two scores and continued by its tangents beyond."""

    def __init__(self, value: Function, derivative: Function, low: float, high: float) -> None:
        self.inner_value, self.inner_slope = value, derivative
        self.low, self.high = low, high

    def value(self, scores: Floats, outcomes: Floats) -> Floats:
        """Return the loss in every round."""
        inside = np.clip(scores, self.low, self.high)
        value = np.asarray(self.inner_value(inside, outcomes), dtype=np.float64)
        beyond = scores - inside
        return np.where(beyond == 0, value, value + beyond * self.slope(inside, outcomes))

    def slope(self, scores: Floats, outcomes: Floats) -> Floats:
        """Return the derivative in every round."""
        inside = np.clip(scores, self.low, self.high)
        return np.asarray(self.inner_slope(inside, outcomes), dtype=np.float64)

    def implicit_step(self, scores: Floats, outcomes: Floats, rate: float, norm2: float) -> Floats:
        """Return (s − p)/norm2 for the point p with p + step ℓ'(p) = s, where step = rate · norm2.

        It lies between s and s − step ℓ'(s). If the loss is a line or a parabola in between, the
        first step of the secant method finds it.
        """
        step = rate * norm2
        from_here = step * self.slope(scores, outcomes)
        there = scores - from_here
        from_there = there + step * self.slope(there, outcomes) - scores
        down = from_here > 0
        low, high = np.where(down, there, scores), np.where(down, scores, there)
        below, above = np.where(down, from_there, from_here), np.where(down, from_here, from_there)
        point, small = scores.copy(), 2.0**-44 * np.abs(from_here)
        left = np.flatnonzero(from_here)
        for turn in range(MAX_ROOT_STEPS):
            if not len(left):
                break
            a, b, under, over = low[left], high[left], below[left], above[left]
            with np.errstate(invalid="ignore", divide="ignore"):
                share = np.clip(np.nan_to_num(under / (under - over), nan=0.5), 0.0, 1.0)
            at = a + (b - a) * (0.5 if turn % 2 else share)
            rest = at + step * self.slope(at, outcomes[left]) - scores[left]
            up = rest > 0
            low[left], below[left] = np.where(up, a, at), np.where(up, under, rest)
            high[left], above[left] = np.where(up, at, b), np.where(up, rest, over)
            point[left] = at
            open_still = (np.abs(rest) > small[left]) & (high[left] - low[left] > small[left])
            left = left[open_still]
        return np.asarray((scores - point) / norm2)


class GivenLoss(Opaque):
    """The losses of all rounds, by functions of arrays."""

    def __init__(self, loss: Confined, outcomes: Floats, smooth: bool) -> None:
        super().__init__(loss, outcomes)  # type: ignore[arg-type]
        self.smooth = smooth
        self.difference = 1e-6 * ((loss.high - loss.low) or abs(loss.high) or 1.0)

    def evaluated(self, function: Any, *given: Any) -> Floats:
        """Return the values of a function for all rounds, from one call."""
        return np.asarray(function(*given), dtype=np.float64)

    def curvature_of(self, slope: Callable[[Floats], Floats], scores: Floats) -> Floats:
        """Return the derivative of a slope, from differences on the scale of the advice."""
        return difference_quotient(slope, scores, self.difference)


def functions_of(loss: Any) -> tuple[Function, Function]:
    """Return value and derivative of a custom loss, as functions of arrays."""
    if isinstance(loss, Loss):
        return tuple(np.frompyfunc(ask, 2, 1) for ask in (loss.value, loss.slope))  # type: ignore[return-value]
    return loss.value, loss.derivative
