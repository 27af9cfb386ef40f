from typing import Any

import numpy as np
from numpy.typing import NDArray

def lift_dense(
    X: NDArray[np.float64], frequencies: NDArray[np.float64], out: NDArray[np.float64]
) -> None: ...
def lift_sparse(
    starts: NDArray[Any],
    indices: NDArray[Any],
    data: NDArray[np.float64],
    frequencies: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...
