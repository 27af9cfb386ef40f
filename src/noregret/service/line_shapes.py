"""Batches of JSON lines of one shape: all as the first is written, but for ids and numbers."""

from __future__ import annotations

import json
import re

from noregret.service.compiled.plain_lines import PlainLines, Shape
from noregret.service.errors import ServiceError
from noregret.service.wire import distinct

# Bytes of a first line, and numbers in it.
MAX_LINE, MAX_NUMBERS = 1 << 16, 1000
# Batches without a look for their shape, after one whose lines were of several.
PAUSE = 16
FIRST_LINE = re.compile(rb"[\r\n]*([^\r\n]*)")
TOKEN = re.compile(
    rb'"(?P<name>[^"]*)"[ \t]*:|"(?P<text>[^"]*)"|(?P<number>-?[0-9][0-9.eE+-]*)|[{}]'
)


class LineReader:
    """Reads batches, and remembers the shape of the last one.

    Parameters
    ----------
    target
        The name of the outcome, which no feature may have.
    """

    def __init__(self, target: str) -> None:
        self.target = target
        self.shape: Shape | None = None
        self.pause = 0

    def read(self, body: bytes, most: int) -> PlainLines | None:
        """Return examples with outcomes and ids; None if some line is of another shape.

        Parameters
        ----------
        body
            The lines.
        most
            The number of lines that may come at once.
        """
        found = None if self.shape is None else self.shape.read(body, most)
        if found is None and self.pause:
            self.pause -= 1
        elif found is None:
            line = FIRST_LINE.match(body)
            shape = None if line is None else shape_of(line[1], self.target)
            if shape is not None:
                self.shape, found = shape, shape.read(body, most)
            self.pause = 0 if found is not None else PAUSE
        return found


def shape_of(line: bytes, target: str) -> Shape | None:
    """Return the shape of an example with its outcome and id; None if it is not a plain one."""
    if len(line) > MAX_LINE or b"\\" in line or not line.isascii() or not is_plain(line, target):
        return None
    texts, names, id_at = list[bytes](), list[str | None](), 0
    start, depth, name = 0, 0, ""
    for token in TOKEN.finditer(line):
        kind = token.lastgroup
        if kind is None:
            depth += 1 if token[0] == b"{" else -1
        elif kind == "name":
            name = token["name"].decode()
        else:
            texts.append(line[start : token.start(kind)])
            start = token.end(kind)
            if kind == "text":
                id_at = len(names)
            else:
                names.append(None if depth == 1 else name)
    return Shape([*texts, line[start:]], id_at, names)


def is_plain(line: bytes, target: str) -> bool:
    """Return whether a line has an id, numbers by name and an outcome, and nothing else."""
    try:
        found = json.loads(line.decode(), object_pairs_hook=distinct, parse_constant=str)
    except (ValueError, RecursionError, ServiceError):
        return False
    if not isinstance(found, dict) or found.keys() != {"id", "x", "y"}:
        return False
    x = found["x"]
    if not isinstance(x, dict) or not 0 < len(x) < MAX_NUMBERS or target in x or "=" in target:
        return False
    return type(found["id"]) is str and {*map(type, x.values()), type(found["y"])} <= {int, float}
