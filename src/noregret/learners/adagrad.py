"""AdaGrad: steps that become smaller where gradients have been large.

Each feature has its own rate, which falls as its gradients add up:

    w_i ← w_i − η · g_i / √(Σ g_i²),   clipped to the box |w_i| ≤ U, if any

The sum runs over all rounds so far, this one included. The norm form has one rate for all features,
η/√(Σ‖g‖²), and stays in the ball ‖w‖ ≤ U.

Promise. With D = 2U and η = D/√2, the regret against every point of the box is at most
√2·D·Σ_i √(Σ_t g_{t,i}²); in the norm form, against every point of the ball, √2·D·√(Σ‖g_t‖²).
Without a radius the bound depends on the largest weights reached.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.base.compiled.losses import Loss
from noregret.base.registry import register
from noregret.checks import one_of, positive
from noregret.linear.engine.per_coordinate import Diagonal, WholeNorm
from noregret.linear.learner import Floats, Learner
from noregret.proof.theorems.assumptions import CONVEX, Structural
from noregret.proof.theorems.fixed_rate_bound import radius_of
from noregret.proof.theorems.shards import ADDED_UP
from noregret.proof.theorems.theorem import Theorem, loss_name

if TYPE_CHECKING:
    from noregret.hindsight import Answer
    from noregret.proof.record.moment import Moment
    from noregret.proof.theorems.evidence import Evidence

FORMS = ("diagonal", "norm")
# η without a radius.
DEFAULT_RATE = 0.5
# Smallest bound: below it squares of gradients underflow and rounding dominates hindsight.
MIN_BOUND = 1e-140


def rate_of(params: Mapping[str, Any]) -> float:
    """Return η: the parameter if given, else U√2, else the default."""
    if params["rate"] is not None:
        return float(params["rate"])
    return DEFAULT_RATE if params["radius"] is None else math.sqrt(2) * float(params["radius"])


def bound_factor(params: Mapping[str, Any]) -> float:
    """Return D²/(2η) + η, the factor of the roots of the sums of squares."""
    rate, radius = rate_of(params), float(params["radius"])
    return 2 * radius * radius / rate + rate


def roots_of(evidence: Evidence) -> Floats:
    """Return √Σg² of each feature; in the norm form, of all features together."""
    return np.asarray(np.sqrt(evidence.account("squares")))


def free(evidence: Evidence) -> float:
    """Return the bound for every u in a ball, from the largest weights reached.

    Σ_i (m_i + |u_i|)² √S_i/(2η) + η Σ_i √S_i, at the worst u of norm R or less.
    """
    rate, radius = rate_of(evidence.params), radius_of(evidence)
    roots, far = roots_of(evidence), evidence.account("farthest")
    squared = float(far**2 @ roots) + radius**2 * float(roots.max(initial=0.0))
    mixed = 2 * radius * float(np.linalg.norm(far * roots))
    return max(MIN_BOUND, (squared + mixed) / (2 * rate) + rate * float(roots.sum()))


def best_in_box(evidence: Evidence) -> Answer:
    """Return the best predictor of the box."""
    return evidence.best_in_box(float(evidence.params["radius"]))


def norm_so_far(moment: Moment) -> float:
    """Return the bound of the norm form so far."""
    return bound_factor(moment.params) * math.sqrt(moment.gradient_squares)


def covers(params: Mapping[str, Any], form: str, bounded: bool) -> bool:
    """Return whether the learner has this form, with or without a radius, and a convex loss."""
    same = params["form"] == form and (params["radius"] is not None) == bounded
    return same and loss_name(params) != "mistake"


def tuned(radius: float) -> dict[str, Any]:
    """Return the parameters for a domain of this radius."""
    return {"radius": radius, "rate": math.sqrt(2) * positive("radius", radius)}


def tuned_norm(radius: float) -> dict[str, Any]:
    """Return the parameters of the norm form for a ball of this radius."""
    return tuned(radius) | {"form": "norm"}


@register
class Adagrad(Learner):
    """Gradient descent with one rate per feature, adapted to the gradients.

    Parameters
    ----------
    loss
        Any loss of ``gradient-descent``.
    rate
        η, above 0. By default U√2, as the theorem requires, or 0.5 without a radius.
    form
        ``diagonal``, one rate per feature, or ``norm``, one rate for all.
    radius
        U, above 0: keep every |w_i| ≤ U (diagonal) or ‖w‖₂ ≤ U (norm). If None, the weights are
        unconstrained.
    loss_parameter
        Parameter of the loss, as in ``gradient-descent``.

    Examples
    --------
    A feature in metres and one in millimetres are learned at the same pace:

    >>> learner = Adagrad(loss="absolute", radius=2.0)
    >>> for x, y in [({"a": 1.0}, 1.5), ({"b": 1000.0}, -500.0)] * 300:
    ...     learner.learn_one(x, y)
    >>> round(learner.predict_one({"a": 1.0}), 1), round(learner.predict_one({"b": 1.0}), 1)
    (1.5, -0.5)

    References
    ----------
    J. Duchi, E. Hazan and Y. Singer, "Adaptive subgradient methods for online learning and
    stochastic optimization", 2011; H. B. McMahan and M. Streeter, "Adaptive bound optimization for
    online convex optimization", 2010.
    """

    name = "adagrad"
    theorems = (
        Theorem(
            name="adagrad",
            quantity="regret",
            formula=(
                r"L_A - \min_{\|u\|_\infty \le U} L_u \le"
                r" \left( \frac{D^2}{2\eta} + \eta \right) \sum_i \sqrt{\sum_t g_{t,i}^2}"
            ),
            plain="regret <= (D²/(2 rate) + rate) Σ_i √(Σ_t gradient_i²)",
            where=r"$D = 2U$, the width of the box; the factor is $\sqrt2 D$ at $\eta = D/\sqrt2$",
            assumptions=(
                Structural(r"the domain is the box $|w_i| \le U$ and the start is 0"),
                Structural(r"$g_t$ is the gradient of the loss at $w_t$"),
                CONVEX,
            ),
            bound=lambda e: max(MIN_BOUND, bound_factor(e.params) * float(roots_of(e).sum())),
            best=best_in_box,
            covers=lambda p: covers(p, "diagonal", bounded=True),
            tune=tuned,
            tuning=r"$\eta = U\sqrt2$, the default when a `radius` is given",
            needs_rows=True,
            over_shards=ADDED_UP,
            source="Duchi, Hazan and Singer, 2011",
        ),
        Theorem(
            name="adagrad-norm",
            quantity="regret",
            formula=(
                r"L_A - \min_{\|u\|_2 \le U} L_u \le"
                r" \left( \frac{D^2}{2\eta} + \eta \right) \sqrt{\sum_t \|g_t\|^2}"
            ),
            plain="regret <= (D²/(2 rate) + rate) √(Σ ‖gradient‖²)",
            where=r"$D = 2U$, the width of the ball; the factor is $\sqrt2 D$ at $\eta = D/\sqrt2$",
            assumptions=(
                Structural(r"the domain is the ball $\|w\|_2 \le U$ and the start is 0"),
                Structural(r"$g_t$ is the gradient of the loss at $w_t$"),
                CONVEX,
            ),
            bound=lambda e: max(MIN_BOUND, bound_factor(e.params) * float(roots_of(e)[0])),
            best=lambda e: e.best_in_ball(float(e.params["radius"])),
            so_far=norm_so_far,
            covers=lambda p: covers(p, "norm", bounded=True),
            tune=tuned_norm,
            tuning=r"$\eta = U\sqrt2$, the default when a `radius` is given",
            over_shards=ADDED_UP,
            source="Duchi, Hazan and Singer, 2011",
        ),
        Theorem(
            name="adagrad-free",
            quantity="regret",
            formula=(
                r"L_A - L_u \le \sum_i \left( \frac{(m_i + |u_i|)^2}{2\eta} + \eta \right)"
                r" \sqrt{\sum_t g_{t,i}^2}"
            ),
            plain="regret against u <= Σ_i ((m_i + |u_i|)²/(2 rate) + rate) √(Σ_t gradient_i²)",
            where=(
                r"$m_i$ is the largest $|w_i|$ of any round; the norm form has a single term, with"
                r" $\|w\|$, $\|u\|$ and $\|g_t\|$"
            ),
            assumptions=(
                Structural(
                    r"the weights are unconstrained and start at 0; $\|u\|$ is at most the norm of"
                    " the final weights, or the radius passed to the certificate"
                ),
                Structural(r"$g_t$ is the gradient of the loss at $w_t$"),
                CONVEX,
            ),
            bound=free,
            best=lambda e: e.best_in_ball(radius_of(e)),
            covers=lambda p: any(covers(p, form, bounded=False) for form in FORMS),
            asks="radius=1.0",
            over_shards=ADDED_UP,
            source="Duchi, Hazan and Singer, 2011",
        ),
    )

    def __init__(
        self,
        loss: str | Loss = "square",
        rate: float | None = None,
        form: str = "diagonal",
        radius: float | None = None,
        loss_parameter: float | None = None,
    ) -> None:
        one_of("form", form, FORMS)
        if radius is not None:
            positive("radius", radius)
        if rate is not None:
            positive("rate", rate)
        chosen = rate_of({"rate": rate, "radius": radius})
        engine = Diagonal if form == "diagonal" else WholeNorm
        super().__init__(engine(loss, chosen, radius, loss_parameter))
        self.loss, self.rate, self.form, self.radius = loss, rate, form, radius
        self.loss_parameter = loss_parameter
