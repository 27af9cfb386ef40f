import numpy as np
from numpy.typing import NDArray

from noregret.linear.engine.additive import Scaled

class ClassEngine(Scaled):
    classes: int
    def note_chances(self, out: NDArray[np.float64] | None) -> None: ...
