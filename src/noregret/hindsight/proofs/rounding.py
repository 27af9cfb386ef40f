"""Floating-point sums with proven error bounds.

A sum of k products, added in any order, has an error of at most γ(k) times the sum of their
absolute values, where γ(k) = k u / (1 − k u) and u = 2⁻⁵³. Bounds are always rounded outwards.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from noregret.limits import SMALLEST, UNIT

Floats = NDArray[np.float64]


def growth(terms: int) -> float:
    """Return γ(terms), with a margin for the arithmetic of the bound itself."""
    return (terms + 4) * UNIT / (1 - (terms + 4) * UNIT)


def upward(value: float, size: float = 0.0) -> float:
    """Return an upper bound of a sum computed in a few steps from terms of that size."""
    sizes = abs(value) + size
    room = 16 * UNIT * sizes + 16 * SMALLEST
    return math.nextafter(value + room, math.inf) if sizes else value


def downward(value: float, size: float = 0.0) -> float:
    """Return a lower bound of a sum computed in a few steps from terms of that size."""
    return -upward(-value, size)


def widened(values: Floats, off: Floats) -> Floats:
    """Return errors enlarged by the rounding of values ± errors."""
    return np.asarray(off + 2 * UNIT * (np.abs(values) + off))


def two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the rounded sum and its exact rounding error."""
    rounded = a + b
    shift = rounded - a
    return rounded, (a - (rounded - shift)) + (b - shift)


def total(values: Floats) -> float:
    """Return the correctly rounded sum; infinity if it overflows."""
    try:
        return math.fsum(values.tolist())
    except OverflowError:
        return math.inf


def dot(a: Floats, b: Floats) -> float:
    """Return a·b, summed in one thread.

    BLAS would share vectors of this length among threads: sums would depend on the number of cores,
    and wait for a second one if the machine is busy.
    """
    return float(np.einsum("i,i->", a, b))


def norm(vector: Floats) -> float:
    """Return the Euclidean norm, safe from overflow and underflow."""
    largest = float(np.abs(vector).max(initial=0.0))
    if largest == 0.0 or not math.isfinite(largest):
        return largest
    scaled = vector / largest
    return largest * math.sqrt(dot(scaled, scaled))


def norm_above(vector: Floats) -> float:
    """Return an upper bound of the Euclidean norm."""
    return upward(norm(vector) * (1 + growth(len(vector))))


def shrunk_into_ball(vector: Floats, radius: float) -> Floats:
    """Return the vector, scaled down if needed so that its norm is proven within the radius."""
    size = norm_above(vector)
    if size <= radius:
        return vector
    smaller: Floats = vector * (radius / size * (1 - 16 * UNIT))
    return smaller
