from typing import Any

from noregret.core.weigher import Weigher

class Holding(Weigher): ...

class Sharing(Holding):
    rate: float
    share: float
    variable: bool
    def __init__(
        self, rate: float = 1.0, share: float = 0.0, variable: bool = False, prior: Any = None
    ) -> None: ...
