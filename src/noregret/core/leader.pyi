from noregret.core.engine import Engine
from noregret.core.losses import Loss

class Leader(Engine):
    def __init__(
        self,
        loss: str | Loss = "linear",
        radius: float = 1.0,
        loss_parameter: float | None = None,
    ) -> None: ...
