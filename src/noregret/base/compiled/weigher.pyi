from typing import Any

MIN_PRIOR: float

class Weigher:
    n: int
    given_prior: Any
    def __init__(self, prior: Any = None) -> None: ...
    def begin(self, n: int) -> None: ...
    def excess(self) -> Any: ...
    def get_state(self) -> tuple[dict[str, Any], dict[str, Any]]: ...
    def set_state(self, arrays: dict[str, Any], numbers: dict[str, Any]) -> None: ...

class Exponential(Weigher):
    rate: float
    mixing_cost: float
    spreads: float
    rates: float
    own_gap: float
    def __init__(self, rate: float = 1.0, pace: str = "constant", prior: Any = None) -> None: ...

class Holding(Weigher): ...

class Sharing(Holding):
    rate: float
    share: float
    variable: bool
    def __init__(
        self, rate: float = 1.0, share: float = 0.0, variable: bool = False, prior: Any = None
    ) -> None: ...
