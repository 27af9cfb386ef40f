"""The Vovk–Azoury–Warmuth forecaster: ridge regression that includes x before it predicts.

    A ← A + x xᵀ,   ŷ = bᵀ A⁻¹ x,   then  b ← b + y x

A starts at λI. The current x is already in A when its outcome is predicted, which shrinks
predictions for unfamiliar x; ridge regression lacks this and has no such bound on all data. With
forgetting f < 1 the past decays by f per round, A ← f A + x xᵀ and b ← f b, to follow drift.

Promise. On any data, the cumulative square loss is at most the minimum over u of  L(u) + λ‖u‖²,
plus Y² ln det(A/λ), where Y is the largest |y|. It grows like Y² n ln T.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from noregret.base.registry import register
from noregret.linear.engine.second_order import Forward
from noregret.linear.learner import Floats, Learner
from noregret.proof.theorems.assumptions import AtMost, Structural
from noregret.proof.theorems.shards import OverShards
from noregret.proof.theorems.theorem import Theorem

# In directions without data P is 1/λ, and the rounding of a row moves weights there: the error of a
# score is about the square of the rounding, 10⁻³², times ‖x‖²/λ.
WITHIN_DIGITS = AtMost(
    r"$\|x_t\|_2 \le 10^{10} \sqrt\lambda$ in every round: beyond, $A$ exceeds double precision",
    "norm",
    lambda p: 1e10 * math.sqrt(p["penalty"]),
    "norm(x)",
)

if TYPE_CHECKING:
    from noregret.proof.game.shards import ShardsEvidence
    from noregret.proof.record.moment import Moment
    from noregret.proof.theorems.evidence import Evidence


def promise(evidence: Evidence) -> float:
    """Return the least L(u) + λ‖u‖², plus Y² ln det(A/λ)."""
    hindsight = evidence.best_ridge(evidence.params["penalty"], 1.0).loss
    return hindsight + evidence.largest("outcome") ** 2 * float(evidence.account("log_det")[0])


def promise_over_shards(evidence: ShardsEvidence) -> float:
    """Return the least L(u) + Kλ‖u‖², plus Y² Σ ln det(A_k/λ)."""
    penalty = len(evidence.shards) * evidence.params["penalty"]
    volume = float(evidence.account("log_det")[0])  # the sum of those of the shards
    return evidence.best_ridge(penalty, 1.0).loss + evidence.largest("outcome") ** 2 * volume


def so_far(moment: Moment) -> float | None:
    """Return the bound so far, or None if no sums are kept."""
    if moment.sums is None:
        return None
    penalty, gram = moment.params["penalty"], moment.sums.gram
    volume = float(np.linalg.slogdet(np.eye(len(gram)) + gram / penalty)[1])
    return moment.least_loss(penalty) + moment.largest["outcome"] ** 2 * volume


@register
class Vaw(Learner):
    """Linear regression with the smallest regret known on any data; no rate to choose.

    A round costs n² operations for n features, at most 4096.

    Parameters
    ----------
    penalty
        λ, above 0: the penalty on squared weights. The smaller, the larger the first predictions.
    forgetting
        f, above 0 and at most 1: the share of the past kept per round. The theorem needs 1. The
        variance of a weight never exceeds its initial value, so covariances cannot wind up.

    Examples
    --------
    >>> learner = Vaw()
    >>> for x, y in [({"size": 1.0, "one": 1.0}, 3.0), ({"size": 2.0, "one": 1.0}, 5.0)] * 100:
    ...     learner.learn_one(x, y)
    >>> learner.features, learner.weights.round(2)
    (['one', 'size'], array([1.01, 1.99]))

    The weights alone give 8.97 here; a size of 4 is new, which shrinks the prediction:

    >>> round(learner.predict_one({"size": 4.0, "one": 1.0}), 1)
    8.0

    References
    ----------
    V. Vovk, "Competitive on-line statistics", 2001; K. S. Azoury and M. K. Warmuth, "Relative loss
    bounds for on-line density estimation with the exponential family of distributions", 2001.
    Factors: G. J. Bierman, "Factorization methods for discrete sequential estimation", 1977.
    """

    name = "vaw"
    theorems = (
        Theorem(
            name="vaw",
            quantity="loss",
            formula=(
                r"L_A \le \min_u \left[ L_u + \lambda \|u\|^2 \right]"
                r" + Y^2 \ln\det\frac{A_T}{\lambda}"
            ),
            plain="loss <= min over u of  L(u) + penalty ‖u‖²,  + Y² ln det(A/penalty)",
            where=r"$A_T = \lambda I + \sum_t x_t x_t^\top$; $Y = \max_t |y_t|$",
            assumptions=(
                Structural("no forgetting; any data, from zero weights"),
                WITHIN_DIGITS,
            ),
            bound=promise,
            so_far=so_far,
            covers=lambda p: p["forgetting"] == 1,
            over_shards=OverShards(
                promise_over_shards,
                r"\sum_k L_k \le \min_u \left[ L_u + K \lambda \|u\|^2 \right]"
                r" + Y^2 \sum_k \ln\det\frac{A_k}{\lambda}",
                "loss <= min over u of  L(u) + K penalty ‖u‖²,  + Y² Σ ln det(A_k/penalty)",
                r"$K$ is the number of shards, $L_k$ the loss of the learner on shard $k$ and $L_u$"
                r" that of one $u$ on the rows of all shards; $A_k$ is the final $A$ of shard $k$"
                r" and $Y = \max_t |y_t|$",
            ),
            source="Vovk, 2001; Azoury and Warmuth, 2001",
        ),
    )

    def __init__(self, penalty: float = 1.0, forgetting: float = 1.0) -> None:
        super().__init__(Forward(penalty, forgetting))
        self.penalty, self.forgetting = penalty, forgetting

    def _accounts(self) -> dict[str, Floats]:
        """Return ln det(A/λ)."""
        return {"log_det": np.array([self.engine.scalars()["log_det"]])}
