"""Exp3-IX: the promise of Exp3 not only on average but with high probability.

As Exp3, but the estimate leans down a little, so that no single one can be huge:

    L̂_i ← L̂_i + ℓ/(p_i + γ)   for the arm pulled,   γ = η/2

Promise. Nothing is assumed of the rewards but their range. For every δ, with probability at least
1 − δ the regret of the arms pulled against the best of n arms is at most
2 ln n/η + ηnT + (1/η + 1) ln(2/δ), times the range: with η = √((2 ln n + ln(2/δ))/(nT)) that is
2 √(nT (2 ln n + ln(2/δ))) + ln(2/δ).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from noregret.bandits.drawing import Floats
from noregret.bandits.exponential import Exponential
from noregret.bandits.promises import IN_RANGE
from noregret.base.registry import register
from noregret.checks import positive
from noregret.proof.theorems.assumptions import Trusted
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.bandits.evidence import BanditEvidence

# δ where nobody says it.
CHANCE = 0.05


def promised(evidence: BanditEvidence) -> float:
    """Return the bound that holds but for a chance of δ."""
    told = evidence.given.get("chance", evidence.params["chance"] or CHANCE)
    chance = positive("chance", told, below=1)
    return float(evidence.player.bound_with(chance, evidence.rounds) * evidence.player.span)


def tuned(horizon: int, chance: float | None = None) -> dict[str, Any]:
    """Return the parameters for a number of rounds known beforehand."""
    return {"horizon": horizon, "chance": chance}


UNLUCKY = Trusted(
    r"the draws are not among the unlucky ones, whose probability is $\delta$: `chance`, of the"
    " policy or of the certificate, 0.05 if not given",
    "the draws are none of the unlucky ones",
)


@register
class Exp3Ix(Exponential):
    """Exp3 with implicit exploration: a promise with high probability.

    Parameters
    ----------
    arms
        How many there are, or their names. For a table its columns, if not given.
    horizon
        T, the number of rounds, where it is known; the rate is √((2 ln n + ln(2/δ))/(nT)), or
        √(2 ln n/(nT)) without a chance. Otherwise the rate falls with the rounds.
    rate
        η, above 0, in place of the horizon's.
    chance
        δ, between 0 and 1, of being worse than promised, to tune the rate for. The promise holds
        for every other δ too.
    low, high
        The range of the rewards; one outside is refused.
    seed
        Of the policy's own random numbers.

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
    realised = True
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
            covers=lambda params: not Exponential.is_anytime(params),
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
            covers=Exponential.is_anytime,
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

    def rate_at(self, round: int) -> float:
        """Return η in a round, counted from 1."""
        if self.horizon is None or self.chance is None or len(self.names) == 1:
            return super().rate_at(round)
        wanted = 2 * self.complexity() + math.log(2 / self.chance)
        return math.sqrt(wanted / (len(self.names) * self.horizon))

    def chances(self, advice: Floats | None) -> Floats:
        """Return the chance of each arm."""
        return self.weights()

    def update(self, arm: int, loss: float, chance: float, advice: Floats | None) -> None:
        """Add the estimated loss of the arm, which leans down."""
        self.estimates[arm] += loss / (chance + self.rate_at(self.learned) / 2)

    def bound_with(self, chance: float, rounds: int) -> float:
        """Return what is promised with probability 1 − chance, in shares of the range."""
        n, unlucky = len(self.names), math.log(2 / chance)
        if n == 1:
            return 0.0
        last = self.rate_at(rounds)
        anytime = self.is_anytime(self.params)
        added = 2 * last * n * rounds if anytime else last * n * rounds
        return 2 * self.complexity() / last + added + (1 / last + 1) * unlucky

    def bound_after(self, rounds: int) -> float | None:
        """Return what is promised of so many rounds, in shares of the range."""
        return self.bound_with(self.chance or CHANCE, rounds) if self.names else None
