"""Softmax regression: several classes, with a probability for each.

P(class k | x) = exp(w_k·x) / Σ_r exp(w_r·x); the loss is −ln P of the class that came:

    w_k ← w_k − η_t · (P(k | x) − [k = y]) · x   for every class k,  then back into the ball

Promise. The gradient has Frobenius norm at most √2·‖x‖. On the ball ‖W‖ ≤ R, with gradients of
norm at most L, the regret is at most R·L·√T with η = R/(L√T), and 3·R·L·√T with η_t = R/(L√t).
"""

from __future__ import annotations

from noregret.base.registry import register
from noregret.checks import not_negative
from noregret.learners.logistic import descent_theorem, steepest, tuned
from noregret.linear.class_learner import ClassLearner
from noregret.linear.engine.class_weights import ClassWeights
from noregret.proof.theorems.assumptions import AtMost
from noregret.proof.theorems.theorem import Theorem


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
    theorems = (class_theorem("softmax"),)

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
