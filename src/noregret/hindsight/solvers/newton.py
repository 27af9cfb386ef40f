"""Minimise the sum of convex losses over a domain, with a line below every loss as the proof.

Any lines a_t s − c_t below the losses prove

    min over w of Σ ℓ_t(x_t·w)  ≥  min over w of (Xᵀa)·w  −  Σ c_t,

and at every step of the search the slopes at the current scores are such lines. The search is
Newton's method; losses with kinks are replaced by smooth ones anchored at the latest slopes (the
method of multipliers), which become exact without becoming steep. The gap is the sum of two parts
that are never negative: the distance of the lines from the losses at w, reduced by narrower
smoothing, and the distance of w from the minimum of the lines, reduced by Newton's steps.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from noregret.hindsight.classes.domain import Domain, Region
from noregret.hindsight.losses import Losses, Slopes
from noregret.hindsight.proofs.answer import Limits, share
from noregret.hindsight.proofs.deadline import OutOfTime, expired, tell, time_limit
from noregret.hindsight.proofs.rounding import Floats, dot, downward, total, upward
from noregret.hindsight.rows import Rows, score_error
from noregret.hindsight.solvers.curvature import curvature_of

# The smoothing is narrowed by NARROWING if it left more than MAX_LEFT_SHARE of its part of the gap.
NARROWING, MAX_LEFT_SHARE = 0.2, 0.3
# Most steps that reduce the gap by less than a tenth, and most that reduce nothing measurable.
MAX_SLOW_STEPS, MAX_BLIND_STEPS, MAX_BLIND_STEPS_WITH_KINKS = 60, 4, 16


@dataclass
class Found:
    """The best predictor and the best lines so far, and the predictor of these lines."""

    w: Floats
    slopes: Floats
    constants: Floats
    lines_at: Floats
    loss: float = math.inf
    lower: float = -math.inf

    @property
    def gap(self) -> float:
        """The difference between the loss and its lower bound."""
        return self.loss - self.lower

    def is_close(self, limits: Limits) -> bool:
        """Return whether the gap is small enough.

        It must be half the tolerance, as the proof adds rounding errors.
        """
        return self.gap <= 0.5 * limits.tolerance * abs(self.loss)


@np.errstate(all="ignore")  # overflow in the search does not affect the proof
def minimise(
    rows: Rows,
    losses: Losses,
    domain: Domain,
    start: Floats,
    limits: Limits,
    before: Found | None = None,
) -> Found:
    """Minimise Σ ℓ_t(x_t·w) plus the price of w, starting from a point of the domain.

    The result of an earlier search, ``before``, is replaced only by a better one.
    """
    search = Search(rows, losses, domain, start)
    search.found = before or search.found
    with time_limit(limits), suppress(OutOfTime):
        descend(search, limits)
    search.found.w = domain.inside(search.found.w)
    return search.found


def descend(search: Search, limits: Limits) -> None:
    """Take steps until the gap is small enough, nothing improves, or time is up."""
    found, losses = search.found, search.losses
    negligible = 1e-14 * abs(float(losses.value(search.scores).sum()))
    best_gap, best_step = math.inf, 0
    for step in range(limits.steps):
        search.look()
        tell(found.loss, found.lower)
        if found.is_close(limits) or found.gap <= negligible:
            break
        if found.gap < 0.9 * best_gap:
            best_gap, best_step, search.blind_steps = found.gap, step, 0
        stuck = step - best_step > MAX_SLOW_STEPS
        if stuck or expired(share(found.gap, found.loss)) or not search.moved():
            break


class Search:
    """The current point of the search."""

    def __init__(self, rows: Rows, losses: Losses, domain: Domain, start: Floats) -> None:
        self.rows, self.losses, self.domain = rows, losses, domain
        self.w, self.scores = start, rows.scores(start)
        self.stand_in = StandIn(losses)
        self.blind_steps = 0
        # Lines at zero are below nonnegative losses.
        zeros = np.zeros_like(self.scores)
        self.found = Found(start, zeros, zeros, start)
        if losses.nonnegative:
            self.found.lower = domain.lowest(np.zeros_like(start))

    def look(self) -> None:
        """Evaluate the current point and its lines."""
        found, domain, w, scores = self.found, self.domain, self.w, self.scores
        self.slopes, constants = self.stand_in.current.lines(scores)
        self.gradient = self.rows.combine(self.slopes)
        loss, price = float(self.losses.value(scores).sum()), domain.price(w)
        floor, constant = domain.lowest(self.gradient), float(constants.sum())
        self.left_by_lines = loss + constant - dot(scores, self.slopes)
        self.left_by_newton = dot(w, self.gradient) + price - floor
        if loss + price < found.loss:
            found.w, found.loss = w, loss + price
        if floor - constant > found.lower:
            found.slopes, found.constants, found.lower = self.slopes, constants, floor - constant
            found.lines_at = w

    def moved(self) -> bool:
        """Take one step; return False if there is none."""
        domain, w, scores = self.domain, self.w, self.scores
        if self.stand_in.sharpened(self):
            self.slopes = self.stand_in.current.slope(scores)
            self.gradient = self.rows.combine(self.slopes)
        curvature = curvature_of(self.rows, self.stand_in.current.curvature(scores))
        direction = domain.target(w, self.gradient, curvature) - w
        along = self.rows.scores(direction)
        taken = lowest_along(self.stand_in.current, domain, w, direction, scores, along)
        if taken == 0.0 and abs(dot(along, self.slopes)) > 1e-9 * abs(self.found.loss):
            # Newton's equations were not solved well enough; this direction is always downhill.
            direction = domain.lowest_point(self.gradient) - w
            along = self.rows.scores(direction)
            taken = lowest_along(self.stand_in.current, domain, w, direction, scores, along)
        if taken == 0.0:
            # The function no longer decreases measurably, but its gradient may, which improves the
            # lower bound: take a few blind steps.
            taken = min(1.0, domain.room(w, direction))
            self.blind_steps, self.stand_in.stuck = self.blind_steps + 1, True
            if self.blind_steps > (
                MAX_BLIND_STEPS if self.losses.smooth else MAX_BLIND_STEPS_WITH_KINKS
            ):
                return False
        self.w, self.scores = w + taken * direction, scores + taken * along
        return True


class StandIn:
    """The smooth stand-in for losses with kinks, narrowed when Newton's part of the gap is low."""

    def __init__(self, losses: Losses) -> None:
        self.losses = losses
        self.current: Slopes = losses
        self.width = self.left = math.inf
        self.stuck = False

    def sharpened(self, search: Search) -> bool:
        """Move the anchor to the latest slopes, and narrow the smoothing if that is too slow.

        Do nothing while Newton's part of the gap is the larger one.
        """
        if self.losses.smooth:
            return False
        if math.isinf(self.width):
            # The width at which slopes of this size reduce losses of this size to 0.
            size = float(np.abs(self.losses.value(search.scores)).mean())
            self.width = size / (float((search.slopes**2).mean()) or 1.0) or 1.0
        elif search.left_by_newton > 0.5 * search.left_by_lines and not self.stuck:
            return False
        else:
            if self.stuck or search.left_by_lines > MAX_LEFT_SHARE * self.left:
                self.width *= NARROWING
            self.left = search.left_by_lines
        self.stuck = False
        self.current = self.losses.smoothed(self.width, search.slopes)
        return True


