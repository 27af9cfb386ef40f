from noregret.base.compiled.losses import Loss
from noregret.linear.engine.engine import Engine

STEPS: tuple[str, ...]

class Multiplicative(Engine):
    def __init__(
        self,
        loss: str | Loss = "square",
        rate: float = 0.1,
        schedule: str = "constant",
        horizon: int | None = None,
        weight: float = 1.0,
        mirrored: bool = False,
        dimension: int | None = None,
        step: str = "explicit",
        loss_parameter: float | None = None,
    ) -> None: ...
