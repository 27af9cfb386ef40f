"""Exponential weights on estimated losses, shared by exp3, exp3-ix and exp4.

The loss of the arm pulled is divided by its probability; the other arms count as 0. So the
estimate of every arm is unbiased.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from noregret.bandits.drawing import Floats, gibbs
from noregret.bandits.policy import Policy
from noregret.bandits.promises import IN_RANGE, OBLIVIOUS, expected_regret, promised
from noregret.checks import positive, whole
from noregret.proof.theorems.theorem import Theorem


def is_anytime(params: Any) -> bool:
    """Return whether the rate decreases with the rounds."""
    return params["horizon"] is None and params["rate"] is None


def has_fixed_rate(params: Any) -> bool:
    """Return whether the rate is constant."""
    return not is_anytime(params)


def tuned(horizon: int) -> dict[str, Any]:
    """Return the parameters for a known number of rounds."""
    return {"horizon": horizon}


def expectation_theorems(name: str, count: str, counted: str) -> tuple[Theorem, Theorem]:
    """Return the theorems about the expected regret with a constant and a decreasing rate.

    Parameters
    ----------
    name
        The name of the policy.
    count
        The symbol for the number of competitors: n for arms, N for experts.
    counted
        The explanation of the symbols other than the number of rounds and the rate.
    """
    return (
        Theorem(
            name=name,
            quantity="expected regret",
            formula=rf"\mathbb{{E}} R_T \le \frac{{\ln {count}}}{{\eta}} + \frac{{\eta n T}}{{2}}",
            plain=f"expected regret <= ln({count})/η + ηnT/2, at best √(2Tn ln({count})); times"
            " high - low",
            where=rf"{counted}, $T$ of rounds, $\eta$ the rate",
            assumptions=(IN_RANGE, OBLIVIOUS),
            bound=promised,
            measured=expected_regret,
            covers=has_fixed_rate,
            tune=tuned,
            tuning=rf"$\eta = \sqrt{{\frac{{2 \ln {count}}}{{n T}}}}$",
            source="Auer, Cesa-Bianchi, Freund and Schapire, 2002; Bubeck and Cesa-Bianchi, 2012",
        ),
        Theorem(
            name=f"{name}-anytime",
            quantity="expected regret",
            formula=rf"\mathbb{{E}} R_T \le 2 \sqrt{{T n \ln {count}}}",
            plain=f"expected regret <= 2 √(Tn ln({count})), times high - low, for every T",
            where=f"{counted}, $T$ of rounds",
            assumptions=(IN_RANGE, OBLIVIOUS),
            bound=promised,
            measured=expected_regret,
            covers=is_anytime,
            source="Bubeck and Cesa-Bianchi, 2012",
        ),
    )


class Exponential(Policy):
    """Probabilities proportional to exp(−η · estimated loss).

    The rate η is constant if it or the horizon is given, and decreases with the rounds otherwise.
    """

    _kept: ClassVar[tuple[str, ...]] = (*Policy._kept, "estimates")

    def __init__(
        self,
        arms: int | list[str] | None,
        horizon: int | None,
        rate: float | None,
        low: float,
        high: float,
        seed: int,
    ) -> None:
        if horizon is not None and rate is not None:
            raise ValueError("give a horizon or a rate, not both: the horizon sets the rate")
        self.horizon = None if horizon is None else whole("horizon", horizon)
        self.rate = None if rate is None else positive("rate", rate)
        super().__init__(arms, low, high, seed)

    @property
    def _estimates(self) -> Floats:
        """The estimated cumulative losses, per arm or per expert."""
        return self._state.sums["estimates"]

    def _complexity(self) -> float:
        """Return ln n, or ln N for the N experts of exp4."""
        return math.log(len(self._estimates))

    def _rate_at(self, round: int) -> float:
        """Return η in a round, counted from 1."""
        if self.rate is not None:
            return self.rate
        if self.horizon is not None:
            return math.sqrt(2 * self._complexity() / (len(self.names) * self.horizon))
        return math.sqrt(self._complexity() / (len(self.names) * round))

    def weights(self) -> Floats:
        """Return the weights of the next round; they sum to 1."""
        return gibbs(self._estimates, self._rate_at(self.rounds + 1))

    def _probabilities(self, advice: Floats | None) -> Floats:
        """Return the probability of each arm: its weight."""
        return self.weights()

    def bound_after(self, rounds: int) -> float | None:
        """Return ln N/η + ηnT/2, or 2 √(Tn ln N) if the rate decreases; relative to the range."""
        if not len(self._estimates):
            return None
        if is_anytime(self.params):
            return 2 * math.sqrt(rounds * len(self.names) * self._complexity())
        rate = self._rate_at(1)
        if rate == 0:  # one arm, or one expert
            return 0.0
        return self._complexity() / rate + rate * len(self.names) * rounds / 2