def lowest_along(
    slopes: Slopes, region: Region, w: Floats, direction: Floats, scores: Floats, along: Floats
) -> float:
    """Return the step that nearly minimises the function along a direction, or 0 for none.

    The minimum is where the slope is zero, which takes no pass over the rows to compute.
    """

    def slope(step: float) -> float:
        there = slopes.slope(scores + step * along)
        return dot(along, there) + region.price_slope(w + step * direction, direction)

    room = region.room(w, direction)
    first = slope(0.0)
    if not first < 0 or room <= 0:
        return 0.0
    low, at_low, high = 0.0, first, min(1.0, room)
    at_high = slope(high)
    while at_high < 0.5 * first and high < room:
        low, at_low, high = high, at_high, min(4 * high, room)
        at_high = slope(high)
    for _ in range(60):
        if at_high <= -0.1 * first:
            return high
        middle = low + (high - low) * min(0.9, max(0.1, at_low / (at_low - at_high)))
        there = slope(middle)
        if there < 0.1 * first:
            low, at_low = middle, there
        else:
            high, at_high = middle, there
    return low


def proven(rows: Rows, losses: Losses, domain: Domain, found: Found) -> tuple[float, float]:
    """Return an upper bound of the predictor's loss, and a lower bound of every predictor's."""
    off = score_error(rows, found.w, domain.blur)
    attained = total(losses.value_above(rows.scores(found.w), off))
    floor = domain.lowest_below(*rows.combined(found.slopes))
    constant = total(found.constants)
    lower = downward(floor - constant, abs(floor) + abs(constant))
    if losses.nonnegative:
        lower = max(0.0, lower)
    return upward(attained + domain.price_above(found.w)), lower
