from noregret.core.sliding import Sliding

class Projecting(Sliding):
    def __init__(self, taps: int, rate: float, cushion: float, order: int) -> None: ...

class Recursive(Sliding):
    def __init__(self, taps: int, penalty: float, forgetting: float) -> None: ...
