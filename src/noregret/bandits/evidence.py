"""What a policy's theorem may look at when a table was played: the best arm in hindsight."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.bandits.drawing import Floats
from noregret.hindsight import Answer
from noregret.hindsight.rounding import growth
from noregret.table_evidence import TableEvidence

if TYPE_CHECKING:
    from noregret.table_game import TableGame


class BanditEvidence(TableEvidence):
    """A game over a table of rewards.

    Those a policy is compared with, its rivals, are the arms; for exp4 they are the experts.
    """

    player: Any
    game_names: list[str] | None = None

    def settle(self, game: TableGame) -> None:
        """Take over the figures of the game itself, and the names of its columns, if any."""
        super().settle(game)
        self.game_names = game.names

    def usual(self) -> Answer:
        """Return the best rival; what it missed is a sum, so that only rounding blurs it."""
        return self.once("best rival", self._best)

    def _best(self) -> Answer:
        missed = self.rival_losses()
        best, off = int(missed.argmin()), self._rounding(missed)
        witness = np.zeros(self.width)
        witness[self.player.columns_of(best)] = 1.0
        lower = float((missed - off).min())
        return Answer(self.player.rivals, float(missed[best] + off[best]), lower, witness, True)

    def rival_losses(self) -> Floats:
        """Return what every rival missed, in the units of the rewards."""
        return self.once("rivals", self._rival_losses)

    def _rival_losses(self) -> Floats:
        parts = [
            self.player.rival_losses(X).sum(axis=0) * self.player.span
            for X, _ in self.table.blocks()
        ]
        return np.array([math.fsum(column) for column in zip(*parts, strict=True)])

    def _rounding(self, missed: Floats) -> Floats:
        """Return what rounding may have added: sums go by pairs, each term is a few steps off."""
        off: Floats = missed * growth(64 + len(self.player.names))
        return off

    def sums_at(self, rounds: Sequence[int]) -> list[Floats]:
        """Return what every rival missed up to certain rounds, in shares of the range."""
        sums, so_far, at = [], np.zeros(len(self.player.costs)), 0
        wanted = list(rounds)
        for X, _ in self.table.blocks():
            losses = self.player.rival_losses(X)
            begun = 0
            while wanted and wanted[0] <= at + len(X):
                end = wanted.pop(0) - at
                so_far = so_far + losses[begun:end].sum(axis=0)
                sums.append(so_far)
                begun = end
            so_far = so_far + losses[begun:].sum(axis=0)
            at += len(X)
        return sums

    def is_within(self, witness: Mapping[str, float], comparator: str) -> bool:
        """Whether a witness is one rival."""
        return super().is_within(witness, comparator) and self._rival_of(witness) is not None

    def paid_by(self, witness: Mapping[str, float], comparator: str) -> tuple[float, float] | None:
        """Return what a witness missed, and what rounding may have added."""
        rival = self._rival_of(witness) if set(witness) == set(self.names) else None
        if rival is None:
            return None
        missed = self.rival_losses()
        return float(missed[rival]), float(self._rounding(missed)[rival])

    def _rival_of(self, witness: Mapping[str, float]) -> int | None:
        given = np.array([witness.get(name, math.nan) for name in self.names])
        for rival in range(len(self.player.costs)):
            weights = np.zeros(self.width)
            weights[self.player.columns_of(rival)] = 1.0
            if np.array_equal(given, weights):
                return rival
        return None
