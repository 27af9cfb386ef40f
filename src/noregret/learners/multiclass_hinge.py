"""The hinge loss of several classes (Crammer and Singer): the class that came must lead by 1.

The loss is max(0, 1 + w_r·x − w_y·x) for the best rival r. The explicit step moves the two:

    w_y ← w_y + η_t x,   w_r ← w_r − η_t x,   then back into the ball

The implicit step is the multiclass passive-aggressive algorithm (PA-I): the smallest change of all
weights that is worth its loss at the rate; at a large rate, the smallest that leaves no loss.

Promise. As for ``softmax``: on the ball ‖W‖ ≤ R, with gradients of norm at most L (√2·‖x‖ is
enough), the regret is at most R·L·√T with η = R/(L√T), and 3·R·L·√T with η_t = R/(L√t); without a
ball it is bounded by the gradients and weights that occurred.
"""

from __future__ import annotations

from noregret.base.registry import register
from noregret.learners.softmax import class_theorem, free_theorem
from noregret.linear.class_learner import ClassLearner
from noregret.linear.engine.class_weights import ClassWeights


@register
class MulticlassHinge(ClassLearner):
    """Classification into several classes by a margin between the best two.

    Parameters
    ----------
    rate
        Above 0: η of the constant schedule, α of α/√t and α/√T.
    schedule
        ``constant``, ``sqrt`` (α/√t) or ``horizon`` (α/√T).
    horizon
        T, the number of rounds to come, for the horizon schedule.
    radius
        R, above 0: keep ‖W‖ ≤ R (Frobenius norm). Without it the weights are free.
    step
        ``explicit``, or ``implicit`` for passive-aggressive steps.

    Examples
    --------
    >>> learner = MulticlassHinge(rate=1.0, schedule="constant", step="implicit")
    >>> for x, y in [({"sun": 1.0}, "beach"), ({"rain": 1.0}, "museum"), ({"hail": 1.0}, "home")]:
    ...     learner.learn_one(x, y)
    >>> learner.predict_one({"hail": 1.0})
    'home'

    References
    ----------
    K. Crammer and Y. Singer, "On the algorithmic implementation of multiclass kernel-based vector
    machines", 2001; K. Crammer and others, "Online passive-aggressive algorithms", 2006.
    """

    name = "multiclass-hinge"
    theorems = (class_theorem("multiclass-hinge"), free_theorem("multiclass-hinge"))

    def __init__(
        self,
        rate: float = 1.0,
        schedule: str = "sqrt",
        horizon: int | None = None,
        radius: float | None = None,
        step: str = "explicit",
    ) -> None:
        super().__init__(ClassWeights("multiclass-hinge", rate, schedule, horizon, radius, step))
        self.rate, self.schedule, self.horizon = rate, schedule, horizon
        self.radius, self.step = radius, step
