"""The smallest mistake bound that the perceptron's theorem gives on any data.

For every u with hinge loss H_u the perceptron makes at most M_u mistakes, where √M_u is the root of
m² = m R ‖u‖ + H_u.  Any u is valid: the best one found is returned, with a proof of how much better
another could be. If H_u ≥ A − G ‖u‖ for all u, no M_u is below min(A, (A R/G)²): a shorter u has a
smaller bound if √M R ≥ G, and otherwise a longer one, up to ‖u‖ = A/G.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from noregret.errors import NoRegretError
from noregret.hindsight.classes.ball import Ball
from noregret.hindsight.losses import losses_of
from noregret.hindsight.proofs.answer import USUAL, Answer, Limits, share
from noregret.hindsight.proofs.deadline import expired, time_limit
from noregret.hindsight.proofs.rounding import (
    Floats,
    downward,
    growth,
    norm,
    norm_above,
    total,
    upward,
)
from noregret.hindsight.rows import Rows
from noregret.hindsight.solvers.newton import minimise, proven
from noregret.hindsight.sparse import compact
from noregret.limits import SMALLEST, UNIT

# Radii to try.
MAX_RADII = 40


def best_mistake_bound(rows: Rows, *, limits: Limits = USUAL) -> Answer:
    """Return the smallest ((‖u‖R + √(‖u‖²R² + 4 H_u))/2)² found over u, as an interval.

    For each radius it minimises the hinge loss in the ball; a one-dimensional search finds the
    radius at which the bound is smallest.

    Examples
    --------
    >>> answer = best_mistake_bound(Rows([[1.0], [1.0], [1.0]], [1, 1, -1]))
    >>> round(answer.loss, 4), round(answer.lower, 4)
    (3.0, 3.0)
    """
    with time_limit(limits):
        return searched(compact(rows), limits)


def searched(rows: Rows, limits: Limits) -> Answer:
    """Return the smallest bound found, in the time that there is."""
    losses, longest = losses_of("hinge", rows.outcomes), rows.survey.longest
    rounds, features = rows.shape
    w = best = np.zeros(features)
    bound = float(rounds)
    rising = falling = line_of(rows, losses.slope(np.zeros(rounds)), -np.ones(rounds))
    # A lower bound on the longest norm, given the rounding error of its sum of squares.
    at_least = longest * (1 - 4 * growth(rows.survey.filled + 16)) - 64 * SMALLEST
    lower = least_bound(rising, falling, at_least)
    low, high, radius = 0.0, math.inf, 1.0 / longest if longest else 0.0
    for _ in range(MAX_RADII):
        if share(bound - lower, bound) <= limits.tolerance or not radius or expired():
            break
        ball = Ball(radius)
        hint = w * (radius / norm(w)) if w.any() else w
        sharper = replace(limits, tolerance=0.2 * limits.tolerance)
        try:
            found = minimise(rows, losses, ball, ball.inside(hint), sharper)
        except NoRegretError:  # the radius is out of range; the best u so far is still valid
            break
        w = found.w
        here = mistake_bound(norm_above(w), proven(rows, losses, ball, found)[0], longest)
        if here < bound:
            best, bound = w, here
        line = line_of(rows, found.slopes, found.constants)
        if math.sqrt(here) * longest > line.fall:
            high, rising = radius, line
            falling = falling if low else line
        else:
            low, falling = radius, line
            rising = rising if math.isfinite(high) else line
        lower = max(lower, least_bound(rising, falling, at_least))
        radius = between(low, high, rising, falling)
    return Answer("any linear predictor, best found", bound, min(lower, bound), best)


def mistake_bound(size: float, hinge: float, longest: float) -> float:
    """Return the bound for a predictor with this norm and hinge loss, rounded up."""
    reach = size * longest
    return upward(((reach + math.sqrt(reach * reach + 4 * hinge)) / 2) ** 2 * (1 + 16 * UNIT))


class Line(NamedTuple):
    """H_u ≥ start − fall ‖u‖ for all u."""

    start: float
    fall: float


def line_of(rows: Rows, slopes: Floats, constants: Floats) -> Line:
    """Return the lower bound on the hinge loss of all u that lines below the losses prove."""
    sums, off = rows.combined(slopes)
    return Line(max(0.0, downward(-total(constants))), norm_above(np.abs(sums) + off))


def between(low: float, high: float, rising: Line, falling: Line) -> float:
    """Return the next radius to try: the intersection of the two lines, if it is well inside."""
    if not low or not math.isfinite(high):
        return 4 * low or high / 4
    steeper = falling.fall - rising.fall
    met = (falling.start - rising.start) / steeper if steeper > 0 else 0.0
    return met if low * 1.0001 < met < high / 1.0001 else math.sqrt(low * high)


def least_bound(rising: Line, falling: Line, longest: float) -> float:
    """Return a lower bound on all mistake bounds, from the best mixture of two lines."""
    best, low, high = 0.0, 0.0, 1.0
    for part in (0.0, 1.0, *(0.5 for _ in range(60))):
        mixed = part if part != 0.5 else 0.5 * (low + high)
        start = (1 - mixed) * rising.start + mixed * falling.start
        fall = (1 - mixed) * rising.fall + mixed * falling.fall
        root = start * max(0.0, longest) / fall if fall else math.inf
        long = root * root  # unlike root**2, this overflows to infinity
        best = max(best, downward(min(start, long) * (1 - 64 * UNIT)))
        if part == 0.5:
            low, high = (mixed, high) if long > start else (low, mixed)
    return best
