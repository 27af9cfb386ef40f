"""Normalised least mean squares.

Widrow-Hoff with the step divided by the size of the example, so that no scale has to be known:

    w ← w − η (w·x − y) x / (ε + ‖x‖²)

With η = 1 and ε near 0 the new weights predict the example just seen exactly.

Promise. It is Widrow-Hoff on examples and outcomes divided by √(ε + ‖x‖²), so for 0 < η < 1 the
sum of (w·x − y)²/(ε + ‖x‖²) is at most the minimum over u of the same sum for u, divided by
1−η, plus ‖u‖²/η; whatever the size of the examples.
"""

from __future__ import annotations

from noregret.checks import positive
from noregret.core.additive import Additive
from noregret.learner import Learner
from noregret.registry import register
from noregret.theorem import Theorem


@register
class Nlms(Learner):
    """Linear regression by normalised steps; the adaptive filter of echo cancellers.

    Parameters
    ----------
    rate
        η, between 0 and 2; 1 goes all the way to the example, less averages noise out.
    epsilon
        ε, above 0: keeps the step small for examples near zero.

    Examples
    --------
    >>> learner = Nlms(rate=1.0, epsilon=1e-9)
    >>> learner.learn_one({"size": 1000.0}, 2.0)
    >>> round(learner.predict_one({"size": 1000.0}), 6)
    2.0

    References
    ----------
    J. Nagumo and A. Noda, "A learning method for system identification", 1967.
    """

    name = "nlms"
    theorems = (
        Theorem(
            name="nlms",
            quantity="loss",
            bound=(
                r"\sum_t \frac{(w_t \cdot x_t - y_t)^2}{\varepsilon + \|x_t\|^2} \le \min_u \left["
                r" \frac{1}{1-\eta} \sum_t \frac{(u \cdot x_t - y_t)^2}{\varepsilon + \|x_t\|^2}"
                r" + \frac{\|u\|^2}{\eta} \right]"
            ),
            assumptions=(r"$0 < \eta < 1$",),
            source="Cesa-Bianchi, Long and Warmuth, 1996, on normalised examples",
        ),
    )

    def __init__(self, rate: float = 0.5, epsilon: float = 1e-6) -> None:
        positive("rate", rate, below=2)
        positive("epsilon", epsilon)
        # Half the slope of the square loss, as in Widrow-Hoff.
        engine = Additive("square", rate=0.5 * rate, cushion=epsilon)
        super().__init__(engine)
        self.rate, self.epsilon = rate, epsilon
