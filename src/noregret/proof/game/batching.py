"""Play rows that come in batches: all of a batch are forecast before any outcome is learned.

The player learns the rows in order, as without batches, and so keeps its promise. The forecasts
that count are those of the player before the batch. What they lose more than the player's own,
which have the outcomes of earlier rows of the batch, is measured, and added to the bound:

    L_forecast = L_learned + waited  ≤  L_u + bound + waited
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import NoRegretError
from noregret.streams.batches import starts_of, stretches

Floats = NDArray[np.float64]
# Plays the rows of a slice in turn, and fills in their predictions and weights.
InTurn = Callable[[slice, Floats, Floats | None], None]


class Batching:
    """The open batch of a game, and the loss that waiting for its outcomes has added so far.

    Parameters
    ----------
    player
        The player: a master over experts.
    """

    def __init__(self, player: Any) -> None:
        if player.family != "experts":
            raise NoRegretError(f"{player.name} cannot forecast rows in batches", "leave batch out")
        self.player = player
        self.current, self.before = -1, player  # the open batch, and the player before it
        self.begun = False  # whether a row of it is learned
        self.count = self.late_rows = 0
        self.waited = 0.0

    def play(
        self,
        X: Floats,
        y: Floats,
        batches: NDArray[np.int64],
        in_turn: InTurn,
        predictions: Floats,
        weights: Floats | None,
    ) -> None:
        """Play rows; NaN in ``y`` for outcomes still to come.

        ``predictions`` and ``weights`` are filled in, for rows that are not refused.
        """
        for part, together in stretches(batches, self.current):
            if together:
                last = part.stop == len(batches)
                self.play_batch(X, y, part, int(batches[part.start]), last, in_turn, predictions,
                                weights)  # fmt: skip
                continue
            in_turn(part, predictions[part], None if weights is None else weights[part])
            self.count += len(starts_of(batches[part]))

    def close(self) -> None:
        """End the open batch: numbers of batches start again with every pass through files."""
        self.current, self.before = -1, self.player

    def play_batch(
        self,
        X: Floats,
        y: Floats,
        part: slice,
        batch: int,
        last: bool,
        in_turn: InTurn,
        predictions: Floats,
        weights: Floats | None,
    ) -> None:
        """Play rows of one batch, which may continue if they are the last ones."""
        if batch != self.current:
            self.before = copy.copy(self.player) if last else self.player
            self.current, self.begun = batch, False
            self.count += 1
        rows, outcomes, said = X[part], y[part], predictions[part]
        weighed = weights is not None or self.player._round.pays_expected
        served = np.full(len(rows), np.nan)
        shares, used = (np.full(rows.shape, np.nan) if weighed else None for _ in range(2))
        self.before._forecast_rows(rows, served, shares)
        in_turn(part, said, used)
        learned = ~np.isnan(said) & ~np.isnan(outcomes)
        # Until one is learned, rows are forecast in turn by the player before the batch.
        late = ~np.isnan(said)
        if not self.begun:
            late[: int(np.argmax(learned)) + 1 if learned.any() else len(late)] = False
        self.begun |= bool(learned.any())
        counted = late & learned
        self.late_rows += int(np.count_nonzero(counted))
        losses_of = self.player._losses_of
        more = losses_of(rows, outcomes, served, shares) - losses_of(rows, outcomes, said, used)
        self.waited += float(more[counted].sum())
        said[late] = served[late]
        if weights is not None and used is not None and shares is not None:
            weights[part] = np.where(late[:, None], shares, used)
