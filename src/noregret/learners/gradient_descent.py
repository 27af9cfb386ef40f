"""Online gradient descent, for any loss, with projection.

Step against the slope of the loss, then go back to the nearest point of the domain:

    w ← project( w − η_t · loss'(w·x, y) · x )

Promise. On a ball of radius U, with gradients of norm at most G, the regret against every point
of the ball is at most U·G·√(8T) for η_t = (U√2/G)/√t, whatever T turns out to be; and at most
U·G·√T for η = U/(G√T), where T is known beforehand.
"""

from __future__ import annotations

from noregret.checks import positive
from noregret.core.additive import Additive
from noregret.core.losses import Loss
from noregret.learner import Learner
from noregret.registry import register
from noregret.theorem import Theorem


@register
class GradientDescent(Learner):
    """Gradient descent on any convex loss: everywhere, in a ball or in a box.

    Parameters
    ----------
    loss
        ``square``, ``absolute``, ``quantile``, ``epsilon-insensitive``,
        ``squared-epsilon-insensitive``, ``huber``, ``hinge``, ``squared-hinge``, ``logistic``,
        ``linear`` (the outcome is the slope), ``mistake``, or a ``PythonLoss`` of your own.
    rate
        Above 0: η of the constant schedule, α of α/√t and α/√T.
    schedule
        ``constant``, ``sqrt`` (α/√t) or ``horizon`` (α/√T).
    horizon
        T, the number of rounds to come, for the horizon schedule.
    domain
        ``everything``, ``ball`` (‖w‖₂ ≤ U) or ``box`` (every |w_i| ≤ U); a ball where only
        ``radius`` is given.
    radius
        U, above 0.
    step
        ``explicit``, or ``implicit`` for the exact minimiser of η·loss + ½‖change‖².
    loss_parameter
        The loss's own number: q of ``quantile`` (0 to 1, default ½), ε of the insensitive losses
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
            name="ogd-anytime",
            quantity="regret",
            bound=r"L_A - \min_{\|u\| \le U} L_u \le U G \sqrt{8T}",
            assumptions=(
                r"the domain is the ball $\|w\|_2 \le U$",
                r"$\|\nabla \ell_t\|_2 \le G$ in every round",
                r"square loss with $\|x_t\| \le X$, $|y_t| \le UX$ has $G = 4UX^2$",
            ),
            tuning=r"$\eta_t = (U\sqrt2/G)/\sqrt t$: `schedule=sqrt`, `rate` $= U\sqrt2/G$",
            source="Zinkevich, 2003",
        ),
        Theorem(
            name="projected-gradient",
            quantity="regret",
            bound=r"L_A - \min_{\|u\| \le R} L_u \le R L \sqrt T",
            assumptions=(
                r"the domain lies in the ball of radius $R$ and the start is 0",
                r"every loss is $L$-Lipschitz",
                r"$T$ is known beforehand",
            ),
            tuning=r"$\eta = R/(L\sqrt T)$: `schedule=horizon`, `rate` $= R/L$",
            source="Zinkevich, 2003",
        ),
        Theorem(
            name="projected-gradient-anytime",
            quantity="regret",
            bound=r"L_A - \min_{\|u\| \le R} L_u \le 3 R L \sqrt T",
            assumptions=(
                r"the domain lies in the ball of radius $R$ and the start is 0",
                r"every loss is $L$-Lipschitz",
            ),
            tuning=r"$\eta_t = R/(L\sqrt t)$: `schedule=sqrt`, `rate` $= R/L$",
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
