"""The base class of policies, which choose an arm and learn its reward."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.bandits.arms import checked_arms, index_of, names_of, numbered
from noregret.bandits.drawing import Floats, drawn
from noregret.bandits.log import Log
from noregret.bandits.pending import Choice
from noregret.bandits.reward_table import RewardTable, checked_range
from noregret.bandits.state import PolicyState
from noregret.checks import seed_of, state_numbers
from noregret.errors import NoRegretError
from noregret.proof.game.table_player import TablePlayer

if TYPE_CHECKING:
    from noregret.bandits.evidence import BanditEvidence
    from noregret.hindsight import Limits
    from noregret.proof.record.table import Table


class Policy(TablePlayer):
    """Choose one of several arms per round, and learn the reward of that arm alone.

    An algorithm defines the probabilities of the arms (``_probabilities``) or a faster way to draw
    one (``_draw``), the update after a loss (``_update``) and the bound (``bound_after``). It lists
    its arrays of one number per arm in ``_kept``; they are ``_state.sums``.

    Parameters
    ----------
    arms
        The number of arms, or their names; by default the columns of a table.
    low, high
        The range of the rewards. A reward outside it is rejected.
    seed
        The seed of the policy's random numbers.
    """

    family = "bandits"
    loss_name = "missed reward"
    mistakes: None = None
    _kept: ClassVar[tuple[str, ...]] = ("pulls", "gains", "costs")
    _table_kind: ClassVar[type[RewardTable]] = RewardTable
    # Whether arms may be added after the first choice.
    _grows: ClassVar[bool] = False
    # Whether the probability of the chosen arm is always computed.
    _knows_probabilities: ClassVar[bool] = True
    # Whether the theorem is about the arms drawn, not about their probabilities.
    _realised: ClassVar[bool] = False

    def __init__(self, arms: int | list[str] | None, low: float, high: float, seed: int) -> None:
        self.arms = checked_arms(arms)
        self.low, self.high = checked_range(low, high)
        self.seed = seed_of(seed, below=2**63)
        # The log of decisions, if one is kept.
        self.log: Log | None = None
        self._span = self.high - self.low
        self._state = PolicyState(self.seed)
        self._table = self._table_kind(self)
        self._begin(names_of(self.arms))

    # Choosing and learning.

    def choose(self, context: Any = None) -> int | str:
        """Return the arm to take: its name, or its number if arms have no names.

        Parameters
        ----------
        context
            What is known about the round. It is written to the log; only Exp4 uses it to choose.
        """
        self._need_arms()
        advice = self._advice_of(context)
        arm, chances = self._draw(advice)
        if chances is None and self.log is not None:
            chances = self._probabilities(advice)
        state = self._state
        state.chosen += 1
        state.pending[state.chosen] = Choice(
            arm,
            math.nan if chances is None else float(chances[arm]),
            None if advice is None else np.array(advice[:, arm]),
            None if self.log is None else context,
        )
        return state.names[arm] if self._has_names else arm

    def learn(self, arm: int | str, reward: float, round: int | None = None) -> None:
        """Learn the reward of an arm that was chosen.

        Rewards may come late and in any order. Each is assigned to the oldest pending choice of
        its arm, or to that of a given round: ``chosen`` is the number of the latest choice.

        Parameters
        ----------
        arm
            The name or number of the arm.
        reward
            The reward, between ``low`` and ``high``.
        round
            The number of the choice, if several choices of the arm are pending.
        """
        state = self._state
        index = index_of(arm, state.names, state.learned + 1)
        number = self._pending_number(index, round)
        loss = self._loss_of(reward, index)
        choice = state.pending.pop(number)
        state.count(index, loss, loss)
        self._update(index, loss, choice.chance, choice.advice)
        if self.log is not None:
            self.log.add(number, state.names[index], choice.chance, float(reward), choice.context)

    def withdraw(self, round: int) -> None:
        """Discard a choice whose reward will never be known."""
        if round not in self._state.pending:
            raise NoRegretError(f"round {round!r} has no choice with a pending reward")
        del self._state.pending[round]

    def propensities(self, context: Any = None) -> Floats:
        """Return the probability of choosing each arm next, in the order of ``names``."""
        self._need_arms()
        return self._probabilities(self._advice_of(context))

    def add_arm(self, name: str | None = None) -> None:
        """Add an arm; after the first choice, only if the algorithm's theorem allows it.

        Parameters
        ----------
        name
            The name of the arm; by default the next number.
        """
        if self.chosen and not self._grows:
            raise NoRegretError(
                f"{self.name} cannot add arms while it runs: its theorem needs all arms from the"
                " start",
                "start a new policy with all arms",
            )
        name = str(len(self.names)) if name is None else name
        before = self._state.sums
        self._begin(names_of(checked_arms([*self.names, name])))
        for key, values in before.items():
            self._state.sums[key][: len(values)] = values

    # Figures.

    @property
    def names(self) -> list[str]:
        """The names of the arms; "0", "1", … if they have none."""
        return self._state.names

    @property
    def pulls(self) -> Floats:
        """The number of rewards learned per arm."""
        return self._state.sums["pulls"]

    @property
    def chosen(self) -> int:
        """The number of choices, and the number of the latest one."""
        return self._state.chosen

    @property
    def rounds(self) -> int:
        """The number of rewards learned."""
        return self._state.learned

    @property
    def total_loss(self) -> float:
        """Cumulative loss: the sum of high − reward.

        On a table, a round counts Σ p·(high − reward) over all arms with their probabilities p,
        which removes the randomness of the draw. If the theorem is about the arms drawn, or only
        the reward of the chosen arm is known, it counts the loss of that arm.
        """
        return self._state.missed * self._span

    @property
    def width(self) -> int:
        """The number of columns of its tables; 0 if not known yet."""
        return self._table.width

    def regret_so_far(self) -> float | None:
        """Return the regret against the best arm; None unless all rounds were on tables."""
        state = self._state
        if not state.simulated or state.simulated != state.learned:
            return None
        return (state.missed - float(state.sums["costs"].min())) * self._span

    def bound_so_far(self) -> float | None:
        """Return the bound on the regret of the rounds so far; None if there is none."""
        bound = self.bound_after(self.rounds) if self.rounds else None
        return None if bound is None else bound * self._span

    def bound_after(self, rounds: int) -> float | None:
        """Return the bound after a number of rounds, relative to the range of rewards."""
        return None

    # What an algorithm defines.

    def _draw(self, advice: Floats | None) -> tuple[int, Floats | None]:
        """Draw an arm; return it with all probabilities, or None if they are slow to compute."""
        chances = self._probabilities(advice)
        return drawn(chances, self._state.random), chances

    def _probabilities(self, advice: Floats | None) -> Floats:
        """Return the probability of choosing each arm now."""
        raise NotImplementedError

    def _update(self, arm: int, loss: float, chance: float, advice: Floats | None) -> None:
        """Learn the loss of an arm that was chosen with probability ``chance``.

        ``advice`` has the probability of that arm by each expert of Exp4.
        """

    def _advice_of(self, context: Any) -> Floats | None:
        """Return the advice in a context, one row per expert; None if it has none."""
        return None

    def _sizes(self) -> dict[str, int]:
        """Return the length of each array."""
        return dict.fromkeys(self._kept, len(self.names))

    def _begin(self, names: Sequence[str]) -> None:
        """Set the arms, with all sums zero."""
        self._state.names = list(names)
        self._has_names = self.names != numbered(len(names))
        self._state.begin(names, self._sizes())

    # Games on a table of all rewards, of which the policy sees one per round.

    def check_names(self, names: Sequence[str]) -> None:
        """Use the names of a table's columns as arms, or check that they are the arms."""
        self._table.set_names(names)

    def _check_width(self, width: int) -> None:
        self._table.set_width(width)

    def play_block(self, X: Floats, y: Floats | None, predictions: Floats | None) -> None:
        """Play the rows of a table in order; ``predictions`` is filled with the chosen arms."""
        if y is not None:
            raise NoRegretError("a table of rewards has no outcomes", "play(policy, rewards)")
        self._check_width(X.shape[1])
        table = self._table
        invalid = table.invalid_cells(X)
        wrong = np.flatnonzero(invalid.any(axis=1))
        rows = int(wrong[0]) if len(wrong) else len(X)
        for t, (losses, advice) in enumerate(table.rows(X[:rows])):
            arm = self._play_row(losses, advice)
            if predictions is not None:
                predictions[t] = arm
        if rows < len(X):
            raise table.error(X[rows], int(invalid[rows].argmax()))

    def _play_row(self, losses: Floats, advice: Floats | None) -> int:
        state = self._state
        arm, chances = self._draw(advice)
        loss = float(losses[arm])
        expected = chances is not None and not self._realised
        state.count(
            arm, loss, float(chances @ losses) if expected and chances is not None else loss
        )
        state.simulated += 1
        state.chosen += 1
        if advice is None:
            state.sums["costs"] += losses
        else:
            state.sums["costs"] += advice @ losses
            advice = advice[:, arm]
        self._update(arm, loss, math.nan if chances is None else float(chances[arm]), advice)
        return arm

    def evidence(
        self,
        table: Table,
        given: Mapping[str, Any],
        limits: Limits,
        answers: dict[Any, Any],
    ) -> BanditEvidence:
        """Return the evidence of a game for its theorems."""
        from noregret.bandits.evidence import BanditEvidence

        return BanditEvidence(self, table, given, limits, answers)

    # Files, copies and pickles.

    def get_state(
        self,
    ) -> tuple[dict[str, NDArray[Any]], dict[str, float | int | bool], list[str]]:
        """Return the arrays, numbers and names of the state; the log is not part of it."""
        experts = self._expert_names()
        return self._state.arrays(len(experts)), self._state.numbers(), [*self.names, *experts]

    def set_state(self, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]) -> None:
        """Restore a state; raise ValueError if it is invalid."""
        state_numbers(numbers, self._state.numbers())
        other = type(self)(**self.params)
        other._restore(arrays, numbers, names)
        other._table.policy = self
        self.__dict__.update({**other.__dict__, "log": self.log})

    def _expert_names(self) -> list[str]:
        """Return the names of the experts of Exp4."""
        return []

    def _restore(self, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]) -> None:
        self._begin(names_of(checked_arms(list(names))) if names else [])
        self._restore_sums(arrays, numbers)

    def _restore_sums(self, arrays: dict[str, Any], numbers: dict[str, Any]) -> None:
        self._state.restore(arrays, numbers, len(self._expert_names()))
        if self._knows_probabilities and np.isnan(arrays["waiting_chances"]).any():
            raise ValueError("a pending choice has no probability")

    # Checks.

    def _need_arms(self) -> None:
        if not self.names:
            raise NoRegretError(
                "the number of arms is not known",
                f"pass it, as in {type(self).__name__}(arms=3), or pass their names",
            )

    def _pending_number(self, arm: int, round: int | None) -> int:
        pending = self._state.pending
        number = pending.oldest(arm) if round is None else round
        if number is None or number not in pending or pending[number].arm != arm:
            when = "" if round is None else f" in round {round!r}"
            raise NoRegretError(
                f"arm {self.names[arm]!r} was not chosen{when}, or its reward is known already",
                "call choose() first, and learn() once for each choice",
            )
        return number

    def _loss_of(self, reward: Any, arm: int) -> float:
        try:
            value = float(reward)
        except (TypeError, ValueError, OverflowError):
            value = math.nan
        if not self.low <= value <= self.high:
            raise self._table.invalid_reward(reward, arm)
        return (self.high - value) / self._span
