"""Every way to change one thing in a JSON document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Path = tuple[Any, ...]
# Letters that look like ASCII ones and are not.
LOOK_ALIKES = str.maketrans("aeopcx-", "аеорсх‐")
# Fields that a certificate may have or not, with something plausible to put there.
OPTIONAL: dict[Path, list[Any]] = {
    ("learner", "averaged"): [True],
    ("learner", "family"): ["experts", "batch", "filters", "echo"],
    ("data", "target"): ["outcome"],
    ("loss", "mistakes"): [0, 3],
    ("hindsight", "tolerance"): [1e-300, 1e-12, 1e-3, 0.5, 1e300],
    ("further",): [],
    ("given",): [{"radius": 1.0}, {"chance": 0.1}, {"limits": 1}, {"theorem": "x"}],
}


def changes(document: Any) -> Iterator[tuple[Path, str, Any]]:
    """Yield (where, what was done, the document so changed)."""
    for path, value in places(document):
        for words, other in others(value):
            yield path, words, put(document, path, other)


def insertions(certificate: dict[str, Any]) -> Iterator[tuple[Path, str, Any]]:
    """Yield a certificate with each optional field that it has not."""
    further = [certificate["theorem"]] if certificate["theorem"] else []
    for path, values in (OPTIONAL | {("further",): [further]}).items():
        parent = certificate if len(path) == 1 else certificate[path[0]]
        for value in values if path[-1] not in parent else []:
            yield path, f"inserted as {value!r:.40}", put(certificate, path, value)


def places(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    yield path, value
    children = list(value.items()) if isinstance(value, dict) else []
    children += enumerate(value) if isinstance(value, list) else []
    for key, child in children:
        yield from places(child, (*path, key))


def others(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what else could stand there."""
    if isinstance(value, bool):
        yield from (("flipped", not value), ("made null", None), ("made a number", int(value)))
    elif isinstance(value, int | float):
        yield from other_numbers(value)
    elif isinstance(value, str):
        yield from other_texts(value)
    elif value is None:
        yield from (("made a number", 1.5), ("made true", True), ("made a whole number", 3))
        yield from (("made text", "none"), ("made zero", 0.0))
    elif isinstance(value, list):
        for k in range(len(value)):
            yield f"item {k} removed", value[:k] + value[k + 1 :]
        if value[::-1] != value:
            yield "reversed", value[::-1]
        yield "item added", [*value, value[0] if value else "more"]
        yield from (("made null", None), ("wrapped", [value]))
        if value:
            yield "doubled", value + value
    else:
        for key in value:
            rest = {k: v for k, v in value.items() if k != key}
            yield f"{key} removed", rest
            yield f"{key} renamed", rest | {f"{key}x": value[key]}
        yield "something added", {**value, "extra": 1.0}
        yield "made null", None


def other_numbers(value: float) -> Iterator[tuple[str, Any]]:
    yield "nudged up", value * (1 + 1e-3) if value else 1e-3
    yield "nudged down", value * (1 - 1e-3) if value else -1e-3
    yield "made one more", value + 1
    for words, number in (("zero", 0), ("huge", 1e300), ("tiny", 1e-300), ("-huge", -1e300)):
        if value != number:
            yield f"made {words}", number
    if value:
        yield "turned around", -value
    yield from (("made null", None), ("made text", str(value)), ("made true", True))


def other_texts(value: str) -> Iterator[tuple[str, Any]]:
    yield from (("lengthened", value + "x"), ("emptied", ""), ("made null", None))
    yield "said more", value + ", i.e. all linear predictors and all neural networks"
    yield "spaced", value + " "
    for words, other in (
        ("raised", value.upper()),
        ("spelled alike", value.translate(LOOK_ALIKES)),
        ("one letter changed", value[:-1] + ("0" if value[-1:] != "0" else "1")),
    ):
        if other != value:
            yield words, other


def put(document: Any, path: Path, value: Any) -> Any:
    """Return the document with another value at a place; it shares all other places."""
    if not path:
        return value
    changed, key, rest = document.copy(), path[0], path[1:]
    changed[key] = put(document[key], rest, value) if rest else value
    return changed
