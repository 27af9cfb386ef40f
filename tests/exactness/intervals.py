"""Intervals that should hold an exact number."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def untrue(
    low: float, high: float, own: Fraction | None, least: Fraction, error: Fraction = Fraction(0)
) -> str:
    """Return what is wrong with an interval whose upper end a witness pays; empty if nothing is.

    Parameters
    ----------
    low, high
        The ends.
    own
        What the witness pays; None for infinity.
    least
        What the best of the class pays, or any of the class where only the lower end counts.
    error
        What exact arithmetic may be off by where there are logarithms.
    """
    if high < np.inf and (own is None or Fraction(high) < own - error):
        return f"the witness pays {own if own is None else float(own)!r}, more than {high!r}"
    return outside(low, high, least, error)


def outside(low: float, high: float, least: Fraction, error: Fraction = Fraction(0)) -> str:
    """Return what is wrong with an interval that should hold a number; empty if nothing is."""
    if low > high:
        return f"an interval from {low!r} down to {high!r}"
    if low > -np.inf and not (low < np.inf and Fraction(low) <= least + error):
        return f"lower end {low!r} is above {float(least)!r} by {excess(low, least)}"
    if high < np.inf and Fraction(high) < least - error:
        return f"upper end {high!r} is below {float(least)!r} by {excess(high, least)}"
    return ""


def excess(end: float, value: Fraction) -> str:
    """Return how far apart two numbers are."""
    return "infinitely much" if np.isinf(end) else f"{float(abs(Fraction(end) - value)):.3g}"
