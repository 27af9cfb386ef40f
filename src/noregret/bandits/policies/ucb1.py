"""UCB1: pull the arm with the largest upper confidence bound.

Pull each arm once; then, after t pulls, of which n_i were of arm i with mean reward x̄_i,

    pull the arm with the largest   x̄_i + (high − low) √(2 ln t / n_i)

Promise. If the rewards of every arm are drawn independently from one distribution in [0, 1], and
the mean of arm i is Δ_i below the best, the expected number of pulls of arm i is at
most 8 ln T/Δ_i² + 1 + π²/3. So the expected regret against the arm with the best mean is at most
Σ 8 ln T/Δ_i + (1 + π²/3) Σ Δ_i, and for any Δ_i at most √((n−1) T (8 ln T + 1 + π²/3)).
Against the arm that was best in hindsight it is at most √(T ln(n)/2) more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from noregret.bandits.drawing import Floats, leader
from noregret.bandits.policy import Policy
from noregret.bandits.promises import IN_RANGE, INDEPENDENT, luck_of_hindsight, own_regret, promised
from noregret.base.registry import register
from noregret.checks import not_negative, whole
from noregret.proof.theorems.theorem import Theorem

# Bounds the expected number of pulls of a worse arm beyond 8 ln T/Δ².
EXTRA_PULLS = 1 + math.pi**2 / 3


def ucb1_bound(gaps: Iterable[float], rounds: int) -> float:
    """Return Σ 8 ln T/Δ_i + (1 + π²/3) Σ Δ_i, for arms with means Δ_i below the best.

    It bounds the expected regret of ucb1 against the arm with the best mean, for rewards in [0, 1],
    or relative to the range if the ``gaps`` are.
    """
    log = math.log(whole("rounds", rounds))
    behind = [gap for gap in (not_negative("gap", gap) for gap in gaps) if gap]
    return sum(8 * log / gap + EXTRA_PULLS * gap for gap in behind)


@register
class Ucb1(Policy):
    """Pull the arm with the largest upper confidence bound, for rewards drawn independently.

    Arms may be added while it runs: they are pulled first. If rewards are pending, it uses those
    that are known.

    Parameters
    ----------
    arms
        The number of arms, or their names; by default the columns of a table.
    low, high
        The range of the rewards. A reward outside it is rejected.
    seed
        The seed of the policy's random numbers, which break ties.

    Examples
    --------
    >>> policy = Ucb1(arms=["red", "blue"])
    >>> for _ in range(500):
    ...     arm = policy.choose()
    ...     policy.learn(arm, 1.0 if arm == "blue" else 0.0)
    >>> bool(policy.pulls[1] > 450)
    True

    References
    ----------
    P. Auer, N. Cesa-Bianchi and P. Fischer, "Finite-time analysis of the multiarmed bandit
    problem", 2002, theorem 1; the form without gaps follows by the Cauchy-Schwarz inequality.
    """

    name = "ucb1"
    _grows = True
    theorems = (
        Theorem(
            name="ucb1",
            quantity="expected regret",
            formula=r"\mathbb{E} R_T \le \sqrt{(n-1)\, T \Bigl(8 \ln T + 1 + \frac{\pi^2}{3}\Bigr)}"
            r" + \sqrt{\frac{T \ln n}{2}}",
            plain="expected regret <= √((n-1) T (8 ln(T) + 1 + π²/3)) + √(T ln(n)/2), times"
            " high - low",
            where="$n$ is the number of arms, $T$ of rounds",
            assumptions=(IN_RANGE, INDEPENDENT),
            bound=promised,
            measured=own_regret,
            source="Auer, Cesa-Bianchi and Fischer, 2002",
        ),
    )

    def __init__(
        self,
        arms: int | list[str] | None = None,
        low: float = 0.0,
        high: float = 1.0,
        seed: int = 0,
    ) -> None:
        super().__init__(arms, low, high, seed)

    def _indices(self) -> Floats:
        """Return the upper confidence bound of each arm; infinite for one never chosen."""
        pulls, gains = self.pulls, self._state.sums["gains"]
        if np.count_nonzero(pulls) < len(pulls):
            return self._first_indices()
        bonus = np.sqrt(2 * math.log(self.rounds) / pulls)
        bonus += gains / pulls
        return bonus

    def _first_indices(self) -> Floats:
        """Prefer arms never chosen, then those with rewards; without any, the least chosen."""
        pending, known = np.zeros(len(self.names)), self.pulls > 0
        for choice in self._state.pending.values():
            pending[choice.arm] += 1
        if not known.any():
            return -pending
        pulls = np.maximum(self.pulls, 1)
        means = self._state.sums["gains"] / pulls
        bounds = means + np.sqrt(2 * math.log(self.rounds) / pulls)
        return np.where(known, bounds, np.where(pending > 0, -np.inf, np.inf))

    def _draw(self, advice: Floats | None) -> tuple[int, Floats]:
        """Take an arm with the largest bound."""
        indices = self._indices()
        return leader(indices, self._state.random), shares(indices)

    def _probabilities(self, advice: Floats | None) -> Floats:
        """Return 1 for the arm with the largest bound, divided among ties."""
        return shares(self._indices())

    def bound_after(self, rounds: int) -> float:
        """Return the bound after a number of rounds, relative to the range of rewards."""
        n = len(self.names)
        pulls = math.sqrt((n - 1) * rounds * (8 * math.log(rounds) + EXTRA_PULLS))
        return pulls + luck_of_hindsight(n, rounds)


def shares(values: Floats) -> Floats:
    """Return 1 for the largest value, divided among ties, and 0 for the others."""
    largest: Floats = (values == values.max()).astype(np.float64)
    largest /= np.add.reduce(largest)
    return largest
