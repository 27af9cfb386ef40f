class Store:
    def __init__(self) -> None: ...

class Delay:
    found: int
    first: int
    def __init__(self, rate: float, block: int, lags: int, likely: float) -> None: ...
