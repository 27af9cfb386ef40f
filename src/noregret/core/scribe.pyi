import numpy as np
from numpy.typing import NDArray

from noregret.core.engine import Engine
from noregret.core.losses import Loss

class Scribe(Engine):
    def __init__(
        self, loss: str | Loss = "square", loss_parameter: float | None = None
    ) -> None: ...
    def give(self, weights: NDArray[np.float64], offset: float = 0.0) -> None: ...
