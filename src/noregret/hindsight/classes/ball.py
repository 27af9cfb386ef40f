"""The predictors of norm at most U, and the minimiser of a quadratic among them."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from noregret.errors import NoRegretError
from noregret.hindsight.classes.domain import Unpriced
from noregret.hindsight.proofs.deadline import expired
from noregret.hindsight.proofs.rounding import (
    Floats,
    dot,
    norm,
    norm_above,
    shrunk_into_ball,
    upward,
)
from noregret.hindsight.solvers.curvature import Curvature, Factored, ManyRows, Search

# The search for the multiplier ends at this share of the largest possible gain.
MIN_GAIN_SHARE = 0.9
# If linear systems are expensive: the relative residual allowed, the number of multipliers to try,
# and the relative change below which two are the same; and the number of steps after which
# solutions must be better, as losses with kinks need.
ROUGHLY, MAX_MULTIPLIERS, SAME_MULTIPLIER, ROUGH_STEPS = 0.1, 3, 0.5, 12


class Ball(Unpriced):
    """The predictors of norm at most a radius; they pay nothing."""

    def __init__(self, radius: float) -> None:
        self.radius = radius
        self.steps = 0
        self.multiplier = 0.0  # of the constraint, after the last step

    def lowest(self, g: Floats) -> float:
        """Return the minimum of g·w over the ball."""
        return -self.radius * norm(g)

    def lowest_below(self, g: Floats, off: Floats) -> float:
        """Return a proven lower bound of that minimum, where g has errors up to ``off``."""
        return -upward(self.radius * norm_above(np.abs(g) + off))

    def lowest_point(self, g: Floats) -> Floats:
        """Return the minimiser."""
        size = norm(g)
        return g * (-self.radius / size) if size else np.zeros_like(g)

    def room(self, w: Floats, direction: Floats) -> float:
        """Return the largest step towards a point of the ball that stays in it: 1 or more."""
        a, b = dot(direction, direction), dot(w, direction)
        left = max(0.0, self.radius * self.radius - dot(w, w))
        if a == 0.0:
            return 1.0
        root = math.sqrt(b * b + a * left)
        return max(1.0, left / (b + root) if b > 0 else (root - b) / a)

    def inside(self, w: Floats) -> Floats:
        """Return w, scaled into the ball if needed."""
        return shrunk_into_ball(w, self.radius)

    def target(self, w: Floats, g: Floats, curvature: Curvature) -> Floats:
        """Return the minimiser over the ball of g·(v − w) + (v − w)ᵀH(v − w)/2."""
        self.steps += 1
        search = partial(lowest_in_span, rough=self.steps <= ROUGH_STEPS)
        if not isinstance(curvature, ManyRows):
            search = partial(lowest_in_ball)
        try:
            with np.errstate(all="ignore"):
                v, self.multiplier = search(curvature, w, g, self.radius, self.multiplier)
        except (OverflowError, ZeroDivisionError):
            raise NoRegretError(
                f"the examples, or the ball of radius {self.radius:g}, are too small"
                " or too large to find the best predictor",
                "scale them",
            ) from None
        return v


def lowest_in_ball(
    curvature: Curvature, w: Floats, g: Floats, radius: float, guess: float
) -> tuple[Floats, float]:
    """Minimise g·(v − w) + (v − w)ᵀH(v − w)/2 over ‖v‖ ≤ radius; return v and its multiplier.

    The minimiser is v(λ) = w − (H + λ)⁻¹(g + λ w) for the λ ≥ 0 at which ‖v(λ)‖ = radius, or for
    λ = 0 if ‖v(0)‖ is less. Newton's method on 1/‖v(λ)‖ = 1/radius (the secular equation) always
    converges from below, and from above takes a step or two.
    """
    if not g.any():
        return w, 0.0
    multiplier, low, high = guess, 0.0, math.inf
    change, best, best_gain = np.zeros_like(w), w, 0.0
    accuracy, flat = 0.05, False
    for _ in range(50):
        pull = g + multiplier * w
        change = curvature.solve(multiplier, -pull, Search(change, accuracy))
        v = w + change
        size = norm(v)
        if size <= radius and (multiplier == 0.0 or size == 0.0):
            if flat or is_level(curvature, w, g, change):
                return v, 0.0
            # Where H is flat but g is not zero, the minimum is on the boundary.
            flat, multiplier = True, norm(curvature.times(w) - g) / radius
            continue
        # By duality no point of the ball gains more than this. Scaling v to the radius comes close,
        # as the error is of second order; so does a v inside the ball where H is flat.
        most = 0.5 * (multiplier * (radius**2 - dot(w, w)) - dot(change, pull))
        for point in (v * (radius / size), v)[: 1 + (size <= radius)]:
            if (gained := gain(curvature, g, point - w)) > best_gain:
                best, best_gain = point, gained
        if multiplier > 0 and best_gain >= MIN_GAIN_SHARE * most:
            break
        accuracy *= 0.5
        if size > radius:
            low = multiplier
        else:
            high = multiplier
        unit = v / size
        fall = dot(unit, curvature.solve(multiplier, unit))  # of ln ‖v(λ)‖ as λ rises
        following = multiplier + (size - radius) / radius / fall
        if low < following < high:
            multiplier = following
        elif size < radius and low == 0.0:
            multiplier = 0.01 * high if following > 0 or flat else 0.0
        else:
            multiplier = between(low, high)
    return best, multiplier


def between(low: float, high: float) -> float:
    """Return a multiplier between two by orders of magnitude, however small they are."""
    if math.isinf(high):
        return 4 * max(low, 1e-300)
    return math.sqrt(low) * math.sqrt(high) if low else 0.01 * high


def is_level(curvature: Curvature, w: Floats, g: Floats, change: Floats) -> bool:
    """Return whether the change cancels the gradient g up to rounding."""
    left = np.abs(curvature.times(change) + g)
    roots = np.sqrt(curvature.diagonal)  # |H_ij| is at most the product of two of these
    rounding = 1e-12 * roots * dot(roots, np.abs(w) + np.abs(change))
    return norm(left[left > rounding]) <= 0.5 * norm(g)


def lowest_in_span(
    curvature: Curvature, w: Floats, g: Floats, radius: float, guess: float, rough: bool = False
) -> tuple[Floats, float]:
    """Do the same with expensive, inexact systems: minimise over the span of a few vectors.

    The span has w and, for each multiplier tried, v(λ) and its derivative, or g instead of that if
    ``rough``. As w is in it, the quadratic never rises, and the multiplier within the span is the
    next to try.
    """
    multiplier, span, images = guess, np.zeros((0, len(w))), np.zeros((0, len(w)))
    inner, change = np.zeros(0), np.zeros_like(w)
    for _ in range(MAX_MULTIPLIERS):
        pull = g + multiplier * w
        if rough:
            change = curvature.solve(multiplier, -pull, Search(change, ROUGHLY, 2 * radius))
            news = [g, change]
        else:
            change = curvature.solve(multiplier, -pull)
            news = [change, curvature.solve(multiplier, w)]
        for new in news if len(span) else [w, *news]:
            rest = new - span.T @ (span @ new)
            rest -= span.T @ (span @ rest)
            size = norm(rest)
            if size > 1e-10 * norm(new):
                span = np.vstack([span, rest / size])
                images = np.vstack([images, curvature.times(span[-1])])
        if not len(span):
            break
        small = images @ span.T
        bends, axes = np.linalg.eigh(0.5 * (small + small.T))
        # Clipping in its eigenbasis removes negative eigenvalues due to rounding.
        span, images = axes.T @ span, axes.T @ images
        diagonal = Factored(np.diag(np.maximum(bends, 0.0)))
        last = multiplier
        inner, multiplier = lowest_in_ball(diagonal, span @ w, span @ g, radius, multiplier)
        if multiplier == 0.0 and norm(w + change) > radius:
            # The constraint is inactive in the span but not in the ball. On the boundary the
            # gradient is −λ v, and by now it nearly is.
            multiplier = norm(g + images.T @ (inner - span @ w)) / radius
        elif abs(multiplier - last) <= (SAME_MULTIPLIER if rough else 0.3) * last:
            break
        if expired():
            break
    return span.T @ inner, multiplier


def gain(curvature: Curvature, g: Floats, change: Floats) -> float:
    """Return by how much the quadratic falls."""
    return -dot(change, g) - 0.5 * dot(change, curvature.times(change))
