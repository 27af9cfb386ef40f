"""A game of an ensemble: that of its master, with the members' predictions as advice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.linear.data_frames import split_target
from noregret.proof.game.game import is_block, is_table
from noregret.proof.game.table_game import TableGame
from noregret.proof.game.table_rows import TableBlock

if TYPE_CHECKING:
    import pyarrow

    from noregret.experts.ensemble import Experts

Floats = NDArray[np.float64]


class EnsembleGame(TableGame):
    """A game of an ensemble. Its rows are the members' predictions, its certificate the master's.

    ``advice`` and ``outcomes`` are the data to verify the certificate with.
    """

    def __init__(self, experts: Experts, **options: Any) -> None:
        super().__init__(experts.master, **options)
        self.experts = experts

    def play(self, stream: Any, outcomes: Any = None, *, target: str | None = None) -> EnsembleGame:
        """Play more examples, in any form that learners accept."""
        if isinstance(outcomes, str) and target is None:
            outcomes, target = None, outcomes
        if target is not None:
            stream, outcomes = split_target(stream, target)
        with self.recorded() as progress:
            for x, y in examples(stream, outcomes):
                if is_block(x, y):
                    self.experts.play_many(x, y, self._settle)
                else:
                    self.experts.play_one(x, y, self._settle)
                progress.look()
        return self

    def learn_one(self, x: Any, y: Any = None) -> None:
        """Learn from one example, while the game is being recorded."""
        self.experts.play_one(x, y, self._settle)

    def learn_many(self, X: Any, y: Any = None) -> None:
        """Learn from many examples, while the game is being recorded."""
        self.experts.play_many(X, y, self._settle)

    def _settle(self, advice: Floats, outcomes: Floats) -> None:
        self.play_block(TableBlock(advice, outcomes, list(self.experts.members)))

    @property
    def advice(self) -> pyarrow.Table:
        """The predictions of the members, one column each; NaN while asleep."""
        import pyarrow

        said = np.concatenate([np.empty((0, self.width)), *(X for X, _ in self.table.blocks())])
        return pyarrow.table(dict(zip(self.feature_names, said.T, strict=True)))

    @property
    def outcomes(self) -> Floats:
        """The outcomes in the master's coding."""
        return np.concatenate([np.empty(0), *(np.asarray(y) for _, y in self.table.blocks())])


def examples(stream: Any, outcomes: Any) -> Iterator[tuple[Any, Any]]:
    """Yield examples with their outcomes, singly or in blocks, as they arrive."""
    if outcomes is not None:
        yield stream, outcomes
        return
    if is_table(stream):
        raise TypeError("a table needs its outcomes: play(experts, X, y)")
    if isinstance(stream, tuple) and len(stream) == 2 and is_table(stream[0]):
        yield stream
        return
    yield from stream
