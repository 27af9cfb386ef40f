"""FTRL-Proximal: the regularised leader with proximal terms and exactly sparse weights.

Each feature has its own rate, η_i = α/(β + √Σg_i²), and

    w ← argmin  Σ g_s·w + Σ_s Σ_i (σ_{s,i}/2)(w_i − w_{s,i})² + (β/2α)‖w‖² + λ₁‖w‖₁ + (λ₂/2)‖w‖²

where σ_s is the increase of 1/η in round s. This has a closed form per feature, and absent features
do not change. λ₁ keeps weights of little use at exactly zero.

Promise. For every u, with gradients g_t of the losses and H_{t,i} = 1/η_{t,i} + λ₂:
regret(u) ≤ λ₁‖u‖₁ + (λ₂/2 + β/2α)‖u‖² + ½ Σ_t Σ_i [ σ_{t,i}(u_i − w_{t,i})² + g_{t,i}²/H_{t,i} ].
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from noregret.base.compiled.losses import Loss
from noregret.base.registry import register
from noregret.linear.engine.per_coordinate import Proximal
from noregret.linear.learner import Floats, Learner
from noregret.proof.theorems.assumptions import CONVEX, Structural
from noregret.proof.theorems.shards import ADDED_UP
from noregret.proof.theorems.theorem import Theorem, loss_name

if TYPE_CHECKING:
    from noregret.proof.theorems.evidence import Evidence

GOLDEN_SECTION_STEPS = 200


def reach(evidence: Evidence) -> float:
    """Return the radius of the comparators: as given, or the norm of the final weights."""
    from noregret.checks import positive

    told = evidence.given.get("radius")
    return evidence.norm if told is None else positive("radius", told)


def worst(stiffness: Floats, pulls: Floats, radius: float) -> float:
    """Return the maximum of Σ (½ h v² + c v) over ‖v‖ ≤ radius, for h, c ≥ 0.

    It lies on the boundary, where v = c/(μ − h). For every μ above the largest h,
    ½ (μ radius² + Σ c²/(μ − h)) is an upper bound; the least of these is the maximum.
    """
    top = float(stiffness.max(initial=0.0))

    def above(distance: float) -> float:
        over = top - stiffness + distance
        return 0.5 * ((top + distance) * radius**2 + float(np.sum(pulls**2 / over)))

    size = float(np.linalg.norm(pulls))
    if size == 0 or radius == 0:
        return 0.5 * top * radius**2
    low, high = math.log(size / radius) - 40, math.log(size / radius)
    for _ in range(GOLDEN_SECTION_STEPS):
        left, right = low + 0.382 * (high - low), low + 0.618 * (high - low)
        if above(math.exp(left)) <= above(math.exp(right)):
            high = right
        else:
            low = left
    return min(above(math.exp(low)), above(math.exp(high)))


def promise(evidence: Evidence) -> float:
    """Return the bound at the worst u of the ball."""
    p = evidence.params
    roots, anchor = np.sqrt(evidence.account("squares")), evidence.account("anchor")
    stiffness = (p["beta"] + roots) / p["rate"] + p["l2"]
    fixed = 0.5 * float(evidence.account("anchored")[0]) + float(evidence.account("spent")[0])
    return worst(stiffness, np.abs(anchor) + p["l1"], reach(evidence)) + fixed


@register
class FtrlProximal(Learner):
    """Follow the regularised leader, proximal: sparse weights for sparse examples.

    Parameters
    ----------
    loss
        Any loss of ``gradient-descent``, linearised where the prediction was made.
    rate
        α, above 0: the rate of a feature is α/(β + √Σg²).
    beta
        β, above 0: the size of √Σg² from which on the rate falls noticeably.
    l1
        λ₁, at least 0. The larger, the more weights are exactly zero.
    l2
        λ₂, at least 0. The larger, the smaller the weights.
    loss_parameter
        Parameter of the loss, as in ``gradient-descent``.

    Examples
    --------
    The feature that is unrelated to the label has weight 0:

    >>> learner = FtrlProximal(rate=0.5, l1=2.0)
    >>> for k in range(200):
    ...     learner.learn_one({"says": 1.0 if k % 2 else -1.0, "does not": 1.0}, k % 2 == 1)
    >>> learner.nonzero, learner.features
    (1, ['does not', 'says'])

    References
    ----------
    H. B. McMahan et al., "Ad click prediction: a view from the trenches", 2013. Bound: H. B.
    McMahan, "A survey of algorithms and analysis for adaptive online learning", 2017.
    """

    name = "ftrl-proximal"
    theorems = (
        Theorem(
            name="ftrl-proximal",
            quantity="regret",
            formula=(
                r"L_A - L_u \le \lambda_1 \|u\|_1 + \frac{\lambda_2 + \beta/\alpha}{2} \|u\|^2"
                r" + \frac12 \sum_t \sum_i \left[ \sigma_{t,i} (u_i - w_{t,i})^2"
                r" + \frac{g_{t,i}^2}{H_{t,i}} \right]"
            ),
            plain=(
                "regret against u <= l1 ‖u‖₁ + (l2 + beta/rate)/2 ‖u‖²"
                " + ½ Σ_t Σ_i [σ (u_i - w_i)² + gradient_i²/H]"
            ),
            where=(
                r"$H_{t,i} = (\beta + \sqrt{\sum_{s \le t} g_{s,i}^2})/\alpha + \lambda_2$;"
                r" $\sigma_{t,i}$ is its increase in round $t$"
            ),
            assumptions=(
                Structural(
                    r"for every $u$ of at most the norm of the final weights, or of the radius"
                    " passed to the certificate"
                ),
                Structural(r"$g_t$ is the gradient of the loss at $w_t$; the start is 0"),
                CONVEX,
            ),
            bound=promise,
            best=lambda e: e.best_in_ball(reach(e)),
            covers=lambda p: loss_name(p) != "mistake",
            asks="radius=1.0",
            over_shards=ADDED_UP,
            source="McMahan, 2017",
        ),
    )

    def __init__(
        self,
        loss: str | Loss = "logistic",
        rate: float = 0.1,
        beta: float = 1.0,
        l1: float = 0.0,
        l2: float = 0.0,
        loss_parameter: float | None = None,
    ) -> None:
        super().__init__(Proximal(loss, rate, beta, l1, l2, loss_parameter))
        self.loss, self.rate, self.beta = loss, rate, beta
        self.l1, self.l2, self.loss_parameter = l1, l2, loss_parameter

    @property
    def nonzero(self) -> int:
        """The number of nonzero weights."""
        return int(np.count_nonzero(self.weights))
