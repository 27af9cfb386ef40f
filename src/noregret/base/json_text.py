"""JSON text that people can read, written fast."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any


def indented(value: Any, level: int = 1) -> str:
    """Return what ``json.dumps(value, indent=1)`` does, without ASCII escapes and without NaN.

    That takes Python's own encoder one step per number. Objects and lists without others inside,
    such as a witness of a million weights, are left to the compiled encoder instead.

    Examples
    --------
    >>> print(indented({"name": "é", "weights": [0.5, 2]}))
    {
     "name": "é",
     "weights": [
      0.5,
      2
     ]
    }
    """
    if not value or not isinstance(value, Mapping | list | tuple):
        return encoded(value)
    gap = "\n" + " " * level
    inside = value.values() if isinstance(value, Mapping) else value
    if not has_containers(inside):
        text = encoded(value, "," + gap)
        return f"{text[0]}{gap}{text[1:-1]}{gap[:-1]}{text[-1]}"
    if not isinstance(value, Mapping):
        items = [indented(item, level + 1) for item in value]
        return f"[{gap}{f',{gap}'.join(items)}{gap[:-1]}]"
    items = [f"{encoded(key)}: {indented(item, level + 1)}" for key, item in value.items()]
    return f"{{{gap}{f',{gap}'.join(items)}{gap[:-1]}}}"


def canonical(value: Any) -> str:
    """Return what ``json.dumps(value, sort_keys=True)`` does, without ASCII escapes or spaces.

    That sorts pairs of keys and values, which takes longer than all else if they are many. Here
    keys are sorted, and the pairs are encoded in their own order, in which they are in memory.

    Examples
    --------
    >>> canonical({"b": [1, {}], "a": {"é": 0.5, "d": None}})
    '{"a":{"d":null,"é":0.5},"b":[1,{}]}'
    """
    if not value or not isinstance(value, Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if not isinstance(value, Mapping):
        return f"[{','.join(map(canonical, value))}]"
    if has_containers(value.values()):
        items = [f"{encoded(key)}:{canonical(item)}" for key, item in sorted(value.items())]
    else:  # JSON text has no line breaks of its own
        text = json.dumps(value, ensure_ascii=False, separators=("\n", ":"))
        texts, keys = text[1:-1].split("\n"), list(value)
        items = [texts[k] for k in sorted(range(len(keys)), key=keys.__getitem__)]
    return f"{{{','.join(items)}}}"


def has_containers(values: Iterable[Any]) -> bool:
    """Return whether a value is an object or a list."""
    return any(issubclass(kind, Mapping | list | tuple) for kind in set(map(type, values)))


def encoded(value: Any, separator: str = ", ") -> str:
    """Return a value as JSON in one line, or with this between its items."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(separator, ": "))
