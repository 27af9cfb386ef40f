"""Adaptive regularisation of weights (AROW): move the least certain weights most.

Each direction has a confidence. An example with a margin below 1 moves the weights most along the
directions of low confidence, and raises the confidence there:

    if y (w·x) < 1:   w ← w + y (1 − y w·x) / (1 + xᵀPx) · P x,   P ← (P⁻¹ + x xᵀ)⁻¹

P starts at I/r. The diagonal form keeps only the diagonal of P⁻¹: one confidence per feature.

Promise. With K the rounds in which the weights moved, U of them without a mistake, z = Σ_K y x and
B = r I + Σ_K x xᵀ (its diagonal in the diagonal form), for every u with hinge loss H over all
rounds there are at most  H − U + ‖u‖_B · ‖z‖_{B⁻¹}  mistakes. In the full form ‖z‖²_{B⁻¹} is the
sum over K of 1 − (1 − y w·x)²/(1 + xᵀPx), at most ln det(B/r) + U.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from noregret.base.registry import register
from noregret.errors import NoRegretError
from noregret.hindsight.losses import as_labels
from noregret.hindsight.perceptron import best_mistake_bound
from noregret.hindsight.proofs.answer import USUAL, Answer
from noregret.hindsight.proofs.confidence import Moved, best_confidence_bound
from noregret.learners.perceptron import not_faint
from noregret.linear import learn_many
from noregret.linear.engine.second_order import Confidence
from noregret.linear.learner import Floats, Learner
from noregret.proof.theorems.assumptions import Structural
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.proof.theorems.evidence import Evidence


def margins_of(evidence: Evidence) -> Floats:
    """Replay the game and return y w·x of each round, before its update."""
    # Not a clone: an averaged learner would score with the mean of its weights.
    learner, parts = evidence.learner, []
    again = type(learner)(**learner.params)

    def play(X: Floats, y: Floats) -> None:
        parts.append(np.empty(len(y)))
        learn_many.play(again._entry, X, y, parts[-1])

    evidence.replay(play)
    return np.asarray(as_labels(evidence.rows.outcomes) * np.concatenate(parts))


def promise(evidence: Evidence) -> float:
    """Return the smallest bound on mistakes found over all u."""
    bound = evidence.once("confidence", lambda: lowest(evidence)).loss
    if not np.isfinite(bound):
        raise NoRegretError("the examples are too large for a bound on mistakes", "scale them")
    return bound


def lowest(evidence: Evidence) -> Answer:
    """Return the smallest bound among multiples of predictors that fit the labels well.

    One of them minimises another bound. How near the search for it comes to its minimum says
    little about this bound, so that it always stops at the same tolerance: a replay finds the same.
    """
    not_faint(evidence)
    margins, params = margins_of(evidence), evidence.params
    diagonal = params["form"] == "diagonal"
    moved = Moved(evidence.rows, (margins < 1).astype(np.float64), params["penalty"], diagonal)
    limits = replace(evidence.limits, tolerance=USUAL.tolerance)
    tried = [best_mistake_bound(evidence.rows, limits=limits).witness]
    easy = int(np.count_nonzero((margins > 0) & (margins < 1)))
    return best_confidence_bound(moved, tried, easy)


@register
class Arow(Learner):
    """Binary classification that tracks the confidence in each weight.

    Parameters
    ----------
    penalty
        r, above 0. The smaller, the further a single example moves the weights.
    form
        ``full``, n² operations per round for up to 4096 features, or ``diagonal``.

    Examples
    --------
    >>> learner = Arow()
    >>> for x, y in [({"rain": 1.0, "one": 1.0}, -1), ({"rain": 0.0, "one": 1.0}, 1)] * 20:
    ...     learner.learn_one(x, y)
    >>> learner.predict_one({"rain": 1.0, "one": 1.0}), learner.mistakes
    (-1, 2)

    References
    ----------
    K. Crammer, A. Kulesza and M. Dredze, "Adaptive regularization of weight vectors", 2009.
    """

    name = "arow"
    theorems = (
        Theorem(
            name="arow",
            quantity="mistakes",
            formula=r"M \le \min_u \left[ H_u + \|u\|_B \, \|z\|_{B^{-1}} \right] - U",
            plain="mistakes <= min over u of  H(u) + ‖u‖_B ‖z‖_B⁻¹,  - U",
            where=(
                r"$K$ are the rounds in which the weights moved, $U$ of them without a mistake;"
                r" $z = \sum_K y_t x_t$; $B = rI + \sum_K x_t x_t^\top$, or its diagonal;"
                r" $H_u = \sum_t \max(0, 1 - y_t\, u \cdot x_t)$ over all rounds"
            ),
            assumptions=(
                Structural(
                    r"any data, from zero weights. In the full form $\|z\|_{B^{-1}}^2 \le"
                    r" \ln\det(B/r) + U$; in the diagonal form it is measured. Any $u$ is valid;"
                    " the best found is reported"
                ),
            ),
            bound=promise,
            needs_rows=True,
            source="Crammer, Kulesza and Dredze, 2009, theorem 2",
        ),
    )

    def __init__(self, penalty: float = 1.0, form: str = "full") -> None:
        super().__init__(Confidence(penalty, form))
        self.penalty, self.form = penalty, form
