"""The nonnegative weights of sum 1, with a price for their divergence from the uniform ones.

The solver is an interior-point method whose barrier shrinks with the gap.
"""

from __future__ import annotations

import math

import numpy as np

from noregret.errors import NoRegretError
from noregret.hindsight.proofs.rounding import Floats, downward, growth, norm, total, upward
from noregret.hindsight.solvers.curvature import Curvature
from noregret.limits import UNIT

# The largest share of the way to the boundary per step, and the share of the gap to aim for.
TO_BORDER, AIM = 0.995, 0.1
# The longest step in units of Newton's; the sum of 1 would suffer from a longer one.
MAX_STEP = 4.0
# Weights below this no longer change.
MIN_WEIGHT = 1e-200


class Simplex:
    """The weights u ≥ 0 of sum 1, which pay b KL(u ‖ uniform)."""

    blur = 4

    def __init__(self, features: int, entropy: float) -> None:
        if not features:
            raise NoRegretError("there are no features to compare with")
        self.entropy = entropy
        self.centre = np.full(features, 1.0 / features)
        self.border = np.inf  # the weight of the barrier
        self.slack: Floats | None = None  # the multipliers of u ≥ 0
        self.last: tuple[Floats, Floats] | None = None

    def lowest(self, g: Floats) -> float:
        """Return the minimum of g·u + b KL(u ‖ uniform) over the simplex."""
        least = float(g.min())
        if self.entropy == 0:
            return least
        with np.errstate(over="ignore", under="ignore"):
            mean = float(np.exp((least - g) / self.entropy).mean())
        return least - self.entropy * math.log(mean)

    def lowest_below(self, g: Floats, off: Floats) -> float:
        """Return a proven lower bound of that minimum, where g has errors up to ``off``."""
        least = self.lowest(g - off)
        if self.entropy == 0:
            return downward(least)  # rounding is monotonic
        # Every exponential has a relative error, and so does their sum.
        error = self.entropy * (growth(2 * len(g)) + 16 * UNIT)
        size = float(np.abs(g).max()) + float(off.max()) + self.entropy * math.log(len(g) + 1)
        return downward(least - error, size)

    def lowest_point(self, g: Floats) -> Floats:
        """Return a point near the minimiser, inside the boundary."""
        scale = self.entropy or 0.1 * float(g @ self.centre - g.min()) or 1.0
        weights = np.exp((g.min() - g) / scale)
        return np.asarray(0.5 * self.centre + 0.5 * weights / weights.sum())

    def price(self, w: Floats) -> float:
        """Return b KL(w ‖ uniform)."""
        return self.entropy * float(self.divergence(w).sum()) if self.entropy else 0.0

    def price_above(self, w: Floats) -> float:
        """Return an upper bound of the price of w, normalised to sum 1 exactly."""
        if self.entropy == 0:
            return 0.0
        terms = self.divergence(w)
        return upward(self.entropy * (total(terms) + 32 * UNIT * (total(np.abs(terms)) + 1)))

    def divergence(self, w: Floats) -> Floats:
        """Return the terms of KL(w ‖ uniform)."""
        from scipy.special import xlogy

        return np.asarray(xlogy(w, w * len(w)))

    def price_slope(self, w: Floats, direction: Floats) -> float:
        """Return the slope of price and barrier along the direction."""
        return float(direction @ (self.pull(w) - self.border / w))

    def pull(self, w: Floats) -> Floats | float:
        """Return the gradient of the price."""
        return self.entropy * (1 + np.log(w * len(w))) if self.entropy else 0.0

    def room(self, w: Floats, direction: Floats) -> float:
        """Return the largest step that stays inside the boundary."""
        return min(MAX_STEP, TO_BORDER * longest_step(w, direction))

    def inside(self, w: Floats) -> Floats:
        """Return w, normalised to sum 1 up to rounding."""
        return np.asarray(w / total(w))

    def target(self, w: Floats, g: Floats, curvature: Curvature) -> Floats:
        """Return the end of the interior-point method's step."""
        gap = max(0.0, float(w @ g) + self.price(w) - self.lowest(g))
        slack = self.next_slack(w, gap)
        self.border = min(self.border, AIM * gap / len(w))
        pull = g + self.pull(w) - self.border / w
        pull -= float(w @ pull)  # a common term has no effect, but costs digits
        with np.errstate(all="ignore"):
            added = (self.entropy + slack) / w
            ahead, level = curvature.solve(added, -pull), curvature.solve(added, np.ones_like(w))
            direction = ahead - level * (ahead.sum() / level.sum())
        if not np.isfinite(direction).all():  # it overflowed: stay
            direction = np.zeros_like(w)
        direction -= w * direction.sum()  # the rounding error of the sum
        direction[w < MIN_WEIGHT] = 0.0
        self.last = w, direction
        self.slack = slack
        return np.asarray(w + direction)

    def next_slack(self, w: Floats, gap: float) -> Floats:
        """Return the multipliers after the step."""
        if self.slack is None or self.last is None:
            return np.full_like(w, max(gap, 1e-300))
        before, direction = self.last
        moved = w - before
        taken = norm(moved) / (norm(direction) or 1.0)
        change = (self.border - self.slack * direction) / before - self.slack
        step = min(1.0, taken, TO_BORDER * longest_step(self.slack, change))
        return np.asarray(self.slack + step * change)


def longest_step(w: Floats, direction: Floats) -> float:
    """Return the largest step from w at which nothing becomes negative."""
    falling = direction < 0
    return float((w[falling] / -direction[falling]).min(initial=np.inf))
