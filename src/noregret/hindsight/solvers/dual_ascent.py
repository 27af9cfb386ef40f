"""Dual coordinate ascent over a ball, for sparse rows of many features.

Slopes a_t of lines below the losses prove that every predictor of the ball has a loss of at least

    D(a) = −Σ ℓ_t*(a_t) − U ‖g‖  with  g = Σ a_t x_t.

As U ‖g‖ is the minimum of  ‖g‖²/(2λ) + λ U²/2  over λ > 0, the search alternates: a pass that moves
every slope for a fixed λ (see ``hindsight.ascent``), then scales all slopes by the factor with the
highest D, then sets λ = ‖g‖/U. Every step raises D, and −U g/‖g‖ approaches the best predictor. If
rows are many and each matters little, about ten passes bring the gap to a thousandth of the loss.
Once D rises slowly, slopes are moved on in the direction of the last pass before the next one; if D
falls, they are not.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from noregret.hindsight.ascent import ascend
from noregret.hindsight.classes.ball import Ball
from noregret.hindsight.losses import Clipped, Logistic, Losses
from noregret.hindsight.proofs.answer import GOOD_GAP, Limits, share
from noregret.hindsight.proofs.deadline import expired, tell, time_limit
from noregret.hindsight.proofs.rounding import Floats, norm
from noregret.hindsight.rows import Rows
from noregret.hindsight.solvers.curvature import is_wide
from noregret.hindsight.solvers.newton import Found
from noregret.hindsight.sparse import SparseRows

# If this many passes cut the gap by less than MIN_CUT, Newton's method takes over.
STALLED, MIN_CUT = 6, 0.3
# While a pass raises the lower bound by this share, the gap is not small: the loss is not computed.
RISING = 0.05
# Later on it is computed every MAX_UNPAID passes, and after each that raises the bound by less
# than a gap that may suffice: the gap is about one to four times as large as the last rise.
MAX_UNPAID = 3
# How far slopes are moved on, as a share of what the last pass moved them.
MOMENTUM = 0.4
# Neighbours visited one after the other. Single rows take a third longer to read, and more
# neighbours need more passes.
NEIGHBOURS = 4
# Numbers read between two checks of the clock.
NUMBERS_PER_LOOK = 2_000_000
# Limits of the factor by which all slopes are scaled at once. With kinks, D is linear in the factor
# up to a limit, so the best factor means less.
MIN_FACTOR, MIN_FACTOR_WITH_KINKS, MAX_FACTOR = 0.1, 0.5, 10.0


def ascended(rows: Rows, losses: Losses, ball: Ball, start: Floats, limits: Limits) -> Found | None:
    """Return a predictor of the ball and lines that prove how good it is; None for other shapes."""
    if not isinstance(rows, SparseRows) or not is_wide(rows):
        return None
    if not isinstance(losses, Clipped | Logistic):
        return None
    climb = Climb(rows, losses, ball, start)
    with np.errstate(all="ignore"), time_limit(limits):
        climb.go(limits)
    return climb.found


class Climb:
    """The slopes during the search for the highest dual value."""

    def __init__(
        self, rows: SparseRows, losses: Clipped | Logistic, ball: Ball, start: Floats
    ) -> None:
        self.rows, self.losses, self.ball = rows, losses, ball
        rounds = rows.shape[0]
        self.low, self.high, self.centre = (
            np.ascontiguousarray(np.broadcast_to(part, rounds), np.float64)
            for part in (losses.low, losses.high, losses.centre)
        )
        scores = rows.scores(start)
        self.multiplier = norm(rows.combine(losses.slope(scores))) / ball.radius
        self.least_factor = MIN_FACTOR if losses.smooth else MIN_FACTOR_WITH_KINKS
        # Empty rows keep their initial slopes.
        idle = losses.slope(np.zeros(rounds))
        self.slopes = np.where(rows.squares > 0, np.clip(0.0, self.low, self.high), idle)
        self.gradient = rows.combine(self.slopes)
        self.found = Found(start, self.slopes, losses.line_of(self.slopes)[1], start)
        self.found.loss = float(losses.value(scores).sum())
        # A predictor whose loss is not known yet, and how many passes ago a loss was computed.
        self.unpaid: Floats | None = None
        self.passes_unpaid = 0
        # Slopes and gradient before the last pass, and whether that pass raised D a little.
        self.before, self.is_steady = (self.slopes, self.gradient), False

    def go(self, limits: Limits) -> None:
        """Pass over the rows until the gap is small enough or hardly shrinks, or time is up."""
        found, random = self.found, np.random.default_rng(0)
        gaps: list[float] = []
        while len(gaps) < limits.steps and self.has_multiplier():
            self.move_on()
            self.pass_over(shuffled(random, self.rows.shape[0]))
            self.look(max(limits.tolerance, GOOD_GAP))
            tell(found.loss, found.lower)
            gaps.append(found.gap)
            if found.is_close(limits) or expired(share(found.gap, found.loss)):
                break
            if len(gaps) > STALLED and not gaps[-1] < (1 - MIN_CUT) * gaps[-1 - STALLED]:
                break
        self.pay()

    def has_multiplier(self) -> bool:
        """Return whether the multiplier is a number to divide by."""
        return self.multiplier > 0 and math.isfinite(1 / self.multiplier)

    def move_on(self) -> None:
        """Move the slopes on in the direction of the last pass, if D rises slowly."""
        slopes, gradient = self.slopes, self.gradient
        self.slopes, self.gradient = slopes.copy(), gradient.copy()
        if self.is_steady:
            self.slopes += MOMENTUM * (slopes - self.before[0])
            self.gradient += MOMENTUM * (gradient - self.before[1])
            beyond = (self.slopes <= self.low) | (self.slopes >= self.high)
            if beyond.any():
                moved = np.where(beyond, slopes - self.slopes, 0.0)
                self.slopes = np.where(beyond, slopes, self.slopes)
                self.gradient += self.rows.combine(moved)
        self.before = slopes, gradient

    def pass_over(self, order: NDArray[np.int32]) -> None:
        """Update the slopes of all rows, or of as many as time allows."""
        rows, losses = self.rows, self.losses
        mean = max(1, rows.survey.numbers // max(1, len(order)))
        step = max(1, NUMBERS_PER_LOOK // mean)
        flat, softness = getattr(losses, "flat", 0.0), getattr(losses, "softness", 0.0)
        for first in range(0, len(order), step):
            ascend(
                *rows.parts,
                rows.squares,
                order[first : first + step],
                self.multiplier,
                isinstance(losses, Logistic),
                self.low,
                self.high,
                self.centre,
                flat,
                softness,
                self.slopes,
                self.gradient,
            )
            if expired():
                break

    def look(self, enough: float = math.inf) -> None:
        """Evaluate the slopes, and their predictor if the gap may be small; scale the slopes."""
        found, losses, ball = self.found, self.losses, self.ball
        size = norm(self.gradient)
        factor = losses.best_factor(self.slopes, ball.radius * size)
        factor = min(max(factor, self.least_factor), MAX_FACTOR)
        self.slopes = np.clip(factor * self.slopes, self.low, self.high)
        self.gradient *= factor
        self.multiplier = factor * size / ball.radius
        constants = losses.line_of(self.slopes)[1]
        lower = ball.lowest(self.gradient) - float(constants.sum())
        self.unpaid = w = ball.lowest_point(self.gradient)
        rises = lower > found.lower
        slow = not lower - found.lower > RISING * abs(lower)
        self.is_steady = rises and slow
        self.passes_unpaid += 1
        near = not lower - found.lower > enough * abs(lower)
        if slow and (near or self.passes_unpaid >= MAX_UNPAID):
            self.pay()
        if rises:
            found.slopes, found.constants, found.lines_at = self.slopes, constants, w
            found.lower = lower

    def pay(self) -> None:
        """Compute the loss of the latest predictor, if that is not done yet."""
        if self.unpaid is not None:
            loss = float(self.losses.value(self.rows.scores(self.unpaid)).sum())
            if loss < self.found.loss:
                self.found.w, self.found.loss = self.unpaid, loss
            self.unpaid, self.passes_unpaid = None, 0


def shuffled(random: np.random.Generator, rounds: int) -> NDArray[np.int32]:
    """Return the places of all rows, a few neighbours at a time, in random order.

    In order, similar rows that follow each other would bias features that all share.
    """
    firsts = NEIGHBOURS * random.permutation(-(-rounds // NEIGHBOURS))
    order = (firsts[:, None] + np.arange(NEIGHBOURS)).reshape(-1)
    order = order[order < rounds] + random.integers(rounds)  # other neighbours in every pass
    return np.where(order < rounds, order, order - rounds).astype(np.int32)
