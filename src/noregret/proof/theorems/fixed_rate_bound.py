"""The bound that gradient descent and the regularised leader share, both at a fixed rate.

For every u, regret(u) ≤ ‖u‖²/(2η) + (η/2)·Σ‖g_t‖², where the g_t are the gradients of the rounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from noregret.checks import positive

if TYPE_CHECKING:
    from noregret.proof.record.moment import Moment
    from noregret.proof.theorems.evidence import Evidence


def promise(params: Mapping[str, Any], radius: float, gradient_squares: float) -> float:
    """Return the bound for the longest u in a ball."""
    horizon = params["horizon"]
    rate = params["rate"] / (1.0 if horizon is None else math.sqrt(horizon))
    return float(radius**2 / (2 * rate) + rate / 2 * gradient_squares)


def radius_of(evidence: Evidence) -> float:
    """Return the radius of the ball of comparators, which is no larger than the domain.

    Without a domain it is the given radius, or else the norm of the last weights.
    """
    own, told = evidence.params["radius"], evidence.given.get("radius")
    if told is not None:
        if own is not None and positive("radius", told) > own:
            raise ValueError(f"radius {told:g} is larger than the learner's own, {own:g}")
        return positive("radius", told)
    return float(own) if own is not None else evidence.comparable_norm


def so_far(moment: Moment) -> float | None:
    """Return the bound at a moment, on a ball."""
    radius = moment.params["radius"]
    return None if radius is None else promise(moment.params, radius, moment.gradient_squares)
