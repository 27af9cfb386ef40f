"""The lines of JSON files: through Arrow if all have the same fields, else one by one."""

from __future__ import annotations

import io
import json
import re
from typing import Any, NamedTuple

from noregret.errors import BadExample, Use
from noregret.streams.columns import BOOLEAN, NUMBER, TEXT, kind_of
from noregret.streams.source import Piece

# The cure for a line that cannot be parsed.
LEAVE_OUT = Use("on_error", "skip", "leave such lines out ({})")
# Nesting depth of a line: more than any example has, and safe for the stack of every parser.
MAX_NESTING = 64
# Up to this many lines are parsed faster one by one than by Arrow.
FEW_LINES = 8
# A line without brackets but the outer ones; in others those outside of strings are counted.
FLAT = re.compile(rb"\s*(?:\{[^\[\]{}]*\}\s*)?")
# Possessive, as backtracking would need memory for every character of a long value.
STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|$)', re.DOTALL)
BRACKET = re.compile(rb"[\[\]{}]")


class GivenTwice(Exception):
    """Raised for a field that occurs twice in an object."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class Lines(NamedTuple):
    """A piece of a file: as a table, or as examples with their lines."""

    piece: Piece
    table: Any
    examples: list[tuple[int, Any]]
    faults: list[BadExample]  # line and what is wrong with it
    line_count: int


def parse(piece: Piece, by_line: bool = False) -> Lines:
    """Parse a piece, line by line if needed; called in any thread."""
    text = piece.text()
    lines = lines_of(text)
    many = len(lines) > FEW_LINES and not by_line
    table = as_table(text) if many and are_whole(lines) else None
    examples, faults = ([], []) if table is not None else one_by_one(lines)
    return Lines(piece, table, examples, faults, len(lines))


def lines_of(text: bytes) -> list[bytes]:
    """Return the lines of a text; the last may lack its newline."""
    lines = text.split(b"\n")
    return lines if lines[-1] else lines[:-1]


def are_whole(lines: list[bytes]) -> bool:
    """Return whether every line is one complete object that is not nested too deeply."""
    for line in lines:
        if not FLAT.fullmatch(line):
            deepest, left, values = depth_of(line)
            if left or deepest > MAX_NESTING or values > 1:
                return False
    return True


def depth_of(line: bytes) -> tuple[int, int, int]:
    """Return the nesting depth of a line, its depth at the end, and the number of its values."""
    depth = deepest = values = 0
    for bracket in BRACKET.findall(STRING.sub(b"", line)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
        values += depth == 0
    return deepest, depth, values


def one_by_one(lines: list[bytes]) -> tuple[list[tuple[int, Any]], list[BadExample]]:
    """Return the parsed lines, and the errors of lines that are not JSON."""
    examples: list[tuple[int, Any]] = []
    faults: list[BadExample] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            if depth_of(line)[0] > MAX_NESTING:
                raise RecursionError
            found = json.loads(line, object_pairs_hook=object_of, parse_int=whole)
            examples.append((number, flat(found) if isinstance(found, dict) else found))
        except GivenTwice as error:
            what = f"field {error.name[:40]!r} is given twice"
            faults.append(BadExample(what, "leave one out", line=number))
        except json.JSONDecodeError as error:
            what = f"not valid JSON ({error.msg})"
            faults.append(BadExample(what, LEAVE_OUT, line=number, column=error.colno))
        except UnicodeDecodeError as error:
            faults.append(BadExample(f"byte {error.start + 1} is not UTF-8 text", line=number))
        except RecursionError:
            what = "nested too deeply: an example holds plain values"
            faults.append(BadExample(what, line=number))
        except ValueError:
            faults.append(BadExample("not JSON that can be read", line=number))
    return examples, faults


def flat(example: dict[str, Any]) -> dict[str, Any]:
    """Return an object without objects in it: the field b of the field a is ``a.b``."""
    if not any(isinstance(value, dict) for value in example.values()):
        return example
    pairs: list[tuple[str, Any]] = []
    for name, value in example.items():
        if isinstance(value, dict):
            pairs += [(f"{name}.{inner}", found) for inner, found in flat(value).items()]
        else:
            pairs.append((name, value))
    return object_of(pairs)


def whole(digits: str) -> int | float:
    """Return a whole number; infinity if it has more digits than Python converts."""
    try:
        return int(digits)
    except ValueError:
        return float(digits)


def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object as a dict; raise GivenTwice for a duplicate field."""
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise GivenTwice(name)
            seen.add(name)
    return made


def as_table(text: bytes) -> Any:
    """Return lines as an Arrow table; None if they do not have the same fields."""
    import pyarrow as pa
    from pyarrow import json as arrow_json

    try:
        if not text.isascii():
            text.decode("utf-8")  # which Arrow does not check
        table = arrow_json.read_json(
            io.BytesIO(text),
            read_options=arrow_json.ReadOptions(block_size=len(text) + 1, use_threads=False),
        )
        names = table.column_names
    except (pa.ArrowInvalid, UnicodeDecodeError):
        return None
    plain = all(kind_of(kind) in (NUMBER, BOOLEAN, TEXT) for kind in table.schema.types)
    whole = plain and names and not any(column.null_count for column in table.columns)
    return table if whole else None
