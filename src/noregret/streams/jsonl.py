"""JSON lines, through Arrow where every line has the same fields, else one by one."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from noregret.errors import BadExample
from noregret.streams.base import INTERCEPT, Stream
from noregret.streams.block import Block, Fault, Sparse
from noregret.streams.columns import BOOLEAN, NUMBER, TEXT, Roles, encoded, kind_of, listed
from noregret.streams.options import Options
from noregret.streams.source import Paths, Piece, Source, tail_of
from noregret.streams.tables import TableReading

# How deeply a line may be nested; more than an example ever is, less than any reader's stack.
DEEPEST = 64
# A line without brackets but the outer ones; in others those outside of strings are counted.
FLAT = re.compile(rb"\s*(?:\{[^\[\]{}]*\}\s*)?")
STRING = re.compile(rb'"(?:[^"\\]|\\.)*(?:"|$)', re.DOTALL)
BRACKET = re.compile(rb"[\[\]{}]")


class Lines(NamedTuple):
    """A piece of a file: as a table, or as examples with the lines they came from."""

    piece: Piece
    table: Any
    examples: list[tuple[int, Any]]
    faults: list[tuple[int, str]]  # line and what is wrong with it
    count: int
    tail: dict[str, Any]


class JsonlReading(TableReading):
    """One pass through files of JSON lines. A field that a line leaves out is 0, as in a dict."""

    def jobs(self, mark: dict[str, Any] | None) -> Iterator[Callable[[], Lines]]:
        """Yield a job for every piece."""
        for piece in Source(self.paths).pieces(mark):
            yield partial(parse, piece)

    def settle(self, raw: Lines) -> Block:
        """Make a block of a piece."""
        piece, before = raw.piece, 0
        if self.mark is not None and self.mark["file"] == piece.file:
            before = self.mark["line"]
        mark = {"file": piece.file, "offset": piece.stop, "line": before + raw.count} | raw.tail
        size = self.read_so_far(piece.file, piece.read)
        if raw.table is not None and self.has_usual_kinds(raw.table, piece.path):
            table = encoded(raw.table, self.table_roles(raw.table, piece.path))

            def place_of(row: int) -> str:
                full = (n for n, line in enumerate(piece.text().split(b"\n"), 1) if line.strip())
                line = next(n for k, n in enumerate(full) if k == row)
                return f"{piece.path}, line {before + line}"

            return self.block_of(table, place_of, mark, size)
        examples, faults = raw.examples, raw.faults
        if raw.table is not None:
            examples, faults = one_by_one(piece.text().splitlines())
        return self.from_dicts(examples, faults, piece.path, before, mark, size)

    def has_usual_kinds(self, table: Any, path: str) -> bool:
        """Whether the fields hold what they held before; new ones are taken on."""
        found = {field.name: kind_of(field.type) for field in table.schema}
        for name in self.options.categories:
            if name in found:
                found[name] = TEXT
        if self.kinds is None:
            self.kinds = found
            self.roles(path)
        if self.learning and self.options.target not in found:
            return False
        usual = all(self.kinds.get(name, kind) == kind for name, kind in found.items())
        if usual:
            self.kinds = self.kinds | found
        return usual

    def table_roles(self, table: Any, path: str) -> Roles:
        """Return what the fields of a table are for."""
        assert self.kinds is not None
        there = {name: self.kinds[name] for name in table.column_names}
        options = self.options
        unnamed = Options(
            **{
                **vars(options),
                "drop": tuple(n for n in options.drop if n in there),
                "keep": tuple(n for n in options.keep if n in there),
                "categories": tuple(n for n in options.categories if n in there),
            }
        )
        return Roles(there, unnamed, path, self.learning)

    # One by one.

    def from_dicts(
        self,
        examples: list[tuple[int, Any]],
        broken: list[tuple[int, str]],
        path: str,
        before: int,
        mark: dict[str, Any],
        size: int,
    ) -> Block:
        """Make a block of examples that differ in their fields."""
        starts, indices, data, y, lines = [0], [], [], [], []
        faults = [(line, message) for line, message in broken]
        for line, example in examples:
            try:
                names, outcome = self.features_of(example)
            except BadExample as error:
                faults.append((line, str(error)))
                continue
            places = self.places_of(sorted(names))
            row = sorted(zip(places, [names[n] for n in sorted(names)], strict=True))
            indices += [place for place, _ in row]
            data += [value for _, value in row]
            starts.append(len(indices))
            y.append(outcome)
            lines.append(line)
        rows = Sparse(
            np.array(starts, dtype=np.int64), np.array(indices, dtype=np.int32), np.array(data, dtype=float)
        )
        told = [
            Fault(int(np.searchsorted(lines, line)), f"{path}, line {before + line}", message)
            for line, message in sorted(faults)
        ]
        return Block(
            rows,
            np.array(y, dtype=float),
            lambda row: f"{path}, line {before + lines[row]}",
            mark,
            size,
            faults=told,
        )

    def places_of(self, names: list[str]) -> list[int]:
        """Return where features are; new ones join in alphabetical order."""
        places = self.vocabulary.positions(names, True).tolist()
        if self.scaler is not None and self.scaler.kind == "standard":
            left = [p for n, p in zip(names, places, strict=True) if "=" in n or n == INTERCEPT]
            self.scaler.leave_out(left)
        return [int(place) for place in places]

    def features_of(self, example: Any) -> tuple[dict[str, float], float]:
        """Return the features of an example by name, and its outcome."""
        if not isinstance(example, dict):
            raise BadExample('an example is an object: {"name": value, …}')
        options = self.options
        if self.learning and options.target is None:
            raise BadExample(
                f"say which field is to be predicted: --target, target=…; there are"
                f" {listed(list(example))}"
            )
        outcome = example.pop(options.target, None) if options.target is not None else None
        features: dict[str, float] = {INTERCEPT: 1.0} if options.intercept else {}
        for name, value in example.items():
            if name in options.drop or (options.keep and name not in options.keep):
                continue
            self.add_feature(name, value, features)
        return features, self.outcome_of(outcome, example) if self.learning else float("nan")

    def add_feature(self, name: str, value: Any, features: dict[str, float]) -> None:
        """Add one field to the features of an example."""
        if self.kinds is None:
            self.kinds = {}
        if value is None or value == "":
            if self.options.missing == "stop":
                raise BadExample(
                    f"field {name!r} is empty: fill it in, or use --missing zero or --missing indicator"
                )
            key, number = (f"{name}=missing", 1.0) if self.options.missing == "indicator" else ("", 0.0)
        elif isinstance(value, str) or name in self.options.categories:
            key, number = f"{name}={text_of(value)}", 1.0
        elif isinstance(value, bool | int | float):
            try:
                key, number = name, float(value)
            except OverflowError:
                raise BadExample(f"field {name!r}: {str(value)[:40]}… is too large") from None
        else:
            raise BadExample(f"field {name!r} is nested: an example holds plain values")
        if key and value is not None:
            kind = TEXT if "=" in key and key != name else BOOLEAN if isinstance(value, bool) else NUMBER
            held = self.kinds.setdefault(name, kind)
            if held != kind and TEXT in (held, kind):
                raise BadExample(f"field {name!r} holds {kind}, not {held} as in the lines before it")
        if key in features:
            raise BadExample(f"feature {key!r} is given twice")
        if key:
            features[key] = number

    def outcome_of(self, value: Any, example: dict[str, Any]) -> float:
        """Return an outcome as a number."""
        target, positive = self.options.target, self.options.positive
        if value is None:
            raise BadExample(f"there is no field {target!r}: there are {listed(list(example))}")
        if positive is not None:
            same = value == positive if isinstance(value, str) else text_of(value) == positive
            if isinstance(value, int | float) and not same:
                try:
                    same = float(positive) == float(value)
                except ValueError:
                    same = False
            return 1.0 if same else -1.0
        if isinstance(value, bool | int | float):
            try:
                return float(value)
            except OverflowError:
                pass
        raise BadExample(f"the outcome is {str(value)[:40]!r}: give a number, or use --positive VALUE")


def text_of(value: Any) -> str:
    """Return a value as a name."""
    return value if isinstance(value, str) else json.dumps(value)


def parse(piece: Piece) -> Lines:
    """Read a piece; in any thread."""
    text = piece.text()
    lines = text.split(b"\n")
    if not lines[-1]:
        lines.pop()
    table = as_table(text) if are_whole(lines) else None
    examples, faults = ([], []) if table is not None else one_by_one(lines)
    return Lines(piece, table, examples, faults, len(lines), tail_of(text))


def are_whole(lines: list[bytes]) -> bool:
    """Whether every line closes what it opens, and none is nested too deeply for a stack."""
    for line in lines:
        if not FLAT.fullmatch(line):
            deepest, left = depth_of(line)
            if left or deepest > DEEPEST:
                return False
    return True


def depth_of(line: bytes) -> tuple[int, int]:
    """Return how deeply a line of JSON is nested, and how deeply it still is at its end."""
    depth = deepest = 0
    for bracket in BRACKET.findall(STRING.sub(b"", line)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest, depth


def one_by_one(lines: list[bytes]) -> tuple[list[tuple[int, Any]], list[tuple[int, str]]]:
    """Return what is on some lines, and the lines that are not JSON."""
    examples: list[tuple[int, Any]] = []
    faults: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            if depth_of(line)[0] > DEEPEST:
                raise RecursionError
            examples.append((number, json.loads(line)))
        except json.JSONDecodeError as error:
            faults.append((number, f"column {error.colno}: {error.msg}"))
        except UnicodeDecodeError as error:
            faults.append((number, f"byte {error.start + 1} is not UTF-8 text"))
        except RecursionError:
            faults.append((number, "nested too deeply: an example holds plain values"))
        except ValueError:
            faults.append((number, "not JSON that can be read"))
    return examples, faults


def as_table(text: bytes) -> Any:
    """Return lines as an Arrow table, or None where the lines differ in more than their numbers."""
    import pyarrow as pa
    from pyarrow import json as arrow_json

    try:
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


class JsonlStream(Stream):
    """Files of JSON objects, one a line."""

    name = "jsonl"
    extensions = (".jsonl", ".ndjson")
    reading_class = JsonlReading


def read_jsonl(path: Paths, target: str | None = None, **options: Any) -> Stream:
    """Read files of JSON lines as a stream.

    Parameters
    ----------
    path
        One file or several, or a glob.
    target
        The field that holds the outcomes.
    **options
        See ``noregret.streams.Options``.
    """
    return JsonlStream(path, Options(target, **options))
