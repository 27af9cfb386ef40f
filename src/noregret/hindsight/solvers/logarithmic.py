"""The mixture of columns with the largest logarithm: minimise −Σ w ln(q·x) over the simplex.

The log loss of a mixture of forecasts has this form, and so has the log-wealth of a constant
rebalanced portfolio. No number is negative, so nothing cancels: every score is accurate to its
last digits, however small it is.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from noregret.errors import BadExample
from noregret.hindsight.classes.simplex import Simplex
from noregret.hindsight.losses import Slopes
from noregret.hindsight.proofs.answer import USUAL, Answer, Limits
from noregret.hindsight.proofs.rounding import Floats, downward, total, upward, widened
from noregret.hindsight.rows import Rows
from noregret.hindsight.solvers.newton import minimise, proven
from noregret.limits import UNIT


class Logarithmic:
    """−w ln s for scores s of at most 1, where w ≥ 0 is the weight of the round."""

    smooth = True
    nonnegative = True

    def __init__(self, weights: Floats) -> None:
        self.weights = weights

    def value(self, scores: Floats) -> Floats:
        """Return the loss in every round."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(-self.weights * np.log(scores))

    def value_above(self, scores: Floats, off: Floats) -> Floats:
        """Return an upper bound of the loss in every round."""
        value = self.value(np.maximum(scores - widened(scores, off), 0.0))
        return np.asarray(value + 8 * UNIT * np.abs(value))

    def slope(self, scores: Floats) -> Floats:
        """Return the derivative in every round."""
        return np.asarray(-self.weights / scores)

    def curvature(self, scores: Floats) -> Floats:
        """Return the second derivative in every round."""
        return np.asarray(self.weights / scores / scores)

    def lines(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return the tangents at the scores."""
        value = self.value(scores)
        size = self.weights + np.abs(value)
        return self.slope(scores), -self.weights - value + 8 * UNIT * size

    def smoothed(self, width: float, anchor: Floats) -> Slopes:
        """Return the loss itself, which is smooth."""
        return self


def best_logarithm(rows: Rows, limits: Limits = USUAL) -> Answer:
    """Return the q in the simplex that minimises  −Σ w_t ln(q·x_t).

    Parameters
    ----------
    rows
        The x_t ≥ 0, with the weights w_t ≥ 0 as outcomes.
    limits
        When to stop; the interval is valid wherever the search stops.

    Examples
    --------
    >>> rows = Rows([[2.0, 1.0], [0.5, 1.0]] * 10, [1.0] * 20)
    >>> answer = best_logarithm(rows)
    >>> answer.witness.round(4), round(math.exp(-answer.loss), 3)
    (array([0.5, 0.5]), 3.247)
    """
    scaled, constant, size = Rows(features=rows.shape[1]), [0.0], 0.0
    for X, w in rows.blocks():
        top = X.max(axis=1)
        if (X < 0).any() or (w < 0).any():
            raise BadExample("neither the numbers of a row nor its weight may be negative here")
        used = w > 0
        if not top[used].all():
            witness = np.full(rows.shape[1], 1 / rows.shape[1])
            return Answer("simplex", math.inf, math.inf, witness, exact=True)
        # Scaling by powers of two is exact; the largest number of every row is then near 1.
        exponent = np.frexp(top[used])[1]
        scaled.add(np.ldexp(X[used], -exponent[:, None]), w[used])
        constant.append(-math.log(2) * float(total(w[used] * exponent)))
        size += float((w[used] * np.abs(exponent)).sum())
    simplex = Simplex(rows.shape[1], 0.0)
    losses = Logarithmic(scaled.outcomes)
    found = minimise(scaled, losses, simplex, simplex.centre, limits)
    attained, lower = proven(scaled, losses, simplex, found)
    moved = math.fsum(constant)
    answer = Answer("simplex", attained, lower, found.w)
    if not size:
        return answer
    return replace(answer, loss=upward(attained + moved, size), lower=downward(lower + moved, size))
