"""AdaHedge: exponential weights whose rate adapts to the cost of mixing so far.

    η = ln n / Δ,    Δ ← Δ + (mean of the losses − mix loss at η)

Neither the range of the losses nor the number of rounds has to be known. On easy data Δ stops
growing, and so does the regret. Multiplying all losses by a constant, or adding one to those of a
round, changes no weight.

Promise. With s_t the spread of the losses in round t and S the largest of them:
regret ≤ √(Σ s_t² ln n) + S·(4/3 ln n + 2).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.compiled.losses import Loss
from noregret.base.compiled.weigher import Exponential
from noregret.base.registry import register
from noregret.experts.assumptions import MIXED
from noregret.experts.master import Master, checked_prior, promise
from noregret.proof.theorems.theorem import Theorem


@register
class AdaHedge(Master):
    """Exponential weights with an adaptive rate, for losses of any range.

    Parameters
    ----------
    loss
        The loss of a forecast: ``square``, ``absolute``, ``zero-one``, ``log``, ``quantile``,
        ``percentage``, or a custom loss. Without advice, losses are given.
    loss_parameter
        The quantile, for ``quantile``.
    gradient
        Whether the loss of an expert is the slope of the mixture's loss times the forecast: then
        it competes with the best mixture of experts, not only with the best expert.
    prior
        Weights before the first round, one per expert; by default equal.

    Examples
    --------
    >>> master = AdaHedge()
    >>> for losses in [[100.0, 300.0], [200.0, 300.0]] * 10:
    ...     master.learn_losses(losses)
    >>> master.weights().round(2).tolist()
    [1.0, 0.0]

    References
    ----------
    S. de Rooij, T. van Erven, P. D. Grünwald and W. M. Koolen, "Follow the leader if you can, hedge
    if you must", 2014.
    """

    name = "ada-hedge"
    _weigher: Exponential
    theorems = (
        Theorem(
            name="ada-hedge",
            quantity="regret",
            formula=(
                r"L_A - \min_i L_i \le \sqrt{\ln n \sum_t s_t^2}"
                r" + S\left(\tfrac43 \ln n + 2\right)"
            ),
            plain="regret <= sqrt(Σ s_t² ln n) + S (4/3 ln n + 2)",
            where=(
                "$s_t$ is the spread of the losses in round $t$, the largest minus the smallest;"
                " $S$ is the largest $s_t$, and $n$ the number of experts"
            ),
            assumptions=(MIXED,),
            bound=promise,
            source="de Rooij, van Erven, Grünwald and Koolen, 2014, theorem 8",
        ),
    )

    def __init__(
        self,
        loss: str | Loss = "square",
        loss_parameter: float | None = None,
        gradient: bool = False,
        prior: Any = None,
    ) -> None:
        super().__init__(
            Exponential(math.log(2), "adaptive", checked_prior(prior)),
            loss,
            loss_parameter,
            gradient,
        )
        self.loss, self.loss_parameter, self.gradient = loss, loss_parameter, gradient
        self.prior = prior

    def _settle_rate(self, n: int) -> None:
        """Set the numerator of the rate, ln n."""
        self._weigher.rate = math.log(max(2, n))

    @property
    def price(self) -> NDArray[np.float64]:
        """The bound for each expert: (1 + ln(1/prior)/ln n) times half the theorem's."""
        weigher, log_n = self._weigher, self._weigher.rate
        half = weigher.spreads * math.sqrt(log_n) / 2 + self._round.widest * (2 / 3 * log_n + 1)
        return np.asarray((1 + self._log_prior / log_n) * half)
