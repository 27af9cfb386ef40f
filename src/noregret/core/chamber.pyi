from typing import Any

from noregret.core.losses import Loss
from noregret.core.weigher import Weigher

MANNERS: tuple[str, ...]

class Chamber:
    weigher: Weigher
    cost: Loss
    linearised: bool
    floor: float
    ceiling: float
    allowed: float
    may_sleep: bool
    votes: bool
    experts: list[str]
    drawn_loss: float
    lowest: float
    highest: float
    widest: float
    worst: float
    first_outside: int
    first_wide: int
    naps: int
    first_nap: int
    def __init__(
        self,
        weigher: Weigher,
        loss: Any = "square",
        loss_parameter: float | None = None,
        gradient: bool = False,
        manner: str = "mean",
        low: float = ...,
        high: float = ...,
        spread: float = ...,
        sleeping: bool = True,
        seed: int = 0,
        votes: bool = False,
    ) -> None: ...
