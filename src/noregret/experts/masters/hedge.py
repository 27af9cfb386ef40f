"""Hedge: weights that decrease exponentially with the losses of experts.

    w_i ∝ prior_i · exp(−η · loss of i so far)

The loss of a round is the mean of the losses under the weights (HA-1), or the loss of one expert
drawn from them (HA-2). The largest difference between losses of a round must be known, and either
the number of rounds, or the rate decreases as 1/√t.

Promise. If losses of a round differ by at most B, with rate η: regret ≤ ln n/η + η T B²/8.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.compiled.losses import Loss
from noregret.base.compiled.weigher import Exponential
from noregret.base.registry import register
from noregret.checks import one_of, positive, seed_of, whole
from noregret.experts.assumptions import MIXED, Spread
from noregret.experts.master import Master, checked_prior, promise, range_of
from noregret.proof.theorems.assumptions import WithinHorizon
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.experts.evidence import ExpertEvidence

SCHEDULES = ("anytime", "horizon", "hoeffding", "constant")


def first_promise(evidence: ExpertEvidence) -> float:
    """Return ln n/η + η T B²/2, which is B √(2 T ln n) after all T rounds."""
    player = evidence.player
    assert isinstance(player, Hedge)
    return evidence.at_the_best(player._log_prior / player._weigher.rate + player._cost_of_rates(2))


def tuned(horizon: int, low: float = 0.0, high: float = 1.0) -> dict[str, Any]:
    """Return the schedule for a known number of rounds."""
    return {"schedule": "horizon", "horizon": horizon, "low": low, "high": high}


def tuned_sharply(horizon: int, low: float = 0.0, high: float = 1.0) -> dict[str, Any]:
    """Return the schedule of the sharper theorem."""
    return {"schedule": "hoeffding", "horizon": horizon, "low": low, "high": high}


@register
class Hedge(Master):
    """Exponential weights over experts whose losses lie in a known range.

    Parameters
    ----------
    schedule
        ``anytime`` (η_t = √(8 ln n/t)/B), ``horizon`` (η = √(2 ln n/T)/B), ``hoeffding``
        (η = √(8 ln n/T)/B), or ``constant``.
    rate
        η, for the constant schedule.
    horizon
        T, the number of rounds, for ``horizon`` and ``hoeffding``.
    low, high
        The range of the losses; only its width B matters.
    loss
        The loss of a forecast: ``square``, ``absolute``, ``zero-one``, ``log``, ``quantile``,
        ``percentage``, or a custom loss. Without advice, losses are given.
    loss_parameter
        The quantile, for ``quantile``.
    gradient
        Whether the loss of an expert is the slope of the mixture's loss times the forecast: then
        it competes with the best mixture of experts, not only with the best expert.
    play
        ``mixture``, or ``sampled``: follow one expert, drawn in each round.
    prior
        Weights before the first round, one per expert; by default equal.
    seed
        The seed of the draws, for ``sampled``.

    Examples
    --------
    >>> master = Hedge()
    >>> for losses in [[0.0, 1.0, 0.5], [0.0, 0.5, 1.0]] * 10:
    ...     master.learn_losses(losses)
    >>> master.weights().round(2).tolist()
    [1.0, 0.0, 0.0]

    References
    ----------
    Y. Freund and R. E. Schapire, "A decision-theoretic generalization of on-line learning and an
    application to boosting", 1997. N. Cesa-Bianchi and G. Lugosi, "Prediction, learning, and
    games", 2006, chapter 2.
    """

    name = "hedge"
    _weigher: Exponential
    theorems = (
        Theorem(
            name="hedge",
            quantity="regret",
            formula=r"L_A - \min_i L_i \le B\sqrt{2T\ln n}",
            plain="regret <= B sqrt(2 T ln n)",
            where="$n$ is the number of experts, $T$ of rounds",
            assumptions=(MIXED, Spread(), WithinHorizon()),
            bound=first_promise,
            covers=lambda p: p["schedule"] == "horizon" and p["prior"] is None,
            tune=tuned,
            tuning=r"$\eta = \sqrt{2\ln n/T}/B$, for a horizon $T$",
            source="Freund and Schapire, 1997",
        ),
        Theorem(
            name="hedge-hoeffding",
            quantity="regret",
            formula=r"L_A - \min_i L_i \le B\sqrt{T\ln n/2}",
            plain="regret <= B sqrt(T ln n / 2)",
            where="$n$ is the number of experts, $T$ of rounds",
            assumptions=(MIXED, Spread(), WithinHorizon()),
            bound=promise,
            covers=lambda p: p["schedule"] == "hoeffding" and p["prior"] is None,
            tune=tuned_sharply,
            tuning=r"$\eta = \sqrt{8\ln n/T}/B$, for a horizon $T$",
            source="Cesa-Bianchi and Lugosi, 2006, theorem 2.2",
        ),
        Theorem(
            name="hedge-anytime",
            quantity="regret",
            formula=(
                r"L_A - \min_i L_i \le \frac{\ln n}{\eta_T} + \frac{B^2}{8}\sum_t \eta_t"
                r" \le B\sqrt{2T\ln n} + B\sqrt{\tfrac{\ln n}{8}}"
            ),
            plain="regret <= ln n/η_T + (B²/8) Σ η_t  <=  2B sqrt(T ln n / 2) + B sqrt(ln n / 8)",
            where=r"$n$ is the number of experts, $T$ of rounds, $\eta_t$ the rate in round $t$",
            assumptions=(MIXED, Spread()),
            bound=promise,
            covers=lambda p: p["schedule"] == "anytime",
            tuning=r"$\eta_t = \sqrt{8\ln n/t}/B$",
            source="Cesa-Bianchi and Lugosi, 2006, theorem 2.3, with a sharper constant",
        ),
        Theorem(
            name="hedge-rate",
            quantity="regret",
            formula=(
                r"L_A \le \min_i \left[ L_i + \frac{\ln(1/v_i)}{\eta} \right]"
                r" + \frac{\eta T B^2}{8}"
            ),
            plain="loss <= min over i of  L(i) + ln(1/prior(i))/η  +  η T B²/8",
            where=r"$L(i)$ is the loss of expert $i$, $T$ the number of rounds, $\eta$ the rate",
            assumptions=(MIXED, Spread()),
            bound=promise,
            covers=lambda p: True,
            source="Cesa-Bianchi and Lugosi, 2006, section 2.2",
        ),
    )

    def __init__(
        self,
        schedule: str = "anytime",
        rate: float | None = None,
        horizon: int | None = None,
        low: float = 0.0,
        high: float = 1.0,
        loss: str | Loss = "square",
        loss_parameter: float | None = None,
        gradient: bool = False,
        play: str = "mixture",
        prior: Any = None,
        seed: int = 0,
    ) -> None:
        one_of("schedule", schedule, SCHEDULES)
        one_of("play", play, ("mixture", "sampled"))
        if (rate is not None) != (schedule == "constant"):
            raise ValueError("schedule='constant' and rate=η go together")
        if (horizon is not None) != (schedule in ("horizon", "hoeffding")):
            raise ValueError(
                "schedule='horizon' or 'hoeffding' and horizon=T, the number of rounds, go together"
            )
        if rate is not None:
            positive("rate", rate)
        if horizon is not None:
            whole("horizon", horizon)
        self._width_of_losses = range_of(low, high)
        super().__init__(
            Exponential(
                1.0 if rate is None else rate,
                "shrinking" if schedule == "anytime" else "constant",
                checked_prior(prior),
            ),
            loss,
            loss_parameter,
            gradient,
            "sample" if play == "sampled" else None,
            spread=self._width_of_losses * (1 + 1e-12),
            seed=seed_of(seed),
        )
        self.schedule, self.rate, self.horizon, self.low, self.high = (
            schedule,
            rate,
            horizon,
            low,
            high,
        )
        self.loss, self.loss_parameter, self.gradient = loss, loss_parameter, gradient
        self.play, self.prior, self.seed = play, prior, seed

    def _settle_rate(self, n: int) -> None:
        """Choose the rate for n experts."""
        if self.rate is None:
            scale = {"anytime": 8.0, "horizon": 2.0, "hoeffding": 8.0}[self.schedule]
            rounds = self.horizon or 1
            self._weigher.rate = (
                math.sqrt(scale * math.log(max(2, n)) / rounds) / self._width_of_losses
            )

    @property
    def _as_assumed(self) -> bool:
        """Return whether the losses stayed in range and the horizon was not exceeded."""
        return (self.horizon is None or self.rounds <= self.horizon) and super()._as_assumed

    @property
    def price(self) -> NDArray[np.float64]:
        """ln(1/prior)/η_T + (B²/8) Σ η_t for each expert."""
        last = self._weigher.rate
        if self.schedule == "anytime":
            last /= math.sqrt(max(1, self.rounds))
        return np.asarray(self._log_prior / last + self._cost_of_rates(8))

    def _cost_of_rates(self, divisor: float) -> float:
        """Return B² Σ η_t over a divisor."""
        return float(
            self._width_of_losses * (self._width_of_losses * self._weigher.rates) / divisor
        )
