"""Softmax regression: several classes, with a probability for each.

P(class k | x) = exp(w_k·x) / Σ_r exp(w_r·x); the loss is −ln P of the class that came:

    w_k ← w_k − η_t · (P(k | x) − [k = y]) · x   for every class k,  then back into the ball

Promise. The gradient has Frobenius norm at most √2·‖x‖. On the ball ‖W‖ ≤ R, with gradients of
norm at most L, the regret is at most R·L·√T with η = R/(L√T), and 3·R·L·√T with η_t = R/(L√t).
Without a ball, explicit or implicit steps at rates that do not grow have regret at most
‖U‖²/(2η_1) + (M + ‖U‖)²·(1/η_T − 1/η_1)/2 + Σ η_t‖g_t‖²/2 against any weights U, with the gradients
g_t that occurred and M the largest norm of the weights: no more is known beforehand, and nothing is
assumed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from noregret.base.registry import register
from noregret.checks import not_negative
from noregret.learners.logistic import descent_theorem, steepest, tuned
from noregret.linear.class_learner import ClassLearner
from noregret.linear.engine.class_weights import ClassWeights
from noregret.proof.theorems.assumptions import AtMost, Structural
from noregret.proof.theorems.fixed_rate_bound import radius_of
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.proof.theorems.evidence import Evidence


def class_theorem(name: str) -> Theorem:
    """Return the promise of projected gradient descent over several classes."""
    return descent_theorem(
        name,
        best=r"\min_{\|U\|_F \le R} L_U",
        ball=r"\|W\|_F \le R",
        lipschitz=AtMost(
            r"the gradient has norm $\|g_t\|_F \le L = R/$`rate` in every round",
            "gradient",
            steepest,
            "norm(gradient)",
        ),
        slope=r" with $L = \sqrt2 \max\|x\|$",
        tune=tuned_classes,
        where=r"$\|W\|_F$ is the norm of all weights together; a class joins when it first appears",
        needs_rows=True,
    )


def rates(params: Mapping[str, Any], rounds: int) -> tuple[float, float]:
    """Return the first and the last rate."""
    rate, schedule = float(params["rate"]), params["schedule"]
    if schedule == "sqrt":
        return rate, rate / math.sqrt(max(1, rounds))
    fixed = rate / math.sqrt(params["horizon"]) if schedule == "horizon" else rate
    return fixed, fixed


def free(evidence: Evidence) -> float:
    """Return the bound for every U in a ball, from the gradients and weights that occurred."""
    first, last = rates(evidence.params, evidence.rounds)
    radius, far = radius_of(evidence), float(evidence.account("farthest")[0])
    wander = (far + radius) ** 2 * (1 / last - 1 / first)
    return 0.5 * (radius**2 / first + wander + float(evidence.account("stepped")[0]))


def free_theorem(name: str) -> Theorem:
    """Return the promise of gradient descent over several classes that does without assumptions."""
    return Theorem(
        name=f"{name}-free",
        quantity="regret",
        formula=(
            r"L_A - L_U \le \frac{\|U\|_F^2}{2\eta_1}"
            r" + \frac{(M + \|U\|_F)^2}{2} \left(\frac1{\eta_T} - \frac1{\eta_1}\right)"
            r" + \frac12 \sum_t \eta_t \|g_t\|_F^2"
        ),
        plain=(
            "regret against U <= ‖U‖²/(2 rate_1) + (M + ‖U‖)² (1/rate_T − 1/rate_1)/2"
            " + Σ rate_t ‖gradient_t‖²/2"
        ),
        where=(
            r"$M$ is the largest $\|W\|_F$ of any round, $\eta_t$ the rate of round $t$; a class"
            " joins when it first appears"
        ),
        assumptions=(
            Structural(
                r"explicit or implicit steps from 0, in a ball if there is a radius; $\|U\|_F$ is"
                " at most that radius, or else the norm of the final weights or the radius passed"
                " to the certificate"
            ),
            Structural(r"$g_t$ is the gradient of the loss at $W_t$"),
        ),
        bound=free,
        best=lambda e: e.best_in_ball(radius_of(e)),
        covers=lambda p: p.get("form", "gradient") == "gradient" and not in_tuned_ball(p),
        asks="radius=1.0",
        needs_rows=True,
        source="Zinkevich, 2003; for implicit steps Kulis and Bartlett, 2010",
    )


def in_tuned_ball(params: Mapping[str, Any]) -> bool:
    """Return whether the theorem about a ball covers these parameters."""
    return (
        params["radius"] is not None
        and params["step"] == "explicit"
        and params["schedule"] in ("sqrt", "horizon")
    )


def tuned_classes(radius: float, norm: float, horizon: int | None = None) -> dict[str, object]:
    """Return the rate for comparators up to ``radius`` and examples up to ``norm``."""
    return dict(tuned(radius, 2**0.5 * norm * (1 + 1e-15), horizon))


@register
class Softmax(ClassLearner):
    """Classification into several classes, with probabilities.

    Parameters
    ----------
    rate
        Above 0: η of the constant schedule, α of α/√t and α/√T; for the forms with a rate per
        weight, the factor of these rates.
    schedule
        ``constant``, ``sqrt`` (α/√t) or ``horizon`` (α/√T).
    horizon
        T, the number of rounds to come, for the horizon schedule.
    radius
        R, above 0: keep ‖W‖ ≤ R (Frobenius norm). Without it the weights are free.
    step
        ``explicit``, or ``implicit`` for the exact minimiser.
    form
        ``gradient``; or a rate for every weight: ``adagrad``, ``ftrl-proximal``.
    l1
        At least 0, for ``ftrl-proximal``: how strongly weights are kept at zero.
    l2
        At least 0, for ``ftrl-proximal``: how strongly weights are kept small.

    Examples
    --------
    >>> learner = Softmax()
    >>> for x, y in [({"sun": 1.0}, "beach"), ({"rain": 1.0}, "museum"), ({}, "work")] * 50:
    ...     learner.learn_one(x, y)
    >>> learner.predict_one({"rain": 1.0}), learner.predict_proba_one({"sun": 1.0})["beach"] > 0.7
    ('museum', True)

    References
    ----------
    M. Zinkevich, 2003; E. Hazan, "Introduction to online convex optimization", 2016.
    """

    name = "softmax"
    theorems = (class_theorem("softmax"), free_theorem("softmax"))

    def __init__(
        self,
        rate: float = 1.0,
        schedule: str = "sqrt",
        horizon: int | None = None,
        radius: float | None = None,
        step: str = "explicit",
        form: str = "gradient",
        l1: float = 0.0,
        l2: float = 0.0,
    ) -> None:
        l1, l2 = not_negative("l1", l1), not_negative("l2", l2)
        if (l1 or l2) and form != "ftrl-proximal":
            raise ValueError("l1 and l2 go with form='ftrl-proximal'")
        super().__init__(
            ClassWeights("softmax", rate, schedule, horizon, radius, step, form, l1, l2)
        )
        self.rate, self.schedule, self.horizon = rate, schedule, horizon
        self.radius, self.step, self.form, self.l1, self.l2 = radius, step, form, l1, l2
