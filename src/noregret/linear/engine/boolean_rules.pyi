from noregret.linear.engine.engine import Engine

class Winnow1(Engine):
    def __init__(self, dimension: int | None = None) -> None: ...

class Conjunction(Engine):
    def __init__(self) -> None: ...
