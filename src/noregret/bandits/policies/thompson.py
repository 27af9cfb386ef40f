"""Thompson sampling: pull an arm with the probability that it is the best.

The mean of every arm has a Beta distribution, which starts as the prior Beta(a, b):

    θ_i ~ Beta(a + S_i, b + F_i),   pull the arm i with the largest θ_i
    S_i ← S_i + 1   after a success,   F_i ← F_i + 1   after a failure

A reward strictly between low and high counts as a success with probability
(reward − low)/(high − low).

Promise. If the means of n arms are drawn independently from the prior and the rewards are drawn
independently given those, the expected regret against the arm with the best mean, over the draw of
the means too, is at most √(nT ln(n)/2); against the arm that was best in hindsight it is at most
√(T ln(n)/2) more. For means that were not drawn from the prior, the known result is asymptotic: the
regret grows as Σ Δ_i ln T/kl(μ_i, μ*), the least that any policy can have. It does not say from
which round on it holds, so it gives no bound here.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from noregret.bandits.drawing import Floats, leader
from noregret.bandits.policy import Policy
from noregret.bandits.promises import IN_RANGE, INDEPENDENT, luck_of_hindsight, own_regret, promised
from noregret.base.registry import register
from noregret.checks import positive
from noregret.proof.theorems.assumptions import Trusted
from noregret.proof.theorems.theorem import Theorem

# The largest count of an arm: beyond it, adding 1 has no effect on the Beta distribution.
MAX_COUNT = 1e15


@register
class Thompson(Policy):
    """Draw a mean for each arm from its posterior, and pull the arm with the largest.

    Arms may be added while it runs: they start at the prior. Its propensities are integrals, which
    are computed on request or if a log is kept, with an error of about 1e-6.

    Parameters
    ----------
    arms
        The number of arms, or their names; by default the columns of a table.
    prior_successes, prior_failures
        a and b of the prior, above 0; with 1 and 1 all means are equally likely.
    low, high
        The range of the rewards. A reward outside it is rejected.
    seed
        The seed of the policy's random numbers.

    Examples
    --------
    >>> policy = Thompson(arms=["red", "blue"])
    >>> for _ in range(500):
    ...     arm = policy.choose()
    ...     policy.learn(arm, arm == "blue")
    >>> bool(policy.pulls[1] > 480)
    True

    References
    ----------
    W. Thompson, "On the likelihood that one unknown probability exceeds another in view of the
    evidence of two samples", 1933. D. Russo and B. Van Roy, "An information-theoretic analysis of
    Thompson sampling", 2016, for the bound. S. Agrawal and N. Goyal, "Further optimal regret
    bounds for Thompson sampling", 2013, for rewards between 0 and 1 and the asymptotic form.
    """

    name = "thompson"
    _grows = True
    _knows_probabilities = False
    _kept: ClassVar[tuple[str, ...]] = (*Policy._kept, "successes", "failures")
    theorems = (
        Theorem(
            name="thompson",
            quantity="expected regret",
            formula=r"\mathbb{E} R_T \le \bigl(\sqrt{n} + 1\bigr) \sqrt{\frac{T \ln n}{2}}",
            plain="expected regret <= (√n + 1) √(T ln(n)/2), times high - low",
            where="$n$ is the number of arms, $T$ of rounds",
            assumptions=(
                IN_RANGE,
                INDEPENDENT,
                Trusted(
                    "the means of the arms, relative to the range, are drawn independently from"
                    " the prior",
                    "the arms' means are drawn from the prior",
                ),
            ),
            bound=promised,
            measured=own_regret,
            source="Russo and Van Roy, 2016",
        ),
    )

    def __init__(
        self,
        arms: int | list[str] | None = None,
        prior_successes: float = 1.0,
        prior_failures: float = 1.0,
        low: float = 0.0,
        high: float = 1.0,
        seed: int = 0,
    ) -> None:
        self.prior_successes = positive("prior_successes", prior_successes)
        self.prior_failures = positive("prior_failures", prior_failures)
        super().__init__(arms, low, high, seed)

    def _restore(self, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]) -> None:
        super()._restore(arrays, numbers, names)
        for key in ("successes", "failures"):
            if (self._state.sums[key] > MAX_COUNT).any():
                raise ValueError(f"{key} should be {MAX_COUNT:g} at most")

    def _draw(self, advice: Floats | None) -> tuple[int, None]:
        """Draw a mean for each arm; return the arm with the largest."""
        random = self._state.random
        return leader(random.beta(*self._posterior()), random), None

    def _posterior(self) -> tuple[Floats, Floats]:
        """Return the two parameters of the Beta distribution of each arm."""
        sums = self._state.sums
        return self.prior_successes + sums["successes"], self.prior_failures + sums["failures"]

    def _probabilities(self, advice: Floats | None) -> Floats:
        """Return the probability of each arm that its draw is the largest."""
        from noregret.bandits.beta import chances_of_best

        return chances_of_best(*self._posterior())

    def _update(self, arm: int, loss: float, chance: float, advice: Floats | None) -> None:
        """Count a success or a failure; draw which, if the reward is between low and high."""
        success = loss == 0.0 or (loss < 1.0 and self._state.random.random() >= loss)
        self._state.sums["successes" if success else "failures"][arm] += 1.0

    def bound_after(self, rounds: int) -> float:
        """Return the bound after a number of rounds, relative to the range of rewards."""
        n = len(self.names)
        return math.sqrt(n) * luck_of_hindsight(n, rounds) + luck_of_hindsight(n, rounds)
