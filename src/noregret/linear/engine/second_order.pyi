from noregret.linear.engine.engine import Engine

FORMS: tuple[str, ...]
MAX_FEATURES: int

class SecondOrder(Engine): ...

class Forward(SecondOrder):
    def __init__(self, penalty: float = 1.0, forgetting: float = 1.0) -> None: ...

class Confidence(SecondOrder):
    def __init__(self, penalty: float = 1.0, form: str = "full") -> None: ...

LOSSES: tuple[str, ...]

class Newton(SecondOrder):
    def __init__(
        self,
        loss: str = "square",
        penalty: float = 1.0,
        form: str = "full",
        radius: float | None = None,
    ) -> None: ...
