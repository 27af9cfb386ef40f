"""Halving: predict the majority of the experts that were never wrong.

Every mistake of the majority at least halves the number of such experts. If all have been wrong, it
uses those with the fewest mistakes.

Promise. If some expert is never wrong: mistakes ≤ log₂ n.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.base.compiled.weigher import Exponential
from noregret.base.registry import register
from noregret.experts.assumptions import CONSISTENT, AlwaysAwake
from noregret.experts.master import checked_prior
from noregret.experts.voting import Voting
from noregret.proof.theorems.assumptions import Structural
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.experts.evidence import ExpertEvidence


def promise(evidence: ExpertEvidence) -> float:
    """Return log₂(1/prior), the smallest among the experts that are never wrong."""
    right = evidence.totals().values == 0
    return float(np.min(evidence.player._log_prior[right])) / math.log(2)


@register
class Halving(Voting):
    """Majority vote of the experts with the fewest mistakes.

    Parameters
    ----------
    prior
        The weight of each expert's vote; by default equal.

    Examples
    --------
    >>> master = Halving()
    >>> for day in range(8):
    ...     master.learn_one({"even": day % 2 == 0, "odd": day % 2 == 1, "never": 0}, day % 2)
    >>> master.mistakes, master.weights().tolist()
    (0, [0.0, 1.0, 0.0])

    References
    ----------
    N. Littlestone, "Learning quickly when irrelevant attributes abound", 1988.
    """

    name = "halving"
    theorems = (
        Theorem(
            name="halving",
            quantity="mistakes",
            formula=r"M_A \le \log_2 n",
            plain="mistakes <= log2(n)",
            where="$n$ is the number of experts",
            assumptions=(
                Structural("votes and outcomes are 0 or 1"),
                CONSISTENT,
                AlwaysAwake(),
            ),
            bound=promise,
            source="Littlestone, 1988",
        ),
    )

    def __init__(self, prior: Any = None) -> None:
        super().__init__(Exponential(1.0, "leaders", checked_prior(prior)))
        self.prior = prior
