import numpy as np
from numpy.typing import NDArray

from noregret.core.coordinates import Coordinates
from noregret.core.engine import Engine
from noregret.core.losses import Loss

class NormBets(Engine):
    def __init__(
        self,
        loss: str | Loss = "absolute",
        wealth: float = 1.0,
        lipschitz: float = 1.0,
        loss_parameter: float | None = None,
    ) -> None: ...
    def accounts(self) -> dict[str, NDArray[np.float64]]: ...

class CoordinateBets(Coordinates):
    def __init__(
        self,
        loss: str | Loss = "absolute",
        wealth: float = 1.0,
        lipschitz: float = 1.0,
        loss_parameter: float | None = None,
    ) -> None: ...

class InvariantBets(Coordinates):
    def __init__(
        self,
        loss: str | Loss = "absolute",
        wealth: float = 1.0,
        lipschitz: float = 1.0,
        loss_parameter: float | None = None,
    ) -> None: ...
