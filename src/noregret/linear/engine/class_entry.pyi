from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.linear.engine.entry import Entry

class ClassEntry(Entry):
    labels_known: list[Any]
    def decision(self, x: Any) -> NDArray[np.float64]: ...
    def code_of(self, y: Any) -> int: ...
