"""One series of forecasts and the master that mixes them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadExample
from noregret.proof.game.table_game import Refuse, TableGame, refuse_after
from noregret.proof.game.table_rows import TableBlock

if TYPE_CHECKING:
    from noregret.experts.master import Master

Floats = NDArray[np.float64]


class Series:
    """A master, and the rows of its series as they come.

    Parameters
    ----------
    master
        The untrained master.
    names
        The names of the experts.
    recorded
        Whether a record is kept, for hindsight and the certificate.
    """

    def __init__(self, master: Master, names: list[str], recorded: bool) -> None:
        self.master, self.names = master, names
        keep = "auto" if recorded else "nothing"
        self.game = TableGame(master, keep=keep, progress=False)

    def play(
        self,
        X: Floats,
        y: Floats,
        predictions: Floats,
        weights: Floats | None,
        refuse: Refuse,
        batches: NDArray[np.int64] | None = None,
    ) -> None:
        """Predict every row, and learn from those with an outcome.

        Parameters
        ----------
        X, y
            Forecasts, and outcomes, NaN where these are still to come.
        predictions, weights
            Filled in; NaN for rows that are refused.
        refuse
            Called with the row and the error; it raises, or returns to leave the row out.
        batches
            The batch of each row: all rows of a batch are predicted before any is learned.
        """
        if batches is None:
            self.play_in_turn(X, y, predictions, weights, refuse)
            return
        self.master.check_names(self.names)

        def in_turn(part: slice, filled: Floats, used: Floats | None) -> None:
            left_out = partial(refuse_after, part.start, refuse)
            self.play_in_turn(X[part], y[part], filled, used, left_out)

        self.game.in_batches.play(X, y, batches, in_turn, predictions, weights)

    def play_in_turn(
        self,
        X: Floats,
        y: Floats,
        predictions: Floats,
        weights: Floats | None,
        refuse: Refuse,
    ) -> None:
        """Predict each row, and learn from it before the next if it has an outcome."""
        for part, known in runs(~np.isnan(y)):
            if not known:
                self.foresee(X, predictions, weights, part, refuse)
                continue
            self.game.play_block(
                TableBlock(X[part], y[part], self.names),
                partial(refuse_after, part.start, refuse),
                predictions[part],
                None if weights is None else weights[part],
            )

    @property
    def total(self) -> float:
        """Cumulative loss of the forecasts."""
        return float(self.master.total_loss + self.game.waited)

    def foresee(
        self,
        X: Floats,
        predictions: Floats,
        weights: Floats | None,
        part: slice,
        refuse: Refuse,
    ) -> None:
        """Predict rows whose outcomes are still to come."""
        self.master.check_names(self.names)
        for row in range(part.start, part.stop):
            try:
                predictions[row] = self.master.predict_one(X[row])
            except BadExample as error:
                refuse(row, error)
                continue
            if weights is not None:
                weights[row] = self.master.weights_for(X[row])


def runs(flags: NDArray[np.bool_]) -> Iterator[tuple[slice, bool]]:
    """Yield stretches of equal flags.

    >>> list(runs(np.array([True, True, False])))
    [(slice(0, 2, None), True), (slice(2, 3, None), False)]
    """
    if not len(flags):
        return
    edges = [0, *(np.flatnonzero(flags[1:] != flags[:-1]) + 1).tolist(), len(flags)]
    for start, stop in pairwise(edges):
        yield slice(start, stop), bool(flags[start])
