"""Online gradient descent on any loss, with projection.

Step against the gradient of the loss, then project on the domain:

    w ← project( w − η_t · loss'(w·x, y) · x )

Promise. On a ball of radius U, with gradients of norm at most G, the regret against every point
of the ball is at most U·G·√(8T) for η_t = (U√2/G)/√t and any T, and at most U·G·√T for
η = U/(G√T) if T is known beforehand. At any constant η the regret against any u is at most
‖u‖²/(2η) + (η/2)·Σ‖g‖², with the gradients g that occurred.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from noregret.base.compiled.losses import Loss
from noregret.base.registry import register
from noregret.checks import positive
from noregret.linear.engine.additive import Additive
from noregret.linear.learner import Learner
from noregret.proof.theorems import fixed_rate_bound as linearised
from noregret.proof.theorems.assumptions import (
    CONVEX,
    Assumption,
    AtMost,
    Finding,
    Structural,
    WithinHorizon,
)
from noregret.proof.theorems.shards import ADDED_UP
from noregret.proof.theorems.theorem import Theorem, loss_name

if TYPE_CHECKING:
    from noregret.hindsight import Answer
    from noregret.proof.record.moment import Moment
    from noregret.proof.theorems.evidence import Evidence


def bounded(params: Mapping[str, Any]) -> bool:
    """Return whether the learner projects, with explicit steps on a convex loss."""
    return (
        params["radius"] is not None
        and params["step"] == "explicit"
        and loss_name(params) != "mistake"
    )


def reach(evidence: Evidence) -> float:
    """Return R, the radius of the ball around the domain."""
    radius = float(evidence.params["radius"])
    return radius * math.sqrt(evidence.features) if is_box(evidence.params) else radius


def is_box(params: Mapping[str, Any]) -> bool:
    """Return whether the domain is a box."""
    return bool(params["domain"] == "box")


def best(evidence: Evidence) -> Answer:
    """Return the best predictor of the learner's domain."""
    radius = float(evidence.params["radius"])
    boxed = is_box(evidence.params)
    return evidence.best_in_box(radius) if boxed else evidence.best_in_ball(radius)


def so_far(moment: Moment, times: float, rounds: int | None = None) -> float | None:
    """Return times · R²/rate · √t."""
    if is_box(moment.params):
        return None
    ratio = moment.params["radius"] ** 2 / moment.params["rate"]
    return float(times * ratio * math.sqrt(rounds or moment.rounds))


@dataclass(frozen=True)
class Steep(Assumption):
    """The norms of the gradients are at most ``times`` R/rate."""

    times: float

    def measured(self, radius: float) -> AtMost:
        """Return the assumption for a domain of this radius."""
        return AtMost(
            self.statement,
            "gradient",
            lambda p: self.times * radius / p["rate"],
            "norm(gradient)",
        )

    def limit_of(self, params: Mapping[str, Any]) -> tuple[str, float] | None:
        """Watch the gradient; the radius of a box depends on features still to come."""
        return None if is_box(params) else self.measured(params["radius"]).limit_of(params)

    def may_hold(self, moment: Moment) -> bool:
        """Compare the largest norm of a gradient so far with the limit."""
        params = moment.params
        return is_box(params) or self.measured(params["radius"]).may_hold(moment)

    def check(self, evidence: Evidence) -> Finding:
        """Compare the largest norm of a gradient with the limit."""
        return self.measured(reach(evidence)).check(evidence)


def tuned_to_horizon(radius: float, lipschitz: float, horizon: int) -> dict[str, Any]:
    """Return the parameters for a known T."""
    rate = positive("radius", radius) / positive("lipschitz", lipschitz)
    return {"rate": rate, "schedule": "horizon", "horizon": horizon, "radius": radius}


def tuned_anytime(radius: float, lipschitz: float) -> dict[str, Any]:
    """Return the parameters for any T."""
    rate = positive("radius", radius) / positive("lipschitz", lipschitz)
    return {"rate": rate, "schedule": "sqrt", "radius": radius}


def tuned_ogd(radius: float, lipschitz: float) -> dict[str, Any]:
    """Return the parameters for any T, with a rate √2 times as large."""
    params = tuned_anytime(radius, lipschitz)
    return params | {"rate": params["rate"] * math.sqrt(2)}


