from noregret.base.compiled.losses import Loss
from noregret.linear.engine.kernel_expansion import Support

class KernelMachine(Support):
    def __init__(
        self,
        loss: str | Loss = "square",
        rate: float = 0.1,
        schedule: str = "constant",
        horizon: int | None = None,
        radius: float | None = None,
        loss_parameter: float | None = None,
        kernel: str = "rbf",
        width: float = 1.0,
        degree: int = 2,
        offset: float = 1.0,
        budget: int = 256,
    ) -> None: ...
    @property
    def removed(self) -> int: ...
    def norm(self) -> float: ...
