class Features:
    names: list[str]
