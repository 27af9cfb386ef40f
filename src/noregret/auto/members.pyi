import numpy as np
from numpy.typing import NDArray

from noregret.auto.memory_filters import Filters

KEEP: tuple[float, ...]
GRANT: tuple[float, ...]
KEEP_ABOVE: tuple[float, ...]
KEEP_FIRST: tuple[float, ...]
STEPS: tuple[float, ...]
LABEL_STEPS: tuple[float, ...]

class Members:
    plain: Filters
    lagged: Filters
    recent: bool
    @property
    def full(self) -> bool: ...
    def influence(self) -> NDArray[np.float64]: ...
