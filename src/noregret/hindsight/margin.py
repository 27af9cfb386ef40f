"""The largest margin of a fixed linear predictor: how clearly it separates the two labels.

For the perceptron: the largest γ with y_t (v·x_t) ≥ γ in all rounds for some v of norm 1, or 0 if
no v separates the labels. (The margin for Winnow is in ``weights_margin``.)

Both ends are proven. The margin min_t y_t v·x_t of any v is a lower bound. Any p ≥ 0 of sum 1 over
the rounds gives an upper bound, ‖Σ p_t y_t x_t‖, as no margin exceeds a mean over the rounds.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from noregret.hindsight.losses import Clipped, as_labels
from noregret.hindsight.proofs.answer import USUAL, Limits
from noregret.hindsight.proofs.deadline import OutOfTime, expired, time_limit
from noregret.hindsight.proofs.inseparable import contradiction, surely_inseparable
from noregret.hindsight.proofs.rounding import Floats, downward, norm, norm_above, total, upward
from noregret.hindsight.rows import Rows, score_error
from noregret.hindsight.solvers.curvature import Search, curvature_of
from noregret.hindsight.solvers.newton import lowest_along
from noregret.hindsight.solvers.penalised import Penalised
from noregret.limits import UNIT


@dataclass(frozen=True)
class Margin:
    """The largest margin, as an interval whose ends are both proven.

    Parameters
    ----------
    lower
        The margin of the witness is at least this.
    upper
        No predictor of the class has a larger margin.
    witness
        The weights; all zero if no margin was found.
    shares
        The weights of the rounds that prove the upper end, if they were kept.
    """

    lower: float
    upper: float
    witness: Floats
    shares: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def gap(self) -> float:
        """The width of the interval."""
        return self.upper - self.lower

    @property
    def separable(self) -> bool | None:
        """True if some predictor has a positive margin, False if none has, None if not proven."""
        return True if self.lower > 0 else False if self.upper <= 0 else None


def largest_margin(rows: Rows, *, limits: Limits = USUAL) -> Margin:
    """Return the largest margin γ of a v of norm 1, as an interval.

    This is the method of multipliers for the hard-margin support vector machine, min ‖w‖²/2 subject
    to y_t (w·x_t) ≥ 1. Each step solves Newton's equations over the rounds near the margin: by a
    Cholesky factor for up to 2,000 such rounds or features, by conjugate gradients beyond.

    Examples
    --------
    >>> margin = largest_margin(Rows([[3.0, 0.0], [0.0, 4.0]], [1, 1]))
    >>> round(margin.lower, 4), round(margin.upper, 4), margin.separable
    (2.4, 2.4, True)
    """
    found = Pair(rows.shape)
    # An overflow in the search does not affect the proof.
    with np.errstate(all="ignore"), time_limit(limits), suppress(OutOfTime):
        search(rows, limits, found)
    return found.proven(rows, labels_of(rows))


def search(rows: Rows, limits: Limits, found: Pair) -> None:
    """Find better weights of features and of rounds by the method of multipliers."""
    labels = labels_of(rows)
    hard = Clipped(np.where(labels > 0, -np.inf, 0.0), np.where(labels > 0, 0.0, np.inf), labels)
    longest = rows.survey.longest
    w, scores, anchor = found.w, np.zeros(len(labels)), np.zeros(len(labels))
    width, last = longest**2 or 1.0, math.inf
    current = hard.smoothed(width, anchor)
    for _ in range(limits.steps):
        slopes = current.slope(scores)
        g = rows.combine(slopes)
        found.see(w, labels * scores, np.abs(slopes), norm(g))
        if found.up - found.low <= 0.5 * limits.tolerance * found.up or found.up <= 1e-13 * longest:
            break
        if expired():
            break
        moved = width * norm(slopes - anchor)  # the violation of the constraints
        if longest * norm(w + g) <= 0.3 * moved:
            width *= 0.1 if moved > 0.3 * last else 1.0
            last, anchor = moved, slopes
            current = hard.smoothed(width, anchor)
            slopes = current.slope(scores)
            g = rows.combine(slopes)
        curvature = curvature_of(rows, current.curvature(scores))
        direction = curvature.solve(1.0, -(w + g), Search(accuracy=0.01))
        along = rows.scores(direction)
        taken = lowest_along(current, Penalised(0.5), w, direction, scores, along)
        w, scores = w + taken * direction, scores + taken * along


def labels_of(rows: Rows) -> Floats:
    """Return the labels as −1 and +1; raise an error if there are none."""
    if not rows.shape[0]:
        raise ValueError("a margin needs at least one round")
    return as_labels(rows.outcomes)


class Pair:
    """The best weights of the features, and of the rounds, found so far."""

    def __init__(self, shape: tuple[int, int]) -> None:
        rounds, features = shape
        self.w, self.p = np.zeros(features), np.full(rounds, 1.0 / max(1, rounds))
        self.low, self.up = 0.0, math.inf

    def see(self, w: Floats, margins: Floats, p: Floats, length: float) -> None:
        """Keep the new weights of features or of rounds if they are better."""
        size, weight = norm(w), float(p.sum())
        if 0 < size < math.inf and (low := float(margins.min()) / size) > self.low:
            self.w, self.low = w / size, low
        if 0 < weight < math.inf and (up := length / weight) < self.up:
            self.p, self.up = p / weight, up

    def proven(self, rows: Rows, labels: Floats) -> Margin:
        """Return the interval, widened by the rounding errors."""
        sure = labels * rows.scores(self.w) - score_error(rows, self.w)
        low = downward(float(sure.min()) / (norm_above(self.w) or 1.0))
        if low <= 0:
            low, self.w = 0.0, np.zeros_like(self.w)
        if not 0.5 < total(self.p) < 2:  # it overflowed; any weights are valid
            self.p = np.full(len(labels), 1.0 / len(labels))
        sums, off = rows.combined(labels * self.p)
        up = upward(norm_above(np.abs(sums) + off) / (total(self.p) * (1 - 8 * UNIT)))
        if low == 0 and surely_inseparable(rows, labels, self.p):
            up = 0.0
        elif low == 0 and (pair := contradiction(rows, labels)):
            up, self.p = 0.0, np.zeros(len(labels))
            self.p[pair] = 1 / len(pair)
        return Margin(low, up, self.w, self.p)
