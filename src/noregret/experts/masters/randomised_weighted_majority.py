"""Randomised weighted majority: follow one expert, drawn by weight.

    w_i ← β · w_i  for every expert that was wrong

Drawing defeats an adversary that knows the algorithm: no deterministic prediction can promise less
than twice the best expert's mistakes, and this one comes as near to once as β comes to 1.

Promise. For every expert i with M_i mistakes: E[mistakes] ≤ (ln(1/β)·M_i + ln n) / (1 − β).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from noregret.base.compiled.weigher import Exponential
from noregret.base.registry import register
from noregret.checks import not_negative, positive, whole
from noregret.experts.assumptions import AlwaysAwake
from noregret.experts.master import checked_prior, checked_seed
from noregret.experts.masters.weighted_majority import price_of_mistakes
from noregret.experts.voting import Voting
from noregret.proof.theorems.assumptions import Structural
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.experts.evidence import ExpertEvidence


def promise(evidence: ExpertEvidence) -> float:
    """Return the bound, at the expert for which it is least."""
    return price_of_mistakes(evidence) / (1 - float(evidence.params["beta"]))


def tuned(experts: int, mistakes: float) -> dict[str, Any]:
    """Return β where the best of so many experts makes at most so many mistakes."""
    most, n = max(1.0, not_negative("mistakes", mistakes)), max(2, whole("experts", experts))
    return {"beta": 1 / (1 + math.sqrt(2 * math.log(n) / most))}


@register
class RandomisedWeightedMajority(Voting):
    """Follow an expert drawn by weight, β to the number of its mistakes.

    Parameters
    ----------
    beta
        Between 0 and 1: what is left of a weight after a mistake.
    prior
        Weights before the first round, one an expert; equal if not given.
    seed
        The same seed draws the same experts.

    Examples
    --------
    >>> master = RandomisedWeightedMajority(beta=0.5)
    >>> for day in range(10):
    ...     master.learn_one([1, 0, day % 2], day % 2)
    >>> round(master.mistakes, 3), master.drawn_mistakes
    (1.935, 1)

    References
    ----------
    N. Littlestone and M. K. Warmuth, "The weighted majority algorithm", 1994.
    """

    name = "randomised-weighted-majority"
    theorems = (
        Theorem(
            name="randomised-weighted-majority",
            quantity="mistakes",
            formula=r"E[M_A] \le \min_i \frac{\ln(1/\beta)\,M_i + \ln n}{1-\beta}",
            plain="E[mistakes] <= min over i of  (ln(1/β) M(i) + ln n) / (1 - β)",
            where=(
                "$M(i)$ counts the mistakes of expert $i$; $n$ is the number of experts, and"
                r" $\beta$ is `beta`"
            ),
            assumptions=(Structural("votes and outcomes are 0 or 1"), AlwaysAwake()),
            bound=promise,
            about="the expected number of mistakes",
            tune=tuned,
            tuning=r"best expert with at most $K$ mistakes:, $\beta = 1/(1+\sqrt{2\ln n/K})$",
            source="Littlestone and Warmuth, 1994",
        ),
    )

    def __init__(self, beta: float = 0.5, prior: Any = None, seed: int = 0) -> None:
        rate = math.log(1 / positive("beta", beta, below=1.0))
        super().__init__(
            Exponential(rate, "constant", checked_prior(prior)),
            manner="sample",
            seed=checked_seed(seed),
        )
        self.beta, self.prior, self.seed = beta, prior, seed