@register
class GradientDescent(Learner):
    """Gradient descent on any convex loss, unconstrained or in a ball or a box.

    Parameters
    ----------
    loss
        ``square``, ``absolute``, ``quantile``, ``epsilon-insensitive``,
        ``squared-epsilon-insensitive``, ``huber``, ``hinge``, ``squared-hinge``, ``logistic``,
        ``linear`` (the outcome is the slope), ``mistake``, or a custom ``PythonLoss``.
    rate
        Above 0: η of the constant schedule, α of α/√t and α/√T.
    schedule
        ``constant``, ``sqrt`` (α/√t) or ``horizon`` (α/√T).
    horizon
        T, the number of rounds, for the horizon schedule.
    domain
        ``everything`` (unconstrained), ``ball`` (‖w‖₂ ≤ U) or ``box`` (every |w_i| ≤ U). By
        default a ball if a radius is given.
    radius
        U, above 0: the radius of the ball, or half the width of the box.
    step
        ``explicit``, or ``implicit`` for the exact minimiser of η·loss + ½‖change‖².
    loss_parameter
        Parameter of the loss: q of ``quantile`` (0 to 1, default ½), ε of the insensitive losses
        (default 0.1), δ of ``huber`` (default 1).

    Examples
    --------
    >>> learner = GradientDescent(loss="absolute", rate=0.5, schedule="sqrt", radius=2.0)
    >>> for x, y in [({"a": 1.0}, 1.5), ({"a": -1.0}, -1.5)] * 200:
    ...     learner.learn_one(x, y)
    >>> round(learner.predict_one({"a": 1.0}), 1)
    1.5

    References
    ----------
    M. Zinkevich, "Online convex programming and generalized infinitesimal gradient ascent", 2003.
    Implicit steps: B. Kulis and P. L. Bartlett, "Implicit online learning", 2010.
    """

    name = "gradient-descent"
    theorems = (
        Theorem(
            name="projected-gradient",
            quantity="regret",
            formula=r"L_A - \min_{\|u\| \le R} L_u \le R L \sqrt T",
            plain="regret <= R L √T",
            assumptions=(
                Structural("the domain lies in the ball of radius $R$ and the start is 0"),
                Steep(r"every loss is $L$-Lipschitz: $\|\nabla \ell_t\|_2 \le L = R/$`rate`", 1.0),
                WithinHorizon(),
                CONVEX,
            ),
            bound=lambda e: reach(e) ** 2 / e.params["rate"] * math.sqrt(e.params["horizon"]),
            best=best,
            so_far=lambda m: so_far(m, 1.0, m.params["horizon"]),
            covers=lambda p: bounded(p) and p["schedule"] == "horizon",
            tune=tuned_to_horizon,
            tuning=r"$\eta = R/(L\sqrt T)$: `schedule=horizon`, `rate` $= R/L$",
            over_shards=ADDED_UP,
            source="Zinkevich, 2003",
        ),
        Theorem(
            name="projected-gradient-anytime",
            quantity="regret",
            formula=r"L_A - \min_{\|u\| \le R} L_u \le 3 R L \sqrt T",
            plain="regret <= 3 R L √T",
            assumptions=(
                Structural("the domain lies in the ball of radius $R$ and the start is 0"),
                Steep(r"every loss is $L$-Lipschitz: $\|\nabla \ell_t\|_2 \le L = R/$`rate`", 1.0),
                CONVEX,
            ),
            bound=lambda e: 3 * reach(e) ** 2 / e.params["rate"] * math.sqrt(e.rounds),
            best=best,
            so_far=lambda m: so_far(m, 3.0),
            covers=lambda p: bounded(p) and p["schedule"] == "sqrt",
            tune=tuned_anytime,
            tuning=r"$\eta_t = R/(L\sqrt t)$: `schedule=sqrt`, `rate` $= R/L$",
            over_shards=ADDED_UP,
            source="Zinkevich, 2003",
        ),
        Theorem(
            name="ogd-anytime",
            quantity="regret",
            formula=r"L_A - \min_{\|u\| \le U} L_u \le U G \sqrt{8T}",
            plain="regret <= U G √(8T)",
            assumptions=(
                Structural(r"the domain is the ball $\|w\|_2 \le U$"),
                Steep(
                    r"$\|\nabla \ell_t\|_2 \le G = U\sqrt2/$`rate` in every round; square loss"
                    r" with $\|x_t\| \le X$, $|y_t| \le UX$ has $G = 4UX^2$",
                    math.sqrt(2),
                ),
                CONVEX,
            ),
            bound=lambda e: 4 * reach(e) ** 2 / e.params["rate"] * math.sqrt(e.rounds),
            best=best,
            so_far=lambda m: so_far(m, 4.0),
            covers=lambda p: (
                bounded(p) and p["schedule"] == "sqrt" and p["domain"] in (None, "ball")
            ),
            tune=tuned_ogd,
            tuning=r"$\eta_t = (U\sqrt2/G)/\sqrt t$: `schedule=sqrt`, `rate` $= U\sqrt2/G$",
            over_shards=ADDED_UP,
            source="Zinkevich, 2003",
        ),
        Theorem(
            name="ogd",
            quantity="regret",
            formula=r"L_A - L_u \le \frac{\|u\|^2}{2\eta} + \frac\eta2 \sum_t \|g_t\|^2",
            plain="regret against u <= ‖u‖²/(2 rate) + (rate/2) Σ ‖gradient‖²",
            assumptions=(
                Structural(
                    r"explicit steps at a constant $\eta$ from 0, on a ball or unconstrained; for"
                    r" every $u$ in the domain. Without a `radius`, $\|u\|$ is at most the norm of"
                    " the final weights, or the radius passed to the certificate"
                ),
                Structural(r"$g_t$ is the gradient of the loss at $w_t$"),
                CONVEX,
            ),
            bound=lambda e: linearised.promise(
                e.params, linearised.radius_of(e), e.gradient_squares
            ),
            best=lambda e: e.best_in_ball(linearised.radius_of(e)),
            so_far=linearised.so_far,
            covers=lambda p: (
                p["schedule"] == "constant"
                and p["step"] == "explicit"
                and p["domain"] != "box"
                and loss_name(p) != "mistake"
            ),
            asks="radius=1.0",
            over_shards=ADDED_UP,
            source="Zinkevich, 2003",
        ),
    )

    def __init__(
        self,
        loss: str | Loss = "square",
        rate: float = 0.1,
        schedule: str = "constant",
        horizon: int | None = None,
        domain: str | None = None,
        radius: float | None = None,
        step: str = "explicit",
        loss_parameter: float | None = None,
    ) -> None:
        positive("rate", rate)
        place = ("everything" if radius is None else "ball") if domain is None else domain
        super().__init__(
            Additive(
                loss, rate, schedule, horizon, place, radius, step, loss_parameter=loss_parameter
            )
        )
        self.loss, self.rate, self.schedule, self.horizon = loss, rate, schedule, horizon
        self.domain, self.radius, self.step = domain, radius, step
        self.loss_parameter = loss_parameter
