from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
KINDS: tuple[str, ...]

class Scaler:
    kind: str
    def __init__(self, kind: str) -> None: ...
    def leave_out(self, positions: Sequence[int] | NDArray[np.integer]) -> None: ...
    def scale_dense(self, X: Floats, learning: bool = True, y: Floats | None = None) -> None: ...
    def scale_sparse(
        self,
        starts: NDArray[np.int64],
        indices: NDArray[np.int32],
        data: Floats,
        learning: bool = True,
        y: Floats | None = None,
    ) -> None: ...
    def get_state(self, size: int) -> dict[str, NDArray[np.generic]]: ...
    def set_state(self, arrays: dict[str, NDArray[np.generic]]) -> None: ...
