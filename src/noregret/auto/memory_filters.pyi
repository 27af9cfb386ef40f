from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

class Filters:
    n: int
    variants: int
    rounds: float
    waiting: int
    def __init__(
        self,
        forget: Sequence[float],
        most: Sequence[float],
        constant: float,
        variants: int = 1,
    ) -> None: ...
    def weights(self, variant: int, lane: int) -> NDArray[np.float64]: ...
    def get_state(self) -> tuple[dict[str, NDArray[np.float64]], dict[str, Any]]: ...
    def set_state(
        self, arrays: dict[str, NDArray[np.float64]], numbers: dict[str, Any]
    ) -> None: ...
