from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.linear.engine.engine import Engine
from noregret.linear.engine.entry import Entry
from noregret.linear.inputs import Outcomes

Floats = NDArray[np.float64]
CLASS_LOSSES: tuple[str, ...]
FORMS: tuple[str, ...]

class ClassWeights(Engine):
    classes: int
    def __init__(
        self,
        loss: str = "softmax",
        rate: float = 1.0,
        schedule: str = "constant",
        horizon: int | None = None,
        radius: float | None = None,
        step: str = "explicit",
        form: str = "gradient",
        l1: float = 0.0,
        l2: float = 0.0,
        beta: float = 1.0,
    ) -> None: ...

class ClassEntry(Entry):
    labels_known: list[Any]
    def decision(self, x: Any) -> Floats: ...
    def code_of(self, y: Any) -> int: ...
    def outcomes(self, y: Any) -> Outcomes: ...
    def coded(self, given: Outcomes, part: slice) -> Floats: ...
    def forget_unplayed(self) -> None: ...

def as_label(y: Any) -> Any: ...
