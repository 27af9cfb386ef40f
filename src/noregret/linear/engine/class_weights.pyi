from noregret.linear.engine.class_engine import ClassEngine

class ClassWeights(ClassEngine):
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
