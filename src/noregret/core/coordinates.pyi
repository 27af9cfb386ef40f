import numpy as np
from numpy.typing import NDArray

from noregret.core.engine import Engine

class Coordinates(Engine):
    kept_names: tuple[str, ...]
    def accounts(self) -> dict[str, NDArray[np.float64]]: ...
