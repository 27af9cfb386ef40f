"""Minimise the square loss to the last digits, for any columns.

The Gram matrix gives a fast answer, which is sharp if columns are clearly independent. If its gap
is larger than rounding requires, and the rows are available, the answer is computed again from the
rows: see ``triangular``. So the result does not depend on how rows were summed, and a verification
finds the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noregret.hindsight.classes.ball import Ball
from noregret.hindsight.proofs.answer import Answer
from noregret.hindsight.proofs.deadline import OutOfTime
from noregret.hindsight.proofs.rounding import Floats, dot, downward, growth, norm, upward
from noregret.hindsight.solvers.dependence import faint_columns
from noregret.hindsight.solvers.tangent import Quadratic
from noregret.hindsight.solvers.triangular import Careful, Triangular, lowest_paid, triangle
from noregret.limits import SMALLEST, UNIT

# Newton's method solves a quadratic in one step; more reduce rounding errors.
REFINEMENTS = 12
# The relative gap of a sharp answer: a tenth of the tolerance of verification.
SHARP_GAP = 1e-10
# Shares of the largest weight up to which one counts as 0, if a search ended near the boundary.
NO_WEIGHT = (1e-4, 1e-6, 1e-2)


def sharpened(answer: Answer, loss: Quadratic, ask: Callable[[OnColumns], Answer | None]) -> Answer:
    """Return the answer, or one computed from the rows if that proves more."""
    if math.isinf(answer.reach) and answer.gap <= SHARP_GAP * answer.loss:
        return answer
    with np.errstate(all="ignore"):
        try:
            on_rows = OnColumns.of(loss)
            other = None if on_rows is None else ask(on_rows)
        except (np.linalg.LinAlgError, OutOfTime):  # division by 0 after underflow
            return answer
    if other is None or not (other.loss < math.inf and other.lower > -math.inf):
        return answer
    if math.isinf(answer.reach) and other.gap >= answer.gap:
        return answer
    return other


@dataclass
class OnColumns:
    """The square loss on the nonzero columns, computed from the rows.

    Parameters
    ----------
    features
        The number of all columns.
    columns
        The nonzero columns.
    loss
        The loss on these.
    curvature
        Its curvature, without a Gram matrix.
    """

    features: int
    columns: NDArray[np.intp]
    loss: Careful
    curvature: Triangular

    @classmethod
    def of(cls, loss: Quadratic) -> OnColumns | None:
        """Return the loss computed from the rows; None without rows or if underflow hides some."""
        rows, gram = loss.rows, loss.gram
        if rows is None or gram is None or faint_columns(gram, loss.lost, rows).any():
            return None
        columns = np.flatnonzero(np.diag(gram))
        if not len(columns):
            return None
        rows = rows if len(columns) == loss.features else rows.only(columns)
        inner = Careful(rows)
        try:
            curvature = Triangular(triangle(rows)[0])
        except np.linalg.LinAlgError:
            return None
        return cls(loss.features, columns, inner, curvature)

    def best_ridge(self, penalty: float, words: str, scale: float = 1.0) -> Answer | None:
        """Return the minimiser of  scale · (L(u) + penalty · ‖u‖²)."""
        w = self.refined(lambda w, pull: w + self.curvature.solve(penalty, -pull), penalty)
        attained = upward(self.loss.high(w) + paid_above(w, penalty))
        lower = lowest_paid(self.loss, self.curvature, w, penalty)
        paid = upward(scale * attained, SMALLEST if attained else 0.0)
        return self.answer(words, paid, downward(scale * lower), w)

    def best_in_ball(self, radius: float, words: str) -> Answer | None:
        """Return the best predictor of norm at most the radius.

        By duality the minimum of L(u) + λ (‖u‖² − radius²) is a lower bound, for any λ ≥ 0. A
        negligible λ > 0 helps against dependent columns.
        """
        ball = Ball(radius)
        w = self.refined(lambda w, pull: ball.inside(ball.target(w, pull, self.curvature)))
        attained, square = self.loss.high(w), radius * radius
        pull = max(0.0, -0.5 * dot(self.loss.gradient(w), w) / square)
        lower = -math.inf
        for price in sorted({0.0, 0.1 * SHARP_GAP * attained / square, pull}):
            if math.isfinite(price):
                paid = lowest_paid(self.loss, self.curvature, w, price)
                cost = upward(price * square)
                lower = max(lower, downward(paid - cost, abs(paid) + cost))
        return self.answer(words, attained, lower, w)

    def lowest_of_weights(self, weights: Floats, weight: float | None, enough: float) -> float:
        """Return a lower bound for all weightings: of sum 1, or of either sign and a total.

        By duality L(u) ≥ min over all v of (L(v) − a·v) + min over the weightings of a·u, for any
        a. At the best weighting a is the gradient: equal for columns with weight, and larger, or
        smaller in size, for all others. Stop when the bound is ``enough``.
        """
        w = weights[self.columns]
        total, gradient, size = weight or 1.0, self.loss.gradient(w), np.abs(w)
        lower = -math.inf
        for price in (0.0, 0.01 * SHARP_GAP * self.loss.high(w) / total**2):
            for share in NO_WEIGHT:
                heavy = size > share * size.max(initial=0.0)
                line, least = self.line_of(w, gradient, heavy, weight)
                paid = lowest_paid(self.loss, self.curvature, w, price, line)
                cost = upward(price * total * total)
                sizes = abs(paid) + abs(least) + cost
                lower = max(
                    lower, downward(paid + least - cost, sizes) if paid > -math.inf else paid
                )
                if lower >= enough:
                    return lower
        return lower

    def line_of(
        self, w: Floats, gradient: Floats, heavy: NDArray[np.bool_], weight: float | None
    ) -> tuple[Floats, float]:
        """Return a, and the minimum of a·u over the weightings."""
        if weight is None:
            held = float(w[heavy].sum())  # 0 if all weight is on columns of zeros
            level = float(gradient[heavy] @ w[heavy]) / held if held else 0.0
            line = np.where(heavy, level, np.maximum(gradient, level))
            hidden = len(self.columns) < self.features  # columns of zeros may have weight too
            return line, downward(min(float(line.min()), 0.0) if hidden else float(line.min()))
        if float(np.abs(w).sum()) < (1 - SHARP_GAP) * weight:
            return np.zeros(len(w)), 0.0
        level = max(0.0, -dot(gradient, w) / float(np.abs(w).sum()))
        line = np.where(heavy, -level * np.sign(w), np.clip(gradient, -level, level))
        return line, -upward(weight * float(np.abs(line).max()))

    def refined(self, step: Callable[[Floats, Floats], Floats], penalty: float = 0.0) -> Floats:
        """Take Newton's steps from zero as long as L(w) + penalty · ‖w‖² falls."""
        w = best = np.zeros(len(self.columns))
        least = math.inf
        for _ in range(REFINEMENTS):
            residues, off = self.loss.residues(w)
            pays = self.loss.between(residues, off)[1] + paid_above(w, penalty)
            if not pays < least:
                break
            best, least = w, pays
            w = step(w, self.loss.pull(residues) + penalty * w)
        return best

    def answer(self, words: str, attained: float, lower: float, w: Floats) -> Answer | None:
        """Return an answer for all columns."""
        witness = np.zeros(self.features)
        witness[self.columns] = w
        if not (math.isfinite(lower) and np.isfinite(w).all()):
            return None
        return Answer(words, at_most(attained), max(0.0, lower), witness, exact=True)


def paid_above(w: Floats, penalty: float) -> float:
    """Return an upper bound of penalty · ‖w‖²."""
    size = norm(w)
    return upward(penalty * size * size * (1 + growth(len(w)) + 16 * UNIT)) if size else 0.0


def at_most(high: float) -> float:
    """Return an upper bound of the loss; NaN if it overflowed."""
    return math.inf if math.isnan(high) else max(0.0, high)
