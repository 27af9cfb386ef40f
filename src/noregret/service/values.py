"""Examples, outcomes and ids in the form in which a journal keeps them."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping
from typing import Any
from uuid import uuid4

import numpy as np

from noregret.errors import BadExample
from noregret.service.events import NOTE, as_json
from noregret.streams.json_lines import MAX_NESTING

# Characters of an id.
MAX_ID = 256
# What holds no other values, and what may.
PLAIN = frozenset({int, float, str, bool, type(None)})
NESTING = (dict, list, tuple, Mapping)


def example_of(x: Any) -> Any:
    """Return an example as JSON can hold it, or raise TypeError."""
    if isinstance(x, Mapping):
        if odd := [name for name in x if not isinstance(name, str)]:
            raise TypeError(f"the names of features are strings: got {odd[0]!r}")
        if any(isinstance(value, np.generic) for value in x.values()):
            return {name: plain(value) for name, value in x.items()}
        return x if type(x) is dict else dict(x)
    if isinstance(x, np.ndarray | list | tuple):
        return [plain(value) for value in x]
    raise TypeError(f"an example is a dict of names to values, or a list of numbers: got {x!r}")


def is_nested_deeply(value: Any) -> bool:
    """Return whether lists and dicts hold each other to a depth that is unsafe for the stack."""
    level: Iterable[Any] = (value,)
    for _ in range(MAX_NESTING):
        if PLAIN.issuperset(map(type, level)):
            return False
        level = [each for some in level if isinstance(some, NESTING) for each in values_of(some)]
    return bool(level)


def values_of(some: Any) -> Iterable[Any]:
    """Return the values in a dict, or in a list or tuple."""
    return some.values() if isinstance(some, Mapping) else some


def as_read(x: Any) -> Any:
    """Return an example as learners take it: a list of numbers as an array; or raise BadExample."""
    if type(x) is not list:
        return x
    try:
        return np.array(x, dtype=float)
    except (OverflowError, TypeError, ValueError) as error:
        raise BadExample(f"a list holds numbers: got {x!r:.200} ({error})") from None


def plain(value: Any) -> Any:
    """Return a number of NumPy's as Python's."""
    return value.item() if isinstance(value, np.generic) else value


def fields_of(x: Any) -> dict[str, Any]:
    """Return the fields of an example; those of a list are numbered."""
    return x if isinstance(x, dict) else {str(k): value for k, value in enumerate(x)}


def mixed_fields(examples: Iterable[Any]) -> set[str]:
    """Return the fields that are text in some examples and numbers in others."""
    words: set[str] = set()
    numbers: set[str] = set()
    for x in examples:
        for name, value in fields_of(x).items():
            (words if isinstance(value, str) else numbers).add(name)
    return words & numbers


def written(x: Any, mixed: Container[str]) -> dict[str, Any]:
    """Return the fields of an example so that a file of them has the same features.

    Files take empty text as missing, and refuse text among numbers: these are written as the
    features that they are, ``"name=text": 1``. So is text in fields that are called like these.
    """
    found: dict[str, Any] = {}
    for name, value in fields_of(x).items():
        if isinstance(value, str) and (not value or name in mixed or "=" in name):
            found[f"{name}={value}"] = 1
        else:
            found[name] = value
    return found


def has_field(x: Mapping[str, Any] | list[Any], name: str) -> bool:
    """Return whether an example may have a field of this name where it is written."""
    if isinstance(x, list):
        return name in map(str, range(len(x)))
    return name in x or ("=" in name and name in (f"{k}={value}" for k, value in x.items()))


def outcome_of(y: Any, learner: Any = None) -> Any:
    """Return an outcome as JSON can hold it: a number or a boolean; a class may also be text."""
    y = plain(y)
    classes = learner is not None and takes_names(learner)
    if not isinstance(y, int | float | str if classes else int | float):
        kind = "a class is text, a whole number" if classes else "an outcome is a number"
        cure = "; --learner auto-classes takes classes by name" if isinstance(y, str) else ""
        raise TypeError(f"{kind} or a boolean: got {y!r}{cure}")
    if isinstance(y, float):
        if not math.isfinite(y):
            raise BadExample(f"an outcome holds finite numbers: got {y!r}")
        return float(y)
    if isinstance(y, str):
        checked_json(y, "an outcome")
    return y


def takes_names(learner: Any) -> bool:
    """Return whether outcomes may be text: classes, or labels that a prepared file has named."""
    prepare = learner._entry.prepare
    return bool(learner._of_classes or (prepare is not None and prepare.labels is not None))


def checked_json(value: Any, what: str) -> str:
    """Return a value as JSON, or raise BadExample."""
    try:
        text = as_json(value)
        text.encode()
    except UnicodeEncodeError:
        raise BadExample(f"{what} holds half of a character, which is not text") from None
    except (TypeError, ValueError):
        held = "finite numbers" if what == "an outcome" else "finite numbers, strings and booleans"
        raise BadExample(f"{what} holds {held}: got {value!r:.200}") from None
    return text


def name_of(id: str | None) -> str:
    """Return an id, a new one for None."""
    if id is None:
        return uuid4().hex
    if not isinstance(id, str) or not 0 < len(id) <= MAX_ID:
        raise TypeError(f"an id is a string of up to {MAX_ID} characters: got {id!r:.300}")
    checked_json(id, "an id")
    return id


def are_text(names: Iterable[str]) -> bool:
    """Return whether strings have no halves of characters."""
    try:
        "".join(names).encode()
    except UnicodeEncodeError:
        return False
    return True


def key_of(key: str | None) -> str | None:
    """Return the key of a model."""
    if key is None:
        return None
    if not isinstance(key, str) or not 0 < len(key) <= MAX_ID:
        raise TypeError(f"a key is a string of up to {MAX_ID} characters: got {key!r:.300}")
    checked_json(key, "a key")
    if "\x1f" in key or "\0" in key:
        raise ValueError("a key has no control characters")
    return key


def body_of(request: dict[str, Any], key: str | None = None) -> bytes:
    """Return a request as a JSON object, or raise BadExample."""
    if key is not None:
        request["key"] = key
    return checked_json(request, "an example" if "x" in request else "an outcome").encode()


def extra_of(found: Any) -> bytes:
    """Return what a journal keeps of an answer besides its score."""
    note = NOTE + found.note if found.note else b""
    if found.chances is None and found.scores is None and found.prediction is found.score:
        return note
    return as_json([found.prediction, found.chances, found.scores]).encode() + note
