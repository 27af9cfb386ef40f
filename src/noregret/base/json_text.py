"""JSON text that people can read, written fast."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from operator import is_
from typing import Any


class Weights(dict[str, float]):
    """Numbers by name whose texts are kept: a seal needs them, and the file that has the seal.

    Examples
    --------
    >>> Weights({"a": 0.5, "é": 2}).texts()
    ['"a":0.5', '"é":2']
    """

    _encoded: tuple[list[str | float], list[str]] | None = None

    def texts(self) -> list[str]:
        """Return every name and its number as JSON, encoded once as long as they stay."""
        names, numbers = list(self), list(self.values())
        if self._encoded is not None and len(names) == len(self._encoded[1]):
            before, texts = self._encoded
            if all(map(is_, [*names, *numbers], before)):
                return texts
        # JSON text has no line breaks of its own.
        text = json.dumps(dict(self), ensure_ascii=False, separators=("\n", ":"))
        texts = text[1:-1].split("\n") if names else []
        self._encoded = [*names, *numbers], texts
        return texts


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
    if isinstance(value, Weights) and all(map(math.isfinite, value.values())):
        text = f",{gap}".join(value.texts())
        if text.count('":') == len(value):  # no name has it, so each ends one
            return "{" + gap + text.replace('":', '": ') + gap[:-1] + "}"
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
    else:
        texts = (value if isinstance(value, Weights) else Weights(value)).texts()
        keys = list(value)
        items = [texts[k] for k in sorted(range(len(keys)), key=keys.__getitem__)]
    return f"{{{','.join(items)}}}"


def has_containers(values: Iterable[Any]) -> bool:
    """Return whether a value is an object or a list."""
    return any(issubclass(kind, Mapping | list | tuple) for kind in set(map(type, values)))


def encoded(value: Any, separator: str = ", ") -> str:
    """Return a value as JSON in one line, or with this between its items."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(separator, ": "))
