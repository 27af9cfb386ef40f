"""All predictors, each weight paying a price of its own that rises with its size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from noregret.base.compiled.losses import Loss
from noregret.hindsight.losses import losses_of
from noregret.hindsight.proofs.answer import USUAL, Limits
from noregret.hindsight.proofs.deadline import expired
from noregret.hindsight.proofs.rounding import Floats, upward
from noregret.hindsight.rows import Rows
from noregret.hindsight.solvers.curvature import Curvature
from noregret.hindsight.solvers.newton import minimise
from noregret.hindsight.solvers.penalised import Penalised
from noregret.limits import UNIT

# Rounds of parabolas, and the share of the total that one must gain for another to follow.
PARABOLAS, GAIN = 30, 1e-6
MAX_DISTANCE = 1e6

Prices = Callable[[Floats], Floats]


def best_priced(
    rows: Rows, loss: Loss, prices: Prices, bends: Prices, start: Floats, limits: Limits = USUAL
) -> Floats:
    """Return a u at which  L(u) + Σ prices(u)  is nearly lowest.

    Parameters
    ----------
    rows
        The examples.
    loss
        Any convex loss.
    prices
        What each weight pays: convex in u_i, but concave in u_i².
    bends
        The a_i such that the parabola through price_i(u_i) that touches it there is a_i u² + b_i;
        above 0. It lies above the price, so that stepping to the lowest point of loss and parabolas
        brings the total down.
    start
        Where to begin.
    limits
        How hard to try each time.
    """
    losses = losses_of(loss, rows.outcomes)
    limits = replace(limits, tolerance=max(limits.tolerance, 1e-6), steps=min(limits.steps, 60))

    def total(u: Floats) -> float:
        return float(losses.value(rows.scores(u)).sum()) + float(prices(u).sum())

    best = min((start, np.zeros_like(start)), key=total)
    least = total(best)
    for _ in range(PARABOLAS):
        found = minimise(rows, losses, Weighted(bends(best)), best, limits).w
        direction, step, before = found - best, 1.0, least
        # Parabolas are steeper than prices, so that it often pays to go farther.
        while step < MAX_DISTANCE and (paid := total(farther := best + step * direction)) < least:
            found, least, step = farther, paid, 2 * step
        if not before - least > GAIN * abs(before) or expired():
            return found if least < before else best
        best = found
    return best


class Weighted(Penalised):
    """The predictors w, each paying Σ p_i w_i²."""

    def __init__(self, penalties: Floats) -> None:
        self.penalties = penalties

    def lowest(self, g: Floats) -> float:
        """Return the minimum of g·w + Σ p_i w_i²."""
        return -float(np.sum(g * (g / (4 * self.penalties))))

    def lowest_below(self, g: Floats, off: Floats) -> float:
        """Return what that minimum is surely not below, where g may be off by so much."""
        return -upward(-self.lowest(np.abs(g) + off) * (1 + (len(g) + 8) * UNIT))

    def lowest_point(self, g: Floats) -> Floats:
        """Return where that minimum is."""
        return np.asarray(g / (-2 * self.penalties))

    def price(self, w: Floats) -> float:
        """Return Σ p_i w_i²."""
        return float(np.sum(self.penalties * w * w))

    def price_above(self, w: Floats) -> float:
        """Return what w surely pays at most."""
        return upward(self.price(w) * (1 + (len(w) + 8) * UNIT))

    def price_slope(self, w: Floats, direction: Floats) -> float:
        """Return how fast the price rises."""
        return 2 * float(np.sum(self.penalties * w * direction))

    def target(self, w: Floats, g: Floats, curvature: Curvature) -> Floats:
        """Return where Newton's step leads."""
        pull = g + 2 * self.penalties * w
        return np.asarray(w + curvature.solve(2 * self.penalties, -pull, None, 0.01))
