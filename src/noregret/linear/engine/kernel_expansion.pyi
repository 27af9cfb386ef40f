import numpy as np
from numpy.typing import NDArray

from noregret.linear.engine.engine import Engine

KERNELS: tuple[str, ...]
MAX_NUMBERS: int

class Support(Engine):
    budget: int
    vectors: int
    def support(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def gram_of(
        self, X: NDArray[np.float64], Z: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]: ...
    def gram_within(
        self, X: NDArray[np.float64], Z: NDArray[np.float64] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
