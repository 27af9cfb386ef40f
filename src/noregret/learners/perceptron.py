"""The perceptron.

After a mistake, add the example with its label:

    if y (w·x) ≤ 0:   w ← w + y x

A score of zero counts as a mistake. The averaged form predicts with the mean of all weights so
far, which converges even if the data are not separable.

Promise. If some unit vector v has y (v·x) ≥ γ in every round, and ‖x‖ ≤ R, there are at most
(R/γ)² mistakes. On any data, for every u with hinge loss H over the rounds, there are at
most ((‖u‖R + √(‖u‖²R² + 4H))/2)².
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from noregret.base.registry import register
from noregret.checks import truth
from noregret.errors import NoRegretError
from noregret.limits import MIN_NORM
from noregret.linear.engine.additive import Additive
from noregret.linear.learner import Learner
from noregret.proof.theorems.assumptions import Shown, Structural, separable
from noregret.proof.theorems.shards import ADDED_UP, OverShards
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.proof.game.shards import ShardsEvidence
    from noregret.proof.theorems.evidence import Evidence


def longest(evidence: Evidence) -> float:
    """Return R, or an upper bound on it if squares underflow."""
    measured = evidence.largest("norm")
    return measured if measured >= MIN_NORM else evidence.rows.survey.longest


def by_margin(evidence: Evidence) -> float:
    """Return (R/γ)² for the largest margin γ that is proven."""
    return squared_ratio(not_faint(evidence), evidence.margin().lower)


def squared_ratio(norm: float, margin: float, factor: float = 1.0) -> float:
    """Return a multiple of (R/γ)², or raise NoRegretError if it overflows."""
    ratio = norm / margin if margin > 0 else math.inf
    if not factor * ratio * ratio < math.inf:
        raise NoRegretError(
            f"the examples (norms up to {norm:g}, margin {margin:g}) are too small or"
            " too large for a bound on mistakes",
            "scale them",
        )
    return factor * ratio * ratio


def on_any_data(evidence: Evidence) -> float:
    """Return the smallest bound found over all u."""
    not_faint(evidence)
    return evidence.mistake_bound().loss


def over_shards(evidence: ShardsEvidence) -> float:
    """Return the bound for the learners of all shards, at the best u for one learner.

    With a = ‖u‖R, one learner makes at most a²/2 + H + (a/2)√(a² + 4H) mistakes. This is concave in
    H, so that K learners make at most so many with √K a in place of a, and H for all rows.
    """
    best = evidence.mistake_bound()
    size = not_faint(evidence) * float(np.linalg.norm(best.witness))
    # The bound b for one learner tells its H = b − a√b.
    hinge = max(0.0, best.loss - size * math.sqrt(best.loss))
    size *= math.sqrt(len(evidence.shards))
    return (0.5 * (size + math.sqrt(size * size + 4 * hinge))) ** 2


def not_faint(evidence: Evidence) -> float:
    """Return R, or raise NoRegretError if the learner's scores underflow."""
    norm = longest(evidence)
    if 0 < norm < MIN_NORM:
        raise NoRegretError(
            f"the examples (norms up to {norm:g}) are too small for a bound on"
            " mistakes: the learner's scores underflow",
            "scale them",
        )
    return norm


@register
class Perceptron(Learner):
    """Binary classification by correcting mistakes; no rate to choose.

    Parameters
    ----------
    averaged
        Predict with the mean of the weights of all rounds so far.

    Examples
    --------
    >>> learner = Perceptron()
    >>> for x, y in [({"rain": True}, -1), ({"sun": True}, 1)] * 2:
    ...     learner.learn_one(x, y)
    >>> learner.predict_one({"sun": True}), learner.mistakes
    (1, 2)

    References
    ----------
    F. Rosenblatt, 1958. Bounds: A. B. J. Novikoff, 1962; Y. Freund and R. E. Schapire, "Large
    margin classification using the perceptron algorithm", 1999.
    """

    name = "perceptron"
    theorems = (
        Theorem(
            name="perceptron",
            quantity="mistakes",
            formula=r"M \le (R/\gamma)^2",
            plain="mistakes <= (R/γ)²",
            assumptions=(
                Shown(
                    r"some unit vector $v$ has $y_t (v \cdot x_t) \ge \gamma > 0$ in every round;"
                    r" the largest such $\gamma$ is found in hindsight",
                    separable,
                ),
                Structural(r"$R = \max_t \|x_t\|_2$"),
            ),
            bound=by_margin,
            needs_rows=True,
            over_shards=ADDED_UP,
            source="Novikoff, 1962",
        ),
        Theorem(
            name="perceptron-any-data",
            quantity="mistakes",
            formula=r"M \le \min_u \left(\frac{\|u\|R + \sqrt{\|u\|^2R^2 + 4H_u}}{2}\right)^2",
            plain="mistakes <= min over u of  ((‖u‖R + √(‖u‖²R² + 4 H(u)))/2)²",
            assumptions=(
                Structural(
                    r"$R = \max_t \|x_t\|_2$; $H_u = \sum_t \max(0, 1 - y_t\, u \cdot x_t)$ is the"
                    " hinge loss of $u$. Any $u$ is valid; the best found is reported"
                ),
            ),
            bound=on_any_data,
            needs_rows=True,
            over_shards=OverShards(
                over_shards,
                r"\sum_k M_k \le \min_u"
                r" \left(\frac{\sqrt K\|u\|R + \sqrt{K\|u\|^2R^2 + 4H_u}}{2}\right)^2",
                "mistakes <= min over u of  ((√K ‖u‖R + √(K ‖u‖²R² + 4 H(u)))/2)²",
            ),
            source="Freund and Schapire, 1999; Shalev-Shwartz, 2012",
        ),
    )

    def __init__(self, averaged: bool = False) -> None:
        super().__init__(Additive("mistake", rate=1.0))
        self.averaged = truth("averaged", averaged)
        if averaged:
            self.engine.keep_mean()
