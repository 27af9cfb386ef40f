"""Raise a proven lower bound where rounding, not the search, keeps it low.

Slopes a_t of lines below the losses prove, over a class of weights u,

    the least of (Xᵀa)·u  −  Σ ℓ_t*(a_t).

Slopes at computed scores have the rounding errors of these, which Xᵀ and the size of u multiply:
with columns of 10⁶, and the weights that fit them, all is lost. Changed by as little as gives Xᵀa
the value that it has at the best weights, they prove as much as exact scores would.
"""

from __future__ import annotations

import math

import numpy as np

from noregret.hindsight.blocks import padded
from noregret.hindsight.losses import Losses
from noregret.hindsight.proofs.deadline import expired
from noregret.hindsight.proofs.rounding import (
    Floats,
    dot,
    downward,
    norm,
    norm_above,
    total,
    upward,
)
from noregret.hindsight.proofs.witness import BOX, LIMITED_NORM, SIGNED, SIMPLEX, SUM_OF_ONE
from noregret.hindsight.rows import Rows

# Most numbers in the rows, times the smaller side, of which small changes of slopes are computed.
MAX_WORK = 1 << 24
# Repeats: the first leaves the rounding of the changes, which is small.
LEVELLINGS = 3
# Weights below this share of the largest one are on the boundary of the class.
BOUNDARY = 1e-6
# Words of classes whose members pay for their weights.
PAYING = "paying"


def least(comparator: str, g: Floats, off: Floats) -> float:
    """Return a proven lower bound of g·u over a class, where g has errors up to ``off``.

    Examples
    --------
    >>> round(least("ball of radius 2", np.array([3.0, 4.0]), np.zeros(2)), 9)
    -10.0
    >>> least("all linear predictors", np.array([1.0]), np.zeros(1))
    -inf
    """
    sizes = np.abs(g) + off
    if PAYING in comparator:
        return -math.inf
    if found := LIMITED_NORM.fullmatch(comparator):
        return -upward(float(found[1]) * norm_above(sizes))
    if found := BOX.fullmatch(comparator):
        return -upward(float(found[1]) * total(sizes), float(found[1]) * total(sizes))
    if found := SIGNED.fullmatch(comparator):
        return -upward(float(found[1]) * float(sizes.max(initial=0.0)))
    if SIMPLEX.fullmatch(comparator) or SUM_OF_ONE.fullmatch(comparator):
        return downward(float((g - off).min(initial=math.inf)), float(sizes.max(initial=0.0)))
    return -math.inf


def levels(comparator: str, w: Floats, g: Floats) -> list[Floats]:
    """Return values that g = Xᵀa may have where w is the best of a class."""
    inside = np.abs(w) > BOUNDARY * np.abs(w).max(initial=0.0)
    if LIMITED_NORM.fullmatch(comparator):
        size = norm(w)
        pull = max(0.0, -dot(w, g) / size) if size else 0.0
        return [np.zeros_like(g), w * (-pull / size)] if pull else [np.zeros_like(g)]
    if found := BOX.fullmatch(comparator):
        free = np.abs(w) < float(found[1]) * (1 - BOUNDARY)
        return [np.where(free | (g * w > 0), 0.0, g)]
    if found := SIGNED.fullmatch(comparator):
        most = max(0.0, -dot(w, g) / float(found[1]))
        return [np.where(inside, -np.sign(w) * most, np.clip(g, -most, most)), np.zeros_like(g)]
    most = dot(w, g)
    return [np.where(inside, most, np.maximum(g, most))]


def levelled(rows: Rows, losses: Losses, comparator: str, w: Floats, slopes: Floats) -> float:
    """Return a lower bound of the loss of a class, by levelled slopes.

    The bound is minus infinity if there are too many rows, or if lines of other slopes are not
    known.

    Examples
    --------
    >>> from noregret.hindsight import Rows
    >>> from noregret.hindsight.losses import losses_of
    >>> rows = Rows([[1e6], [1e6]], [1.0, -1.0])
    >>> losses = losses_of("logistic", rows.outcomes)
    >>> w, rounded = np.zeros(1), np.array([-0.5, 0.5 + 1e-6])  # which alone prove nothing
    >>> levelled(rows, losses, "ball of radius 2", w, rounded) > 1.38
    True
    """
    line_of = getattr(losses, "line_of", None)
    single = getattr(rows, "single", rows)
    count, columns = single.shape
    if line_of is None or expired() or count * columns * min(count, columns) > MAX_WORK:
        return -math.inf
    with np.errstate(all="ignore"):
        X = dense(single)
        lower = lower_of(rows, losses, comparator, line_of(slopes))
        for wanted in levels(comparator, w, rows.combined(slopes)[0]):
            a = slopes
            for _ in range(LEVELLINGS):
                left = wanted - rows.combined(a)[0]
                if not np.isfinite(left).all():
                    break
                change = np.linalg.lstsq(X.T, left.reshape(columns, -1), rcond=None)[0]
                a, _ = lines = line_of(a + change.reshape(a.shape))
                lower = max(lower, lower_of(rows, losses, comparator, lines))
    return lower


def lower_of(rows: Rows, losses: Losses, comparator: str, lines: tuple[Floats, Floats]) -> float:
    """Return the lower bound that lines prove, given by their slopes and constants."""
    slopes, constants = lines
    floor, constant = least(comparator, *rows.combined(slopes)), total(constants)
    lower = downward(floor - constant, abs(floor) + abs(constant))
    if not lower > 0 and losses.nonnegative:
        return 0.0
    return lower if math.isfinite(lower) else -math.inf


def dense(rows: Rows) -> Floats:
    """Return the rows as one array."""
    blocks = [padded(X, rows.shape[1]) for X, _ in rows.blocks()]
    return np.concatenate([X.toarray() if hasattr(X, "nnz") else X for X in blocks])
