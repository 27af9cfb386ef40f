from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.compiled.weigher import Holding, Weigher

class Tracker(Holding):
    rate: float
    mixing_cost: float
    turns: int
    def __init__(self, rate: float = 0.0, prior: Any = None) -> None: ...

class Mixer:
    final: Weigher
    def member_weights(self) -> NDArray[np.float64]: ...
