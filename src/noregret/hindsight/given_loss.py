"""Losses of one's own over the advice of experts, asked for whole arrays at a time.

A mixture never leaves the range of the advice, and a loss need not be defined elsewhere: outside,
its tangent at the border stands for it, which keeps it convex.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from noregret.base.compiled.losses import Loss
from noregret.hindsight.losses import Slopes
from noregret.hindsight.opaque import Opaque, SmoothedOpaque
from noregret.hindsight.proofs.rounding import Floats

Function = Callable[[Floats, Floats], Any]
# Turns of halving an interval and of drawing the secant, until nothing is left of it.
HALVINGS = 100


class Confined:
    """A convex loss, known between two scores and continued by its tangents beyond."""

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
        """Return how far to go down to where the slope is that far over the rate.

        The point p with p + rate ℓ'(p) = s lies between s and s − rate ℓ'(s). Where the loss is a
        line or a parabola in between, the secant leads there at once.
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
        for turn in range(HALVINGS):
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
    """The losses of all rounds, by the functions that were given."""

    def __init__(self, loss: Confined, outcomes: Floats, smooth: bool) -> None:
        super().__init__(loss, outcomes)  # type: ignore[arg-type]
        self.smooth = smooth
        self.near = 1e-6 * ((loss.high - loss.low) or abs(loss.high) or 1.0)

    def asked(self, question: Any, *given: Any) -> Floats:
        """Ask for all rounds at once."""
        return np.asarray(question(*given), dtype=np.float64)

    def curvature(self, scores: Floats) -> Floats:
        """Return the second derivative in every round, from differences."""
        return rise(self.slope, scores, self.near)

    def smoothed(self, width: float, anchor: Floats) -> Slopes:
        """Return the smooth stand-in."""
        return SmoothedGiven(self, width, anchor)


class SmoothedGiven(SmoothedOpaque):
    """Its stand-in, with differences in its units."""

    def curvature(self, scores: Floats) -> Floats:
        """Return the second derivative in every round, from differences."""
        assert isinstance(self.loss, GivenLoss)
        return rise(self.slope, scores, self.loss.near)


def rise(slope: Callable[[Floats], Floats], scores: Floats, near: float) -> Floats:
    """Return how fast a slope rises at the scores, between points on either side of them."""
    return np.maximum(0.0, (slope(scores + near) - slope(scores - near)) / (2 * near))


def functions_of(loss: Any) -> tuple[Function, Function]:
    """Return value and derivative of a loss of one's own, as functions of arrays."""
    if isinstance(loss, Loss):
        return tuple(np.frompyfunc(ask, 2, 1) for ask in (loss.value, loss.slope))  # type: ignore[return-value]
    return loss.value, loss.derivative
