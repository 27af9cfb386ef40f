"""Every way to change one thing in a JSON document."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

Path = tuple[Any, ...]


def changes(document: Any) -> Iterator[tuple[Path, str, Any]]:
    """Yield (where, what was done, the document so changed)."""
    for path, value in places(document):
        for words, other in others(value):
            changed = copy.deepcopy(document)
            if path:
                put(changed, path, other)
            else:
                changed = other
            yield path, words, changed


def places(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    yield path, value
    children = list(value.items()) if isinstance(value, dict) else []
    children += enumerate(value) if isinstance(value, list) else []
    for key, child in children:
        yield from places(child, (*path, key))


def others(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what else could stand there."""
    if isinstance(value, bool):
        yield from (("flipped", not value), ("made null", None))
    elif isinstance(value, int | float):
        yield "nudged up", value * (1 + 1e-3) if value else 1e-3
        yield "nudged down", value * (1 - 1e-3) if value else -1e-3
        yield "made one more", value + 1
        if value:
            yield "turned around", -value
        yield "made null", None
    elif isinstance(value, str):
        yield from (("lengthened", value + "x"), ("emptied", ""))
        if value.upper() != value:
            yield "raised", value.upper()
        if len(value) > 3:
            yield "one letter changed", value[:-1] + ("0" if value[-1] != "0" else "1")
    elif value is None:
        yield from (("made a number", 1.5), ("made true", True), ("made a whole number", 3))
    elif isinstance(value, list):
        for k in range(len(value)):
            yield f"item {k} removed", value[:k] + value[k + 1 :]
        yield from (("item added", [*value, value[0] if value else "more"]), ("made null", None))
    else:
        for key in value:
            yield f"{key} removed", {k: v for k, v in value.items() if k != key}
        yield "something added", {**value, "extra": 1.0}


def put(document: Any, path: Path, value: Any) -> None:
    for key in path[:-1]:
        document = document[key]
    document[path[-1]] = value
