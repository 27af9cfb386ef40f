import numpy as np
from numpy.typing import NDArray

Singles = NDArray[np.float32]

class Guard:
    def __init__(self, rate: float, block: int) -> None: ...
    def run(self, mic: Singles, out: Singles) -> None: ...
