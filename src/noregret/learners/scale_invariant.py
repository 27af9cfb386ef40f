"""A learner whose predictions do not depend on the units of the features.

For each feature a gambler bets on the gradients, in units of the largest value of the feature so
far. With the coin c = −g x/L of a round (g the slope of the loss), G the sum of the coins so far,
S² the sum of their squares, M the largest |x| so far, including this round, and s² = S² + M²:

    w = wealth · clip(G/s, −1, 1) / (2 s),   wealth ← wealth · (1 + c · clip(G/s, −1, 1)/(2 s))

Multiplying columns by positive factors leaves w·x unchanged: no scaling and no rate are needed.
This is the second algorithm of Kempka, Kotłowski and Warmuth.

Promise. If |g_t| ≤ L in every round, then for every u, with the final s_i and V_i the sum of c²/s²
over the rounds,
regret(u) ≤ L · Σ_i ( 2|u_i| s_i · ln(1 + 2|u_i| s_i exp(V_i/2 + 1/4)/ε) + ε ).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from noregret.base.compiled.losses import Loss, make_loss
from noregret.base.registry import register
from noregret.checks import positive
from noregret.linear.engine.per_coordinate import InvariantBets
from noregret.linear.learner import Floats, Learner
from noregret.proof.theorems.assumptions import CONVEX, Finding, Shown, Structural
from noregret.proof.theorems.shards import OverShards
from noregret.proof.theorems.theorem import Theorem, loss_name

if TYPE_CHECKING:
    from noregret.proof.game.shards import ShardsEvidence
    from noregret.proof.theorems.evidence import Evidence

# Losses with bounded slopes.
BOUNDED = ("absolute", "quantile", "epsilon-insensitive", "huber", "hinge", "mistake", "logistic")


def steepest(loss: str | Loss, parameter: float | None) -> float:
    """Return the largest slope of a loss, or raise ValueError if it is unbounded."""
    made = make_loss(loss, parameter)
    if type(made) is not Loss or made.name not in BOUNDED:
        raise ValueError(
            f"the slope of the {made.name} loss is unbounded: give lipschitz=L, the largest"
            " slope to expect"
        )
    if made.name == "quantile":
        return max(made.parameter, 1 - made.parameter)
    return made.parameter if made.name == "huber" else 1.0


def price(u: Floats, size: Floats, log_odds: Floats) -> Floats:
    """Return k ln(1 + k e^a), where k = 2|u| s."""
    k = 2 * np.abs(u) * size
    with np.errstate(divide="ignore"):
        paid: Floats = k * np.logaddexp(0.0, np.log(k) + log_odds)
    return paid


def bend(u: Floats, size: Floats, log_odds: Floats) -> Floats:
    """Return the a of the parabola a u² + b that touches the price at u."""
    k = np.maximum(2 * np.abs(u) * size, 1e-9 * np.exp(-np.maximum(log_odds, 0.0)))
    exponent = np.log(k) + log_odds
    slope = np.logaddexp(0.0, exponent) + np.exp(-np.logaddexp(0.0, -exponent))
    bent: Floats = np.where(size > 0, 2 * size * (size * (slope / k)), 1.0)
    return bent


# The accounts that bounds are made of.
PRICED = ("squares", "peak", "spent")


def promise(evidence: Evidence) -> float:
    """Return the bound at a nearly optimal u; any u is valid."""
    return paid_to([{name: evidence.account(name) for name in PRICED}], evidence)


def over_shards(evidence: ShardsEvidence) -> float:
    """Return the bound for the learners of all shards."""
    found = zip(*(evidence.accounts(name) for name in PRICED), strict=True)
    return paid_to([dict(zip(PRICED, each, strict=True)) for each in found], evidence)


def paid_to(learners: list[dict[str, Floats]], evidence: Evidence) -> float:
    """Return the bound for several learners, each with its accounts."""
    lipschitz, wealth = lipschitz_of(evidence), float(evidence.params["wealth"])
    told = [
        (
            np.sqrt(each["squares"] + each["peak"] ** 2),
            0.5 * each["spent"] + 0.25 - math.log(wealth),
        )
        for each in learners
    ]
    u = evidence.best_priced(
        lambda u: lipschitz * np.sum([price(u, *each) for each in told], axis=0),
        lambda u: lipschitz * np.sum([bend(u, *each) for each in told], axis=0),
    )
    paid = math.fsum(
        math.fsum(price(u, size, log_odds)) + wealth * float(np.count_nonzero(size))
        for size, log_odds in told
    )
    return float(evidence.loss_of(u) + lipschitz * paid)


def lipschitz_of(evidence: Evidence) -> float:
    """Return L: as given, or the largest slope of the loss."""
    p = evidence.params
    given = p["lipschitz"]
    return steepest(p["loss"], p["loss_parameter"]) if given is None else float(given)


def not_too_steep(evidence: Evidence) -> Finding:
    """Check that no slope was above L."""
    limit, (most, first) = lipschitz_of(evidence), evidence.steepest()
    return Finding(f"|slope| <= {limit:.6g}", limit, most, first is None, first)


@register
class ScaleInvariant(Learner):
    """Linear prediction independent of the units of the features, without a rate.

    Parameters
    ----------
    loss
        Any convex loss of ``gradient-descent``. Those with unbounded slopes (``square``,
        ``linear``, the squared losses, custom losses) need ``lipschitz``.
    wealth
        ε, above 0: the initial wealth per feature.
    lipschitz
        L, above 0: the largest derivative of the loss by the score; by default that of the loss.
        Larger slopes are clipped to L, and the theorem no longer applies.
    loss_parameter
        Parameter of the loss, as in ``gradient-descent``.

    Examples
    --------
    >>> learner, other = ScaleInvariant(), ScaleInvariant()
    >>> for k in range(200):
    ...     learner.learn_one({"size": k % 7, "age": 1.0}, 3.0 * (k % 7) - 1)
    ...     other.learn_one({"size": 1024.0 * (k % 7), "age": 0.125}, 3.0 * (k % 7) - 1)
    >>> learner.total_loss == other.total_loss
    True

    References
    ----------
    M. Kempka, W. Kotłowski and M. K. Warmuth, "Adaptive scale-invariant online algorithms for
    learning linear models", 2019.
    """

    name = "scale-invariant"
    theorems = (
        Theorem(
            name="scale-invariant",
            quantity="loss",
            formula=(
                r"L_A \le \min_u \left[ L_u + L \sum_i \left( 2 |u_i| s_i"
                r" \ln\left(1 + \frac{2 |u_i| s_i}{\varepsilon} e^{V_i/2 + 1/4}\right)"
                r" + \varepsilon \right) \right]"
            ),
            plain=(
                "loss <= min over u of  L(u) + L Σ_i (2|u_i| s_i ln(1 + 2|u_i| s_i"
                " exp(V_i/2 + 1/4)/ε) + ε)"
            ),
            where=(
                r"$s_i^2 = \max_t x_{t,i}^2 + \sum_t c_{t,i}^2$ with coins"
                r" $c_{t,i} = g_t x_{t,i}/L$, $g_t$ the slope of the loss; $V_i$ is the sum of"
                r" $c_{t,i}^2$ over $s_i^2$ as it was before the outcome, and at most"
                r" $\log_2(s_i^2/x_i^2)$, $x_i$ the feature's first nonzero value; $\varepsilon$ is"
                r" `wealth`"
            ),
            assumptions=(
                Shown(r"the slope of the loss by the score is at most $L$", not_too_steep),
                Structural("the weights of a round depend on its example, but not on its outcome"),
                CONVEX,
            ),
            bound=promise,
            over_shards=OverShards(over_shards),
            covers=lambda p: loss_name(p) != "mistake",
            needs_rows=True,
            source="Kempka, Kotłowski and Warmuth, 2019",
        ),
    )

    def __init__(
        self,
        loss: str | Loss = "absolute",
        wealth: float = 1.0,
        lipschitz: float | None = None,
        loss_parameter: float | None = None,
    ) -> None:
        limit = steepest(loss, loss_parameter) if lipschitz is None else lipschitz
        positive("lipschitz", limit)
        super().__init__(InvariantBets(loss, wealth, limit, loss_parameter))
        self.loss, self.wealth, self.lipschitz = loss, wealth, lipschitz
        self.loss_parameter = loss_parameter

    def _accounts(self) -> dict[str, Floats]:
        """Return the numbers from which the bound is computed."""
        return super()._accounts() | {"weights": self.engine.weights()}
