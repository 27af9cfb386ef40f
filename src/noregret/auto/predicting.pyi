from typing import Any

from noregret.auto.memory_filters import Filters
from noregret.base.compiled.weigher import Holding, Weigher
from noregret.linear.engine.engine import Engine

class Tracker(Holding):
    rate: float
    mixing_cost: float
    turns: int
    def __init__(self, rate: float = 0.0, prior: Any = None) -> None: ...

LOSSES: tuple[str, ...]
KEEP: tuple[float, ...]
GRANT: tuple[float, ...]
KEEP_ABOVE: tuple[float, ...]
KEEP_FIRST: tuple[float, ...]
STEPS: tuple[float, ...]
LABEL_STEPS: tuple[float, ...]

class PredictingBank(Engine):
    plain: Filters
    lagged: Filters
    combining: Filters
    following: Filters
    seeing: Filters
    final: Weigher
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
