"""The smallest bound on mistakes that confidence-weighted learning gives on any data.

Let K be the rounds in which the learner updated, z the sum of y_t x_t over them, and B the matrix
r I + Σ_K x_t x_tᵀ, or its diagonal. For every u with hinge loss H_u over all rounds,
|K| − H_u ≤ u·z ≤ ‖u‖_B ‖z‖_{B⁻¹}.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from noregret.hindsight.losses import as_labels, losses_of
from noregret.hindsight.proofs.answer import Answer
from noregret.hindsight.proofs.rounding import Floats, norm_above, total, upward
from noregret.hindsight.rows import Rows, score_error
from noregret.limits import SMALLEST, UNIT


class Moved(NamedTuple):
    """The rounds in which a learner updated, and what follows for every u.

    Parameters
    ----------
    rows
        All examples.
    moved
        1 in the rounds in which the learner updated, else 0.
    penalty
        r.
    diagonal
        True if B is only the diagonal.
    """

    rows: Rows
    moved: Floats
    penalty: float
    diagonal: bool

    def size(self, u: Floats) -> float:
        """Return ‖u‖_B, rounded up."""
        if not u.any():
            return 0.0
        plain = self.penalty * norm_above(u) ** 2
        if self.diagonal:
            seen = float(self.rows.column_squares(self.moved) @ u**2)
        else:
            sizes = np.abs(self.rows.scores(u)) + score_error(self.rows, u)
            seen = float(self.moved @ sizes**2)
        return math.sqrt((plain + seen) * (1 + self.slack) + self.underflow)

    @property
    def slack(self) -> float:
        """A bound on the relative rounding error of sums over all rounds."""
        return 4 * (sum(self.rows.shape) + 16) * UNIT

    @property
    def underflow(self) -> float:
        """A bound on the underflow in sums of squares."""
        return 4 * (sum(self.rows.shape) + 16) * SMALLEST

    def lengths(self) -> tuple[Floats, float, float]:
        """Return w and numbers a and b such that u·z ≤ a ‖u‖_B + b ‖u‖ for every u.

        For any w, u·z = u·Bw + u·(z − Bw): a is ‖w‖_B and b the norm of the residual. The w that
        solves B w = z makes a the norm of z.
        """
        z, off = self.rows.combined(self.moved * as_labels(self.rows.outcomes))
        if self.diagonal:
            B = self.penalty + self.rows.column_squares(self.moved)
            w = z / B
            steep = math.sqrt(float(z @ w) * (1 + self.slack) + self.underflow)
            return w, steep, upward(self.slack * norm_above(z) + norm_above(off))
        B = self.rows.gram(self.moved) + self.penalty * np.eye(len(z))
        w = np.asarray(np.linalg.lstsq(B, z, rcond=None)[0], dtype=np.float64)
        rest = z - (self.penalty * w + self.rows.combine(self.moved * self.rows.scores(w)))
        scores = self.rows.scores(np.abs(w), absolute=True)  # at least as large as their terms
        lost = self.rows.combine(self.moved * scores, absolute=True)
        lost += np.abs(z) + self.penalty * np.abs(w)
        return w, self.size(w), norm_above(np.abs(rest) + off + self.slack * lost + self.underflow)


def best_confidence_bound(moved: Moved, tried: list[Floats], easy: int) -> Answer:
    """Return the smallest bound on mistakes found among multiples of some predictors.

    Parameters
    ----------
    moved
        The rounds in which the learner updated.
    tried
        Predictors whose multiples are tried, besides the one from ``moved``.
    easy
        The number of updates in rounds without a mistake.

    Examples
    --------
    >>> rows = Rows([[1.0], [1.0], [1.0]], [1, 1, 1])
    >>> answer = best_confidence_bound(Moved(rows, np.array([1.0, 0.0, 0.0]), 1.0, False), [], 0)
    >>> round(answer.loss, 3)
    1.0
    """
    labels, losses = as_labels(moved.rows.outcomes), losses_of("hinge", moved.rows.outcomes)
    w, steep, rest = moved.lengths()
    best, least = np.zeros_like(w), float(len(labels))
    for direction in (w, *tried):
        slope = steep * moved.size(direction) + rest * norm_above(direction)
        if not np.isfinite(slope) or not direction.any():
            continue
        u = direction * best_multiple(labels * moved.rows.scores(direction), slope)
        values = losses.value_above(moved.rows.scores(u), score_error(moved.rows, u))
        paid = upward(total(values) + steep * moved.size(u) + rest * norm_above(u))
        if paid < least:
            best, least = u, paid
    bound = upward(least - easy)
    return Answer("any linear predictor, best found", bound, -math.inf, best)


def best_multiple(margins: Floats, slope: float) -> float:
    """Return the s ≥ 0 that minimises  Σ max(0, 1 − s m_t) + slope · s.

    The sum is piecewise linear, with kinks at 1/m_t.
    """
    above = -np.sort(-margins[margins > 0])
    rises = slope - float(margins[margins < 0].sum()) - float(above.sum()) + np.cumsum(above)
    first = slope - float(margins.sum())
    if first >= 0 or not len(above):
        return 0.0
    return float(1 / above[int(np.argmax(rises >= 0))])
