"""Normalised least mean squares.

Widrow-Hoff with the step divided by the size of the example, so that no scale has to be known:

    w ← w − η (w·x − y) x / (ε + ‖x‖²)

With η = 1 and ε near 0 the new weights predict the example just seen exactly.
"""

from __future__ import annotations

from noregret.checks import positive
from noregret.core.additive import Additive
from noregret.learner import Learner
from noregret.registry import register


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

    def __init__(self, rate: float = 0.5, epsilon: float = 1e-6) -> None:
        positive("rate", rate, below=2)
        # Half the slope of the square loss, as in Widrow-Hoff.
        engine = Additive("square", rate=0.5 * rate, step="normalised", cushion=epsilon)
        super().__init__(engine)
        self.rate, self.epsilon = rate, epsilon
