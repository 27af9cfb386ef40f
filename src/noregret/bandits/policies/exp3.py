"""Exp3: at most about √T worse than the best arm, whatever the rewards.

Pull arm i with probability p_i; with ℓ = (high − reward)/(high − low), the loss of the arm pulled,

    L̂_i ← L̂_i + ℓ/p_i   for that arm,   p_i = exp(−η L̂_i) / Z

Promise. For any rewards in the range, and η = √(2 ln n/(nT)), the expected regret against the best
of n arms is at most √(2Tn ln n) times the range. If T is not known beforehand, η decreases as
√(ln n/(nt)), and the regret is at most 2 √(Tn ln n).
"""

from __future__ import annotations

from noregret.bandits.drawing import Floats
from noregret.bandits.exponential import Exponential, expectation_theorems
from noregret.base.registry import register


@register
class Exp3(Exponential):
    """Exponential weights on estimated losses, for rewards that follow no distribution.

    Parameters
    ----------
    arms
        The number of arms, or their names; by default the columns of a table.
    horizon
        T, the number of rounds, if known; the rate is √(2 ln n/(nT)). Otherwise the rate
        decreases with the rounds.
    rate
        η, above 0, instead of the one that the horizon sets.
    low, high
        The range of the rewards. A reward outside it is rejected.
    seed
        The seed of the policy's random numbers.

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
    theorems = expectation_theorems("exp3", "n", "$n$ is the number of arms")

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

    def _update(self, arm: int, loss: float, chance: float, advice: Floats | None) -> None:
        """Add the estimated loss of the arm."""
        self._estimates[arm] += loss / chance
