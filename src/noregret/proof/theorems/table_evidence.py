"""What a theorem may look at when a game over a table is over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import numpy as np

if TYPE_CHECKING:
    from noregret.hindsight import Answer, Limits
    from noregret.proof.record.table import Table

A = TypeVar("A")


class PlayedTable(Protocol):
    """The figures of a game over a table that its evidence takes over."""

    before: Any
    names: list[str] | None

    @property
    def rounds(self) -> int:
        """The number of rounds."""

    @property
    def loss(self) -> float:
        """The loss in these rounds."""

    @property
    def mistakes(self) -> float | None:
        """The mistakes in these rounds; None where none are counted."""

    @property
    def feature_names(self) -> list[str]:
        """The names of the columns, or their numbers."""


class TableEvidence:
    """A game over a table as a theorem sees it; hindsight is asked each question once.

    Each family derives its own, which knows the best in hindsight: ``usual``, ``paid_by`` and
    ``is_within``.

    Parameters
    ----------
    player
        Who played, as it was when the game was over.
    table
        The rows, to be read again.
    given
        What the theorem was told besides.
    limits
        How hard hindsight tries.
    answers
        Where hindsight keeps its answers.
    """

    # What a theorem can be told besides the player's parameters.
    told: ClassVar[tuple[str, ...]] = ("chance",)
    # The size of the sums that the loss is a difference of: it is none.
    blur = 0.0

    def __init__(
        self,
        player: Any,
        table: Table,
        given: Mapping[str, Any],
        limits: Limits,
        answers: dict[Any, Any],
    ) -> None:
        self.player = self.learner = player
        self.table, self.given, self.limits, self.answers = table, given, limits, answers
        self.params: Mapping[str, Any] = player.params
        self.rounds: int = player.rounds
        self.rounds_before = 0
        self.loss: float = player.total_loss
        self.mistakes: float | None = player.mistakes
        self.names = [str(k) for k in range(table.width)]

    def settle(self, game: PlayedTable) -> None:
        """Take over the figures of the game itself: its player may have learned before it."""
        self.rounds, self.rounds_before = game.rounds, game.before.rounds
        self.loss, self.mistakes = game.loss, game.mistakes
        self.names = game.feature_names

    @property
    def width(self) -> int:
        """How many columns there are: experts, arms or assets."""
        return self.table.width

    @property
    def loss_name(self) -> str:
        """The name of the loss."""
        return str(self.player.loss_name)

    def once(self, key: Any, ask: Callable[[], A]) -> A:
        """Return the answer to a question, from memory if it was asked before."""
        key = (key, self.limits)
        if key not in self.answers:
            self.answers[key] = ask()
        answer: A = self.answers[key]
        return answer

    # What the family knows.

    def usual(self) -> Answer:
        """Return the best in hindsight that it is compared with, where a theorem names none."""
        raise NotImplementedError

    def witness_of(self, answer: Answer) -> dict[str, float]:
        """Name the numbers of the best in hindsight."""
        weights = np.asarray(answer.witness, dtype=np.float64).tolist()
        return dict(zip(self.names, weights, strict=True))

    def paid_by(self, witness: Mapping[str, float], comparator: str) -> tuple[float, ...] | None:
        """Return what a witness pays and what rounding may add, from the rows alone.

        None where it is not about these columns.
        """
        raise NotImplementedError

    def is_within(self, witness: Mapping[str, float], comparator: str) -> bool:
        """Whether a witness is of the class that it stands for."""
        return set(witness) == set(self.names)

    def is_proven(self, stated: str, found: str) -> bool:
        """Whether what was found of a class holds for the one stated."""
        return stated == found
