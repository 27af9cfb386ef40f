"""The evidence of a finished game over a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from noregret.proof.theorems.base_evidence import BaseEvidence

if TYPE_CHECKING:
    from noregret.hindsight import Answer, Limits
    from noregret.proof.record.table import Figures, Table


class TableEvidence(BaseEvidence):
    """A game over a table as a theorem sees it.

    Each family derives a class with its best in hindsight: ``usual``, ``paid_by`` and
    ``is_within``.

    Parameters
    ----------
    player
        The player at the end of the game.
    table
        The rows.
    given, limits, answers
        As in ``BaseEvidence``.
    """

    told: ClassVar[tuple[str, ...]] = ("chance",)
    rounds: int = 0
    rounds_before: int = 0
    loss: float = 0.0
    mistakes: float | None = None

    def __init__(
        self,
        player: Any,
        table: Table,
        given: Mapping[str, Any],
        limits: Limits,
        answers: dict[Any, Any],
    ) -> None:
        super().__init__(given, limits, answers)
        self.player = self.learner = player
        self.table = table
        self.params: Mapping[str, Any] = player.params
        self.rounds, self.loss, self.mistakes = player.rounds, player.total_loss, player.mistakes
        self.names: Sequence[str] = [str(k) for k in range(table.width)]

    def settle(self, before: Figures, after: Figures, names: Sequence[str] | None) -> None:
        """Set the figures of the game alone: the player may have learned before it."""
        self.rounds, self.rounds_before = after.rounds - before.rounds, before.rounds
        self.loss = after.loss - before.loss
        self.mistakes = after.mistakes
        if self.mistakes is not None:
            self.mistakes -= before.mistakes or 0
        self.names = names or self.names

    @property
    def width(self) -> int:
        """The number of columns: experts, arms or assets."""
        return self.table.width

    @property
    def loss_name(self) -> str:
        """The name of the loss."""
        return str(self.player.loss_name)

    def witness_of(self, answer: Answer) -> dict[str, float]:
        """Name the numbers of the best in hindsight."""
        weights = np.asarray(answer.witness, dtype=np.float64).tolist()
        return dict(zip(self.names, weights, strict=True))

    def is_within(self, witness: Mapping[str, float], comparator: str) -> bool:
        """Return whether a witness belongs to its class."""
        return set(witness) == set(self.names)
