"""Vovk's aggregating algorithm: the weights of the weighted average, and a better forecast.

For the square loss on [a, b] it uses η = 2/(b−a)², four times the rate that averaging allows, and
forecasts

    ŷ = (a+b)/2 + (g(a) − g(b)) / (2(b−a)),    g(y) = −(1/η) ln Σ w_i exp(−η (y − x_i)²)

whose loss is at most g(y) for any outcome y. For the log loss it is the weighted average.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.compiled.weigher import Exponential
from noregret.base.registry import register
from noregret.checks import one_of
from noregret.experts.assumptions import Range
from noregret.experts.master import Master, checked_prior, promise, range_of
from noregret.proof.theorems.assumptions import Structural
from noregret.proof.theorems.theorem import Theorem


def tuned(low: float = 0.0, high: float = 1.0) -> dict[str, Any]:
    """Return the range, which determines the rate."""
    return {"low": low, "high": high}


@register
class Aggregating(Master):
    """The aggregating algorithm with Vovk's substitution, for the square and the log loss.

    Parameters
    ----------
    loss
        ``square`` or ``log``.
    low, high
        The range of forecasts and outcomes.
    prior
        Weights before the first round, one per expert; by default equal.

    Examples
    --------
    >>> master = Aggregating()
    >>> round(master.predict_one([0.0, 0.5, 1.0]), 3)
    0.5
    >>> master.learn_one([0.0, 0.5, 1.0], 1.0)
    >>> round(master.predict_one([0.0, 0.5, 1.0]), 3)
    0.694

    References
    ----------
    V. Vovk, "A game of prediction with expert advice", 1998.
    """

    name = "aggregating"
    _weigher: Exponential
    theorems = (
        Theorem(
            name="aggregating",
            quantity="regret",
            formula=r"L_A \le \min_i \left[ L_i + \frac{1}{\eta} \ln\frac{1}{v_i} \right]",
            plain="loss <= min over i of  L(i) + ln(1/prior(i))/η,  so regret <= (b-a)²/2 ln n",
            where=(
                r"$L(i)$ is the loss of expert $i$, $n$ the number of experts, $\eta$ the rate,"
                " and $[a,b]$ the range from `low` to `high`"
            ),
            assumptions=(
                Structural(
                    r"square loss with $\eta = 2/(b-a)^2$ and Vovk's substitution, or log loss with"
                    r" $\eta = 1$; an expert asleep counts as repeating the forecast"
                ),
                Range(),
            ),
            bound=promise,
            tune=tuned,
            tuning=r"$\eta = 2/(b-a)^2$ for the square loss on $[a,b]$, $\eta = 1$ for log loss",
            source="Vovk, 1998",
        ),
    )

    def __init__(
        self, loss: str = "square", low: float = 0.0, high: float = 1.0, prior: Any = None
    ) -> None:
        one_of("loss", loss, ("square", "log"))
        width = range_of(low, high, squared=True)
        self._rate_in_use = 2 / width**2 if loss == "square" else 1.0
        super().__init__(
            Exponential(self._rate_in_use, "constant", checked_prior(prior)),
            loss,
            None,
            False,
            "substitute" if loss == "square" else "mean",
            low=float(low),
            high=float(high),
        )
        self.loss, self.low, self.high, self.prior = loss, low, high, prior

    @property
    def _as_assumed(self) -> bool:
        """Return whether advice was given and stayed within its range."""
        return not self._round.from_losses and super()._as_assumed

    @property
    def price(self) -> NDArray[np.float64]:
        """ln(1/prior)/η for each expert."""
        return np.asarray(self._log_prior / self._rate_in_use)
