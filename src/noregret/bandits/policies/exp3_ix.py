"""Exp3-IX: the bound of Exp3 with high probability, not only on average.

Like Exp3, but with estimates that are slightly too low, so that none can be huge:

    L̂_i ← L̂_i + ℓ/(p_i + γ)   for the arm pulled,   γ = η/2

Promise. For any rewards in the range and every δ, with probability at least 1 − δ the regret of the
arms pulled against the best of n arms is at most 2 ln n/η + ηnT + (1/η + 1) ln(2/δ), times the
range. With η = √((2 ln n + ln(2/δ))/(nT)) that is 2 √(nT (2 ln n + ln(2/δ))) + ln(2/δ).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from noregret.bandits.drawing import Floats
from noregret.bandits.exponential import Exponential, has_fixed_rate, is_anytime
from noregret.bandits.promises import IN_RANGE
from noregret.base.registry import register
from noregret.checks import positive
from noregret.proof.theorems.assumptions import Trusted
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.bandits.evidence import BanditEvidence

# The default of δ.
DEFAULT_CHANCE = 0.05


def promised(evidence: BanditEvidence) -> float:
    """Return the bound that holds with probability 1 − δ, in the units of the rewards."""
    given = evidence.given.get("chance", evidence.params["chance"] or DEFAULT_CHANCE)
    chance = positive("chance", given, below=1)
    return float(evidence.player._bound_with(chance, evidence.rounds) * evidence.player._span)


def tuned(horizon: int, chance: float | None = None) -> dict[str, Any]:
    """Return the parameters for a known number of rounds."""
    return {"horizon": horizon, "chance": chance}


UNLUCKY = Trusted(
    r"the draws are not among the unlucky ones, whose probability is $\delta$: `chance` of the"
    " policy or of the certificate, by default 0.05",
    "the draws are not among the unlucky ones",
)


@register
class Exp3Ix(Exponential):
    """Exp3 with implicit exploration, with a bound that holds with high probability.

    Parameters
    ----------
    arms
        The number of arms, or their names; by default the columns of a table.
    horizon
        T, the number of rounds, if known; the rate is √((2 ln n + ln(2/δ))/(nT)), or
        √(2 ln n/(nT)) without ``chance``. Otherwise the rate decreases with the rounds.
    rate
        η, above 0, instead of the one that the horizon sets.
    chance
        δ, between 0 and 1: the probability of exceeding the bound, for which the rate is tuned.
        The theorem holds for every other δ too.
    low, high
        The range of the rewards. A reward outside it is rejected.
    seed
        The seed of the policy's random numbers.

    Examples
    --------
    >>> policy = Exp3Ix(arms=3, horizon=1000, chance=0.01)
    >>> for _ in range(1000):
    ...     arm = policy.choose()
    ...     policy.learn(arm, float(arm == 2))
    >>> bool(policy.pulls[2] > 700)
    True

    References
    ----------
    G. Neu, "Explore no more: improved high-probability regret bounds for non-stochastic bandits",
    2015. The constants are those of its proof, with the union bound over the arms taken once.
    """

    name = "exp3-ix"
    _realised = True
    theorems = (
        Theorem(
            name="exp3-ix",
            quantity="regret",
            likely=True,
            formula=r"R_T \le \frac{2 \ln n}{\eta} + \eta n T +"
            r" \Bigl(\frac{1}{\eta} + 1\Bigr) \ln \frac{2}{\delta}",
            plain="regret of the arms pulled <= 2 ln(n)/η + ηnT + (1/η + 1) ln(2/δ), times"
            " high - low, with probability 1 - δ",
            where=(
                r"$n$ is the number of arms, $T$ of rounds, $\eta$ the rate, $\delta$ is `chance`"
            ),
            assumptions=(IN_RANGE, UNLUCKY),
            bound=promised,
            covers=has_fixed_rate,
            tune=tuned,
            tuning=r"$\eta = \sqrt{\frac{2 \ln n + \ln(2/\delta)}{n T}}$",
            asks="chance=0.05",
            source="Neu, 2015",
        ),
        Theorem(
            name="exp3-ix-anytime",
            quantity="regret",
            likely=True,
            formula=r"R_T \le 4 \sqrt{T n \ln n} +"
            r" \Bigl(\sqrt{\frac{T n}{\ln n}} + 1\Bigr) \ln \frac{2}{\delta}",
            plain="regret of the arms pulled <= 4 √(Tn ln(n)) + (√(Tn/ln(n)) + 1) ln(2/δ), times"
            " high - low, with probability 1 - δ, for every T",
            where=r"$n$ is the number of arms, $T$ of rounds, $\delta$ is `chance`",
            assumptions=(IN_RANGE, UNLUCKY),
            bound=promised,
            covers=is_anytime,
            asks="chance=0.05",
            source="Neu, 2015",
        ),
    )

    def __init__(
        self,
        arms: int | list[str] | None = None,
        horizon: int | None = None,
        rate: float | None = None,
        chance: float | None = None,
        low: float = 0.0,
        high: float = 1.0,
        seed: int = 0,
    ) -> None:
        self.chance = None if chance is None else positive("chance", chance, below=1)
        super().__init__(arms, horizon, rate, low, high, seed)

    def _rate_at(self, round: int) -> float:
        """Return η in a round, counted from 1."""
        if self.horizon is None or self.chance is None or len(self.names) == 1:
            return super()._rate_at(round)
        logarithms = 2 * self._complexity() + math.log(2 / self.chance)
        return math.sqrt(logarithms / (len(self.names) * self.horizon))

    def _update(self, arm: int, loss: float, chance: float, advice: Floats | None) -> None:
        """Add the estimated loss of the arm, which is slightly too low."""
        self._estimates[arm] += loss / (chance + self._rate_at(self.rounds) / 2)

    def _bound_with(self, chance: float, rounds: int) -> float:
        """Return the bound that holds with probability 1 − chance, relative to the range."""
        n, log_odds = len(self.names), math.log(2 / chance)
        if n == 1:
            return 0.0
        last = self._rate_at(rounds)
        added = last * n * rounds * (2 if is_anytime(self.params) else 1)
        return 2 * self._complexity() / last + added + (1 / last + 1) * log_odds

    def bound_after(self, rounds: int) -> float | None:
        """Return the bound after a number of rounds, relative to the range of rewards."""
        return self._bound_with(self.chance or DEFAULT_CHANCE, rounds) if self.names else None
