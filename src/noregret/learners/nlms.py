"""Normalised least mean squares (NLMS).

Widrow-Hoff with the step divided by the squared norm of the example, so that no scale is needed:

    w ← w − η (w·x − y) x / (ε + ‖x‖²)

With η = 1 and ε near 0 the new weights predict the example just seen exactly.

Promise. It is Widrow-Hoff on examples and outcomes divided by √(ε + ‖x‖²), so for 0 < η < 1 the
sum of (w·x − y)²/(ε + ‖x‖²) is at most the minimum over u of the same sum for u, divided by
1−η, plus ‖u‖²/η, for examples of any size.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.base.registry import register
from noregret.checks import positive
from noregret.hindsight import Rows, best_ridge
from noregret.hindsight.blocks import row_scaled, row_squares
from noregret.linear.engine.additive import Additive
from noregret.linear.learner import Learner
from noregret.proof.theorems.assumptions import Chosen
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.proof.theorems.evidence import Evidence


def normalised(evidence: Evidence) -> Rows:
    """Return the rows and outcomes, each divided by √(ε + ‖x‖²)."""
    epsilon, rows = evidence.params["epsilon"], evidence.rows

    def source() -> Iterator[tuple[Any, Any]]:
        for X, y in rows.blocks():
            scale = 1 / np.sqrt(epsilon + row_squares(X))
            yield row_scaled(X, scale), y * scale

    return Rows(source=source, features=rows.shape[1])


def normalised_loss(evidence: Evidence) -> float | None:
    """Replay the game and return the sum of (w·x − y)²/(ε + ‖x‖²).

    If the learner predicts with averaged weights, the sum is over the weights before averaging.
    """
    if evidence.rounds_before:
        return None
    again = Nlms(**evidence.params)
    epsilon = evidence.params["epsilon"]
    parts = evidence.replay(
        lambda X, y: (again.play_many(X, y) - y) ** 2 / (epsilon + row_squares(X))
    )
    return float(np.concatenate(parts).sum())


@register
class Nlms(Learner):
    """Linear regression by normalised steps, the adaptive filter of echo cancellers.

    Parameters
    ----------
    rate
        η, between 0 and 2. 1 fits the latest example exactly; less averages out noise.
    epsilon
        ε, above 0: limits the step for examples near zero.

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
            formula=(
                r"\sum_t \frac{(w_t \cdot x_t - y_t)^2}{\varepsilon + \|x_t\|^2} \le \min_u \left["
                r" \frac{1}{1-\eta} \sum_t \frac{(u \cdot x_t - y_t)^2}{\varepsilon + \|x_t\|^2}"
                r" + \frac{\|u\|^2}{\eta} \right]"
            ),
            plain=(
                "loss, each divided by epsilon+‖x‖², <= min over u of  the same for u/(1-rate)"
                " + ‖u‖²/rate"
            ),
            assumptions=(Chosen(r"$0 < \eta < 1$", "rate < 1", lambda e: e.params["rate"], 1.0),),
            bound=lambda e: (
                best_ridge(
                    normalised(e), penalty=1 / e.params["rate"], scale=1 / (1 - e.params["rate"])
                ).loss
            ),
            measured=normalised_loss,
            about="the loss, with each round divided by epsilon + ‖x‖²,",
            needs_rows=True,
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
