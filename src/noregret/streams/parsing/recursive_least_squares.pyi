import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MAX_CORRECTED_EXPERTS: int

def fresh(n: int, ridge: float) -> tuple[Floats, Floats, Floats]: ...
def correct(
    X: Floats,
    columns: NDArray[np.int32],
    at: int,
    y: Floats,
    rows: NDArray[np.int64],
    factor: Floats,
    given: Floats,
    numbers: Floats,
) -> None: ...
