"""Exponentiated gradient.

Keep non-negative weights that add up to 1, and change each by a factor:

    w_i ← w_i · exp(−η · loss'(w·x, y) · x_i) / Z

The signed form has weights of either sign and total size at most U: it is the same update on
the doubled example (U x, −U x). Both find a few good features among many irrelevant ones: what
they lose grows with the logarithm of the number of features.

Promise. Square loss, R = max_t (max_i x_{t,i} − min_i x_{t,i}), any c > 0, η = 2c/(R²(2+c)):
the cumulative loss is at most the minimum over u in the simplex of
(1 + c/2)·L(u) + (1/2 + 1/c)·R²·KL(u‖uniform).
"""

from __future__ import annotations

from noregret.core.losses import Loss
from noregret.core.multiplicative import Multiplicative
from noregret.learner import Learner
from noregret.registry import register
from noregret.theorem import Theorem


@register
class ExponentiatedGradient(Learner):
    """Multiplicative updates on the simplex, or with signed weights of bounded total size.

    Parameters
    ----------
    loss
        Any loss of ``gradient-descent``.
    rate
        Above 0: η of the constant schedule, α of α/√t and α/√T.
    schedule
        ``constant``, ``sqrt`` (α/√t) or ``horizon`` (α/√T).
    horizon
        T, the number of rounds to come, for the horizon schedule.
    weight
        U, above 0, for weights of either sign with Σ|w_i| ≤ U; without it, the simplex.
    dimension
        n, where the number of features is known beforehand; weights start at 1/n. Without it,
        n is the number of columns, or of the names seen so far.
    step
        ``explicit``, or ``implicit`` for the exact minimiser.
    loss_parameter
        The loss's own number, as in ``gradient-descent``.

    Examples
    --------
    >>> learner = ExponentiatedGradient(rate=0.5)
    >>> for x, y in [({"good": 1.0, "bad": 0.0}, 1.0), ({"good": 0.0, "bad": 1.0}, 0.0)] * 20:
    ...     learner.learn_one(x, y)
    >>> dict(zip(learner.features, learner.weights.round(2).tolist()))
    {'bad': 0.03, 'good': 0.97}

    References
    ----------
    J. Kivinen and M. K. Warmuth, "Exponentiated gradient versus gradient descent for linear
    predictors", 1997.
    """

    name = "exponentiated-gradient"
    theorems = (
        Theorem(
            name="eg",
            quantity="loss",
            bound=(
                r"L_A \le \min_{u \in \Delta} \left[ \left(1+\tfrac c2\right) L_u"
                r" + \left(\tfrac12+\tfrac1c\right) R^2 \,\mathrm{KL}(u\|w_1) \right]"
            ),
            assumptions=(
                r"square loss, explicit steps, $w_1$ uniform",
                r"$\max_i x_{t,i} - \min_i x_{t,i} \le R$ in every round;"
                r" for the signed form $R = 2U\max\|x_t\|_\infty$",
                r"any $c > 0$",
            ),
            tuning=r"$\eta = 2c / (R^2(2+c))$",
            source="Kivinen and Warmuth, 1997",
        ),
    )

    def __init__(
        self,
        loss: str | Loss = "square",
        rate: float = 0.1,
        schedule: str = "constant",
        horizon: int | None = None,
        weight: float | None = None,
        dimension: int | None = None,
        step: str = "explicit",
        loss_parameter: float | None = None,
    ) -> None:
        super().__init__(
            Multiplicative(
                loss,
                rate,
                schedule,
                horizon,
                weight=1.0 if weight is None else weight,
                mirrored=weight is not None,
                dimension=dimension,
                step=step,
                loss_parameter=loss_parameter,
            )
        )
        self.loss, self.rate, self.schedule, self.horizon = loss, rate, schedule, horizon
        self.weight, self.dimension, self.step = weight, dimension, step
        self.loss_parameter = loss_parameter
