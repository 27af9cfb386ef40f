"""One series of forecasts and the master that mixes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadExample
from noregret.proof.game.table_rows import TableBlock

if TYPE_CHECKING:
    from noregret.experts.master import Master
    from noregret.proof.game.table_game import TableGame

Floats = NDArray[np.float64]


class Noted:
    """A master whose forecasts and weights are written down while a game has it play.

    Parameters
    ----------
    master
        Who plays.
    """

    def __init__(self, master: Master) -> None:
        self.master, self.at = master, 0
        self.predictions: Floats = np.empty(0)
        self.weights: Floats | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.master, name)

    def into(self, predictions: Floats, weights: Floats | None) -> None:
        """Write down what comes next here."""
        self.predictions, self.weights, self.at = predictions, weights, 0

    def play_block(self, X: Floats, y: Floats, predictions: Floats | None = None) -> None:
        """Have rows played."""
        here, before = slice(self.at, self.at + len(X)), self.master.rounds
        used = None if self.weights is None else self.weights[here]
        try:
            self.master.play_block(X, y, self.predictions[here], used)
        finally:
            self.at += self.master.rounds - before


class Series:
    """A master, and the rows of its series as they come.

    Parameters
    ----------
    master
        Who mixes; it has learned nothing.
    names
        Of the experts.
    recorded
        Whether a record is kept, for hindsight and the certificate.
    """

    def __init__(self, master: Master, names: list[str], recorded: bool) -> None:
        self.master, self.names = master, names
        self.game: TableGame | None = None
        self.noted = Noted(master)
        if recorded:
            from noregret.proof.game.table_game import TableGame

            self.game = TableGame(self.noted, progress=False)
        else:
            master.check_names(names)

    def play(
        self,
        X: Floats,
        y: Floats,
        predictions: Floats,
        weights: Floats | None,
        refuse: Callable[[int, BadExample], None],
    ) -> None:
        """Predict every row, and learn from those with an outcome.

        Parameters
        ----------
        X, y
            Forecasts, and outcomes, NaN where these are still to come.
        predictions, weights
            Filled in; NaN for rows that are refused.
        refuse
            Told the row and why; it raises, or returns for the row to be left out.
        """
        for part, known in runs(~np.isnan(y)):
            step = self.learn if known else self.foresee
            step(X, y, predictions, weights, part, refuse)

    def learn(
        self,
        X: Floats,
        y: Floats,
        predictions: Floats,
        weights: Floats | None,
        part: slice,
        refuse: Callable[[int, BadExample], None],
    ) -> None:
        """Play rows with outcomes; those that are refused are passed over."""
        at = part.start
        while at < part.stop:
            before = self.master.rounds
            here = slice(at, part.stop)
            self.noted.into(predictions[here], None if weights is None else weights[here])
            try:
                if self.game is None:
                    self.noted.play_block(X[here], y[here])
                else:
                    self.game.play_block(TableBlock(X[here], y[here], self.names))
                return
            except BadExample as error:
                row = at + self.master.rounds - before
                predictions[row] = np.nan
                refuse(row, error)
                at = row + 1

    def foresee(
        self,
        X: Floats,
        y: Floats,
        predictions: Floats,
        weights: Floats | None,
        part: slice,
        refuse: Callable[[int, BadExample], None],
    ) -> None:
        """Predict rows whose outcomes are still to come."""
        self.master.check_names(self.names)
        for row in range(part.start, part.stop):
            awake = ~np.isnan(X[row])
            try:
                predictions[row] = self.master.predict_one(X[row])
            except BadExample as error:
                refuse(row, error)
                continue
            if weights is not None:
                weights[row] = self.master.weights(awake)


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
