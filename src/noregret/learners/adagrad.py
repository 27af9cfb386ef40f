"""AdaGrad: steps that become smaller where gradients have been large.

Every feature has a rate of its own, which the gradients that it met bring down:

    w_i ← w_i − η · g_i / √(Σ g_i²),   back into the box |w_i| ≤ U where there is one

The sum runs over all rounds so far, this one included. The norm form has one rate for all features,
η/√(Σ‖g‖²), and stays in the ball ‖w‖ ≤ U.

Promise. With D = 2U and η = D/√2, the regret against every point of the box is at most
√2·D·Σ_i √(Σ_t g_{t,i}²); in the norm form, against every point of the ball, √2·D·√(Σ‖g_t‖²).
Without a radius the bound is in terms of how far the weights went.
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
from noregret.proof.theorems.theorem import Theorem, loss_name

if TYPE_CHECKING:
    from noregret.hindsight import Answer
    from noregret.proof.record.moment import Moment
    from noregret.proof.theorems.evidence import Evidence

FORMS = ("diagonal", "norm")
# η where there is no radius to tell it.
RATE = 0.5
# Squares of gradients below this underflow, and rounding blurs hindsight: no bound is less.
MIN_BOUND = 1e-140


def rate_of(params: Mapping[str, Any]) -> float:
    """Return η: as given, or U√2, or a half where nothing is known."""
    if params["rate"] is not None:
        return float(params["rate"])
    return RATE if params["radius"] is None else math.sqrt(2) * float(params["radius"])


def times(params: Mapping[str, Any]) -> float:
    """Return D²/(2η) + η, by which the roots of the sums of squares are multiplied."""
    rate, radius = rate_of(params), float(params["radius"])
    return 2 * radius * radius / rate + rate


def roots_of(evidence: Evidence) -> Floats:
    """Return √Σg² of every feature; in the norm form, of all together."""
    return np.asarray(np.sqrt(evidence.account("squares")))


def free(evidence: Evidence) -> float:
    """Return the bound for every u in a ball, from how far the weights went.

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
    """Return the bound of the norm form at a moment."""
    return times(moment.params) * math.sqrt(moment.gradient_squares)


def covers(params: Mapping[str, Any], form: str, bounded: bool) -> bool:
    """Whether the learner is of that form, with or without a radius, on a convex loss."""
    same = params["form"] == form and (params["radius"] is not None) == bounded
    return same and loss_name(params) != "mistake"


def tuned(radius: float) -> dict[str, Any]:
    """Return the rate for a domain of that radius."""
    return {"radius": radius, "rate": math.sqrt(2) * positive("radius", radius)}


def tuned_norm(radius: float) -> dict[str, Any]:
    """Return the same for the norm form."""
    return tuned(radius) | {"form": "norm"}


@register
class Adagrad(Learner):
    """Gradient descent with a rate for every feature, found from the gradients.

    Parameters
    ----------
    loss
        Any loss of ``gradient-descent``.
    rate
        η, above 0. Without it U√2, as the promise asks, or 0.5 where there is no radius.
    form
        ``diagonal``, a rate for every feature, or ``norm``, one for all.
    radius
        U, above 0: keep every |w_i| ≤ U (diagonal), or ‖w‖₂ ≤ U (norm). Without it the weights
        are free.
    loss_parameter
        The loss's own number, as in ``gradient-descent``.

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
            bound=lambda e: max(MIN_BOUND, times(e.params) * float(roots_of(e).sum())),
            best=best_in_box,
            covers=lambda p: covers(p, "diagonal", bounded=True),
            tune=tuned,
            tuning=r"$\eta = U\sqrt2$, which is the default where a `radius` is given",
            needs_rows=True,
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
            bound=lambda e: max(MIN_BOUND, times(e.params) * float(roots_of(e)[0])),
            best=lambda e: e.best_in_ball(float(e.params["radius"])),
            so_far=norm_so_far,
            covers=lambda p: covers(p, "norm", bounded=True),
            tune=tuned_norm,
            tuning=r"$\eta = U\sqrt2$, which is the default where a `radius` is given",
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
                    r"the weights are free and start at 0; $u$ is compared with up to the norm of"
                    " the last weights, or up to the radius that the certificate is given"
                ),
                Structural(r"$g_t$ is the gradient of the loss at $w_t$"),
                CONVEX,
            ),
            bound=free,
            best=lambda e: e.best_in_ball(radius_of(e)),
            covers=lambda p: any(covers(p, form, bounded=False) for form in FORMS),
            asks="radius=1.0",
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
