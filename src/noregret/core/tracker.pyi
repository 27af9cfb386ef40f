from typing import Any

from noregret.core.weigher import Weigher

class Tracker(Weigher):
    rate: float
    mixing_cost: float
    turns: int
    def __init__(self, rate: float = 0.0, prior: Any = None) -> None: ...
