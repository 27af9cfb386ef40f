"""Exp4: almost as good as the best of N experts that advise which arm to pull.

Expert j gives arm i the probability a_ji; the experts have weights q_j. Pull arm i with probability
p_i = Σ_j q_j a_ji; with ℓ = (high − reward)/(high − low), the loss of the arm i that was pulled,

    L̂_j ← L̂_j + a_ji ℓ/p_i   for every expert,   q_j = exp(−η L̂_j) / Z

Promise. For any rewards in the range, any advice, and η = √(2 ln N/(nT)), the expected regret
against the best of N experts is at most √(2Tn ln N) times the range, for n arms. If T is not known
beforehand, η decreases as √(ln N/(nt)), and the regret is at most 2 √(Tn ln N).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from noregret.bandits.advice import FORMS, AdviceTable, advice_of
from noregret.bandits.arms import checked_arms, names_of, numbered
from noregret.bandits.drawing import Floats
from noregret.bandits.exponential import Exponential, expectation_theorems
from noregret.base.registry import register
from noregret.checks import one_of


@register
class Exp4(Exponential):
    """Exponential weights over experts, which see the context and advise which arm to pull.

    ``choose(advice)`` takes from each expert an arm, or the probabilities of all arms. A table has
    a column of rewards for each arm, then the advice: with ``advice="arms"`` one column per
    expert with the number of an arm; with ``"chances"`` one column of probabilities per expert and
    arm. If columns have names, ``arms`` names those of the rewards, and the probabilities of an
    expert are called expert.arm.

    Parameters
    ----------
    arms
        The number of arms, or their names.
    experts
        The number of experts, or their names; by default those of the first advice.
    horizon
        T, the number of rounds, if known; the rate is √(2 ln N/(nT)). Otherwise the rate
        decreases with the rounds.
    rate
        η, above 0, instead of the one that the horizon sets.
    advice
        The form of the advice in a table: ``arms`` or ``chances``.
    low, high
        The range of the rewards. A reward outside it is rejected.
    seed
        The seed of the policy's random numbers.

    Examples
    --------
    >>> policy = Exp4(arms=["red", "blue"], experts=["always red", "weather"], seed=2)
    >>> for day in range(500):
    ...     best = "blue" if day % 3 else "red"
    ...     arm = policy.choose(["red", best])
    ...     policy.learn(arm, arm == best)
    >>> bool(policy.weights()[1] > 0.9)
    True

    References
    ----------
    P. Auer, N. Cesa-Bianchi, Y. Freund and R. Schapire, "The nonstochastic multiarmed bandit
    problem", 2002. S. Bubeck and N. Cesa-Bianchi, "Regret analysis of stochastic and
    nonstochastic multi-armed bandit problems", 2012, theorem 4.2, for the form and the constants.
    """

    name = "exp4"
    theorems = expectation_theorems("exp4", "N", "$n$ is the number of arms, $N$ of experts")
    _table_kind = AdviceTable

    def __init__(
        self,
        arms: int | list[str] | None = None,
        experts: int | list[str] | None = None,
        horizon: int | None = None,
        rate: float | None = None,
        advice: str = "arms",
        low: float = 0.0,
        high: float = 1.0,
        seed: int = 0,
    ) -> None:
        self.advice = one_of("advice", advice, FORMS)
        self.experts = checked_arms(experts, "experts")
        self.expert_names = names_of(self.experts)
        super().__init__(arms, horizon, rate, low, high, seed)

    def _sizes(self) -> dict[str, int]:
        """Return the length of each array; some have one number per expert."""
        arms, experts = len(self.names), len(self.expert_names)
        return {"pulls": arms, "gains": arms, "costs": experts, "estimates": experts}

    def _set_experts(self, experts: Sequence[str]) -> None:
        """Set the experts, if they are not known yet."""
        if not self.expert_names and experts:
            self.expert_names = names_of(checked_arms(list(experts), "experts"))
            for key in ("costs", "estimates"):
                self._state.sums[key] = np.zeros(len(experts))

    def _advice_of(self, context: Any) -> Floats:
        """Return the probability of each arm by each expert."""
        rows = advice_of(context, self.names, self.expert_names, self.rounds + 1)
        named = isinstance(context, dict)
        self._set_experts(sorted(context) if named else numbered(len(rows)))
        return rows

    def _probabilities(self, advice: Floats | None) -> Floats:
        """Return the probability of each arm: the weighted mean of the advice."""
        assert advice is not None
        return np.asarray(self.weights() @ advice)

    def _update(self, arm: int, loss: float, chance: float, advice: Floats | None) -> None:
        """Add to each expert's estimate in proportion to its probability of the arm."""
        assert advice is not None
        self._state.sums["estimates"] += advice * (loss / chance)

    def _expert_names(self) -> list[str]:
        return self.expert_names

    def _restore(self, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]) -> None:
        experts = names[numbers["arms"] :]
        self.expert_names = names_of(checked_arms(list(experts), "experts")) if experts else []
        super()._restore(arrays, numbers, names[: numbers["arms"]])
