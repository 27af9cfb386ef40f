"""Outcomes that come late, and the theorem of gradient descent about them.

A service predicts again before it knows the outcome of its last prediction. Gradient descent still
has a bound if each gradient is that of the weights that predicted, applied when its outcome comes,
in any order.

Promise. With steps η and gradients of norm at most G, the regret of the predictions as they were
served, against any u, is at most  ‖u‖²/(2η) + η G² (T/2 + D).  D counts, over all rounds, the
updates between a prediction and its own. It is measured: nothing is assumed about delays.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from noregret.checks import positive
from noregret.linear.engine.additive import Additive
from noregret.proof.theorems.assumptions import CONVEX, Finding, Shown, Structural
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.proof.theorems.base_evidence import BaseEvidence
    from noregret.proof.theorems.evidence import Evidence


def rate_of(learner: Any) -> float | None:
    """Return the fixed rate of a learner that steps by late gradients; None for all others."""
    engine = learner.engine
    if not isinstance(engine, Additive) or not engine.steps_late or engine.loss.name == "mistake":
        return None
    rate = engine.fixed_rate
    return rate if rate is not None and math.isfinite(rate) else None


def radius_of(evidence: Evidence) -> float:
    """Return the radius of the ball of comparators, which is no larger than the domain.

    Without a domain it is the given radius, or else the norm of the last weights.
    """
    own, told = evidence.params.get("radius"), evidence.given.get("radius")
    if told is None:
        return evidence.comparable_norm if own is None else float(own)
    if own is not None and positive("radius", told) > own:
        raise ValueError(f"radius {told:g} is larger than the learner's own, {own:g}")
    return positive("radius", told)


def bound(evidence: Evidence) -> float:
    """Return the bound for the longest u of the ball."""
    rate, gradient = rate_of(evidence.learner), evidence.largest("gradient")
    assert rate is not None
    steps = evidence.rounds / 2 + evidence.late_updates
    return radius_of(evidence) ** 2 / (2 * rate) + rate * gradient**2 * steps


def measured(evidence: Evidence) -> Finding:
    """Return D."""
    return Finding(f"updates between predictions and their own: D = {evidence.late_updates}",
                   None, evidence.late_updates, True)  # fmt: skip


def in_time(evidence: BaseEvidence) -> Finding:
    """Check that every outcome was learned before the next prediction."""
    late = evidence.late_updates
    return Finding("delay = 0", 0, late, late == 0, evidence.first_delayed)


def waited(evidence: BaseEvidence) -> Finding:
    """Return the loss that forecasting in batches added, which is added to the bound too."""
    name = "loss added by forecasting in batches, here and in the bound"
    return Finding(name, None, evidence.waited, True)


DELAYED = Theorem(
    name="delayed-gradient",
    quantity="regret",
    formula=(
        r"L_A - L_u \le \frac{\|u\|^2}{2\eta} + \eta G^2 \left( \frac T2 + D \right)"
    ),
    plain="regret against u <= ‖u‖²/(2 rate) + rate G² (T/2 + D)",
    assumptions=(
        Structural(
            r"explicit steps at a fixed $\eta$ from 0, each by the gradient at the weights that"
            r" predicted, unconstrained or in a convex domain; for every $u$ in it. Without a"
            r" `radius`, $\|u\|$ is at most the norm of the final weights, or the radius passed to"
            " the certificate"
        ),
        Structural(r"$G = \max_t \|g_t\|$, the largest gradient, as measured"),
        Shown(
            r"$D$, measured: the updates between a prediction and its own, over all rounds",
            measured,
        ),
        CONVEX,
    ),
    bound=bound,
    best=lambda e: e.best_in_ball(radius_of(e)),
    asks="radius=1.0",
    delayed=True,
    source="Zinkevich, Langford and Smola, 2009; Joulani, György and Szepesvári, 2013",
)  # fmt: skip
theorems = (DELAYED,)
