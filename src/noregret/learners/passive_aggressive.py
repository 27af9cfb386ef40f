"""Passive-aggressive learning.

If the example has a margin of at least 1, do nothing; else take the smallest step that gives it 1:

    w ← w + τ y x,   τ = hinge/‖x‖²                      (pa)
                     τ = min(C, hinge/‖x‖²)              (pa-i)
                     τ = hinge/(‖x‖² + 1/(2C))           (pa-ii)

These are the exact (implicit) steps on the hinge loss, with rate ∞ and C, and on its square, with
rate C. For regression the margin is a tube of half-width ε around the outcome.

Promise. With ‖x‖ ≤ R, for every u: if u has hinge loss 0 in every round, pa makes at most
R²‖u‖² mistakes; on any data, pa-i makes at most max(R², 1/C)·(‖u‖² + 2C·H), where H is the hinge
loss of u over the rounds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from noregret.base.registry import register
from noregret.checks import one_of, positive
from noregret.errors import NoRegretError
from noregret.learners.perceptron import by_margin, longest
from noregret.limits import MAX_PARAMETER
from noregret.linear.engine.additive import Additive
from noregret.linear.learner import Learner
from noregret.proof.theorems.assumptions import Shown, Structural, separable
from noregret.proof.theorems.shards import ADDED_UP, OverShards
from noregret.proof.theorems.theorem import Theorem

FORMS = ("pa", "pa-i", "pa-ii")
LOSSES = ("hinge", "epsilon-insensitive")


if TYPE_CHECKING:
    from noregret.proof.theorems.evidence import Evidence


def promise(evidence: Evidence, learners: int = 1) -> float:
    """Return the bound at the u that minimises it: a soft-margin support vector machine."""
    c = evidence.params["aggressiveness"]
    norm = longest(evidence)
    times = max(norm * norm, 1 / c)
    if not times < MAX_PARAMETER**2:
        raise NoRegretError(
            f"the examples (norms up to {norm:g}) or 1/aggressiveness ({1 / c:g}) are"
            " too large for a bound on mistakes",
            "scale the examples, or choose another aggressiveness",
        )
    if not 0 < learners / (2 * c) < MAX_PARAMETER:
        raise NoRegretError(
            f"the bound on mistakes cannot be computed for aggressiveness {c:g}",
            "choose one nearer to 1",
        )
    return float(times * 2 * c * evidence.best_penalised(learners / (2 * c)).loss)


@register
class PassiveAggressive(Learner):
    """Classification with a margin, or regression in a tube, by the smallest sufficient step.

    Parameters
    ----------
    form
        ``pa``, ``pa-i`` (steps at most C) or ``pa-ii`` (steps shrunk by 1/(2C)).
    aggressiveness
        C, above 0, for ``pa-i`` and ``pa-ii``. The smaller, the more robust to noise.
    loss
        ``hinge`` for labels, ``epsilon-insensitive`` for numbers.
    epsilon
        ε, at least 0: half the width of the tube around the outcome, for regression.

    Examples
    --------
    >>> learner = PassiveAggressive()
    >>> learner.learn_one([3.0, 4.0], 1)
    >>> learner.decision_one([3.0, 4.0])
    1.0

    References
    ----------
    K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz and Y. Singer, "Online passive-aggressive
    algorithms", 2006.
    """

    name = "passive-aggressive"
    theorems = (
        Theorem(
            name="passive-aggressive",
            quantity="mistakes",
            formula=r"M \le R^2 \|u\|^2",
            plain="mistakes <= R² ‖u‖²",
            assumptions=(
                Structural(r"form `pa`, hinge loss; $R = \max_t \|x_t\|_2$"),
                Shown(
                    r"$y_t (u \cdot x_t) \ge 1$ in every round: the shortest such $u$, of norm"
                    r" $1/\gamma$ for the largest margin $\gamma$, is found in hindsight",
                    separable,
                ),
            ),
            bound=by_margin,
            covers=lambda p: p["form"] == "pa" and p["loss"] == "hinge",
            needs_rows=True,
            over_shards=ADDED_UP,
            source="Crammer et al., 2006, theorem 2",
        ),
        Theorem(
            name="passive-aggressive-i",
            quantity="mistakes",
            formula=(
                r"M \le \min_u \max\!\left(R^2, \tfrac{1}{C}\right)"
                r" \left( \|u\|^2 + 2 C H_u \right)"
            ),
            plain="mistakes <= min over u of  max(R², 1/C) (‖u‖² + 2 C H(u))",
            assumptions=(
                Structural(
                    r"form `pa-i`, hinge loss; $R = \max_t \|x_t\|_2$,"
                    r" $H_u = \sum_t \max(0, 1 - y_t\, u \cdot x_t)$"
                ),
            ),
            bound=promise,
            covers=lambda p: p["form"] == "pa-i" and p["loss"] == "hinge",
            needs_rows=True,
            over_shards=OverShards(
                lambda e: promise(e, len(e.shards)),
                r"\sum_k M_k \le \min_u \max\!\left(R^2, \tfrac{1}{C}\right)"
                r" \left( K \|u\|^2 + 2 C H_u \right)",
                "mistakes <= min over u of  max(R², 1/C) (K ‖u‖² + 2 C H(u))",
            ),
            source="Crammer et al., 2006, theorem 4",
        ),
    )

    def __init__(
        self,
        form: str = "pa-i",
        aggressiveness: float = 1.0,
        loss: str = "hinge",
        epsilon: float = 0.1,
    ) -> None:
        one_of("form", form, FORMS)
        one_of("loss", loss, LOSSES)
        positive("aggressiveness", aggressiveness)
        if epsilon != 0:
            positive("epsilon", epsilon)
        super().__init__(
            Additive(
                f"squared-{loss}" if form == "pa-ii" else loss,
                rate=math.inf if form == "pa" else aggressiveness,
                step="implicit",
                loss_parameter=None if loss == "hinge" else epsilon,
            )
        )
        self.form, self.aggressiveness, self.loss, self.epsilon = (
            form,
            aggressiveness,
            loss,
            epsilon,
        )
