from collections.abc import Callable
from typing import Any

LOSSES: tuple[str, ...]
PARAMETERS: dict[str, tuple[str, float]]

class Loss:
    name: str
    parameter: float
    implicit: bool
    @property
    def labels(self) -> bool: ...
    def value(self, score: float, outcome: float) -> float: ...
    def slope(self, score: float, outcome: float) -> float: ...
    def implicit_step(self, score: float, outcome: float, rate: float, norm2: float) -> float: ...

class PythonLoss(Loss):
    def __init__(
        self,
        value: Callable[[float, float], float],
        slope: Callable[[float, float], float],
        name: str = "custom",
        labels: bool = False,
    ) -> None: ...

def make_loss(loss: str | Loss, parameter: float | None = None) -> Loss: ...

EXPERT_LOSSES: tuple[str, ...]

def find_loss(loss: Any, parameter: float | None = None) -> Loss: ...
