import numpy as np
from numpy.typing import NDArray

from noregret.auto.members import Members
from noregret.auto.mixer import Mixer
from noregret.linear.engine.engine import Engine

LOSSES: tuple[str, ...]

class Bank(Engine):
    members: Members
    mixer: Mixer
    delay: int
    def __init__(
        self,
        loss: str = "square",
        loss_parameter: float | None = None,
        recent: bool = True,
        delay: int = 0,
    ) -> None: ...
    @property
    def first_loss(self) -> float: ...
    @property
    def recent(self) -> bool: ...
    @property
    def full(self) -> bool: ...
    def member_weights(self) -> NDArray[np.float64]: ...
    def history(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...
    def influence(self) -> NDArray[np.float64]: ...
    def member_losses(self) -> NDArray[np.float64]: ...
    def accounts(self) -> dict[str, NDArray[np.float64]]: ...

class DelayedBank(Bank):
    behind: Bank
