import numpy as np
from numpy.typing import NDArray

class ColumnSums:
    parts: NDArray[np.float64]
    lost: NDArray[np.float64]
    rows: int
    def __init__(self, columns: int) -> None: ...
    def add(self, table: NDArray[np.float64]) -> None: ...

class Paths:
    rounds: int
    layers: int
    def __init__(self, experts: int, most: int) -> None: ...
    def add(
        self, table: NDArray[np.float64]
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]: ...
    def losses(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
