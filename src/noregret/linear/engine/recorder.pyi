from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.linear.engine.engine import Engine

Floats = NDArray[np.float64]

class Recorder:
    mark: int
    largest_loss: float
    expected: int
    weighted: int
    def __init__(self, engine: Engine, sink: Callable[[Floats, int], Any]) -> None: ...
    def hand_over(self) -> None: ...
    def give_back(self, words: Floats) -> None: ...
    @property
    def first_late(self) -> int | None: ...
    @property
    def sum_of_squared_gradients(self) -> float: ...
    def get_state(self) -> tuple[Floats, dict[str, Any]]: ...
    def set_state(self, page: Floats, numbers: dict[str, Any]) -> None: ...
    def watch(self, measure: str, limit: float) -> int: ...
    def first_violation(self, number: int) -> int | None: ...

def unpacked(
    words: Floats, rows: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats, Floats]: ...
def unpack(
    words: Floats,
    starts: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: Floats,
    outcomes: Floats,
) -> int: ...
