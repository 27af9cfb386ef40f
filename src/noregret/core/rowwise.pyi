from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

def assembled(
    numbers: NDArray[np.float64], places: NDArray[np.int32], indicators: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]: ...
def stacked(
    columns: Sequence[NDArray[np.float64] | None], rows: int
) -> tuple[NDArray[np.float64], bool]: ...
def summarise(
    X: NDArray[np.float64], columns: NDArray[np.int32], mean_at: int, median_at: int
) -> int: ...
