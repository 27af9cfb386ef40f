"""JSON text that people can read, written fast."""

from __future__ import annotations

import json
from collections.abc import Mapping
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
    if not any(isinstance(item, Mapping | list | tuple) for item in inside):
        text = encoded(value, "," + gap)
        return f"{text[0]}{gap}{text[1:-1]}{gap[:-1]}{text[-1]}"
    if not isinstance(value, Mapping):
        items = [indented(item, level + 1) for item in value]
        return f"[{gap}{f',{gap}'.join(items)}{gap[:-1]}]"
    items = [f"{encoded(key)}: {indented(item, level + 1)}" for key, item in value.items()]
    return f"{{{gap}{f',{gap}'.join(items)}{gap[:-1]}}}"


def encoded(value: Any, separator: str = ", ") -> str:
    """Return a value as JSON in one line, or with this between its items."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(separator, ": "))
