import numpy as np
from numpy.typing import NDArray

from noregret.base.compiled.losses import Loss
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

class KernelMachine(Support):
    def __init__(
        self,
        loss: str | Loss = "square",
        rate: float = 0.1,
        schedule: str = "constant",
        horizon: int | None = None,
        radius: float | None = None,
        loss_parameter: float | None = None,
        kernel: str = "rbf",
        width: float = 1.0,
        degree: int = 2,
        offset: float = 1.0,
        budget: int = 256,
    ) -> None: ...
    @property
    def removed(self) -> int: ...
    def norm(self) -> float: ...
