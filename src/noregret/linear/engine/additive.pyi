from noregret.base.compiled.losses import Loss
from noregret.linear.engine.engine import Engine

class Scaled(Engine): ...

class Additive(Scaled):
    def __init__(
        self,
        loss: str | Loss = "square",
        rate: float = 0.1,
        schedule: str = "constant",
        horizon: int | None = None,
        domain: str = "everything",
        radius: float | None = None,
        step: str = "explicit",
        loss_parameter: float | None = None,
        cushion: float | None = None,
    ) -> None: ...
    @property
    def steps_late(self) -> bool: ...
    @property
    def fixed_rate(self) -> float | None: ...

class Lazy(Additive):
    def __init__(
        self,
        loss: str | Loss = "linear",
        rate: float = 0.1,
        schedule: str = "constant",
        horizon: int | None = None,
        radius: float | None = None,
        loss_parameter: float | None = None,
    ) -> None: ...

class ShrinkingMargin(Additive):
    def __init__(self, accuracy: float = 0.5) -> None: ...
    @property
    def correction_count(self) -> int: ...

class Leader(Engine):
    def __init__(
        self, loss: str | Loss = "linear", radius: float = 1.0, loss_parameter: float | None = None
    ) -> None: ...
