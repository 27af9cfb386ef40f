from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

DEPTH: int

def outer_products(rows: NDArray[np.float64]) -> Iterator[tuple[NDArray[np.float64], int]]: ...
