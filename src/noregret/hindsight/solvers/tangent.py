"""The square loss as a quadratic function, given by its tangents and its curvature.

A tangent is the value and the gradient at a point, each with a bound on its rounding error. As the
loss L lies above its tangents, L(u) ≥ L(w) + ∇L(w)·(u − w) for all u.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from noregret.hindsight.proofs.rounding import Floats, dot, downward, growth, total, upward
from noregret.hindsight.rows import Rows, score_error
from noregret.hindsight.solvers.curvature import Curvature, curvature_of
from noregret.limits import MIN_NORM, SMALLEST, UNIT


class Tangent(NamedTuple):
    """The loss at a point, between low and high, and its gradient with bounds on its errors."""

    low: float
    high: float
    gradient: Floats
    off: Floats

    def constant_below(self, w: Floats) -> float:
        """Return a lower bound of L(w) − ∇L(w)·w."""
        terms = np.abs(w) * (np.abs(self.gradient) * growth(len(w)) + self.off)
        inner = dot(w, self.gradient)
        lost = upward(total(terms)) + 4 * len(w) * SMALLEST
        return downward(self.low - inner - lost, abs(self.low) + abs(inner))

    def doubled(self, weight: float) -> Tangent:
        """Return the tangent for the features (U x, −U x)."""
        gradient, off = weight * self.gradient, weight * self.off
        off += 4 * UNIT * np.abs(gradient)
        return Tangent(self.low, self.high, np.concatenate([gradient, -gradient]), np.tile(off, 2))

    def steepest(self) -> Floats:
        """Return an upper bound of the size of the gradient's numbers."""
        steepest: Floats = (np.abs(self.gradient) + self.off) * (1 + 4 * UNIT)
        return steepest


class SquareLoss(Protocol):
    """The square loss of a linear predictor, as a function of its weights."""

    def gradient(self, w: Floats) -> Floats:
        """Return the gradient at w, without error bounds."""

    def tangent(self, w: Floats) -> Tangent:
        """Return the tangent at w, with its errors."""


@dataclass
class Quadratic:
    """A square loss with everything needed to minimise it.

    Parameters
    ----------
    features
        n.
    loss
        The loss, as gradients and tangents.
    curvature
        G, half its second derivative, in a form to solve with.
    gram
        G itself, if known, with errors of at most gram_error times the columns' norms.
    rows
        The rows, if they can be read again.
    lost
        A bound on the underflow in each number of the Gram matrix.
    """

    features: int
    loss: SquareLoss
    curvature: Curvature
    gram: Floats | None = None
    gram_error: float = 0.0
    rows: Rows | None = None
    lost: float = 0.0


class OnRows:
    """The square loss on rows that can be read again."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def gradient(self, w: Floats) -> Floats:
        """Return the gradient at w, in two passes."""
        return 2 * self.rows.combine(self.residues(w)[0])

    def residues(self, w: Floats) -> tuple[Floats, Floats]:
        """Return X w − y, and a bound on each error."""
        residues = self.rows.scores(w) - self.rows.outcomes
        off = score_error(self.rows, w) + 2 * UNIT * np.abs(residues)
        return residues, off * (1 + 4 * UNIT)

    def between(self, residues: Floats, off: Floats) -> tuple[float, float]:
        """Return a lower and an upper bound of the loss."""
        size = np.abs(residues)
        low, high = total(np.maximum(0.0, size - off) ** 2), total((size + off) ** 2)
        underflow = int(np.count_nonzero((size + off > 0) & (size < MIN_NORM))) * SMALLEST
        return max(0.0, downward(low - underflow)), upward(high + underflow)

    def tangent(self, w: Floats) -> Tangent:
        """Return the tangent at w, in four passes."""
        rows = self.rows
        residues, off = self.residues(w)
        half, lost = rows.combined(residues)
        spread = rows.combine(off, absolute=True) * (1 + growth(rows.survey.depth))
        spread += len(off) * SMALLEST
        return Tangent(*self.between(residues, off), 2 * half, 2 * (lost + spread))


def over_rows(rows: Rows) -> Quadratic:
    """Return the square loss on the rows without sums, for more features than sums can have."""
    curvature = curvature_of(rows, np.ones(rows.shape[0]))
    return Quadratic(rows.shape[1], OnRows(rows), curvature, rows=rows)
