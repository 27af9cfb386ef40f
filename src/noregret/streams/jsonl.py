"""JSON lines, through Arrow where every line has the same fields, else one by one."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from noregret.streams.base import Block, Columns, Stream

# Bytes read at a time, up to the end of a line.
BLOCK = 1 << 22
# How deeply a line may be nested; more than an example ever is, less than any reader's stack.
DEEPEST = 64
# A line without brackets but the outer ones; in others those outside of strings are counted.
FLAT = re.compile(rb"\s*(?:\{[^\[\]{}]*\}\s*)?")
STRING = re.compile(rb'"(?:[^"\\]|\\.)*(?:"|$)', re.DOTALL)
BRACKET = re.compile(rb"[\[\]{}]")


class JsonlStream(Columns):
    """A file of JSON objects, one a line. A field that a line leaves out is 0, as in a dict."""

    extensions = (".jsonl", ".ndjson")

    def __iter__(self) -> Iterator[Block]:
        before = 0
        with self.path.open("rb") as file:
            while lines := file.readlines(BLOCK):
                whole = self.are_whole(lines, before)
                table = as_table(b"".join(lines)) if whole else None
                if table is None:
                    examples, outcomes = self.one_by_one(lines, before)
                    if examples:
                        yield examples, outcomes
                elif table.num_rows:
                    yield self.split(table)
                before += len(lines)

    def are_whole(self, lines: list[bytes], before: int) -> bool:
        """Whether every line closes what it opens; one nested too deeply for a stack is refused."""
        whole = True
        for number, line in enumerate(lines, before + 1):
            if FLAT.fullmatch(line):
                continue
            deepest, left = depth_of(line)
            if deepest > DEEPEST:
                raise self.wrong(f"line {number}: nested too deeply: an example holds plain values")
            whole = whole and left == 0
        return whole

    def one_by_one(self, lines: list[bytes], before: int) -> tuple[list[dict[str, Any]], list[Any]]:
        """Return the objects of some lines, and the outcomes taken out of them."""
        examples: list[dict[str, Any]] = []
        outcomes = []
        for number, line in enumerate(lines, before + 1):
            if not line.strip():
                continue
            try:
                example = json.loads(line)
            except json.JSONDecodeError as error:
                raise self.wrong(f"line {number}, column {error.colno}: {error.msg}") from None
            except UnicodeDecodeError as error:
                raise self.wrong(
                    f"line {number}: byte {error.start + 1} is not UTF-8 text"
                ) from None
            except (ValueError, RecursionError):
                raise self.wrong(f"line {number}: not JSON that can be read") from None
            if not isinstance(example, dict):
                raise self.wrong(f'line {number}: an example is an object: {{"name": value, …}}')
            try:
                outcomes.append(example.pop(self.target_among(list(example))))
            except ValueError as error:
                raise self.wrong(f"line {number}: {str(error).partition(': ')[2]}") from None
            examples.append(example)
        return examples, outcomes


def depth_of(line: bytes) -> tuple[int, int]:
    """Return how deeply a line of JSON is nested, and how deeply it still is at its end."""
    depth = deepest = 0
    for bracket in BRACKET.findall(STRING.sub(b"", line)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest, depth


def as_table(text: bytes) -> Any:
    """Return lines as an Arrow table, or None where the lines differ in more than their numbers."""
    import pyarrow as pa
    from pyarrow import json as arrow_json

    from noregret.streams.base import is_usable

    try:
        table = arrow_json.read_json(
            io.BytesIO(text),
            read_options=arrow_json.ReadOptions(block_size=2 * BLOCK + len(text)),
        )
    except pa.ArrowInvalid:
        return None
    try:
        table.column_names  # noqa: B018  (fails where a name is not UTF-8)
    except UnicodeDecodeError:
        return None
    plain = all(is_usable(kind) for kind in table.schema.types)
    return table if plain and not any(column.null_count for column in table.columns) else None


def read_jsonl(path: str | Path, target: str | None = None) -> Stream:
    """Read a file of JSON lines as a stream.

    Parameters
    ----------
    path
        The file.
    target
        The field that holds the outcomes.
    """
    return JsonlStream(path, target)
