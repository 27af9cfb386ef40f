from noregret.core.engine import Engine
from noregret.core.filter import Filters
from noregret.core.weigher import Weigher

LOSSES: tuple[str, ...]
KEEP: tuple[float, ...]
GRANT: tuple[float, ...]
KEEP_ABOVE: tuple[float, ...]
KEEP_FIRST: tuple[float, ...]
STEPS: tuple[float, ...]
LABEL_STEPS: tuple[float, ...]

class Floors(Engine):
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
