"""One pass through tables that come as Arrow batches: Parquet files and databases."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadExample, Place
from noregret.streams.block import Block, Fault
from noregret.streams.columns import (
    NUMBER,
    TEXT,
    TIMES,
    Roles,
    Table,
    encoded,
    kind_of,
    tell_absent,
    with_gaps,
)
from noregret.streams.csv_arrow import types_of
from noregret.streams.csv_dialect import MISSING_WORDS
from noregret.streams.csv_repair import check_cell, moment
from noregret.streams.local_dates import order_of
from noregret.streams.options import STOP
from noregret.streams.seals import Range
from noregret.streams.table_reading import MIN_DATE_SHARE, TableReading


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
    faults: Sequence[Fault] = ()  # rows that are not in the table
    kept: NDArray[np.int64] | None = None  # the rows of the table among all, if some are not
    rows: int = 0  # with those that are not in the table


class ArrowReading(TableReading):
    """One pass in which every block is an Arrow batch."""

    min_date_share = MIN_DATE_SHARE

    def encode(self, batch: Any, roles: Roles, number: int, *where: Any) -> Batch:
        """Turn Arrow's columns into arrays."""
        from pyarrow import ArrowInvalid

        try:
            columns = [batch.column(name).to_pylist() for name in self.options.passed]
            passed = [json.dumps(values, default=str) for values in zip(*columns, strict=True)]
            gaps = [name for name in roles.columns if name not in batch.schema.names]
            types = types_of(self.kinds or {}, gaps, self.days)
            rows, path = batch.num_rows, self.paths[number]
            batch, faults, kept = self.with_times(with_gaps(batch, types), roles)
            found = Batch(encoded(batch, roles), path, number, *where)
            return found._replace(passed=passed, faults=faults, kept=kept, rows=rows)
        except ArrowInvalid as error:
            raise BadExample(str(error), file=self.paths[number]) from None
        except UnicodeDecodeError:
            raise BadExample(
                "a column holds text that is not UTF-8", file=self.paths[number]
            ) from None

    def with_times(
        self, batch: Any, roles: Roles
    ) -> tuple[Any, list[Fault], NDArray[np.int64] | None]:
        """Parse dates and times that are text; rows with a value that is neither are faults."""
        import pyarrow as pa

        bad: dict[int, BadExample] = {}
        for name in roles.times:
            column = batch.column(name)
            if kind_of(column.type) == TEXT:
                order = order_of(roles.options.dates, name)
                times, odd = parsed_times(column, name, roles.kinds[name], order)
                bad = odd | bad
                batch = batch.set_column(batch.schema.get_field_index(name), name, times)
        if not bad:
            return batch, [], None
        kept = np.delete(np.arange(batch.num_rows), sorted(bad))
        before = np.searchsorted(kept, sorted(bad)).tolist()
        faults = [Fault(at, bad[row]) for at, row in zip(before, sorted(bad), strict=True)]
        # Their place is known when the rows before are counted.
        for row, error in bad.items():
            error.row = row
        return batch.take(pa.array(kept)), faults, kept

    def roles_of(self, schema: Any, path: str) -> Roles:
        """Return the roles of the columns; every file must have the columns of the first."""
        try:
            kinds = {field.name: kind_of(field.type) for field in schema}
        except UnicodeDecodeError:
            raise BadExample("the names of its columns are not UTF-8 text", file=path) from None
        if len(kinds) < len(schema):
            twice = Counter(schema.names).most_common(1)[0][0]
            raise BadExample(f"two columns are called {twice!r}", "rename one", file=path)
        for name in (*self.options.categories, *self.options.text, *self.options.labels):
            if name in kinds:
                kinds[name] = "text"
        times = self.days | self.iso_times
        if self.kinds is not None:  # as text was found to be in the first file
            times |= {name: kind for name, kind in self.kinds.items() if kind in TIMES}
        kinds |= {name: kind for name, kind in times.items() if kinds.get(name) == TEXT}
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
        mark = {"file": raw.file, "row": raw.first + raw.rows, "digest": raw.digest}
        kept = np.arange(raw.rows) if raw.kept is None else raw.kept
        for _, error in raw.faults:
            error.file, error.row = raw.path, raw.first + (error.row or 0) + 1
        if self.seals is not None:
            for part, first, last in raw.sealed:
                self.seals.add(raw.file, [part], first, last)
        size = self.read_so_far(raw.file, raw.read)
        block = self.block_of(
            raw.table,
            lambda row: Place(raw.path, row=raw.first + int(kept[row]) + 1),
            mark,
            size,
            raw.faults,
        )
        if raw.passed:
            places = [(block.place_of(row).row or 0) for row in range(len(block))]
            block.tags = [raw.passed[place - raw.first - 1] for place in places]
        return block


def parsed_times(
    column: Any, name: str, kind: str, order: str | None
) -> tuple[Any, dict[int, BadExample]]:
    """Return a column of text as times, and the errors of rows in which it is none."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    used = {code for code in column.indices.unique().to_pylist() if code is not None}
    found: list[datetime | None] = []
    odd: dict[int, BadExample] = {}
    for code, text in enumerate(column.dictionary.to_pylist()):
        found.append(None)
        if code not in used or text is None or text.strip() in MISSING_WORDS:
            continue
        try:
            check_cell(name, text, kind, MISSING_WORDS, False, None, order)
            at = datetime.fromisoformat(moment(text, kind, order) or "")
            found[-1] = at if at.tzinfo is None else at.astimezone(UTC).replace(tzinfo=None)
        except OverflowError:  # it is of the year 0 or 10,000 there
            continue
        except BadExample as error:
            odd[code] = error
    times = pa.array(found, pa.timestamp("us")).take(column.indices)
    if not odd:
        return times, {}
    codes = column.indices.to_pylist()
    return times, {row: copy(odd[code]) for row, code in enumerate(codes) if code in odd}


def texts_in(schema: Any) -> list[str]:
    """Return the names of the columns of text."""
    with suppress(UnicodeDecodeError):  # which is told when the columns are read
        return [field.name for field in schema if kind_of(field.type) == TEXT]
    return []
