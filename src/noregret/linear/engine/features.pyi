class Features:
    names: list[str]
    gaps: bool
    times: set[str] | None
