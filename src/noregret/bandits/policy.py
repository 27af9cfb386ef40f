"""The base class of policies, which choose an arm and learn its reward."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from noregret.bandits.arms import checked_arms, index_of, names_of
from noregret.bandits.drawing import Floats
from noregret.bandits.log import Log
from noregret.bandits.tables import Tables
from noregret.bandits.waiting import Choice
from noregret.errors import NoRegretError


class Policy(Tables):
    """Chooses one of some arms a round, and sees the reward of that arm alone.

    An algorithm says by ``chances`` or ``draw`` which arm it takes, by ``update`` what it makes of
    the arm's loss, and by ``kept`` which numbers it keeps of every arm.

    Parameters
    ----------
    arms
        How many there are, or their names. For a table its columns, if not given.
    low, high
        The range of the rewards; one outside is refused.
    seed
        Of the policy's own generator of random numbers.
    """

    # Whether arms may join while it runs.
    grows: ClassVar[bool] = False

    def __init__(self, arms: int | list[str] | None, low: float, high: float, seed: int) -> None:
        super().__init__(arms, low, high, seed)
        # Where decisions are written down, if anywhere.
        self.log: Log | None = None

    def choose(self, context: Any = None) -> int | str:
        """Return the arm to take: its name, or its number where arms have no names.

        Parameters
        ----------
        context
            What is known of the round. It is written in the log; Exp4 alone chooses by it.
        """
        self._need_arms()
        advice = self.advice_of(context)
        arm, chances = self.draw(advice)
        if chances is None and self.log is not None:
            chances = self.chances(advice)
        self.chosen += 1
        self.waiting[self.chosen] = Choice(
            arm,
            math.nan if chances is None else float(chances[arm]),
            None if advice is None else np.array(advice[:, arm]),
            None if self.log is None else context,
        )
        return self.names[arm] if self.has_names else arm

    def learn(self, arm: int | str, reward: float, round: int | None = None) -> None:
        """Learn the reward of an arm that was chosen.

        Rewards may come late and in any order. Each settles the oldest choice of its arm that
        waits for one, or that of a certain round: ``chosen`` is the number of the latest choice.

        Parameters
        ----------
        arm
            By its name or number.
        reward
            Between ``low`` and ``high``.
        round
            The number of the choice, where several of the same arm wait.
        """
        index = index_of(arm, self.names, self.learned + 1)
        number = self._awaited(index, round)
        loss = self._loss_of(reward, index)
        choice = self.waiting.pop(number)
        self.count(index, loss, loss)
        self.update(index, loss, choice.chance, choice.advice)
        if self.log is not None:
            self.log.add(number, self.names[index], choice.chance, float(reward), choice.context)

    def withdraw(self, round: int) -> None:
        """Forget a choice whose reward will never be known."""
        if round not in self.waiting:
            raise NoRegretError(f"no choice of round {round!r} waits for its reward")
        del self.waiting[round]

    def propensities(self, context: Any = None) -> Floats:
        """Return the chance of each arm to be chosen next, in the order of ``names``."""
        self._need_arms()
        return self.chances(self.advice_of(context))

    def add_arm(self, name: str | None = None) -> None:
        """Add an arm, where the algorithm's theory allows that once it runs.

        Parameters
        ----------
        name
            Its name; the next number, if not given.
        """
        if self.chosen and not self.grows:
            raise NoRegretError(
                f"{self.name} takes no new arms while it runs: its promise is for arms"
                " known from the start",
                "start a new one with all arms",
            )
        name = str(len(self.names)) if name is None else name
        names = names_of(checked_arms([*self.names, name]))
        before = {key: getattr(self, key) for key in self.kept}
        self.begin(names)
        for key, values in before.items():
            getattr(self, key)[: len(values)] = values

    def advice_of(self, context: Any) -> Floats | None:
        """Return what experts advise, one row each, where a context is that."""
        return None

    def _need_arms(self) -> None:
        if not self.names:
            raise NoRegretError(
                f"how many arms are there? Say so: {type(self).__name__}(arms=3), or their names"
            )

    def _awaited(self, arm: int, round: int | None) -> int:
        number = self.waiting.oldest(arm) if round is None else round
        if number is None or number not in self.waiting or self.waiting[number].arm != arm:
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
            raise self.bad_reward(reward, arm)
        return (self.high - value) / self.span
