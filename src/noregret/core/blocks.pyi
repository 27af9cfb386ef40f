from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from noregret.core.door import Door

Floats = NDArray[np.float64]
Starts = NDArray[np.int64]
Indices = NDArray[np.int32]

class Blocks(Door):
    def positions(self, names: Iterable[str]) -> list[int]: ...
    def admit_names(self, names: Iterable[str]) -> None: ...
    def play_dense(self, X: Floats, y: Floats, out: Floats | None = None) -> None: ...
    def play_sparse(
        self, starts: Starts, indices: Indices, data: Floats, y: Floats, out: Floats | None = None
    ) -> None: ...
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
