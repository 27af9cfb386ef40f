"""Where predictors may lie, and what they pay for lying there."""

from __future__ import annotations

from typing import Protocol

from noregret.hindsight.proofs.rounding import Floats
from noregret.hindsight.solvers.curvature import Curvature


class Region(Protocol):
    """As much of a domain as a search along a line asks for."""

    def room(self, w: Floats, direction: Floats) -> float:
        """Return the largest step from w in the direction that stays in the domain."""

    def price_slope(self, w: Floats, direction: Floats) -> float:
        """Return how fast what is paid rises from w in the direction."""


class Domain(Region, Protocol):
    """A convex set of predictors w, each with its price."""

    blur: int  # by how many roundings each weight of a point of the domain may be off

    def price(self, w: Floats) -> float:
        """Return what w pays."""

    def price_above(self, w: Floats) -> float:
        """Return what w surely pays at most."""

    def lowest(self, g: Floats) -> float:
        """Return the minimum over the domain of g·w and what w pays."""

    def lowest_below(self, g: Floats, off: Floats) -> float:
        """Return what that minimum is surely not below, where g may be off by so much."""

    def lowest_point(self, g: Floats) -> Floats:
        """Return where that minimum is, or nearly so."""

    def inside(self, w: Floats) -> Floats:
        """Return w without what rounding may have put outside the domain."""

    def target(self, w: Floats, g: Floats, curvature: Curvature) -> Floats:
        """Return the minimiser over the domain of g·(v − w) + (v − w)ᵀH(v − w)/2, or nearly so."""
