"""All predictors, with a price for their squared norm."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from noregret.base.compiled.losses import Loss
from noregret.checks import positive
from noregret.hindsight.losses import Losses, losses_of
from noregret.hindsight.proofs.answer import USUAL, Answer, Limits
from noregret.hindsight.proofs.deadline import expired, time_limit
from noregret.hindsight.proofs.rounding import Floats, dot, norm, norm_above, upward
from noregret.hindsight.rows import Rows
from noregret.hindsight.solvers.curvature import Curvature, Search
from noregret.hindsight.solvers.newton import minimise, proven
from noregret.hindsight.sparse import compact
from noregret.limits import SMALLEST, UNIT

# Most heavier penalties solved before the given one.
MAX_STAGES = 30


def best_penalised(
    rows: Rows,
    loss: str | Loss,
    penalty: float,
    *,
    loss_parameter: float | None = None,
    limits: Limits = USUAL,
) -> Answer:
    """Return the minimiser of  L(u) + penalty · ‖u‖²:  for the hinge loss, a soft-margin machine.

    Parameters
    ----------
    rows
        The examples. Labels may be −1/+1 or 0/1.
    loss
        The name of a built-in convex loss, or a loss object.
    penalty
        Above 0.
    loss_parameter
        The loss's ε, δ or quantile, if it has one and is given by name.
    limits
        When to stop; the interval is valid wherever the search stops.

    Examples
    --------
    >>> answer = best_penalised(Rows([[1.0], [1.0]], [1, 1]), "hinge", penalty=0.5)
    >>> round(answer.loss, 6), answer.witness.round(4)
    (0.5, array([1.]))
    """
    domain, rows = Penalised(positive("penalty", penalty)), compact(rows)
    losses = losses_of(loss, rows.outcomes, loss_parameter)
    with time_limit(limits):
        start = begun(rows, losses, penalty, limits)
        found = minimise(rows, losses, domain, start, limits)
    attained, lower = proven(rows, losses, domain, found)
    return Answer(f"all linear predictors, with {penalty:g}‖u‖²", attained, lower, found.w)


def begun(rows: Rows, losses: Losses, penalty: float, limits: Limits) -> Floats:
    """Return a starting point: nearly the best for heavier penalties, each a tenth of the last.

    With a light penalty alone, the first steps would lead too far. There are at most MAX_STAGES
    penalties, with larger ratios if needed.
    """
    w = np.zeros(rows.shape[1])
    scores = np.zeros(rows.shape[0])
    slope, loss = norm(rows.combine(losses.slope(scores))), abs(float(losses.value(scores).sum()))
    heavy = slope * slope / (4 * loss) if loss else 0.0
    rough = replace(limits, tolerance=max(limits.tolerance, 0.1), steps=min(limits.steps, 30))
    if not penalty < heavy < math.inf:
        return w
    lighter = 10 ** max(1.0, (math.log10(heavy) - math.log10(penalty)) / MAX_STAGES)
    while heavy > penalty and not expired():
        w = minimise(rows, losses, Penalised(heavy), w, rough).w
        heavy /= lighter
    return w


class Penalised:
    """The predictors w, each paying p ‖w‖²."""

    blur = 0

    def __init__(self, penalty: float) -> None:
        self.penalty = penalty

    def lowest(self, g: Floats) -> float:
        """Return the minimum of g·w + p‖w‖²."""
        size = norm(g)
        return -size * (size / (4 * self.penalty))

    def lowest_below(self, g: Floats, off: Floats) -> float:
        """Return a proven lower bound of that minimum, where g has errors up to ``off``."""
        size = norm_above(np.abs(g) + off)
        return -upward(size * (size / (4 * self.penalty)) * (1 + 8 * UNIT), SMALLEST)

    def lowest_point(self, g: Floats) -> Floats:
        """Return the minimiser."""
        return g / (-2 * self.penalty)

    def price(self, w: Floats) -> float:
        """Return p‖w‖²."""
        return self.penalty * dot(w, w)

    def price_above(self, w: Floats) -> float:
        """Return an upper bound of the price of w."""
        size = norm_above(w)
        return upward(self.penalty * size * size * (1 + 8 * UNIT), SMALLEST if size else 0.0)

    def price_slope(self, w: Floats, direction: Floats) -> float:
        """Return the slope of the price along the direction."""
        return 2 * self.penalty * dot(w, direction)

    def room(self, w: Floats, direction: Floats) -> float:
        """Return infinity: there is no boundary."""
        return math.inf

    def inside(self, w: Floats) -> Floats:
        """Return w: every point is inside."""
        return w

    def target(self, w: Floats, g: Floats, curvature: Curvature) -> Floats:
        """Return the end of Newton's step."""
        pull = g + 2 * self.penalty * w
        return np.asarray(w + curvature.solve(2 * self.penalty, -pull, Search(accuracy=0.01)))
