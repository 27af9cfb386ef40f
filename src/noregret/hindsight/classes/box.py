"""The predictors with every weight at most U, and the minimiser of a quadratic among them."""

from __future__ import annotations

import numpy as np

from noregret.base.compiled.losses import Loss
from noregret.checks import positive
from noregret.errors import NoRegretError
from noregret.hindsight.classes.domain import Unpriced
from noregret.hindsight.losses import losses_of
from noregret.hindsight.proofs.answer import USUAL, Answer, Limits, exactly
from noregret.hindsight.proofs.deadline import expired
from noregret.hindsight.proofs.rounding import Floats, dot, total, upward
from noregret.hindsight.rows import Rows
from noregret.hindsight.solvers.curvature import Curvature, Search
from noregret.hindsight.solvers.newton import minimise, proven
from noregret.limits import UNIT

# Most steps to the minimiser, and most halvings of a step until it gains.
STEPS, HALVINGS = 50, 30
# The share of the first gradient at which the search ends.
MAX_PULL_LEFT = 1e-9
# The curvature that holds a weight at the boundary, relative to the largest one.
BORDER_CURVATURE = 1e12


def best_in_box(
    rows: Rows,
    loss: str | Loss,
    radius: float,
    *,
    loss_parameter: float | None = None,
    limits: Limits = USUAL,
) -> Answer:
    """Return the best predictor with every weight between −``radius`` and ``radius``.

    Parameters
    ----------
    rows
        The examples. Labels may be −1/+1 or 0/1.
    loss
        The name of a built-in convex loss, or a loss object.
    radius
        U > 0.
    loss_parameter
        The loss's ε, δ or quantile, if it has one and is given by name.
    limits
        When to stop; the interval is valid wherever the search stops.

    Examples
    --------
    >>> answer = best_in_box(Rows([[1.0, 0.0], [0.0, 1.0]], [3.0, 0.5]), "absolute", radius=1.0)
    >>> round(answer.loss, 5), answer.relative_gap < 1e-6
    (2.0, True)
    """
    if not rows.shape[1]:
        raise NoRegretError("there are no features to compare with")
    box = Box(positive("radius", radius))
    losses = losses_of(loss, rows.outcomes, loss_parameter)
    found = minimise(rows, losses, box, np.zeros(rows.shape[1]), limits)
    attained, lower = proven(rows, losses, box, found)
    return Answer(f"box of half-width {exactly(radius)}", attained, lower, found.w)


class Box(Unpriced):
    """The predictors with weights between −U and U; they pay nothing."""

    def __init__(self, radius: float) -> None:
        self.radius = radius

    def lowest(self, g: Floats) -> float:
        """Return the minimum of g·w over the box."""
        return -self.radius * float(np.abs(g).sum())

    def lowest_below(self, g: Floats, off: Floats) -> float:
        """Return a proven lower bound of that minimum, where g has errors up to ``off``."""
        return -upward(self.radius * total((np.abs(g) + off) * (1 + 4 * UNIT)))

    def lowest_point(self, g: Floats) -> Floats:
        """Return the minimiser."""
        return np.asarray(-self.radius * np.sign(g))

    def room(self, w: Floats, direction: Floats) -> float:
        """Return the largest step towards a point of the box that stays in it: 1 or more."""
        with np.errstate(divide="ignore", invalid="ignore"):
            left = (self.radius - np.sign(direction) * w) / np.abs(direction)
        return max(1.0, float(left[direction != 0].min(initial=np.inf)))

    def inside(self, w: Floats) -> Floats:
        """Return w, clipped to the box."""
        return np.asarray(np.clip(w, -self.radius, self.radius))

    def target(self, w: Floats, g: Floats, curvature: Curvature) -> Floats:
        """Return approximately the minimiser over the box of g·(v − w) + (v − w)ᵀH(v − w)/2.

        Newton's method on the weights that are free to move, projected.
        """
        v, first, stiff = (
            w,
            0.0,
            BORDER_CURVATURE * (float(curvature.diagonal.max(initial=0.0)) or 1.0),
        )
        for _ in range(STEPS):
            pull = g + curvature.times(v - w)
            free = (np.sign(pull) * v > -self.radius) & (pull != 0)
            left = float(np.abs(pull[free]).max(initial=0.0))
            first = first or left
            if left <= MAX_PULL_LEFT * first or expired():
                break
            wanted = np.where(free, -pull, 0.0)
            step = curvature.solve(np.where(free, 0.0, stiff), wanted, Search(accuracy=0.01))
            step = np.where(free, step, 0.0)
            moved = self.gaining(v, step, pull, curvature)
            if moved is None:
                moved = self.gaining(v, wanted * (self.radius / left), pull, curvature)
            if moved is None:
                break
            v = moved
        return v

    def gaining(self, v: Floats, step: Floats, pull: Floats, curvature: Curvature) -> Floats | None:
        """Return the first point along the step, halved until the quadratic falls."""
        for halving in range(HALVINGS):
            if expired():
                break
            moved = self.inside(v + 0.5**halving * step)
            change = moved - v
            if dot(change, pull) + 0.5 * dot(change, curvature.times(change)) < 0:
                return moved
        return None
