"""Exponential weights on estimated losses, which exp3, exp3-ix and exp4 share.

The loss of the arm that was pulled is divided by its chance; that of the others counts as 0. So
every arm's estimate is right on average.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from noregret.bandits.drawing import Floats, gibbs
from noregret.bandits.policy import Policy
from noregret.checks import positive, whole


class Exponential(Policy):
    """Chances in proportion to exp(−η · estimated loss).

    The rate η is constant where it or the horizon is given, and falls with the rounds otherwise.
    """

    kept: ClassVar[tuple[str, ...]] = (*Policy.kept, "estimates")
    estimates: Floats

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
            raise ValueError("give a horizon or a rate, not both: the horizon says the rate")
        self.horizon = None if horizon is None else whole("horizon", horizon)
        self.rate = None if rate is None else positive("rate", rate)
        super().__init__(arms, low, high, seed)

    def complexity(self) -> float:
        """Return ln n, or ln N for the N experts of exp4."""
        return math.log(len(self.estimates))

    def rate_at(self, round: int) -> float:
        """Return η in a round, counted from 1."""
        if self.rate is not None:
            return self.rate
        if self.horizon is not None:
            return math.sqrt(2 * self.complexity() / (len(self.names) * self.horizon))
        return math.sqrt(self.complexity() / (len(self.names) * round))

    def weights(self) -> Floats:
        """Return the weights of the next round; their sum is 1."""
        return gibbs(self.estimates, self.rate_at(self.learned + 1))

    def bound_after(self, rounds: int) -> float | None:
        """Return ln N/η + ηnT/2, or 2 √(Tn ln N) where the rate falls."""
        if not len(self.estimates):
            return None
        if self.is_anytime(self.params):
            return 2 * math.sqrt(rounds * len(self.names) * self.complexity())
        rate = self.rate_at(1)
        if rate == 0:  # one arm, or one expert
            return 0.0
        return self.complexity() / rate + rate * len(self.names) * rounds / 2

    @staticmethod
    def is_anytime(params: Any) -> bool:
        """Return whether the rate decreases with the rounds."""
        return params["horizon"] is None and params["rate"] is None
