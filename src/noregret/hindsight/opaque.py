"""Losses of one's own: only value and slope can be asked, and convexity is taken on trust."""

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
    """A loss of which only value and slope can be asked, in Python, one number at a time."""

    smooth = False
    nonnegative = False

    def __init__(self, loss: Loss, outcomes: Floats) -> None:
        self.loss, self.outcomes = loss, outcomes

    def asked(self, question: Any, *given: Any) -> Floats:
        """Ask in every round."""
        return np.asarray(np.frompyfunc(question, len(given), 1)(*given), dtype=np.float64)

    def value(self, scores: Floats) -> Floats:
        """Return the loss in every round."""
        return self.asked(self.loss.value, scores, self.outcomes)

    def value_above(self, scores: Floats, off: Floats) -> Floats:
        """Return what the loss is not above, if its function is right to the last digits."""
        value = np.maximum(self.value(scores - off), self.value(scores + off))
        return value + rounded(value)

    def slope(self, scores: Floats) -> Floats:
        """Return the derivative in every round."""
        return self.asked(self.loss.slope, scores, self.outcomes)

    def curvature(self, scores: Floats) -> Floats:
        """Return the second derivative in every round, from differences."""
        return differences(self.slope, scores)

    def lines(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return the tangents at the scores."""
        slope, value = self.slope(scores), self.value(scores)
        reach = slope * scores
        return slope, reach - value + rounded(np.abs(reach) + np.abs(value))

    def smoothed(self, width: float, anchor: Floats) -> Slopes:
        """Return the smooth stand-in."""
        return SmoothedOpaque(self, width, anchor)


class SmoothedOpaque:
    """The stand-in for an opaque loss: its slope is where the implicit step leads."""

    def __init__(self, loss: Opaque, width: float, anchor: Floats) -> None:
        self.loss, self.width, self.anchor = loss, width, anchor

    def slope(self, scores: Floats) -> Floats:
        """Return the derivative in every round."""
        step = self.loss.loss.implicit_step
        moved = scores + self.width * self.anchor
        return self.loss.asked(step, moved, self.loss.outcomes, self.width, 1.0) / self.width

    def curvature(self, scores: Floats) -> Floats:
        """Return the second derivative in every round, from differences."""
        return differences(self.slope, scores)

    def lines(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return mixtures of two tangents, at either side of where the implicit step leads.

        At a kink the tangents differ, and a mixture has any slope between theirs.
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
    """Return what a few roundings take from numbers of a size, those below all others too."""
    return 8 * (UNIT * np.abs(size) + SMALLEST)


def differences(slope: Callable[[Floats], Floats], scores: Floats) -> Floats:
    """Return how fast a slope rises at the scores."""
    near = 1e-6 * (1 + np.abs(scores))
    return np.maximum(0.0, (slope(scores + near) - slope(scores - near)) / (2 * near))
