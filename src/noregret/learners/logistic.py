"""Online logistic regression.

P(y = 1 | x) = 1/(1 + exp(−w·x)); the loss is −ln P of the observed label:

    w ← project( w + η_t · y · P(the other label) · x )

Promise. An instance of gradient descent: the loss is L-Lipschitz with L = max‖x‖, so on the ball
of radius R the regret is at most R·L·√T with η = R/(L√T), and 3·R·L·√T with η_t = R/(L√t).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from noregret.base.registry import register
from noregret.checks import positive
from noregret.linear.engine.additive import Additive
from noregret.linear.learner import Learner
from noregret.proof.theorems.assumptions import AtMost, Structural, WithinHorizon
from noregret.proof.theorems.shards import ADDED_UP
from noregret.proof.theorems.theorem import Theorem


def promise(params: Mapping[str, Any], rounds: int) -> float:
    """Return R²/rate · √T, or three times that without a horizon."""
    times, over = (3.0, rounds) if params["horizon"] is None else (1.0, params["horizon"])
    return float(times * params["radius"] ** 2 / params["rate"] * math.sqrt(over))


def tuned(radius: float, norm: float, horizon: int | None = None) -> dict[str, Any]:
    """Return the rate for comparators up to ``radius`` and examples up to ``norm``."""
    rate = positive("radius", radius) / positive("norm", norm)
    schedule = "sqrt" if horizon is None else "horizon"
    return {"rate": rate, "schedule": schedule, "horizon": horizon, "radius": radius}


def steepest(params: Mapping[str, Any]) -> float:
    """Return L, the largest gradient that the rate allows."""
    return float(params["radius"] / params["rate"])


def descent_theorem(
    name: str, best: str, ball: str, lipschitz: AtMost, slope: str = "", **more: Any
) -> Theorem:
    """Return the promise of gradient descent on a ball, in the learner's own symbols."""
    return Theorem(
        name=name,
        quantity="regret",
        formula=(
            rf"L_A - {best} \le R L \sqrt T"
            r" \;\;(\text{anytime: } 3RL\sqrt T)"
        ),
        plain="regret <= R L √T with a horizon, 3 R L √T without",
        assumptions=(
            Structural(rf"the domain is the ball ${ball}$; explicit steps from 0"),
            lipschitz,
            WithinHorizon(r"no more rounds than the horizon, if any", optional=True),
        ),
        bound=lambda e: promise(e.params, e.rounds),
        best=lambda e: e.best_in_ball(float(e.params["radius"])),
        so_far=lambda m: promise(m.params, m.rounds),
        covers=lambda p: (
            p["radius"] is not None
            and p["step"] == "explicit"
            and p["schedule"] in ("sqrt", "horizon")
        ),
        tuning=(
            rf"$\eta = R/(L\sqrt T)${slope}: `schedule=horizon`, `rate` $= R/L$;"
            r" anytime: `schedule=sqrt`, `rate` $= R/L$"
        ),
        source="Zinkevich, 2003",
        **more,
    )


@register
class Logistic(Learner):
    """Binary classification with probabilities.

    Parameters
    ----------
    rate
        Above 0: η of the constant schedule, α of α/√t and α/√T.
    schedule
        ``constant``, ``sqrt`` (α/√t) or ``horizon`` (α/√T).
    horizon
        T, the number of rounds, for the horizon schedule.
    radius
        R, above 0: keep ‖w‖ ≤ R. If None, the weights are unconstrained.
    step
        ``explicit``, or ``implicit`` for the exact minimiser.

    Examples
    --------
    >>> learner = Logistic()
    >>> for x, y in [({"cloudy": 1.0}, True), ({"cloudy": -1.0}, False)] * 50:
    ...     learner.learn_one(x, y)
    >>> learner.predict_proba_one({"cloudy": 1.0})[True] > 0.9
    True

    References
    ----------
    M. Zinkevich, 2003; E. Hazan, "Introduction to online convex optimization", 2016.
    """

    name = "logistic"
    theorems = (
        descent_theorem(
            "logistic",
            best=r"\min_{\|u\| \le R} L_u",
            ball=r"\|w\|_2 \le R",
            lipschitz=AtMost(
                r"$\|x_t\|_2 \le L = R/$`rate` in every round", "norm", steepest, "norm(x)"
            ),
            tune=tuned,
            over_shards=ADDED_UP,
        ),
    )

    def __init__(
        self,
        rate: float = 1.0,
        schedule: str = "sqrt",
        horizon: int | None = None,
        radius: float | None = None,
        step: str = "explicit",
    ) -> None:
        domain = "everything" if radius is None else "ball"
        super().__init__(Additive("logistic", rate, schedule, horizon, domain, radius, step))
        self.rate, self.schedule, self.horizon = rate, schedule, horizon
        self.radius, self.step = radius, step
