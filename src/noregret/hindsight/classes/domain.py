"""Domains of predictors, and the price that each predictor pays."""

from __future__ import annotations

from typing import Protocol

from noregret.hindsight.proofs.rounding import Floats
from noregret.hindsight.solvers.curvature import Curvature


class Region(Protocol):
    """The part of a domain that a line search needs."""

    def room(self, w: Floats, direction: Floats) -> float:
        """Return the largest step from w in the direction that stays in the domain."""

    def price_slope(self, w: Floats, direction: Floats) -> float:
        """Return the slope of the price at w along the direction."""


class Domain(Region, Protocol):
    """A convex set of predictors w, each with its price."""

    blur: int  # rounding errors per weight of a point of the domain

    def price(self, w: Floats) -> float:
        """Return the price of w."""

    def price_above(self, w: Floats) -> float:
        """Return an upper bound of the price of w."""

    def lowest(self, g: Floats) -> float:
        """Return the minimum over the domain of g·w plus the price."""

    def lowest_below(self, g: Floats, off: Floats) -> float:
        """Return a proven lower bound of that minimum, where g has errors up to ``off``."""

    def lowest_point(self, g: Floats) -> Floats:
        """Return the minimiser, or nearly so."""

    def inside(self, w: Floats) -> Floats:
        """Return w, moved into the domain if rounding has put it outside."""

    def target(self, w: Floats, g: Floats, curvature: Curvature) -> Floats:
        """Return the minimiser over the domain of g·(v − w) + (v − w)ᵀH(v − w)/2, or nearly so."""


class Unpriced:
    """A domain in which no predictor pays anything."""

    blur = 0

    def price(self, w: Floats) -> float:
        """Return 0."""
        return 0.0

    def price_above(self, w: Floats) -> float:
        """Return 0."""
        return 0.0

    def price_slope(self, w: Floats, direction: Floats) -> float:
        """Return 0."""
        return 0.0
