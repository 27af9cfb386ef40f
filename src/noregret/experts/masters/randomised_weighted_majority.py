"""Randomised weighted majority: follow one expert, drawn by weight.

    w_i ← β · w_i  for every expert that was wrong

The draw defeats an adversary that knows the algorithm: no deterministic prediction guarantees less
than twice the best expert's mistakes, and this one approaches once as β approaches 1.

Promise. For every expert i with M_i mistakes: E[mistakes] ≤ (ln(1/β)·M_i + ln n) / (1 − β).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from noregret.base.registry import register
from noregret.checks import not_negative, seed_of, whole
from noregret.experts.masters.weighted_majority import (
    ASSUMPTIONS,
    SYMBOLS,
    penalised,
    price_of_mistakes,
)
from noregret.experts.voting import Voting
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.experts.evidence import ExpertEvidence


def promise(evidence: ExpertEvidence) -> float:
    """Return the bound at the expert for which it is smallest."""
    return price_of_mistakes(evidence) / (1 - float(evidence.params["beta"]))


def tuned(experts: int, mistakes: float) -> dict[str, Any]:
    """Return β if the best of ``experts`` makes at most ``mistakes``."""
    limit, n = max(1.0, not_negative("mistakes", mistakes)), max(2, whole("experts", experts))
    return {"beta": 1 / (1 + math.sqrt(2 * math.log(n) / limit))}


@register
class RandomisedWeightedMajority(Voting):
    """Follow an expert drawn by weight, β to the number of its mistakes.

    Parameters
    ----------
    beta
        The factor of a weight after a mistake, between 0 and 1.
    prior
        Weights before the first round, one per expert; by default equal.
    seed
        The seed of the draws.

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
            where=SYMBOLS,
            assumptions=ASSUMPTIONS,
            bound=promise,
            about="the expected number of mistakes",
            tune=tuned,
            tuning=r"best expert with at most $K$ mistakes: $\beta = 1/(1+\sqrt{2\ln n/K})$",
            source="Littlestone and Warmuth, 1994",
        ),
    )

    def __init__(self, beta: float = 0.5, prior: Any = None, seed: int = 0) -> None:
        super().__init__(penalised(beta, prior), manner="sample", seed=seed_of(seed))
        self.beta, self.prior, self.seed = beta, prior, seed
