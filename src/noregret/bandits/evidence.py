"""Evidence for theorems about policies: the table played and the best arm in hindsight."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from noregret.bandits.drawing import Floats
from noregret.hindsight import Answer
from noregret.hindsight.expert_losses import Totals, expert_losses
from noregret.hindsight.proofs.rounding import downward, upward
from noregret.proof.record.table import Figures
from noregret.proof.theorems.table_evidence import TableEvidence


class BanditEvidence(TableEvidence):
    """A game over a table of rewards.

    Those a policy is compared with, its rivals, are the arms; for exp4 they are the experts.
    """

    player: Any
    game_names: Sequence[str] | None = None

    def settle(self, before: Figures, after: Figures, names: Sequence[str] | None) -> None:
        """Take over the figures of the game itself, and the names of its columns, if any."""
        super().settle(before, after, names)
        self.game_names = names

    def usual(self) -> Answer:
        """Return the best rival; what it missed is a sum, so that only rounding blurs it."""
        return self.once("best rival", self._best)

    def _best(self) -> Answer:
        totals, span = self.totals(), self.player.span
        best = totals.best
        witness = np.zeros(self.width)
        witness[self.player.columns_of(best)] = 1.0
        loss = upward(float(totals.above[best]) * span)
        lower = downward(float(totals.below.min()) * span)
        return Answer(self.player.rivals, loss, lower, witness, True)

    def rival_losses(self) -> Floats:
        """Return what every rival missed, in the units of the rewards."""
        return np.asarray(self.totals().values * self.player.span)

    def totals(self) -> Totals:
        """Return what every rival missed in all, in shares of the range."""
        return self.once("rivals", self._totals)

    def _totals(self) -> Totals:
        # The loss of an arm is rounded twice; that of an expert is a mean over the arms, by chances
        # that were divided by their sum.
        doubts = (2 * len(self.player.names) + 8, 0)
        return expert_losses(
            lambda: (self.player.rival_losses(X) for X, _ in self.table.blocks()), doubts=doubts
        )

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
        """Return whether a witness is a single competitor."""
        return super().is_within(witness, comparator) and self._rival_of(witness) is not None

    def paid_by(self, witness: Mapping[str, float], comparator: str) -> tuple[float, float] | None:
        """Return what a witness missed, and what rounding may have added."""
        rival = self._rival_of(witness) if set(witness) == set(self.names) else None
        if rival is None:
            return None
        totals, span = self.totals(), self.player.span
        off = max(0.0, float(totals.above[rival] - totals.below[rival])) * span
        return float(totals.values[rival]) * span, upward(off)

    def _rival_of(self, witness: Mapping[str, float]) -> int | None:
        given = np.array([witness.get(name, math.nan) for name in self.names])
        for rival in range(len(self.player.costs)):
            weights = np.zeros(self.width)
            weights[self.player.columns_of(rival)] = 1.0
            if np.array_equal(given, weights):
                return rival
        return None
