"""The online Newton step: gradient descent that learns the curvature of the losses.

    A ← A + c x xᵀ,   w ← w − ℓ' A⁻¹ x

A starts at λI, and ℓ' is the slope of the loss at the score. c is the curvature of the largest
parabola that touches the loss at the score and stays below it at every score of a comparator:
2 for the square loss, itself a parabola; for others as large as the radius R allows, since no u
with ‖u‖ ≤ R has a score beyond R‖x‖. Before a prediction, weights with a larger score are
projected in the norm of A on all w with |w·x| ≤ R‖x‖, that is w ← w − a A⁻¹ x. The diagonal form
keeps only the diagonal of A, and a round costs as much as x has entries.

Promise. With g_t the gradients, on any data: the regret against every u with ‖u‖ ≤ R is at most
λR²/2 + ½ Σ g_tᵀ A_t⁻¹ g_t, which grows like ln T. The square loss needs no radius: then the loss is
at most the minimum over all u of  L(u) + λ‖u‖²/2,  plus the same sum. The bound of the diagonal
form has another term for the distance of u from the weights, ½ Σ c_t x_{t,i}² (w_{t,i} − u_i)².
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.base.registry import register
from noregret.hindsight.proofs.rounding import norm_above, upward
from noregret.hindsight.solvers.centred import best_centred
from noregret.learners.vaw import WITHIN_DIGITS
from noregret.limits import UNIT
from noregret.linear.engine.second_order import Newton
from noregret.linear.learner import Floats, Learner
from noregret.proof.theorems.assumptions import Structural
from noregret.proof.theorems.shards import ADDED_UP, OverShards
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.proof.theorems.evidence import Evidence


def on_the_ball(evidence: Evidence) -> float:
    """Return λR²/2 + ½ Σ gᵀA⁻¹g."""
    radius, penalty = evidence.params["radius"], evidence.params["penalty"]
    return float(0.5 * penalty * radius**2 + evidence.account("price")[0])


def everywhere(evidence: Evidence, learners: int = 1) -> float:
    """Return the least L(u) + λ‖u‖²/2, plus ½ Σ gᵀA⁻¹g, for one learner or several."""
    hindsight = evidence.best_ridge(0.5 * learners * evidence.params["penalty"], 1.0).loss
    return float(hindsight + evidence.account("price")[0])


def diagonal(evidence: Evidence) -> float:
    """Return the least bound of the diagonal form over a few u; any u in the domain is valid."""
    grown, pull, last = (evidence.account(name) for name in ("grown", "pull", "weights"))
    loss = evidence.learner.engine.loss
    found = evidence.once(
        "centred",
        lambda: best_centred(evidence.rows, loss, 0.5 * grown, pull / grown, evidence.limits),
    )
    tried = [np.zeros_like(last), last, pull / grown, found]
    radius = evidence.params["radius"]
    inside = [u if radius is None else within(u, radius) for u in tried if np.isfinite(u).all()]
    return min(at(evidence, u) for u in inside)


def within(u: Floats, radius: float) -> Floats:
    """Return u, scaled down to the radius if it is longer."""
    size = norm_above(u)
    return u if size <= radius else u * (radius / size * (1 - 8 * UNIT))


def at(evidence: Evidence, u: Floats) -> float:
    """Return the bound of the diagonal form at u, rounded up."""
    grown, pull = evidence.account("grown"), evidence.account("pull")
    price, moved = evidence.account("price")[0], evidence.account("moved")[0]
    squares = float(grown @ u**2)
    # The rounding error of sums of at most as many terms as there were rounds.
    lost = 8 * (evidence.rounds + len(u) + 16) * UNIT * (squares + moved)
    return upward(
        evidence.loss_of(u) + 0.5 * squares - float(u @ pull) + 0.5 * moved + price + lost
    )


def covers(params: Mapping[str, Any], form: str, bounded: bool) -> bool:
    """Return whether the learner has this form, with or without a radius."""
    return params["form"] == form and (params["radius"] is not None) == bounded


@register
class OnlineNewton(Learner):
    """Second-order learning for the square and logistic losses; no rate to choose.

    Parameters
    ----------
    loss
        ``square`` for numbers; ``logistic`` or ``squared-hinge`` for labels.
    penalty
        λ, above 0: the penalty on squared weights. The smaller, the larger the first steps.
    form
        ``full``, n² operations per round for up to 4096 features, or ``diagonal``.
    radius
        R, above 0: scores are kept within R‖x‖. Required except for the square loss.

    Examples
    --------
    >>> learner = OnlineNewton(loss="logistic", radius=5.0)
    >>> for x, y in [([1.0, 1.0], True), ([0.0, 1.0], False)] * 50:
    ...     learner.learn_one(x, y)
    >>> learner.predict_proba_one([1.0, 1.0])[True] > 0.9
    True

    References
    ----------
    E. Hazan, A. Agarwal and S. Kale, "Logarithmic regret algorithms for online convex
    optimization", 2007; the projection: H. Luo, A. Agarwal, N. Cesa-Bianchi and J. Langford,
    "Efficient second order online learning by sketching", 2016.
    """

    name = "online-newton"
    theorems = (
        Theorem(
            name="online-newton",
            quantity="regret",
            formula=(
                r"L_A - \min_{\|u\| \le R} L_u \le \frac{\lambda R^2}{2}"
                r" + \frac12 \sum_t g_t^\top A_t^{-1} g_t"
            ),
            plain="regret <= penalty R²/2 + ½ Σ gradientᵀ A⁻¹ gradient",
            where=(
                r"$A_t = \lambda I + \sum_{s \le t} c_s x_s x_s^\top$, $c_s$ the curvature of the"
                r" largest parabola that touches the loss at the score and is below it on"
                r" $|w \cdot x_s| \le R \|x_s\|$; $g_t$ is the gradient"
            ),
            assumptions=(
                Structural("full form, with a radius; any data, from zero weights"),
                WITHIN_DIGITS,
            ),
            bound=on_the_ball,
            over_shards=ADDED_UP,
            best=lambda e: e.best_in_ball(float(e.params["radius"])),
            covers=lambda p: covers(p, "full", bounded=True),
            source="Hazan, Agarwal and Kale, 2007; Luo et al., 2016",
        ),
        Theorem(
            name="online-newton-everywhere",
            quantity="loss",
            formula=(
                r"L_A \le \min_u \left[ L_u + \frac{\lambda}{2} \|u\|^2 \right]"
                r" + \frac12 \sum_t g_t^\top A_t^{-1} g_t"
            ),
            plain="loss <= min over u of  L(u) + penalty ‖u‖²/2,  + ½ Σ gradientᵀ A⁻¹ gradient",
            where=r"$A_t = \lambda I + 2 \sum_{s \le t} x_s x_s^\top$; $g_t$ is the gradient",
            assumptions=(
                Structural("full form, square loss, no radius; any data, from zero weights"),
                WITHIN_DIGITS,
            ),
            bound=everywhere,
            over_shards=OverShards(lambda e: everywhere(e, len(e.shards))),
            covers=lambda p: covers(p, "full", bounded=False),
            source="Azoury and Warmuth, 2001; Hazan, Agarwal and Kale, 2007",
        ),
        Theorem(
            name="online-newton-diagonal",
            quantity="loss",
            formula=(
                r"L_A \le \min_u \left[ L_u + \frac{\lambda}{2} \|u\|^2 + \frac12 \sum_{t,i}"
                r" c_t x_{t,i}^2 (w_{t,i} - u_i)^2 \right] + \frac12 \sum_t g_t^\top A_t^{-1} g_t"
            ),
            plain=(
                "loss <= min over u of  L(u) + penalty ‖u‖²/2 + ½ Σ c x_i² (w_i - u_i)²,"
                "  + ½ Σ gradientᵀ A⁻¹ gradient"
            ),
            where=(
                r"$A_t$ is the diagonal of $\lambda I + \sum_{s \le t} c_s x_s x_s^\top$, $w_t$ the"
                " weights that predicted. Their distance from $u$ is measured, not bounded"
                " beforehand"
            ),
            assumptions=(
                Structural(
                    r"diagonal form; any data, from zero weights; for every $u$, with $\|u\| \le R$"
                    " if there is a radius. Any $u$ is valid; the best found is reported"
                ),
            ),
            bound=diagonal,
            over_shards=OverShards(diagonal),  # accounts are the sums of those of the shards
            covers=lambda p: p["form"] == "diagonal",
            needs_rows=True,
            source="after Hazan, Agarwal and Kale, 2007; Duchi, Hazan and Singer, 2011",
        ),
    )

    def __init__(
        self,
        loss: str = "square",
        penalty: float = 1.0,
        form: str = "full",
        radius: float | None = None,
    ) -> None:
        super().__init__(Newton(loss, penalty, form, radius))
        self.loss, self.penalty, self.form, self.radius = loss, penalty, form, radius

    def _accounts(self) -> dict[str, Floats]:
        """Return the sums from which the bounds are computed."""
        arrays, numbers = self.engine.get_state() if self.form == "diagonal" else ({}, {})
        numbers = numbers or self.engine.scalars()
        kept = {name: np.array([numbers[name]]) for name in ("price", "moved")}
        if arrays:
            kept |= {"pull": arrays["pull"], "weights": arrays["stored"]}
            kept["grown"] = 1 / arrays["spreads"]
        return kept
