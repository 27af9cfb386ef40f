"""Policies in a table of all rewards, of which each round shows them one: what they would do."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.bandits.arms import checked_arms, names_of, numbered
from noregret.bandits.drawing import Floats, drawn
from noregret.bandits.kept import Kept
from noregret.errors import BadExample, NoRegretError

if TYPE_CHECKING:
    from noregret.bandits.evidence import BanditEvidence
    from noregret.hindsight import Limits
    from noregret.proof.record.table import Table

# Rows whose losses are worked out at a time.
ROWS_PER_BLOCK = 4_096


class Tables(Kept):
    """The hooks of an algorithm, and the game that asks them.

    A loss here is (high − reward)/(high − low), so that it lies in [0, 1].
    """

    loss_name = "missed reward"
    mistakes: None = None
    # Those whom it is compared with.
    rivals: ClassVar[str] = "the best arm"
    # Whether the promise is about the arms drawn, not about their chances.
    realised: ClassVar[bool] = False

    # What an algorithm says.

    def draw(self, advice: Floats | None) -> tuple[int, Floats | None]:
        """Choose an arm; return it with the chances of all arms, None where they take time."""
        chances = self.chances(advice)
        return drawn(chances, self.random), chances

    def chances(self, advice: Floats | None) -> Floats:
        """Return the chance of each arm to be chosen now."""
        raise NotImplementedError

    def update(self, arm: int, loss: float, chance: float, advice: Floats | None) -> None:
        """Learn the loss of an arm that was chosen with that chance.

        ``advice`` is what each expert said of that arm, for Exp4.
        """

    def bound_after(self, rounds: int) -> float | None:
        """Return what is promised of so many rounds, in shares of the range."""
        return None

    # The figures.

    @property
    def rounds(self) -> int:
        """Number of rewards learned."""
        return self.learned

    @property
    def total_loss(self) -> float:
        """Cumulative loss: the sum of high − reward.

        In a table each round counts by the chances of all arms, Σ p·(high − reward), so that the
        luck of the draw is left out; for a promise about the draws themselves, and where only the
        reward of the arm is known, it counts by the arm.
        """
        return self.missed * self.span

    @property
    def width(self) -> int:
        """Number of columns of its tables."""
        return len(self.names)

    def regret_so_far(self) -> float | None:
        """Return what it missed beyond what the best arm would have, where all were seen."""
        if not self.simulated or self.simulated != self.learned:
            return None
        return (self.missed - float(self.costs.min())) * self.span

    def bound_so_far(self) -> float | None:
        """Return what is promised of the rounds so far."""
        bound = self.bound_after(self.learned) if self.learned else None
        return None if bound is None else bound * self.span

    def evidence(
        self,
        table: Table,
        given: Mapping[str, Any],
        limits: Limits,
        answers: dict[Any, Any],
    ) -> BanditEvidence:
        """Return what a theorem may look at."""
        from noregret.bandits.evidence import BanditEvidence

        return BanditEvidence(self, table, given, limits, answers)

    # The game.

    def check_names(self, names: Sequence[str]) -> None:
        """Take the names of a table's columns for those of the arms, or check that they are."""
        if list(names) == self.names:
            return
        if self.names and (self.has_names or self.chosen or len(names) != len(self.names)):
            known = ", ".join(self.names[:10])
            raise BadExample(f"the columns should be the arms {known}: got {', '.join(names[:10])}")
        self.begin(names_of(checked_arms(list(names))))

    def fit(self, width: int) -> None:
        """Take the columns of a table for the arms, where those were not known."""
        if not self.names:
            self.begin(numbered(width))
        if width != self.width:
            raise BadExample(f"{width} columns, but there are {self.width} arms")

    def play_block(self, X: Floats, y: Floats | None, predictions: Floats | None) -> None:
        """Play the rows of a table in order; ``predictions`` is filled with the arms chosen."""
        if y is not None:
            raise NoRegretError("a table of rewards has no outcomes", "play(policy, rewards)")
        self.fit(X.shape[1])
        bad = self.bad_cells(X)
        wrong = np.flatnonzero(bad.any(axis=1))
        rows = int(wrong[0]) if len(wrong) else len(X)
        for t, (losses, advice) in enumerate(self.rows_of(X[:rows])):
            arm = self._play_row(losses, advice)
            if predictions is not None:
                predictions[t] = arm
        if rows < len(X):
            raise self.refusal(X[rows], int(bad[rows].argmax()))

    def _play_row(self, losses: Floats, advice: Floats | None) -> int:
        arm, chances = self.draw(advice)
        loss = float(losses[arm])
        by_chance = chances is not None and not self.realised
        paid = float(chances @ losses) if by_chance and chances is not None else loss
        self.count(arm, loss, paid)
        self.simulated += 1
        self.chosen += 1
        if advice is None:
            self.costs += losses
        else:
            self.costs += advice @ losses
            advice = advice[:, arm]
        self.update(arm, loss, math.nan if chances is None else float(chances[arm]), advice)
        return arm

    def count(self, arm: int, loss: float, paid: float) -> None:
        """Keep the books of a round."""
        self.learned += 1
        self.missed += paid
        self.pulls[arm] += 1.0
        self.gains[arm] += 1.0 - loss

    def bad_cells(self, X: Floats) -> NDArray[np.bool_]:
        """Say which cells of a table cannot be played."""
        low, high = self.low, self.high
        return np.asarray(~((low <= X) & (high >= X)))

    def losses_of(self, X: Floats) -> Floats:
        """Return the losses of all arms in some rows."""
        losses: Floats = (self.high - X) / self.span
        return losses

    def rows_of(self, X: Floats) -> Iterator[tuple[Floats, Floats | None]]:
        """Yield each row's losses, and what experts advise, where there are any."""
        for at in range(0, len(X), ROWS_PER_BLOCK):
            for losses in self.losses_of(X[at : at + ROWS_PER_BLOCK]):
                yield losses, None

    def rival_losses(self, X: Floats) -> Floats:
        """Return the losses of all whom it is compared with, in some rows."""
        return self.losses_of(X)

    def columns_of(self, rival: int) -> list[int]:
        """Return the columns that are one rival's."""
        return [rival]

    def refusal(self, row: Floats, column: int) -> BadExample:
        """Say what is wrong with a row."""
        return self.bad_reward(float(row[column]), column)

    def bad_reward(self, reward: Any, arm: int) -> BadExample:
        """Say what is wrong with a reward."""
        number, name = self.learned + 1, self.names[arm]
        return BadExample(
            f"arm {name!r}: the reward {reward!r} is not in [{self.low:g}, {self.high:g}]",
            "say low and high, or scale it",
            round=number,
            feature=name,
        )
