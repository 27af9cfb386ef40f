"""One pass through tables that come as Arrow batches: Parquet files and databases."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from noregret.errors import BadExample, Place
from noregret.streams.block import Block
from noregret.streams.columns import (
    NUMBER,
    TEXT,
    Roles,
    Table,
    encoded,
    kind_of,
    tell_absent,
    with_gaps,
)
from noregret.streams.csv_arrow import types_of
from noregret.streams.options import STOP
from noregret.streams.seals import Range
from noregret.streams.table_reading import TableReading


class Batch(NamedTuple):
    """Some rows of a file, their position, and their approximate size in bytes."""

    table: Table
    path: str
    file: int
    first: int
    read: int
    digest: str
    sealed: list[tuple[Range, int, int]]  # parts of the file, with their first and last rows
    passed: Sequence[str] = ()  # values that are passed on, as JSON, of each row


class ArrowReading(TableReading):
    """One pass in which every block is an Arrow batch."""

    def encode(self, batch: Any, roles: Roles, number: int, *where: Any) -> Batch:
        """Turn Arrow's columns into arrays."""
        from pyarrow import ArrowInvalid

        try:
            columns = [batch.column(name).to_pylist() for name in self.options.passed]
            passed = [json.dumps(values, default=str) for values in zip(*columns, strict=True)]
            gaps = [name for name in roles.columns if name not in batch.schema.names]
            types = types_of(self.kinds or {}, gaps, self.days)
            found = Batch(
                encoded(with_gaps(batch, types), roles), self.paths[number], number, *where
            )
            return found._replace(passed=passed)
        except ArrowInvalid as error:
            raise BadExample(str(error), file=self.paths[number]) from None
        except UnicodeDecodeError:
            raise BadExample(
                "a column holds text that is not UTF-8", file=self.paths[number]
            ) from None

    def roles_of(self, schema: Any, path: str) -> Roles:
        """Return the roles of the columns; every file must have the columns of the first."""
        try:
            kinds = {field.name: kind_of(field.type) for field in schema}
        except UnicodeDecodeError:
            raise BadExample("the names of its columns are not UTF-8 text", file=path) from None
        if len(kinds) < len(schema):
            twice = Counter(schema.names).most_common(1)[0][0]
            raise BadExample(f"two columns are called {twice!r}", "rename one", file=path)
        for name in (*self.options.categories, *self.options.text, self.options.group):
            if name in kinds:
                kinds[name] = "text"
        kinds |= {name: day for name, day in self.days.items() if kinds.get(name) == TEXT}
        if self.kinds is None:
            self.kinds = kinds
        roles = self.roles(path)
        for name in roles.columns:
            held = self.kinds[name]
            if name not in kinds:
                some = bool(kinds.keys() & {*roles.columns})  # a file without any is another one
                if some and not self.learning and self.options.missing != STOP:
                    tell_absent(name, path)
                    continue
                raise BadExample(f"there is no column {name!r}, which the others have", file=path)
            if kinds[name] != held and NUMBER not in (kinds[name], held):
                raise BadExample(
                    f"column {name!r} holds {kinds[name]}, not {held} as before", file=path
                )
            if kinds[name] != held and "text" in (kinds[name], held):
                raise BadExample(
                    f"column {name!r} holds {kinds[name]}, not {held} as before", file=path
                )
        new = next((name for name in kinds if name not in self.kinds), None)
        if new is not None and not self.options.keep:
            raise BadExample(
                f"its columns are not those of {self.paths[0]}: {new!r} is new", file=path
            )
        return roles

    def settle(self, raw: Batch) -> Block:
        """Make a block of some rows."""
        mark = {"file": raw.file, "row": raw.first + len(raw.table.y), "digest": raw.digest}
        if self.seals is not None:
            for part, first, last in raw.sealed:
                self.seals.add(raw.file, [part], first, last)
        size = self.read_so_far(raw.file, raw.read)
        block = self.block_of(
            raw.table, lambda row: Place(raw.path, row=raw.first + row + 1), mark, size
        )
        if raw.passed:
            places = [(block.place_of(row).row or 0) for row in range(len(block))]
            block.tags = [raw.passed[place - raw.first - 1] for place in places]
        return block


def texts_in(schema: Any) -> list[str]:
    """Return the names of the columns of text."""
    with suppress(UnicodeDecodeError):  # which is told when the columns are read
        return [field.name for field in schema if kind_of(field.type) == TEXT]
    return []
