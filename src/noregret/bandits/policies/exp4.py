"""Exp4: as good as the best of N experts who advise which arm to pull.

Expert j gives arm i the chance a_ji; the experts have weights q_j. Pull arm i with probability
p_i = Σ_j q_j a_ji; with ℓ = (high − reward)/(high − low), the loss of the arm i that was pulled,

    L̂_j ← L̂_j + a_ji ℓ/p_i   for every expert,   q_j = exp(−η L̂_j) / Z

Promise. Nothing is assumed of the rewards and the advice. With η = √(2 ln N/(nT)) the expected
regret against the best of N experts is at most √(2Tn ln N) times the range, for n arms. Where T is
not known beforehand, η falls as √(ln N/(nt)), and it is at most 2 √(Tn ln N).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.bandits.advice import FORMS, advice_of, are_arms, are_chances, layout
from noregret.bandits.arms import checked_arms, names_of, numbered
from noregret.bandits.drawing import Floats
from noregret.bandits.exponential import Exponential
from noregret.bandits.promises import IN_RANGE, OBLIVIOUS, expected_regret, promised
from noregret.base.registry import register
from noregret.checks import one_of
from noregret.errors import BadExample, NoRegretError
from noregret.proof.theorems.theorem import Theorem


def tuned(horizon: int) -> dict[str, Any]:
    """Return the parameters for a number of rounds known beforehand."""
    return {"horizon": horizon}


@register
class Exp4(Exponential):
    """Exponential weights over experts: contexts enter through what the experts make of them.

    ``choose(advice)`` takes an arm of each expert, or its chances for all arms. A table has a
    column of rewards for each arm, then the advice: with ``advice="arms"`` one column for each
    expert, which holds the number of an arm; with ``"chances"`` as many columns for each expert as
    there are arms. Where columns have names, ``arms`` names those of the rewards, and an expert's
    chances are called expert.arm.

    Parameters
    ----------
    arms
        How many there are, or their names.
    experts
        How many there are, or their names. Those of the first advice, if not given.
    horizon
        T, the number of rounds, where it is known; the rate is √(2 ln N/(nT)). Otherwise the rate
        falls with the rounds.
    rate
        η, above 0, in place of the horizon's.
    advice
        How a table holds advice: ``arms`` or ``chances``.
    low, high
        The range of the rewards; one outside is refused.
    seed
        Of the policy's own random numbers.

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
    rivals = "the best expert"
    theorems = (
        Theorem(
            name="exp4",
            quantity="expected regret",
            formula=r"\mathbb{E} R_T \le \frac{\ln N}{\eta} + \frac{\eta n T}{2}",
            plain="expected regret <= ln(N)/η + ηnT/2, at best √(2Tn ln(N)); times high - low",
            where=r"$n$ is the number of arms, $N$ of experts, $T$ of rounds, $\eta$ the rate",
            assumptions=(IN_RANGE, OBLIVIOUS),
            bound=promised,
            measured=expected_regret,
            covers=lambda params: not Exponential.is_anytime(params),
            tune=tuned,
            tuning=r"$\eta = \sqrt{\frac{2 \ln N}{n T}}$",
            source="Auer, Cesa-Bianchi, Freund and Schapire, 2002; Bubeck and Cesa-Bianchi, 2012",
        ),
        Theorem(
            name="exp4-anytime",
            quantity="expected regret",
            formula=r"\mathbb{E} R_T \le 2 \sqrt{T n \ln N}",
            plain="expected regret <= 2 √(Tn ln(N)), times high - low, for every T",
            where="$n$ is the number of arms, $N$ of experts, $T$ of rounds",
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
        self._rewards: list[int] = []  # the columns of a table
        self._advice: list[list[int]] = []
        super().__init__(arms, horizon, rate, low, high, seed)

    def sizes(self) -> dict[str, int]:
        """Return the length of every array: some are over experts."""
        arms, experts = len(self.names), len(self.expert_names)
        return {"pulls": arms, "gains": arms, "costs": experts, "estimates": experts}

    def advisers(self) -> int:
        """Return the number of experts."""
        return len(self.expert_names)

    def labels(self) -> list[str]:
        """Return the names of the arms and of the experts."""
        return [*self.names, *self.expert_names]

    def relabel(self, labels: Sequence[str], numbers: dict[str, Any]) -> None:
        """Begin again with the names of a file."""
        arms, experts = labels[: numbers["arms"]], labels[numbers["arms"] :]
        self.expert_names = names_of(checked_arms(list(experts), "experts")) if experts else []
        super().relabel(arms, numbers)

    def hear(self, experts: Sequence[str]) -> None:
        """Take these for the experts, where they were not known."""
        if not self.expert_names and experts:
            self.expert_names = names_of(checked_arms(list(experts), "experts"))
            self.costs, self.estimates = np.zeros(len(experts)), np.zeros(len(experts))

    # Choosing.

    def advice_of(self, context: Any) -> Floats:
        """Return the chances that each expert gives to each arm."""
        rows = advice_of(context, self.names, self.expert_names, self.learned + 1)
        named = isinstance(context, dict)
        self.hear(sorted(context) if named else numbered(len(rows)))
        return rows

    def chances(self, advice: Floats | None) -> Floats:
        """Return the chance of each arm: the mean of the advice."""
        assert advice is not None
        return np.asarray(self.weights() @ advice)

    def update(self, arm: int, loss: float, chance: float, advice: Floats | None) -> None:
        """Add to each expert's estimate by the chance that it gave to the arm."""
        assert advice is not None
        self.estimates += advice * (loss / chance)

    # Tables.

    @property
    def width(self) -> int:
        """Number of columns of its tables."""
        each = len(self.names) if self.advice == "chances" else 1
        return len(self.names) + each * len(self.expert_names) if self.expert_names else 0

    def check_names(self, names: Sequence[str]) -> None:
        """Find the columns of the arms and of the experts by their names."""
        rewards, advice, experts = layout(names, self.names, self.advice)
        self.hear(experts)
        if experts != self.expert_names:
            raise BadExample(f"advice is wanted of {', '.join(self.expert_names[:10])}")
        self._rewards, self._advice = rewards, advice

    def fit(self, width: int) -> None:
        """Take the columns after those of the arms for advice."""
        if not self.names:
            raise NoRegretError("how many arms are there? Say so: Exp4(arms=3), or their names")
        n = len(self.names)
        each = n if self.advice == "chances" else 1
        if width <= n or (width - n) % each or (self.width and width != self.width):
            raise BadExample(
                f"{width} columns, but {n} arms and {each} for each expert"
                f" ({len(self.expert_names) or 'some'} of them) are expected"
            )
        if not self._advice:
            self._rewards = list(range(n))
            self._advice = [list(range(k, k + each)) for k in range(n, width, each)]
            self.hear(numbered(len(self._advice)))

    def bad_cells(self, X: Floats) -> NDArray[np.bool_]:
        """Say which cells of a table cannot be played."""
        bad = np.zeros(X.shape, dtype=np.bool_)
        bad[:, self._rewards] = super().bad_cells(X[:, self._rewards])
        said = X[:, self._advice]  # rows × experts × columns of each
        if self.advice == "arms":
            fine = are_arms(said, len(self.names))
        else:
            fine = np.broadcast_to(are_chances(said)[:, :, None], said.shape)
        bad[:, self._advice] = ~fine
        return bad

    def refusal(self, row: Floats, column: int) -> BadExample:
        """Say what is wrong with a row."""
        if column in self._rewards:
            return self.bad_reward(float(row[column]), self._rewards.index(column))
        expert = next(k for k, columns in enumerate(self._advice) if column in columns)
        said, name = row[self._advice[expert]].tolist(), self.expert_names[expert]
        wanted = "the number of an arm" if self.advice == "arms" else "chances of sum 1"
        return BadExample(
            f"expert {name!r}: the advice {said} is not {wanted}",
            round=self.learned + 1,
            feature=name,
        )

    def losses_of(self, X: Floats) -> Floats:
        """Return the losses of all arms in some rows."""
        return super().losses_of(X[:, self._rewards])

    def rows_of(self, X: Floats) -> Iterator[tuple[Floats, Floats | None]]:
        """Yield each row's losses, and the chances that each expert gives to each arm."""
        certain = np.eye(len(self.names))
        for (losses, _), row in zip(super().rows_of(X), X, strict=True):
            said = row[self._advice]
            if self.advice == "arms":
                yield losses, certain[said[:, 0].astype(np.intp)]
            else:
                yield losses, said / said.sum(axis=1, keepdims=True)

    def rival_losses(self, X: Floats) -> Floats:
        """Return the losses of all experts in some rows."""
        losses, said = self.losses_of(X), X[:, self._advice]
        if self.advice == "arms":
            return np.take_along_axis(losses, said[:, :, 0].astype(np.intp), axis=1)
        said = said / said.sum(axis=2, keepdims=True)
        return np.asarray(np.einsum("tji,ti->tj", said, losses))

    def columns_of(self, rival: int) -> list[int]:
        """Return the columns that are one expert's."""
        return self._advice[rival]
