from noregret.auto.memory_filters import Filters

KEEP_COMBINED: tuple[float, ...]

class ClassMembers:
    filters: Filters
    recent: bool
    members: int
    def __init__(self, recent: bool, stride: int) -> None: ...
