from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from noregret.core.blocks import Blocks

Floats = NDArray[np.float64]
Starts = NDArray[np.int64]
Indices = NDArray[np.int32]

class Flow(Blocks):
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
