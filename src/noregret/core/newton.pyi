from noregret.core.second_order import SecondOrder

LOSSES: tuple[str, ...]

class Newton(SecondOrder):
    def __init__(
        self,
        loss: str = "square",
        penalty: float = 1.0,
        form: str = "full",
        radius: float | None = None,
    ) -> None: ...
