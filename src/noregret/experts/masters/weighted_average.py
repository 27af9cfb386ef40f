"""The weighted average forecaster: exponential weights for exp-concave losses.

    forecast Σ w_i x_i,    w_i ∝ prior_i · exp(−η · loss of i so far)

If exp(−η·loss) is concave in the forecast, averaging costs nothing, and the regret stays below
ln n/η for any number of rounds: η = 1/(2(b−a)²) for the square loss on [a, b], η = 1 for the log
loss, for which the total loss is −ln Σ prior_i exp(−L_i) exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.compiled.losses import Loss
from noregret.base.compiled.weigher import Exponential
from noregret.base.expert_losses import exp_concavity
from noregret.base.registry import register
from noregret.checks import positive
from noregret.experts.assumptions import EXP_CONCAVE, Range
from noregret.experts.master import Master, checked_prior, promise, range_of
from noregret.proof.theorems.assumptions import ROUNDING, Structural
from noregret.proof.theorems.theorem import Theorem


def tuned(low: float = 0.0, high: float = 1.0) -> dict[str, Any]:
    """Return the range, which determines the rate."""
    return {"low": low, "high": high}


@register
class WeightedAverage(Master):
    """Exponential weights for the square loss, the log loss and other exp-concave losses.

    Parameters
    ----------
    loss
        ``square``, ``log``, or, if a rate is given, any other.
    rate
        η, above 0; by default the largest that the theorem allows.
    low, high
        The range of forecasts and outcomes.
    loss_parameter
        The quantile, for ``quantile``.
    prior
        Weights before the first round, one per expert; by default equal.

    Examples
    --------
    >>> master = WeightedAverage(loss="log")
    >>> for rain in [1, 1, 0, 1] * 5:
    ...     master.learn_one({"optimist": 0.3, "pessimist": 0.8}, rain)
    >>> round(master.predict_one({"optimist": 0.3, "pessimist": 0.8}), 3)
    0.8

    References
    ----------
    J. Kivinen and M. K. Warmuth, "Averaging expert predictions", 1999.
    """

    name = "weighted-average"
    _weigher: Exponential
    theorems = (
        Theorem(
            name="weighted-average",
            quantity="regret",
            formula=r"L_A \le \min_i \left[ L_i + \frac{1}{\eta} \ln\frac{1}{v_i} \right]",
            plain="loss <= min over i of  L(i) + ln(1/prior(i))/η,  so regret <= ln n/η",
            where=r"$L(i)$ is the loss of expert $i$, $n$ the number of experts, $\eta$ the rate",
            assumptions=(
                Structural(
                    "the forecast is the weighted mean; an expert asleep counts as repeating it"
                ),
                Range(),
                EXP_CONCAVE,
            ),
            bound=promise,
            tune=tuned,
            tuning=r"$\eta = 1/(2(b-a)^2)$ for square loss on $[a,b]$, $\eta = 1$ for log loss",
            source="Kivinen and Warmuth, 1999",
        ),
    )

    def __init__(
        self,
        loss: str | Loss = "square",
        rate: float | None = None,
        low: float = 0.0,
        high: float = 1.0,
        loss_parameter: float | None = None,
        prior: Any = None,
    ) -> None:
        range_of(low, high, squared=True)
        self._rate_in_use = rate_for(loss, rate, low, high)
        super().__init__(
            Exponential(self._rate_in_use, "constant", checked_prior(prior)),
            loss,
            loss_parameter,
            low=float(low),
            high=float(high),
        )
        self.loss, self.rate, self.low, self.high = loss, rate, low, high
        self.loss_parameter, self.prior = loss_parameter, prior

    @property
    def _as_assumed(self) -> bool:
        """Return whether advice stayed in range and the rate allows plain averaging."""
        limit = exp_concavity(self.loss, self.low, self.high)
        allowed = limit is None or self._rate_in_use <= limit * ROUNDING
        return allowed and not self._round.from_losses and super()._as_assumed

    @property
    def price(self) -> NDArray[np.float64]:
        """ln(1/prior)/η for each expert."""
        return np.asarray(self._log_prior / self._rate_in_use)


def rate_for(loss: Any, rate: float | None, low: float, high: float) -> float:
    """Return the rate that was given, or the largest at which averaging costs nothing."""
    if rate is not None:
        return positive("rate", rate)
    found = exp_concavity(loss, low, high)
    if found is None:
        raise ValueError(f"give a rate: none is known for the loss {loss!r}")
    return found
