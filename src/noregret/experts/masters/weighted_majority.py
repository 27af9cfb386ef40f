"""Weighted majority: every mistake of an expert reduces its vote.

    predict the weighted majority,    w_i ← β · w_i  for every expert that was wrong

Promise. For every expert i with M_i mistakes:
mistakes ≤ (ln(1/β)·M_i + ln n) / ln(2/(1+β)).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.base.compiled.weigher import Exponential
from noregret.base.registry import register
from noregret.checks import positive
from noregret.experts.assumptions import AlwaysAwake
from noregret.experts.master import checked_prior
from noregret.experts.voting import Voting
from noregret.proof.theorems.assumptions import Structural
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.experts.evidence import ExpertEvidence


# What both forms of weighted majority assume, and the symbols of their theorems.
ASSUMPTIONS = (Structural("votes and outcomes are 0 or 1"), AlwaysAwake())
SYMBOLS = (
    r"$M(i)$ counts the mistakes of expert $i$; $n$ is the number of experts, and $\beta$ is `beta`"
)


def penalised(beta: float, prior: Any) -> Exponential:
    """Return weights that are multiplied by β after each mistake."""
    rate = math.log(1 / positive("beta", beta, below=1.0))
    return Exponential(rate, "constant", checked_prior(prior))


def price_of_mistakes(evidence: ExpertEvidence) -> float:
    """Return min over i of  ln(1/β)·M_i + ln(1/prior_i)."""
    each = math.log(1 / evidence.params["beta"])
    return float(np.min(each * evidence.totals().values + evidence.player._log_prior))


def promise(evidence: ExpertEvidence) -> float:
    """Return the bound at the expert for which it is smallest."""
    return price_of_mistakes(evidence) / math.log(2 / (1 + evidence.params["beta"]))


@register
class WeightedMajority(Voting):
    """Deterministic vote, weighted by β to the number of mistakes.

    Parameters
    ----------
    beta
        The factor of a vote after a mistake, between 0 and 1.
    prior
        Weights before the first round, one per expert; by default equal.

    Examples
    --------
    >>> master = WeightedMajority(beta=0.5)
    >>> for day in range(10):
    ...     master.learn_one([1, 0, day % 2], day % 2 if day < 9 else 0)
    >>> master.mistakes
    1

    References
    ----------
    N. Littlestone and M. K. Warmuth, "The weighted majority algorithm", 1994.
    """

    name = "weighted-majority"
    theorems = (
        Theorem(
            name="weighted-majority",
            quantity="mistakes",
            formula=r"M_A \le \min_i \frac{\ln(1/\beta)\,M_i + \ln n}{\ln(2/(1+\beta))}",
            plain="mistakes <= min over i of  (ln(1/β) M(i) + ln n) / ln(2/(1+β))",
            where=SYMBOLS,
            assumptions=ASSUMPTIONS,
            bound=promise,
            tuning=r"$\beta = 1/e$ gives $2.63\,M_i + 2.63\ln n$",
            source="Littlestone and Warmuth, 1994",
        ),
    )

    def __init__(self, beta: float = 0.5, prior: Any = None) -> None:
        super().__init__(penalised(beta, prior))
        self.beta, self.prior = beta, prior
