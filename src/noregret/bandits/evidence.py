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

    The competitors of a policy are its arms; those of exp4 are its experts.
    """

    player: Any
    game_names: Sequence[str] | None = None

    def settle(self, before: Figures, after: Figures, names: Sequence[str] | None) -> None:
        """Set the figures of the game and the names of its columns, if any."""
        super().settle(before, after, names)
        self.game_names = names

    def usual(self) -> Answer:
        """Return the best competitor; its loss is a sum, exact up to rounding."""
        return self.once("best competitor", self._best)

    def _best(self) -> Answer:
        totals, span, table = self.totals(), self.player._span, self.player._table
        best = totals.best
        witness = np.zeros(self.width)
        witness[table.columns_of(best)] = 1.0
        loss = upward(float(totals.above[best]) * span)
        lower = downward(float(totals.below.min()) * span)
        return Answer(table.competitors, loss, lower, witness, True)

    def competitor_losses(self) -> Floats:
        """Return the loss of each competitor, in the units of the rewards."""
        return np.asarray(self.totals().values * self.player._span)

    def totals(self) -> Totals:
        """Return the cumulative loss of each competitor, relative to the range."""
        return self.once("competitors", self._totals)

    def _totals(self) -> Totals:
        # The loss of an arm is rounded twice; that of an expert is a mean over the arms, with
        # probabilities that were divided by their sum.
        doubts = (2 * len(self.player.names) + 8, 0)
        return expert_losses(
            lambda: (self.player._table.competitor_losses(X) for X, _ in self.table.blocks()),
            doubts=doubts,
        )

    @property
    def _competitors(self) -> int:
        return len(self.player._state.sums["costs"])

    def sums_at(self, rounds: Sequence[int]) -> list[Floats]:
        """Return the loss of each competitor up to certain rounds, relative to the range."""
        sums, so_far, at = [], np.zeros(self._competitors), 0
        ends = list(rounds)
        for X, _ in self.table.blocks():
            losses = self.player._table.competitor_losses(X)
            begun = 0
            while ends and ends[0] <= at + len(X):
                end = ends.pop(0) - at
                so_far = so_far + losses[begun:end].sum(axis=0)
                sums.append(so_far)
                begun = end
            so_far = so_far + losses[begun:].sum(axis=0)
            at += len(X)
        return sums

    def is_within(self, witness: Mapping[str, float], comparator: str) -> bool:
        """Return whether a witness is a single competitor."""
        return super().is_within(witness, comparator) and self._competitor_in(witness) is not None

    def paid_by(self, witness: Mapping[str, float], comparator: str) -> tuple[float, float] | None:
        """Return the loss of a witness, and a bound on its rounding error."""
        competitor = self._competitor_in(witness) if set(witness) == set(self.names) else None
        if competitor is None:
            return None
        totals, span = self.totals(), self.player._span
        off = max(0.0, float(totals.above[competitor] - totals.below[competitor])) * span
        return float(totals.values[competitor]) * span, upward(off)

    def _competitor_in(self, witness: Mapping[str, float]) -> int | None:
        given = np.array([witness.get(name, math.nan) for name in self.names])
        for competitor in range(self._competitors):
            weights = np.zeros(self.width)
            weights[self.player._table.columns_of(competitor)] = 1.0
            if np.array_equal(given, weights):
                return competitor
        return None
