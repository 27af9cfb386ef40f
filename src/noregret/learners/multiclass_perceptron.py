"""The perceptron for several classes.

Only after a mistake, move the class that came and its best rival r:

    if w_y·x ≤ w_r·x:   w_y ← w_y + x,   w_r ← w_r − x

Promise. If some weights U of Frobenius norm 1 have u_y·x − u_r·x ≥ γ for every rival r in every
round, and ‖x‖ ≤ R, there are at most 2 (R/γ)² mistakes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.base.registry import register
from noregret.learners.perceptron import longest, squared_ratio
from noregret.linear.class_learner import ClassLearner
from noregret.linear.engine.class_weights import ClassWeights
from noregret.proof.theorems.assumptions import Shown, Structural, separable
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.proof.theorems.evidence import Evidence


def by_margin(evidence: Evidence) -> float:
    """Return 2 (R/γ)² for the largest margin γ that is certain."""
    return squared_ratio(longest(evidence), evidence.margin().lower, 2)


@register
class MulticlassPerceptron(ClassLearner):
    """Classification into several classes by correcting mistakes; no rate to choose.

    The round of the very first class is not a mistake, as there is nothing to confuse it with.

    Examples
    --------
    >>> learner = MulticlassPerceptron()
    >>> for x, y in [({"sun": 1.0}, "beach"), ({"rain": 1.0}, "museum"), ({"hail": 1.0}, "home")]:
    ...     learner.learn_one(x, y)
    >>> learner.predict_one({"rain": 1.0}), learner.mistakes
    ('museum', 2)

    References
    ----------
    K. Crammer and Y. Singer, "Ultraconservative online algorithms for multiclass problems", 2003.
    """

    name = "multiclass-perceptron"
    theorems = (
        Theorem(
            name="multiclass-perceptron",
            quantity="mistakes",
            formula=r"M \le 2 (R/\gamma)^2",
            plain="mistakes <= 2 (R/γ)²",
            assumptions=(
                Shown(
                    r"some $U$ of Frobenius norm 1 has $u_{y_t} \cdot x_t - u_r \cdot x_t \ge"
                    r" \gamma > 0$ in every round for all other classes $r$; the largest such"
                    r" $\gamma$ is found in hindsight",
                    separable,
                ),
                Structural(r"$R = \max_t \|x_t\|_2$"),
            ),
            bound=by_margin,
            needs_rows=True,
            source="Crammer and Singer, 2003",
        ),
    )

    def __init__(self) -> None:
        super().__init__(ClassWeights("multiclass-mistake", 1.0))
