"""JSON lines: through Arrow if every line has the same fields, else one by one."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, datetime
from functools import cache, partial
from typing import Any

import numpy as np

from noregret.base.calendar_features import DATE_LENGTH, features_at, is_written_time
from noregret.errors import BadExample, Place, Use, tell
from noregret.limits import INTERCEPT, MAX_VALUE
from noregret.streams.block import Block, Fault, Sparse, placed
from noregret.streams.columns import (
    BOOLEAN,
    DATE,
    NUMBER,
    TEXT,
    TIME,
    TIMES,
    Roles,
    check_columns,
    encoded,
    kind_of,
    listed,
)
from noregret.streams.columns_to_rows import empty, no_outcome
from noregret.streams.json_forecasts import kinds_of, table_of
from noregret.streams.json_lines import Lines, lines_of, one_by_one, parse
from noregret.streams.local_dates import SAMPLE_VALUES, order_of
from noregret.streams.options import ASLEEP, STOP, WRITTEN
from noregret.streams.stream import State, Stream, reader_of
from noregret.streams.table_reading import MIN_DATE_SHARE, TableReading
from noregret.streams.waiting_lines import Waiting

# What a line may hold instead of an object, for messages.
JSON_TYPES = {list: "a list", str: "text", bool: "a boolean", int: "a number", float: "a number"}
# Characters of an outcome that a message shows.
MAX_SHOWN = 40


class JsonlReading(TableReading):
    """One pass through files of JSON lines. A field that a line leaves out is 0, as in a dict.

    The fields that the options name must be among those of the first lines.
    """

    min_date_share = MIN_DATE_SHARE
    checked = False
    told_lost = False  # whether it was told of a line that has neither id nor target

    def __init__(self, stream: Stream, learning: bool, state: State | None) -> None:
        super().__init__(stream, learning, state)
        options, self.waiting = self.options, None
        if learning and options.id is not None and options.target is not None:
            self.waiting = Waiting(options.id, options.target)

    def jobs(self, mark: dict[str, Any] | None) -> Iterator[Callable[[], Lines]]:
        """Yield a job for every piece."""
        by_line = bool(self.options.passed)
        for piece in self.source().pieces(mark):
            yield partial(parse, piece, by_line)

    def settle(self, raw: Lines) -> Block:
        """Make a block of a piece."""
        piece, before = raw.piece, self.lines_before(raw.piece)
        mark = self.mark_after(piece, raw.line_count)
        size = self.read_so_far(piece.file, piece.read)
        if self.options.missing == ASLEEP:
            return self.forecasts(raw, before, mark, size)
        if not self.checked:
            self.check_fields(raw)
        if raw.table is not None and self.has_usual_kinds(raw.table):
            table = encoded(raw.table, self.table_roles(raw.table, piece.path))

            @cache
            def lines() -> list[int]:
                return [n for n, line in enumerate(lines_of(piece.text()), 1) if line.strip()]

            def place_of(row: int) -> Place:
                return Place(piece.path, before + lines()[row])

            return self.block_of(table, place_of, mark, size)
        examples, faults = raw.examples, raw.faults
        if self.kinds is None and raw.table is None:
            self.find_texts(first_values(examples), piece.path)
        if raw.table is not None:
            examples, faults = one_by_one(lines_of(piece.text()))
        return self.from_dicts(examples, faults, piece.path, before, mark, size)

    def forecasts(self, raw: Lines, before: int, mark: dict[str, Any], size: int) -> Block:
        """Make a block of rows of forecasts."""
        path = raw.piece.path
        examples, broken = raw.examples, raw.faults
        if raw.table is not None:
            examples, broken = one_by_one(lines_of(raw.piece.text()))
        if self.kinds is None:
            self.kinds = kinds_of(examples, self.options.labels)
        table, lines, faults = table_of(examples, self.roles(path))
        return self.block_of(
            table,
            lambda row: Place(path, before + lines[row]),
            mark,
            size,
            placed(in_order([*broken, *faults], lines), path, before),
        )

    def check_fields(self, raw: Lines) -> None:
        """Check, once, that the fields that the options name are there."""
        if raw.table is not None:
            fields = list(raw.table.column_names)
        else:
            objects = [example for _, example in raw.examples if isinstance(example, dict)]
            objects = objects[:1] if self.at_once else objects
            fields = list(dict.fromkeys(name for example in objects for name in example))
        if fields:
            # The first lines may all be without an outcome.
            must = self.options.target is None or self.options.missing == STOP
            check_columns(fields, self.options, raw.piece.path, self.learning and must)
            self.checked = True

    def has_usual_kinds(self, table: Any) -> bool:
        """Return whether the kinds of the fields are those seen before; new fields are added."""
        import pyarrow as pa

        if self.learning and self.options.target not in table.column_names:
            return False
        found = {field.name: kind_of(field.type) for field in table.schema}
        if self.kinds is None:
            texts = [name for name, kind in found.items() if kind == TEXT]
            columns = {name: table.column(name).slice(0, SAMPLE_VALUES) for name in texts}
            self.find_texts({n: c.to_pylist() for n, c in columns.items()}, self.paths[0])
        if any(self.time_kind(name, first_of(table.column(name))) for name in found):
            return False
        for name in self.options.categories:
            if name in found:
                if pa.types.is_floating(table.schema.field(name).type):
                    return False  # 1.0 and 1 are different names, but look the same here
                found[name] = TEXT
        before = self.kinds or {}
        usual = all(before.get(name, kind) == kind for name, kind in found.items())
        if usual:
            self.kinds = before | found
        return usual

    def table_roles(self, table: Any, path: str) -> Roles:
        """Return the roles of the fields of a table."""
        assert self.kinds is not None
        options, there = self.options, {name: self.kinds[name] for name in table.column_names}
        left_out = [name for name in there if options.keep and name not in options.keep]
        asked = options.interactions
        present = replace(
            options,
            interactions=tuple(text for text in asked if there.keys() >= {*text.split("*")})
            if "pairs" not in asked
            else asked,
            keep=(),
            drop=(*left_out, *(name for name in options.drop if name in there)),
            categories=tuple(name for name in options.categories if name in there),
            text=tuple(name for name in options.text if name in there),
        )
        roles = Roles(there, present, path, self.learning)
        if self.settled is None:
            self.settled = roles
        return roles

    # One by one.

    def from_dicts(
        self,
        examples: list[tuple[int, Any]],
        broken: list[BadExample],
        path: str,
        before: int,
        mark: dict[str, Any],
        size: int,
    ) -> Block:
        """Make a block of examples that differ in their fields."""
        starts, indices, data, lines = [0], [], [], []
        y: list[float | str] = []
        tags: list[str] = []
        keys: list[str | None] = []
        faults = list(broken)
        booleans = False
        known = len(self.vocabulary)
        for line, example in examples:
            target = example.get(self.options.target) if isinstance(example, dict) else None
            try:
                key, whole = self.joined(example)
                passed = self.passed_of(example, whole)
                names, outcome = self.features_of(whole)
                self.settle_waiting(key, example, whole)
            except BadExample as error:
                if isinstance(example, dict):
                    error.passed = [example.get(name) for name in self.options.passed]
                faults.append(error.at(line=line).with_traceback(None))
                continue
            row: dict[int, float] = {}
            learned = isinstance(outcome, str) or not (self.learning and math.isnan(outcome))
            if learned and self.learning:
                self.positions.note(names, self.times_found())
            places = self.places_of(sorted(names), learned)
            for name, place in zip(sorted(names), places, strict=True):
                if place >= 0:  # names may share a slot of a hash
                    row[place] = row.get(place, 0.0) + names[name]
            indices += sorted(row)
            data += [row[place] for place in sorted(row)]
            starts.append(len(indices))
            y.append(outcome)
            lines.append(line)
            tags.append(passed)
            keys.append(key)
            booleans |= isinstance(target, bool) and self.options.positive is None
        self.look_at_fields([example for _, example in examples])
        self.note_growth(known, len(y))
        rows = Sparse(
            np.array(starts, dtype=np.int64),
            np.array(indices, dtype=np.int32),
            np.array(data, dtype=float),
        )
        values = list(dict.fromkeys(text for text in y if isinstance(text, str)))
        codes = {value: float(code) for code, value in enumerate(values)}
        return Block(
            rows,
            np.array([codes.get(found, found) for found in y], dtype=float),  # type: ignore[arg-type]
            lambda row: Place(path, before + lines[row]),
            mark,
            size,
            faults=placed(in_order(faults, lines), path, before),
            tags=tags if self.options.passed else None,
            booleans=booleans,
            values=values or None,
            keys=None if self.waiting is None else keys,
        )

    def joined(self, example: Any) -> tuple[str | None, Any]:
        """Return the id of an example, and the example with the features that came before."""
        if self.waiting is None or not isinstance(example, dict):
            return None, example
        key, waits = self.waiting.key_of(example), is_missing(example.get(self.waiting.target))
        if key is None and waits and not self.told_lost:
            self.told_lost = True
            what = f"a line has neither {self.waiting.id!r} nor {self.waiting.target!r}: it is"
            tell(f"{what} predicted, and never learned", file=self.paths[0])
        if key is None or waits:
            return key, example
        earlier = self.waiting.joined(key, example)
        return (None, example) if earlier is None else (key, earlier)

    def settle_waiting(self, key: str | None, example: Any, whole: Any) -> None:
        """Let an example without an outcome wait; forget one whose outcome has come."""
        if self.waiting is not None and key is not None:
            if whole is example:  # its features are left, as features_of has taken the target
                self.waiting.add(key, example)
            else:
                self.waiting.remove(key)

    def passed_of(self, example: Any, whole: Any) -> str:
        """Return the values that are passed on, as JSON."""
        names = self.options.passed
        if not names or not isinstance(example, dict):
            return ""
        found = whole | example
        for name in self.group_fields if whole is not example else ():
            if found.get(name) != whole.get(name):
                what = f"field {name!r} is {found.get(name)!r}, and {whole.get(name)!r} in the line"
                raise BadExample(f"{what} of the same id that was predicted", feature=name)
        return json.dumps([found.get(name) for name in names])

    def places_of(self, names: list[str], learned: bool) -> list[int]:
        """Return the positions of features; new ones of a row that is learned are added.

        They are added in alphabetical order. Others are at −1.
        """
        places = self.vocabulary.positions(names, learned).tolist()
        if learned and self.scaler is not None and self.scaler.kind == "standard":
            marks = ("=", *(f"{column}:" for column in self.options.text))
            left = [name == INTERCEPT or any(mark in name for mark in marks) for name in names]
            self.scaler.leave_out(np.array(places)[left])
        return [int(place) for place in places]

    def features_of(self, example: Any) -> tuple[dict[str, float], float | str]:
        """Return the features of an example by name, and its outcome."""
        if not isinstance(example, dict):
            got = JSON_TYPES.get(type(example), "null")
            cure = "write one object per line"
            raise BadExample(f'an example is an object, {{"name": value, …}}, got {got}', cure)
        options = self.options
        self.check_no_object(options.target, example)
        target = example.pop(options.target, None) if options.target is not None else None
        outcome = self.outcome_of(target, example) if self.learning else math.nan
        features: dict[str, float] = {INTERCEPT: 1.0} if options.intercept else {}
        kinds: dict[str, str] = {}
        if isinstance(outcome, str):
            kinds[options.target or ""] = TEXT
        elif self.learning and not math.isnan(outcome):
            kinds[options.target or ""] = BOOLEAN if isinstance(target, bool) else NUMBER
        factors: dict[str, Any] = {}
        for name, value in example.items():
            if name in options.drop or (options.keep and name not in options.keep):
                continue
            if is_missing(value):
                made, kind = self.gap_in(name), None
            elif kind := self.time_kind(name, value):
                made = self.time_in(name, value, kind)
            else:
                made, kind = self.features_in(name, value), self.plain_kind(name, value)
            if (
                options.interactions
                and kind in (NUMBER, BOOLEAN, TEXT)
                and name not in options.text
            ):
                named = isinstance(value, str) or name in options.categories
                factors[name] = text_of(value) if named else value
            if twice := features.keys() & made.keys():
                raise BadExample(f"feature {min(twice)!r} is given twice")
            features |= made
            if kind is not None:
                kinds[name] = kind
        self.check_kinds(kinds)
        if options.interactions:
            from noregret.streams.interactions import products_in

            features |= products_in(options.interactions, factors, self.paths[0])
        return features, outcome

    def check_no_object(self, target: str | None, example: dict[str, Any]) -> None:
        """Raise an error if the outcome is an object, which has been flattened."""
        if not self.learning or target is None or target in example:
            return
        inner = next((name for name in example if name.startswith(f"{target}.")), None)
        if inner is not None:
            cure = Use("target", inner, "name a field of it, as in {}")
            raise BadExample(f"the outcome {target!r} is an object, not a number or text", cure)

    def gap_in(self, name: str) -> dict[str, float]:
        """Return the features of a field that is missing."""
        if self.options.missing == STOP:
            raise empty("field", name)
        told = {f"{name}=missing": 1.0} if self.options.missing == "indicator" else {}
        return told | self.positions.of_gap(name)

    def plain_kind(self, name: str, value: Any) -> str:
        """Return the kind of a value that is no time."""
        if isinstance(value, str) or name in self.options.categories:
            return TEXT
        return BOOLEAN if isinstance(value, bool) else NUMBER

    def time_kind(self, name: str, value: Any) -> str | None:
        """Return whether a field holds dates or times; None if neither.

        The first value of the field decides, unless the options do.
        """
        options, before = self.options, (self.kinds or {}).get(name)
        if before is not None:
            return before if before in TIMES else None
        if name in (*options.categories, *options.text, options.target, options.group, options.id):
            return None
        if isinstance(value, date | np.datetime64):  # in a dict
            return TIME if isinstance(value, datetime | np.datetime64) else DATE
        if is_written_time(value) and (options.sniff or name in options.time):
            return DATE if len(value.strip()) == DATE_LENGTH else TIME
        if self.at_once and options.dates and isinstance(value, str):
            self.find_dates({name: [value]}, self.paths[0])
        if name in self.days:
            return self.days[name]
        # Of a field of dates, this is a word for a missing value, or refused.
        among_dates = name in self.iso_times and isinstance(value, str)
        return TIME if name in options.time or among_dates else None

    def time_in(self, name: str, value: Any, kind: str) -> dict[str, float]:
        """Return the features of a date or time."""
        from noregret.streams.raw_values import time_in

        try:
            seconds = time_in(value, name, order_of(self.options.dates, name))
        except BadExample as error:
            error.cures += (Use("categories", [name], "read the field as names ({})"),)
            raise
        return (
            self.gap_in(name) if math.isnan(seconds) else features_at(name, seconds, kind == DATE)
        )

    def times_found(self) -> Iterator[str]:
        """Return the fields of dates and times."""
        return (name for name, kind in (self.kinds or {}).items() if kind in TIMES)

    def features_in(self, name: str, value: Any) -> dict[str, float]:
        """Return the features of a field by name."""
        if isinstance(value, list | dict):
            cure = Use("drop", [name], "drop it ({})")
            raise BadExample(f"field {name!r} is a list, which has no features", cure)
        is_number = not isinstance(value, str) and name not in self.options.categories
        text = "" if is_number else text_of(value)
        key = name if is_number else f"{name}={text}"
        if not key.isascii() and any("\ud800" <= letter <= "\udfff" for letter in key):
            raise BadExample(f"field {name!r}: half of a character is no text")
        if is_number:
            return {key: number_of(value, f"field {name!r}")}
        if name in self.options.text:
            from noregret.streams.free_text import words_of

            return words_of(value, name, self.vocabulary)
        return {self.many.name_of(text, name, self.options, self.vocabulary): 1.0}

    def check_kinds(self, kinds: dict[str, str]) -> None:
        """Raise an error for fields that change between text and numbers."""
        before = self.kinds or {}
        for name, kind in kinds.items():
            held = before.get(name, kind)
            if held != kind and TEXT in (held, kind):
                cures = (
                    Use("categories", [name], "take its values as names ({})"),
                    Use("drop", [name], "drop it ({})"),
                )
                what = f"field {name!r} holds {kind}, not {held} as in earlier rows"
                raise BadExample(what, cures)
        self.kinds = kinds | before

    def outcome_of(self, value: Any, example: dict[str, Any]) -> float | str:
        """Return an outcome: a number, or text; NaN for none."""
        target = self.options.target
        if is_missing(value):
            if self.options.missing != STOP:
                return math.nan
            said = f": there are {listed(list(example))}" if value is None else ""
            raise no_outcome(self.options, f"there is no outcome in the field {target!r}{said}")
        if isinstance(value, list | dict):
            raise BadExample(f"the outcome is {str(value)[:MAX_SHOWN]!r}", "give a number or text")
        text = isinstance(value, str) or target in self.options.categories
        before = (self.kinds or {}).get(target or "")
        if before is not None and text is not (before == TEXT):
            raise BadExample(
                f"the outcome is {str(value)[:MAX_SHOWN]!r}, but those before it are {before}",
                "write all outcomes as numbers, or all as text",
            )
        return text_of(value) if text else number_of(value, "the outcome")


def in_order(errors: list[BadExample], lines: list[int]) -> list[Fault]:
    """Return the errors by line, each with the number of rows before it."""
    told = sorted(errors, key=lambda error: error.line or 0)
    return [Fault(int(np.searchsorted(lines, error.line or 0)), error) for error in told]


def first_of(column: Any) -> Any:
    """Return the first value of a column of Arrow."""
    return column[0].as_py() if len(column) else None


def is_missing(value: Any) -> bool:
    """Return whether a value is missing."""
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def number_of(value: float, what: str) -> float:
    """Return a number; raise an error if it is not finite or is too large."""
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):  # of a dict
        raise BadExample(f"{what} is a {type(value).__name__}, not a number") from None
    if not abs(number) < MAX_VALUE:
        shown = f"{number:g}" if isinstance(value, float) else f"{str(value)[:20]}…"
        raise BadExample(f"{what} is {shown}: it must be finite, and below {MAX_VALUE:g}")
    return number


def first_values(examples: list[tuple[int, Any]]) -> dict[str, list[Any]]:
    """Return the first values of every field."""
    found: dict[str, list[Any]] = {}
    for _, example in examples[:SAMPLE_VALUES]:
        for name, value in example.items() if isinstance(example, dict) else ():
            found.setdefault(name, []).append(value)
    return found


def text_of(value: Any) -> str:
    """Return a value as a name."""
    return value if isinstance(value, str) else json.dumps(value)


class JsonlStream(Stream):
    """Files of JSON objects, one per line."""

    name = "jsonl"
    extensions = (".jsonl", ".ndjson")
    reading_class = JsonlReading
    meaningless = ("header", "quotes", "delimiter", "encoding", "sheet", *WRITTEN)


read_jsonl = reader_of(JsonlStream)
