"""Custom losses: only value and slope are available, and convexity is not checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.base.compiled.losses import Loss
from noregret.hindsight.proofs.rounding import Floats
from noregret.limits import SMALLEST, UNIT

if TYPE_CHECKING:
    from noregret.hindsight.losses import Slopes


class Opaque:
    """A loss with a value and a slope only, evaluated in Python one number at a time."""

    smooth = False
    nonnegative = False

    def __init__(self, loss: Loss, outcomes: Floats) -> None:
        self.loss, self.outcomes = loss, outcomes

    def evaluated(self, function: Any, *given: Any) -> Floats:
        """Return the values of a function for all rounds."""
        return np.asarray(np.frompyfunc(function, len(given), 1)(*given), dtype=np.float64)

    def value(self, scores: Floats) -> Floats:
        """Return the loss in every round."""
        return self.evaluated(self.loss.value, scores, self.outcomes)

    def value_above(self, scores: Floats, off: Floats) -> Floats:
        """Return an upper bound per round, if the loss function is accurate to the last digits."""
        value = np.maximum(self.value(scores - off), self.value(scores + off))
        return value + rounded(value)

    def slope(self, scores: Floats) -> Floats:
        """Return the derivative in every round."""
        return self.evaluated(self.loss.slope, scores, self.outcomes)

    def curvature(self, scores: Floats) -> Floats:
        """Return the second derivative in every round, from differences."""
        return self.curvature_of(self.slope, scores)

    def curvature_of(self, slope: Callable[[Floats], Floats], scores: Floats) -> Floats:
        """Return the derivative of a slope, from differences on the scale of the scores."""
        return difference_quotient(slope, scores, 1e-6 * (1 + np.abs(scores)))

    def lines(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return the tangents at the scores."""
        slope, value = self.slope(scores), self.value(scores)
        reach = slope * scores
        return slope, reach - value + rounded(np.abs(reach) + np.abs(value))

    def smoothed(self, width: float, anchor: Floats) -> Slopes:
        """Return the smooth approximation."""
        return SmoothedOpaque(self, width, anchor)


class SmoothedOpaque:
    """The smooth approximation of an opaque loss, whose slopes are those of implicit steps."""

    def __init__(self, loss: Opaque, width: float, anchor: Floats) -> None:
        self.loss, self.width, self.anchor = loss, width, anchor

    def slope(self, scores: Floats) -> Floats:
        """Return the derivative in every round."""
        step = self.loss.loss.implicit_step
        moved = scores + self.width * self.anchor
        return self.loss.evaluated(step, moved, self.loss.outcomes, self.width, 1.0) / self.width

    def curvature(self, scores: Floats) -> Floats:
        """Return the second derivative in every round, from differences."""
        return self.loss.curvature_of(self.slope, scores)

    def lines(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return mixtures of two tangents, one on each side of the end of the implicit step.

        At a kink the tangents differ, and their mixtures have every slope in between.
        """
        wanted = self.slope(scores)
        point = scores + self.width * (self.anchor - wanted)
        near = 1e-9 * (np.abs(point) + np.abs(scores - point))
        (before, c_before), (after, c_after) = (
            self.loss.lines(point - near),
            self.loss.lines(point + near),
        )
        between = after - before
        mixed = between > 0
        slope, c = before.copy(), c_before.copy()
        low, high, width = before[mixed], after[mixed], between[mixed]
        slope[mixed] = chosen = np.clip(wanted[mixed], low, high)
        rise = (c_after - c_before)[mixed]
        part = (chosen - low) / width
        off = rounded(((np.abs(low) + np.abs(high)) / width + 1) * np.abs(rise))
        c[mixed] += part * rise + off + rounded(c[mixed])
        return slope, c


def rounded(size: Floats) -> Floats:
    """Return a bound on the error of a few roundings of numbers of a size, underflow included."""
    return 8 * (UNIT * np.abs(size) + SMALLEST)


def difference_quotient(
    slope: Callable[[Floats], Floats], scores: Floats, near: Floats | float
) -> Floats:
    """Return (slope(s + near) − slope(s − near)) / (2 near), or 0 where that is negative."""
    return np.maximum(0.0, (slope(scores + near) - slope(scores - near)) / (2 * near))
