import numpy as np
from numpy.typing import NDArray

from noregret.base.compiled.weigher import Weigher

class Scaled(Weigher):
    unit: float
    def bounds(self) -> NDArray[np.float64]: ...

class Polynomial(Scaled):
    progress: float
    jumps: int

class Bernstein(Scaled):
    slack: float

class Grid(Scaled):
    base: float
