import numpy as np
from numpy.typing import NDArray

from noregret.base.compiled.losses import Loss
from noregret.linear.engine.additive import Additive
from noregret.linear.engine.engine import Engine

class Coordinates(Engine):
    def accounts(self) -> dict[str, NDArray[np.float64]]: ...

class Diagonal(Coordinates):
    def __init__(
        self,
        loss: str | Loss = "square",
        rate: float = 0.5,
        radius: float | None = None,
        loss_parameter: float | None = None,
    ) -> None: ...

class WholeNorm(Additive):
    def __init__(
        self,
        loss: str | Loss = "square",
        rate: float = 0.5,
        radius: float | None = None,
        loss_parameter: float | None = None,
    ) -> None: ...
    def accounts(self) -> dict[str, NDArray[np.float64]]: ...

class Proximal(Coordinates):
    def __init__(
        self,
        loss: str | Loss = "logistic",
        rate: float = 0.1,
        beta: float = 1.0,
        l1: float = 0.0,
        l2: float = 0.0,
        loss_parameter: float | None = None,
    ) -> None: ...

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
