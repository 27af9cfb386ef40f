"""Coin betting: gradient descent without a rate.

Each gradient is the outcome of a coin toss, c = −g/L. A gambler starts with wealth ε and bets the
share of it given by Krichevsky and Trofimov's estimate from the coins so far, which never loses
everything. The bet is the weights:

    w ← (Σ c) / (t + 1) · wealth,   wealth ← wealth + c·w

Rounds with zero gradient are skipped. The coordinate form has one gambler per feature.

Promise. If ‖g_t‖ ≤ L in T rounds, then for every u
regret(u) ≤ L·( ‖u‖·√(T ln(1 + 24T²‖u‖²/ε²)) + ε );
in the coordinate form, with every |g_{t,i}| ≤ L and T_i the rounds with g_{t,i} ≠ 0, the sum over i
of the same with |u_i| and T_i. Nothing needs to be tuned or known of u.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.base.compiled.losses import Loss
from noregret.base.registry import register
from noregret.checks import one_of, positive
from noregret.linear.engine.per_coordinate import CoordinateBets, NormBets
from noregret.linear.learner import Floats, Learner
from noregret.proof.theorems.assumptions import CONVEX, AtMost, Structural
from noregret.proof.theorems.shards import ADDED_UP, OverShards
from noregret.proof.theorems.theorem import Theorem, loss_name

if TYPE_CHECKING:
    from noregret.proof.theorems.evidence import Evidence

FORMS = ("coordinate", "norm")


def price(u: Any, rounds: Any, wealth: float) -> Any:
    """Return |u| √(T ln(1 + 24 T² u²/ε²))."""
    size = np.abs(u)
    return size * np.sqrt(rounds * np.log1p(24 * (rounds * (size / wealth)) ** 2))


def bend(u: Floats, rounds: Floats, wealth: float) -> Floats:
    """Return the a of the parabola a u² + b that touches the price at u."""
    scale = np.maximum(rounds, 1.0) / wealth
    v = np.maximum(24 * (scale * u) ** 2, 1e-12)  # the price is √(T v ln(1 + v)) / (scale √24)
    root = np.sqrt(v * np.log1p(v))
    slope = (np.log1p(v) + v / (1 + v)) / (2 * root)
    bent: Floats = np.sqrt(np.maximum(rounds, 1.0)) * math.sqrt(24) * scale * slope
    return bent


def reach(evidence: Evidence) -> float:
    """Return the radius of the comparators: as given, or the norm of the final weights."""
    told = evidence.given.get("radius")
    return evidence.norm if told is None else positive("radius", told)


def norm_bound(evidence: Evidence) -> float:
    """Return the bound of the norm form for every u of the ball."""
    rounds, p = float(evidence.account("count")[0]), evidence.params
    found = float(price(reach(evidence), rounds, p["wealth"])) + p["wealth"]
    return float(p["lipschitz"] * found)


def coordinate_bound(evidence: Evidence) -> float:
    """Return the bound of the coordinate form at a nearly optimal u; any u is valid."""
    return paid_to([evidence.account("count")], evidence)


def paid_to(counts: list[Floats], evidence: Evidence) -> float:
    """Return the bound for several learners, each with its number of bets on each feature."""
    lipschitz, wealth = evidence.params["lipschitz"], evidence.params["wealth"]
    u = evidence.best_priced(
        lambda u: lipschitz * np.sum([price(u, rounds, wealth) for rounds in counts], axis=0),
        lambda u: lipschitz * np.sum([bend(u, rounds, wealth) for rounds in counts], axis=0),
    )
    paid = math.fsum(
        math.fsum(price(u, rounds, wealth)) + wealth * float(np.count_nonzero(rounds))
        for rounds in counts
    )
    return float(evidence.loss_of(u) + lipschitz * paid)


@register
class CoinBetting(Learner):
    """Linear learning without a rate, by Krichevsky and Trofimov's bets on the gradients.

    Parameters
    ----------
    loss
        Any convex loss of ``gradient-descent``; the theorem needs bounded gradients.
    form
        ``coordinate``, one gambler per feature, or ``norm``, one for all.
    wealth
        ε, above 0: the initial wealth of each gambler, and the most it can lose against u = 0.
    lipschitz
        L, above 0: the largest |g_i| (coordinate) or ‖g‖₂ (norm) to expect. Larger gradients are
        clipped to L, and the theorem no longer applies.
    loss_parameter
        Parameter of the loss, as in ``gradient-descent``.

    Examples
    --------
    >>> learner = CoinBetting(loss="huber")
    >>> for x, y in [({"a": 1.0}, 3.0), ({"a": -1.0}, -3.0)] * 200:
    ...     learner.learn_one(x, y)
    >>> round(learner.predict_one({"a": 1.0}), 1)
    3.0

    References
    ----------
    F. Orabona and D. Pál, "Coin betting and parameter-free online learning", 2016.
    """

    name = "coin-betting"
    theorems = (
        Theorem(
            name="coin-betting-coordinates",
            quantity="loss",
            formula=(
                r"L_A \le \min_u \left[ L_u + L \sum_i \left( |u_i| \sqrt{T_i"
                r" \ln\left(1 + \frac{24 T_i^2 u_i^2}{\varepsilon^2}\right)} + \varepsilon"
                r" \right) \right]"
            ),
            plain="loss <= min over u of  L(u) + L Σ_i (|u_i| √(T_i ln(1 + 24 T_i² u_i²/ε²)) + ε)",
            where=(
                r"$T_i$ counts the rounds with $g_{t,i} \ne 0$, $L$ is `lipschitz`,"
                r" $\varepsilon$ is `wealth`; features with $T_i = 0$ cost nothing"
            ),
            assumptions=(
                AtMost(
                    r"$|g_{t,i}| \le L$, the parameter `lipschitz`, in every round",
                    "gradient_peak",
                    lambda p: p["lipschitz"],
                    "max |gradient_i|",
                ),
                CONVEX,
            ),
            bound=coordinate_bound,
            covers=lambda p: p["form"] == "coordinate" and loss_name(p) != "mistake",
            needs_rows=True,
            over_shards=OverShards(lambda e: paid_to(e.accounts("count"), e)),
            source="Orabona and Pál, 2016",
        ),
        Theorem(
            name="coin-betting",
            quantity="regret",
            formula=(
                r"L_A - L_u \le L \left( \|u\| \sqrt{T"
                r" \ln\left(1 + \frac{24 T^2 \|u\|^2}{\varepsilon^2}\right)} + \varepsilon \right)"
            ),
            plain="regret against u <= L (‖u‖ √(T ln(1 + 24 T² ‖u‖²/ε²)) + ε)",
            where=(
                r"$T$ counts the rounds with $g_t \ne 0$, $L$ is `lipschitz`,"
                r" $\varepsilon$ is `wealth`"
            ),
            assumptions=(
                AtMost(
                    r"$\|g_t\|_2 \le L$, the parameter `lipschitz`, in every round",
                    "gradient",
                    lambda p: p["lipschitz"],
                    "norm(gradient)",
                ),
                Structural(
                    r"for every $u$ of at most the norm of the final weights, or of the radius"
                    " passed to the certificate"
                ),
                CONVEX,
            ),
            bound=norm_bound,
            best=lambda e: e.best_in_ball(reach(e)),
            covers=lambda p: p["form"] == "norm" and loss_name(p) != "mistake",
            asks="radius=1.0",
            over_shards=ADDED_UP,
            source="Orabona and Pál, 2016",
        ),
    )

    def __init__(
        self,
        loss: str | Loss = "absolute",
        form: str = "coordinate",
        wealth: float = 1.0,
        lipschitz: float = 1.0,
        loss_parameter: float | None = None,
    ) -> None:
        one_of("form", form, FORMS)
        engine = CoordinateBets if form == "coordinate" else NormBets
        super().__init__(engine(loss, wealth, lipschitz, loss_parameter))
        self.loss, self.form, self.wealth, self.lipschitz = loss, form, wealth, lipschitz
        self.loss_parameter = loss_parameter

    def _accounts(self) -> dict[str, Floats]:
        """Return the number of bets and the resulting weights."""
        return {"count": super()._accounts()["count"], "weights": self.engine.weights()}
