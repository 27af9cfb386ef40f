from typing import Any

from noregret.core.sharing import Holding

class Tracker(Holding):
    rate: float
    mixing_cost: float
    turns: int
    def __init__(self, rate: float = 0.0, prior: Any = None) -> None: ...
