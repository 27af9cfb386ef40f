from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.linear.engine.entry import ExampleEntry

Floats = NDArray[np.float64]
Starts = NDArray[np.int64]
Indices = NDArray[np.int32]

class BlockEntry(ExampleEntry):
    def positions(self, names: Iterable[str]) -> list[int]: ...
    def admit_names(self, names: Iterable[str]) -> None: ...
    def play_dense(
        self,
        X: Floats,
        y: Floats,
        out: Floats | None = None,
        importances: Floats | None = None,
        constant: float = 0.0,
    ) -> None: ...
    def play_sparse(
        self,
        starts: Starts,
        indices: Indices,
        data: Floats,
        y: Floats,
        out: Floats | None = None,
        importances: Floats | None = None,
        constant: float = 0.0,
    ) -> None: ...
    def learn_weighted(self, x: Any, y: Any, importance: float) -> None: ...
    def score_dense(self, X: Floats, out: Floats) -> None: ...
    def score_sparse(
        self,
        starts: Starts,
        indices: Indices,
        data: Floats,
        unseen: Starts,
        unseen_sums: Floats,
        unseen_squares: Floats,
        out: Floats,
    ) -> None: ...

class StreamEntry(BlockEntry):
    def play_rows(
        self,
        starts: Starts,
        indices: Indices,
        data: Floats,
        y: Floats,
        importances: Floats | None = None,
        out: Floats | None = None,
        names: Callable[[int, int], list[str]] | None = None,
    ) -> None: ...
    def score_rows(self, starts: Starts, indices: Indices, data: Floats, out: Floats) -> None: ...
