import numpy as np
from numpy.typing import NDArray

Singles = NDArray[np.float32]

PACES: dict[str, float]

class Suppressor:
    block: int
    def __init__(self, rate: float, block: int, **paces: float) -> None: ...
    def run(self, heard: Singles, left: Singles, out: Singles) -> None: ...

class Guard:
    def __init__(self, rate: float, block: int) -> None: ...
    def run(self, mic: Singles, out: Singles) -> None: ...
