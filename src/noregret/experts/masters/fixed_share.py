"""Fixed share: exponential weights with a minimum for every expert, to track the best one.

    w_i ← w_i · exp(−η · loss of i), normalised;    then each gives a share α to the others

It competes with sequences of experts: one that is best now, another later. In the variable form an
expert gives 1 − (1 − α)^loss, so one without losses keeps its weight.

Promise. For every sequence with k switches over T rounds, at a rate at which averaging costs
nothing: loss ≤ L_seq + (ln n + k ln((n−1)/α) + (T−k−1) ln(1/(1−α)))/η.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.base.compiled.losses import Loss
from noregret.base.compiled.weigher import Sharing
from noregret.base.registry import register
from noregret.checks import positive, truth, whole
from noregret.experts.assumptions import EXP_CONCAVE, AlwaysAwake, LossesIn, Range, Spread
from noregret.experts.master import Master, checked_prior, range_of
from noregret.experts.masters.weighted_average import rate_for
from noregret.proof.theorems.assumptions import Structural
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.experts.evidence import ExpertEvidence
    from noregret.hindsight import Answer


def prices(evidence: ExpertEvidence) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the bound on the regret to sequences, by their largest number of switches.

    Fewer switches cost more if the share is large, so it is the maximum over fewer switches.
    """
    n, share, rounds = max(2, evidence.width), evidence.params["share"], evidence.rounds
    k = np.arange(len(evidence.sequences().losses))
    start = float(evidence.player._log_prior.max())
    nats = start + k * math.log((n - 1) / share) - (rounds - k - 1) * math.log1p(-share)
    return np.asarray(np.maximum.accumulate(nats) / evidence.player._rate_in_use)


def sequence(evidence: ExpertEvidence) -> Answer:
    """Return the sequence of experts for which the bound is smallest."""
    total = evidence.sequences().losses + prices(evidence)
    return evidence.best_sequence(int(np.argmin(total)))


def promise(evidence: ExpertEvidence) -> float:
    """Return the bound for the sequence for which it is smallest."""
    return float(np.min(evidence.sequences().losses + prices(evidence)))


def promise_of_hedging(evidence: ExpertEvidence) -> float:
    """Return the bound plus the cost of mixing, η B²/8 per round."""
    wide = float(evidence.params["high"] - evidence.params["low"])
    return promise(evidence) + evidence.player._rate_in_use * evidence.rounds * wide**2 / 8


