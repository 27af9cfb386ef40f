"""The online support vector machine: gradient descent on the hinge loss.

    if y (w·x) < 1:   w ← w + η_t y x

Unlike the perceptron it also learns from correct predictions, until every margin is at least 1.

Promise. With ‖x‖ ≤ R and η = U/(R√T), for every u with ‖u‖ ≤ U:
Σ hinge(w_t) − Σ hinge(u) ≤ U·R·√T. There is no projection.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

from noregret.base.registry import register
from noregret.checks import positive
from noregret.errors import NoRegretError
from noregret.hindsight import Answer
from noregret.limits import MAX_PARAMETER
from noregret.linear.engine.additive import Additive
from noregret.linear.learner import Learner
from noregret.proof.theorems.assumptions import Structural, WithinHorizon
from noregret.proof.theorems.shards import ADDED_UP
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.proof.theorems.evidence import Evidence


def best(evidence: Evidence) -> Answer:
    """Return the best predictor of the ball for which the rate is tuned."""
    radius = evidence.params["rate"] * evidence.largest("norm")
    if radius >= MAX_PARAMETER:
        raise NoRegretError(
            f"the examples (norms up to {evidence.largest('norm'):g}) are too large"
            " for a comparison at this rate",
            "scale them, or choose a smaller rate",
        )
    return evidence.best_in_ball(radius or 1.0)


def tuned(radius: float, norm: float, horizon: int) -> dict[str, Any]:
    """Return the rate for comparators up to ``radius`` and examples up to ``norm``."""
    rate = positive("radius", radius) / positive("norm", norm)
    return {"rate": rate, "schedule": "horizon", "horizon": horizon}


@register
class Hinge(Learner):
    """Binary classification with a margin: the online SVM.

    Parameters
    ----------
    rate
        Above 0: η of the constant schedule, α of α/√t and α/√T.
    schedule
        ``constant``, ``sqrt`` (α/√t) or ``horizon`` (α/√T).
    horizon
        T, the number of rounds, for the horizon schedule.

    Examples
    --------
    >>> learner = Hinge(rate=1.0)
    >>> for x, y in [([1.0, 0.2], 1), ([-1.0, 0.3], -1)] * 10:
    ...     learner.learn_one(x, y)
    >>> learner.predict_one([0.5, 0.0]), learner.decision_one([1.0, 0.2]) >= 1
    (1, True)

    References
    ----------
    M. Zinkevich, 2003; S. Shalev-Shwartz, "Online learning and online convex optimization", 2012.
    """

    name = "hinge"
    theorems = (
        Theorem(
            name="hinge-ogd",
            quantity="regret",
            formula=r"\sum_t h_t(w_t) - \min_{\|u\| \le U} \sum_t h_t(u) \le U R \sqrt T",
            plain="regret <= U R √T",
            assumptions=(
                Structural(
                    r"$R = \max_t \|x_t\|_2$ and $U = R\,\cdot$`rate`, the radius for which the"
                    " rate is tuned; the comparator lies in this ball"
                ),
                WithinHorizon(),
            ),
            bound=lambda e: e.params["rate"] * e.largest("norm") ** 2 * sqrt(e.params["horizon"]),
            so_far=lambda m: m.params["rate"] * m.largest["norm"] ** 2 * sqrt(m.params["horizon"]),
            covers=lambda p: p["schedule"] == "horizon",
            best=best,
            tune=tuned,
            tuning=r"$\eta = U/(R\sqrt T)$: `schedule=horizon`, `rate` $= U/R$",
            over_shards=ADDED_UP,
            source="Zinkevich, 2003",
        ),
    )

    def __init__(
        self, rate: float = 1.0, schedule: str = "sqrt", horizon: int | None = None
    ) -> None:
        super().__init__(Additive("hinge", rate, schedule, horizon))
        self.rate, self.schedule, self.horizon = rate, schedule, horizon
