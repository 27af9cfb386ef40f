import numpy as np
from numpy.typing import NDArray

class HighPass:
    def __init__(self, rate: float, lines: int, corner: float) -> None: ...

Singles = NDArray[np.float32]

class Path:
    block: int
    channels: int
    parts: int
    lags: int
    delay: int
    delay_found: int
    def __init__(
        self,
        rate: float,
        block: int,
        parts: int,
        channels: int,
        lags: int,
        corner: float,
        **paces: float,
    ) -> None: ...
    def run(
        self, far: Singles, mic: Singles, heard: Singles, left: Singles, said: Singles | None = None
    ) -> None: ...
    def response(self) -> Singles: ...
