"""The convex losses of all rounds, as functions of the scores, with lines that lie below them.

A loss ℓ_t has its outcome built in and is a function of the score alone. A lower bound is proven by
a line below it, ℓ_t(s) ≥ a s − c, with slope a and c = ℓ_t*(a), the Fenchel conjugate. All losses
except the logistic loss are one formula,

    ℓ(s) = max over low ≤ a ≤ high of  a (s − centre) − flat |a| − softness a²/2,

so their slope is a clipped line with a flat section, and smoothing such a loss increases its
softness.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from noregret.base.compiled.losses import Loss, PythonLoss, make_loss
from noregret.errors import BadExample
from noregret.hindsight.proofs.rounding import Floats, dot, widened
from noregret.limits import SMALLEST, UNIT

# Steps of Newton's method for one number.
FACTOR_STEPS = 30


class Slopes(Protocol):
    """A convex function of the score in every round, smooth enough for Newton's method."""

    def slope(self, scores: Floats) -> Floats:
        """Return the derivative in every round."""

    def curvature(self, scores: Floats) -> Floats:
        """Return the second derivative in every round."""

    def lines(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return a and c of lines a s − c that lie below the loss in every round, for all scores s.

        They (nearly) touch the loss at the given scores. Rounding errors are added to c.
        """


class Losses(Slopes, Protocol):
    """The losses of all rounds, as functions of the score."""

    smooth: bool
    nonnegative: bool

    def value(self, scores: Floats) -> Floats:
        """Return the loss in every round."""

    def value_above(self, scores: Floats, off: Floats) -> Floats:
        """Return an upper bound per round, for scores with errors of up to ``off``."""

    def smoothed(self, width: float, anchor: Floats) -> Slopes:
        """Return max over a of  a s − ℓ*(a) − width (a − anchor)²/2,  a smooth lower bound."""


class Clipped:
    """Losses whose slope is a line with a flat section at the centre, clipped to an interval."""

    def __init__(
        self,
        low: Floats | float,
        high: Floats | float,
        centre: Floats,
        flat: float = 0.0,
        softness: float = 0.0,
    ) -> None:
        self.low, self.high, self.centre = low, high, centre
        self.flat, self.softness = flat, softness
        self.resting = np.clip(0.0, low, high)
        self.smooth = softness > 0 or bool(np.all(np.equal(low, high)))
        # The line of slope 0 through 0 lies below the loss, so the loss is never negative.
        self.nonnegative = bool(np.all(np.less_equal(low, 0)) and np.all(np.greater_equal(high, 0)))

    def pull(self, scores: Floats) -> Floats:
        """Return the signed distance of each score from the flat section."""
        away = scores - self.centre
        if self.flat:
            away -= np.clip(away, -self.flat, self.flat)
        return away

    def slope(self, scores: Floats) -> Floats:
        """Return the derivative in every round; at a kink, the subgradient nearest to zero."""
        pull = self.pull(scores)
        if self.softness:
            pull /= self.softness
            return np.clip(pull, self.low, self.high, out=pull)
        return np.where(pull > 0, self.high, np.where(pull < 0, self.low, self.resting))

    def curvature(self, scores: Floats) -> Floats:
        """Return the second derivative in every round; where it jumps, the larger value."""
        if not self.softness:
            return np.zeros_like(scores)
        pull = self.pull(scores)
        pull /= self.softness
        bent = (pull >= self.low) & (pull <= self.high)
        if self.flat:
            bent &= pull != 0
        return bent / self.softness

    def parts(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return the loss in every round, and the sum of the sizes of its terms."""
        slope, away = self.slope(scores), scores - self.centre
        gain, cost = slope * away, (self.flat + 0.5 * self.softness * np.abs(slope)) * np.abs(slope)
        return gain - cost, np.abs(gain) + cost

    def value(self, scores: Floats) -> Floats:
        """Return the loss in every round."""
        return self.parts(scores)[0]

    def value_above(self, scores: Floats, off: Floats) -> Floats:
        """Return an upper bound per round: a convex function is largest at an end."""
        off = widened(scores, off)
        return np.maximum(self.value_at_most(scores - off), self.value_at_most(scores + off))

    def value_at_most(self, scores: Floats) -> Floats:
        """Return an upper bound on the loss at exact scores; infinity on overflow."""
        value, size = self.parts(scores)
        above = value + 8 * UNIT * size + 4 * SMALLEST * (scores != self.centre)
        return np.where(np.isnan(above), np.inf, above)

    def conjugate(self, slopes: Floats) -> tuple[Floats, Floats]:
        """Return ℓ*(a) in every round, and the sum of the sizes of its terms."""
        gain = slopes * self.centre
        cost = (self.flat + 0.5 * self.softness * np.abs(slopes)) * np.abs(slopes)
        return gain + cost, np.abs(gain) + cost

    def lines(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return the lines that touch the loss at the scores."""
        return self.line_of(self.slope(scores))

    def line_of(self, slopes: Floats) -> tuple[Floats, Floats]:
        """Return the highest lines of these slopes, clipped to the loss's, below the loss."""
        slopes = np.clip(slopes, self.low, self.high)
        value, size = self.conjugate(slopes)
        above = value + 8 * UNIT * size + 4 * SMALLEST * (slopes != 0)
        return slopes, np.where(np.isnan(above), np.inf, above)  # inf − inf proves nothing

    def best_factor(self, slopes: Floats, pull: float) -> float:
        """Return the f at which  −Σ ℓ*(f a) − f pull  is highest, for slopes f a of the losses."""
        if not self.nonnegative:
            return 1.0
        rise = -float((slopes * self.centre + self.flat * np.abs(slopes)).sum()) - pull
        bounds = np.where(slopes > 0, self.high, self.low)[slopes != 0]
        most = float((bounds / slopes[slopes != 0]).min(initial=np.inf))
        bend = self.softness * dot(slopes, slopes)
        if bend > 0:
            return min(max(0.0, rise / bend), most)
        return most if rise > 0 else 0.0

    def smoothed(self, width: float, anchor: Floats) -> Slopes:
        """Return the smooth approximation: a loss of the same form, softer and shifted."""
        return Smoothed(self, width, anchor)


class Smoothed(Clipped):
    """A softer loss of the same form, whose slopes are also slopes of the original loss."""

    def __init__(self, loss: Clipped, width: float, anchor: Floats) -> None:
        super().__init__(
            loss.low, loss.high, loss.centre - width * anchor, loss.flat, loss.softness + width
        )
        self.loss = loss

    def lines(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return lines below the original loss, with the slopes of this approximation."""
        return self.loss.line_of(self.slope(scores))


class Logistic:
    """ln(1 + exp(−y s)), whose conjugate is minus the entropy of (p, 1 − p) where p = −y a."""

    smooth = True
    nonnegative = True

    def __init__(self, labels: Floats) -> None:
        self.labels = self.centre = labels
        self.low, self.high = np.minimum(-labels, 0.0), np.maximum(-labels, 0.0)

    def wrong(self, scores: Floats) -> Floats:
        """Return the predicted probability of the wrong label."""
        margin = self.labels * scores
        small = np.exp(-np.abs(margin))
        return np.where(margin > 0, small, 1.0) / (1.0 + small)

    def value(self, scores: Floats) -> Floats:
        """Return the loss in every round."""
        margin = self.labels * scores
        return np.log1p(np.exp(-np.abs(margin))) + np.maximum(0.0, -margin)

    def value_above(self, scores: Floats, off: Floats) -> Floats:
        """Return an upper bound per round, for scores with errors of up to ``off``."""
        worst = scores - self.labels * widened(scores, off)
        return self.value(worst) * (1 + 16 * UNIT) + SMALLEST

    def slope(self, scores: Floats) -> Floats:
        """Return the derivative in every round."""
        return -self.labels * self.wrong(scores)

    def curvature(self, scores: Floats) -> Floats:
        """Return the second derivative in every round."""
        wrong = self.wrong(scores)
        return wrong * (1.0 - wrong)

    def lines(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return the tangents at the scores."""
        return self.line_of(self.slope(scores))

    def line_of(self, slopes: Floats) -> tuple[Floats, Floats]:
        """Return the highest lines of these slopes, clipped to the loss's, below the loss."""
        slopes = np.clip(slopes, self.low, self.high)
        p = -self.labels * slopes
        with np.errstate(divide="ignore", invalid="ignore"):  # of 0 ln 0, which is 0
            entropy = np.where(p > 0, p * np.log(p), 0.0)
            entropy += np.where(p < 1, (1.0 - p) * np.log1p(-p), 0.0)
        return slopes, entropy * (1 - 16 * UNIT)

    def best_factor(self, slopes: Floats, pull: float) -> float:
        """Return the f at which  −Σ ℓ*(f a) − f pull  is nearly highest, by Newton's method."""
        p = np.abs(slopes[slopes != 0])
        if not len(p):
            return 1.0
        low, high = 0.0, 1 / float(p.max())
        factor = 1.0 if high > 1 else 0.5 * high
        for _ in range(FACTOR_STEPS):
            part = factor * p
            rise = -dot(p, np.log(part / (1 - part))) - pull
            low, high = (factor, high) if rise > 0 else (low, factor)
            bend = float((p / (factor * (1 - part))).sum())
            after = factor + rise / bend if bend > 0 else factor
            if not low < after < high:
                after = (
                    0.5 * (factor + high) if rise > 0 else max(0.5 * (low + factor), 0.1 * factor)
                )
            if abs(after - factor) <= 0.02 * factor:
                return after
            factor = after
        return factor

    def smoothed(self, width: float, anchor: Floats) -> Slopes:
        """Return the loss itself, which is smooth."""
        return self


def losses_of(loss: str | Loss, outcomes: Floats, loss_parameter: float | None = None) -> Losses:
    """Return a loss, by name or custom, as a function of the scores of all rounds."""
    known = make_loss(loss, loss_parameter)
    y = as_labels(outcomes) if known.labels else outcomes
    if isinstance(known, PythonLoss):
        from noregret.hindsight.opaque import Opaque

        return Opaque(known, y)
    if known.name not in MADE:
        raise ValueError(f"the {known.name} loss is not convex, so no predictor can be proven best")
    return MADE[known.name](y, known.parameter)


def as_labels(outcomes: Floats) -> Floats:
    """Return labels as −1 and +1."""
    if np.isin(outcomes, (-1.0, 1.0)).all():
        return outcomes
    if np.isin(outcomes, (0.0, 1.0)).all():
        return 2.0 * outcomes - 1.0
    raise BadExample("labels must be −1 and +1, or 0 and 1")


MADE: dict[str, Callable[[Floats, float], Losses]] = {
    "square": lambda y, _: Clipped(-np.inf, np.inf, y, softness=0.5),
    "absolute": lambda y, _: Clipped(-1.0, 1.0, y),
    "quantile": lambda y, q: Clipped(-q, 1.0 - q, y),
    "epsilon-insensitive": lambda y, epsilon: Clipped(-1.0, 1.0, y, flat=epsilon),
    "squared-epsilon-insensitive": lambda y, epsilon: Clipped(
        -np.inf, np.inf, y, flat=epsilon, softness=0.5
    ),
    "huber": lambda y, delta: Clipped(-delta, delta, y, softness=1.0),
    "hinge": lambda y, _: Clipped(np.minimum(-y, 0.0), np.maximum(-y, 0.0), y),
    "squared-hinge": lambda y, _: Clipped(
        np.where(y > 0, -np.inf, 0.0), np.where(y > 0, 0.0, np.inf), y, softness=0.5
    ),
    "logistic": lambda y, _: Logistic(y),
    "linear": lambda y, _: Clipped(y, y, np.zeros_like(y)),
}


def is_square(loss: str | Loss) -> bool:
    """Return whether a loss is the built-in square loss."""
    return (loss if isinstance(loss, str) else loss.name) == "square" and (
        isinstance(loss, str) or type(loss) is Loss
    )
