"""Exp3: no worse than the best arm on any rewards whatever, up to √T.

Pull arm i with probability p_i; with ℓ = (high − reward)/(high − low), the loss of the arm pulled,

    L̂_i ← L̂_i + ℓ/p_i   for that arm,   p_i = exp(−η L̂_i) / Z

Promise. Nothing is assumed of the rewards but their range. With η = √(2 ln n/(nT)) the expected
regret against the best of n arms is at most √(2Tn ln n) times the range. Where T is not known
beforehand, η falls as √(ln n/(nt)), and it is at most 2 √(Tn ln n).
"""

from __future__ import annotations

from typing import Any

from noregret.bandits.drawing import Floats
from noregret.bandits.exponential import Exponential
from noregret.bandits.promises import IN_RANGE, OBLIVIOUS, expected_regret, promised
from noregret.base.registry import register
from noregret.proof.theorems.theorem import Theorem


def tuned(horizon: int) -> dict[str, Any]:
    """Return the parameters for a number of rounds known beforehand."""
    return {"horizon": horizon}


@register
class Exp3(Exponential):
    """Exponential weights on estimated losses: for rewards that follow no law.

    Parameters
    ----------
    arms
        How many there are, or their names. For a table its columns, if not given.
    horizon
        T, the number of rounds, where it is known; the rate is √(2 ln n/(nT)). Otherwise the rate
        falls with the rounds.
    rate
        η, above 0, in place of the horizon's.
    low, high
        The range of the rewards; one outside is refused.
    seed
        Of the policy's own random numbers.

    Examples
    --------
    >>> policy = Exp3(arms=["red", "blue"], seed=1)
    >>> for _ in range(500):
    ...     arm = policy.choose()
    ...     policy.learn(arm, 0.8 if arm == "blue" else 0.3)
    >>> bool(policy.propensities()[1] > 0.9)
    True

    References
    ----------
    P. Auer, N. Cesa-Bianchi, Y. Freund and R. Schapire, "The nonstochastic multiarmed bandit
    problem", 2002. S. Bubeck and N. Cesa-Bianchi, "Regret analysis of stochastic and
    nonstochastic multi-armed bandit problems", 2012, theorem 3.1, for the form and the constants.
    """

    name = "exp3"
    theorems = (
        Theorem(
            name="exp3",
            quantity="expected regret",
            formula=r"\mathbb{E} R_T \le \frac{\ln n}{\eta} + \frac{\eta n T}{2}",
            plain="expected regret <= ln(n)/η + ηnT/2, at best √(2Tn ln(n)); times high - low",
            where=r"$n$ is the number of arms, $T$ of rounds, $\eta$ the rate",
            assumptions=(IN_RANGE, OBLIVIOUS),
            bound=promised,
            measured=expected_regret,
            covers=lambda params: not Exponential.is_anytime(params),
            tune=tuned,
            tuning=r"$\eta = \sqrt{\frac{2 \ln n}{n T}}$",
            source="Auer, Cesa-Bianchi, Freund and Schapire, 2002; Bubeck and Cesa-Bianchi, 2012",
        ),
        Theorem(
            name="exp3-anytime",
            quantity="expected regret",
            formula=r"\mathbb{E} R_T \le 2 \sqrt{T n \ln n}",
            plain="expected regret <= 2 √(Tn ln(n)), times high - low, for every T",
            where="$n$ is the number of arms, $T$ of rounds",
            assumptions=(IN_RANGE, OBLIVIOUS),
            bound=promised,
            measured=expected_regret,
            covers=Exponential.is_anytime,
            source="Bubeck and Cesa-Bianchi, 2012",
        ),
    )

    def __init__(
        self,
        arms: int | list[str] | None = None,
        horizon: int | None = None,
        rate: float | None = None,
        low: float = 0.0,
        high: float = 1.0,
        seed: int = 0,
    ) -> None:
        super().__init__(arms, horizon, rate, low, high, seed)

    def chances(self, advice: Floats | None) -> Floats:
        """Return the chance of each arm."""
        return self.weights()

    def update(self, arm: int, loss: float, chance: float, advice: Floats | None) -> None:
        """Add the estimated loss of the arm."""
        self.estimates[arm] += loss / chance
