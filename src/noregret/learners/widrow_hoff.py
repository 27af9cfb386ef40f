"""Widrow-Hoff, or least mean squares.

After each outcome, take a small step against the error:

    w ← w − η (w·x − y) x

The implicit form measures the error where the step ends instead of where it starts, which divides
the step by 1 + η‖x‖² and is stable at any rate.

Promise. If every ‖x‖ ≤ 1 and 0 < η < 1, the cumulative square loss is at most the minimum over u
of  L(u)/(1−η) + ‖u‖²/η.
"""

from __future__ import annotations

from noregret.checks import positive
from noregret.core.additive import Additive
from noregret.learner import Learner
from noregret.registry import register
from noregret.theorem import Theorem


@register
class WidrowHoff(Learner):
    """Linear regression by least mean squares.

    Parameters
    ----------
    rate
        η, the size of the step: between 0 and 1 for the explicit step, above 0 for the implicit.
    norm
        X, the largest ‖x‖ to expect; the step is η/X². Leave it at 1 for examples scaled to it.
    step
        ``explicit``, or ``implicit`` for the exact minimiser, which cannot overshoot.

    Examples
    --------
    >>> learner = WidrowHoff(rate=0.5)
    >>> for x, y in [({"size": 0.5}, 1.0), ({"size": 1.0}, 2.0)] * 40:
    ...     learner.learn_one(x, y)
    >>> round(learner.predict_one({"size": 0.25}), 3)
    0.5

    References
    ----------
    B. Widrow and M. E. Hoff, "Adaptive switching circuits", 1960. Bound: N. Cesa-Bianchi, P. M.
    Long and M. K. Warmuth, "Worst-case quadratic loss bounds for prediction using linear functions
    and gradient descent", 1996.
    """

    name = "widrow-hoff"
    theorems = (
        Theorem(
            name="widrow-hoff",
            quantity="loss",
            bound=r"L_A \le \min_u \left[ \frac{L_u}{1-\eta} + \frac{\|u\|^2}{\eta} \right]",
            assumptions=(
                r"$\|x_t\|_2 \le 1$ in every round; for $\|x_t\|_2 \le X$ the step is $\eta/X^2$"
                r" and $\|u\|^2$ reads $X^2\|u\|^2$",
                r"$0 < \eta < 1$",
                "explicit steps from zero weights",
            ),
            source="Cesa-Bianchi, Long and Warmuth, 1996",
        ),
    )

    def __init__(self, rate: float = 0.1, norm: float = 1.0, step: str = "explicit") -> None:
        positive("rate", rate)
        if not 1e-75 < positive("norm", norm) < 1e75:
            raise ValueError(f"norm must lie between 1e-75 and 1e75: got {norm!r}")
        if step == "explicit" and not rate < 1:
            raise ValueError(
                f"rate must lie between 0 and 1: got {rate!r} (use step='implicit' for larger"
                " rates, norm=X for examples of another size)"
            )
        # The square loss has slope 2(w·x − y); Widrow and Hoff step by half of it.
        super().__init__(Additive("square", rate=0.5 * rate / norm**2, step=step))
        self.rate, self.norm, self.step = rate, norm, step
