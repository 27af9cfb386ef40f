import numpy as np
from numpy.typing import NDArray

from noregret.core.engine import Engine
from noregret.core.filter import Filters

LOSSES: tuple[str, ...]
MOST_FULL: int
MOST_LAGGED: int
KEEP: tuple[float, ...]
KEEP_ABOVE: tuple[float, ...]
KEEP_FIRST: tuple[float, ...]
STEPS: tuple[float, ...]
LABEL_STEPS: tuple[float, ...]

class Bank(Engine):
    plain: Filters
    lagged: Filters
    combining: Filters
    following: Filters
    seeing: Filters
    recent: bool
    delay: int
    members: int
    mixers: int
    base_members: int
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
    def engine_is_full(self) -> bool: ...
    def member_weights(self) -> NDArray[np.float64]: ...
    def member_losses(self) -> NDArray[np.float64]: ...
    def history(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...
    def accounts(self) -> dict[str, NDArray[np.float64]]: ...
    def influence(self) -> NDArray[np.float64]: ...
