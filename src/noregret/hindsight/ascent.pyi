import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

def ascend(
    starts: NDArray[np.int64],
    at: NDArray[np.int32],
    values: Floats,
    squares: Floats,
    order: NDArray[np.int32],
    multiplier: float,
    logistic: bool,
    low: Floats,
    high: Floats,
    centre: Floats,
    flat: float,
    softness: float,
    slopes: Floats,
    g: Floats,
) -> None: ...
