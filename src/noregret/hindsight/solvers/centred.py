"""All predictors, with a price for the distance of each weight from a centre."""

from __future__ import annotations

import numpy as np

from noregret.base.compiled.losses import Loss
from noregret.hindsight.losses import losses_of
from noregret.hindsight.proofs.answer import USUAL, Limits
from noregret.hindsight.proofs.rounding import Floats, upward
from noregret.hindsight.rows import Rows
from noregret.hindsight.solvers.curvature import Curvature, Search
from noregret.hindsight.solvers.newton import minimise
from noregret.hindsight.solvers.penalised import Penalised
from noregret.limits import UNIT


def best_centred(
    rows: Rows, loss: Loss, penalties: Floats, centre: Floats, limits: Limits = USUAL
) -> Floats:
    """Return a u that nearly minimises  L(u) + Σ p_i (u_i − m_i)².

    Parameters
    ----------
    rows
        The examples.
    loss
        Any convex loss.
    penalties
        p_i, above 0.
    centre
        m.
    limits
        When to stop.

    Examples
    --------
    >>> from noregret.base.compiled.losses import make_loss
    >>> rows = Rows([[1.0]], [3.0])
    >>> best_centred(rows, make_loss("square"), np.array([1.0]), np.array([1.0])).round(4)
    array([2.])
    """
    losses = losses_of(loss, rows.outcomes)
    return minimise(rows, losses, Centred(penalties, centre), centre, limits).w


class Centred(Penalised):
    """The predictors w, each paying Σ p_i (w_i − m_i)²."""

    def __init__(self, penalties: Floats, centre: Floats) -> None:
        self.penalties, self.centre = penalties, centre

    def lowest(self, g: Floats) -> float:
        """Return the minimum of g·w + price."""
        return float(g @ self.centre - np.sum(g * (g / (4 * self.penalties))))

    def lowest_below(self, g: Floats, off: Floats) -> float:
        """Return a proven lower bound of that minimum, where g has errors up to ``off``."""
        size = np.abs(g) + off
        paid = float(np.sum(size * (size / (4 * self.penalties))))
        lost = float(((len(g) + 8) * UNIT * size + off) @ np.abs(self.centre))
        return float(g @ self.centre) - upward((paid + lost) * (1 + (len(g) + 8) * UNIT))

    def lowest_point(self, g: Floats) -> Floats:
        """Return the minimiser."""
        return np.asarray(self.centre - g / (2 * self.penalties))

    def price(self, w: Floats) -> float:
        """Return the price of w."""
        away = w - self.centre
        return float(np.sum(self.penalties * away * away))

    def price_above(self, w: Floats) -> float:
        """Return an upper bound of the price of w."""
        return upward(self.price(w) * (1 + (len(w) + 8) * UNIT))

    def price_slope(self, w: Floats, direction: Floats) -> float:
        """Return the slope of the price along the direction."""
        return 2 * float(np.sum(self.penalties * (w - self.centre) * direction))

    def target(self, w: Floats, g: Floats, curvature: Curvature) -> Floats:
        """Return the end of Newton's step."""
        pull = g + 2 * self.penalties * (w - self.centre)
        return np.asarray(w + curvature.solve(2 * self.penalties, -pull, Search(accuracy=0.01)))