def variable_totals(evidence: ExpertEvidence) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the bound of the variable form for each number of switches.

    Staying with an expert costs ln 1/(1−α) per unit of its loss. After a switch, weight moves as
    the old expert loses. Once it has lost 1 since the switch, at least α/(n−1) of its weight has
    moved to the next, with a factor e^−η for that loss; if it never loses that much before the next
    switch, staying with it instead costs a factor e^−η (1−α). Every switch is charged both costs
    here, slightly more than either.
    """
    n, share = max(2, evidence.width), evidence.params["share"]
    rate, losses = evidence.player._rate_in_use, evidence.sequences().losses
    k, stay = np.arange(len(losses)), -math.log1p(-share)
    switching = rate + math.log((n - 1) / share) + stay
    start = float(evidence.player._log_prior.max())
    return np.asarray((start + (rate + stay) * losses + k * switching) / rate)


def variable_sequence(evidence: ExpertEvidence) -> Answer:
    """Return the sequence of experts for which the bound is smallest."""
    return evidence.best_sequence(int(np.argmin(variable_totals(evidence))))


def variable_promise(evidence: ExpertEvidence) -> float:
    """Return the bound for the sequence for which it is smallest."""
    return float(np.min(variable_totals(evidence)))


def tuned(horizon: int, switches: int, low: float = 0.0, high: float = 1.0) -> dict[str, Any]:
    """Return the best share for a number of switches in a number of rounds."""
    rounds = max(2, whole("horizon", horizon))
    most = max(0.5, min(switches, rounds - 1.5))
    return {"share": most / (rounds - 1), "low": low, "high": high}


SHARED = Structural(
    "a loss for which averaging costs nothing at this rate; sharing among at least two experts"
)


@register
class FixedShare(Master):
    """Exponential weights with sharing, to follow the best expert as it changes.

    Parameters
    ----------
    share
        α, between 0 and 1: the fraction of its weight that an expert gives to others per round.
    variable
        Whether that grows with its loss, which then must lie between 0 and 1.
    loss
        ``square``, ``log``, or, if a rate is given, any other.
    rate
        η, above 0; by default the largest that the theorem allows.
    low, high
        The range of forecasts and outcomes; if losses are given, of these.
    loss_parameter
        The quantile, for ``quantile``.
    prior
        Weights before the first round, one per expert; by default equal.

    Examples
    --------
    The first expert is right for fifty days, then the second:

    >>> master = FixedShare(share=0.02)
    >>> for day in range(100):
    ...     master.learn_one([0.0, 1.0], float(day >= 50))
    >>> master.predict_one([0.0, 1.0]) > 0.9
    True

    References
    ----------
    M. Herbster and M. K. Warmuth, "Tracking the best expert", 1998.
    """

    name = "fixed-share"
    theorems = (
        Theorem(
            name="fixed-share",
            quantity="loss",
            formula=(
                r"L_A \le \min_k \left[ L_k + \tfrac1\eta \Big( \ln n + k\ln\tfrac{n-1}{\alpha}"
                r" + (T-k-1)\ln\tfrac{1}{1-\alpha} \Big) \right]"
            ),
            plain=(
                "loss <= min over k of  L(best sequence, k switches) + (ln n + k ln((n-1)/α)"
                " + (T-k-1) ln(1/(1-α)))/η"
            ),
            where=(
                r"$L$ is the loss, $n$ the number of experts, $T$ of rounds; $\alpha$ is `share`,"
                r" $\eta$ the rate"
            ),
            assumptions=(SHARED, Range(), EXP_CONCAVE),
            bound=promise,
            best=sequence,
            covers=lambda p: not p["variable"] and p["loss"] in ("square", "log"),
            asks="switches=20",
            tune=tuned,
            tuning=r"$\alpha = k/(T-1)$ for $k$ switches in $T$ rounds",
            source="Herbster and Warmuth, 1998",
        ),
        Theorem(
            name="fixed-share-losses",
            quantity="loss",
            formula=(
                r"L_A \le \min_k \left[ L_k + \tfrac1\eta \Big( \ln n + k\ln\tfrac{n-1}{\alpha}"
                r" + (T-k-1)\ln\tfrac{1}{1-\alpha} \Big) \right] + \tfrac{\eta T B^2}{8}"
            ),
            plain=(
                "loss <= min over k of  L(best sequence, k switches) + (ln n + k ln((n-1)/α)"
                " + (T-k-1) ln(1/(1-α)))/η  +  η T B²/8"
            ),
            where=(
                r"$L$ is the loss, $n$ the number of experts, $T$ of rounds; $\alpha$ is `share`,"
                r" $\eta$ the rate"
            ),
            assumptions=(Structural("any losses, or a convex loss of forecasts"), Spread()),
            bound=promise_of_hedging,
            best=sequence,
            covers=lambda p: not p["variable"],
            asks="switches=20",
            source="Herbster and Warmuth, 1998, with Hoeffding's inequality for mixing",
        ),
        Theorem(
            name="variable-share",
            quantity="loss",
            formula=(
                r"L_A \le \min_k \tfrac1\eta \Big( \ln n + \big(\eta + \ln\tfrac{1}{1-\alpha}\big)"
                r" L_k + k \big(\eta + \ln\tfrac{n-1}{\alpha} + \ln\tfrac{1}{1-\alpha}\big) \Big)"
            ),
            plain=(
                "loss <= min over k of  (ln n + (η + ln 1/(1-α)) L(best sequence, k switches)"
                " + k (η + ln((n-1)/α) + ln 1/(1-α)))/η"
            ),
            where=(
                r"$L$ is the loss, $n$ the number of experts; $\alpha$ is `share`, $\eta$ the rate"
            ),
            assumptions=(SHARED, Range(), EXP_CONCAVE, LossesIn(), AlwaysAwake()),
            bound=variable_promise,
            best=variable_sequence,
            covers=lambda p: p["variable"] and p["loss"] in ("square", "log"),
            asks="switches=20",
            source="Herbster and Warmuth, 1998, theorem 3",
        ),
    )

    def __init__(
        self,
        share: float = 0.01,
        variable: bool = False,
        loss: str | Loss = "square",
        rate: float | None = None,
        low: float = 0.0,
        high: float = 1.0,
        loss_parameter: float | None = None,
        prior: Any = None,
    ) -> None:
        truth("variable", variable)
        width = range_of(low, high, squared=True)
        self._rate_in_use = rate_for(loss, rate, low, high)
        super().__init__(
            Sharing(
                self._rate_in_use,
                positive("share", share, below=1.0),
                bool(variable),
                checked_prior(prior),
            ),
            loss,
            loss_parameter,
            low=float(low),
            high=float(high),
            spread=width * (1 + 1e-12),
        )
        self.share, self.variable, self.loss, self.rate = share, variable, loss, rate
        self.low, self.high, self.loss_parameter, self.prior = low, high, loss_parameter, prior
