"""Parquet, through Arrow."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from noregret.base.atomic_files import naming, new_hash
from noregret.errors import BadExample, NoRegretError, Place, foreign
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
from noregret.streams.local_dates import SAMPLE_VALUES
from noregret.streams.open_file import BLOCK
from noregret.streams.options import STOP, WRITTEN, Options
from noregret.streams.seals import Range
from noregret.streams.source import STDIN, Part, Paths
from noregret.streams.stream import Stream, reader_of
from noregret.streams.table_reading import TableReading

# Rows read at a time.
ROWS_PER_BATCH = 16_384
# Bytes of each column read at a time.
BUFFER = 1 << 18


class Batch(NamedTuple):
    """Some rows of a file, their position, and their approximate size in bytes."""

    table: Table
    path: str
    file: int
    first: int
    read: int
    digest: str
    sealed: list[tuple[Range, int, int]]  # row groups, with their first and last rows
    passed: Sequence[str] = ()  # values that are passed on, as JSON, of each row


class ParquetReading(TableReading):
    """One pass through Parquet files."""

    def jobs(self, mark: dict[str, Any] | None) -> Iterator[Callable[[], Any]]:
        """Yield a job for every few rows."""
        import pyarrow as pa

        start = mark or {"file": 0, "row": 0}
        if self.unchecked:
            self.check_sealed()
        last = len(self.paths) - 1 if self.part is None else self.part.file
        for number in range(start["file"], last + 1):
            path = self.paths[number]
            try:
                yield from self.batches(number, path, start if number == start["file"] else {})
            except (pa.ArrowException, OSError) as error:
                if isinstance(error, OSError) and error.errno is not None:
                    with naming(path):
                        raise
                raise BadExample(f"damaged, or not Parquet: {foreign(error)}", file=path) from None

    def part_mark(self, part: Part) -> dict[str, Any]:
        """Return the mark at the start of a part."""
        return {"file": part.file, "row": part.start}

    def check_sealed(self) -> None:
        """Raise an error if the data before the mark have changed."""
        for seal in self.seals or ():
            path = self.paths[seal.file]
            seal.check(digest_of_part(path, seal.start, seal.stop), path, "rows")
        self.unchecked = False

    def batches(
        self, number: int, path: str, mark: dict[str, Any]
    ) -> Iterator[Callable[[], Batch]]:
        """Yield jobs for the rows of one file, from a mark on."""
        from pyarrow import parquet

        # With small buffers, as Arrow would otherwise hold a whole row group in memory twice.
        with parquet.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False) as file:
            if self.kinds is None:
                self.find_texts(first_texts(file), path)
            roles = self.roles_of(file.schema_arrow, path)
            rows, size, skip = file.metadata.num_rows, os.path.getsize(path), mark.get("row", 0)
            digest = digest_of_contents(path)
            if skip and self.part is None and mark["digest"] != digest:
                raise NoRegretError("not the data that the checkpoint was made from", file=path)
            end = rows if self.part is None or self.part.stop is None else self.part.stop
            groups: list[int] = []
            groups_to_seal = self.groups_to_seal(file.metadata, number)
            first = 0
            for group in range(file.metadata.num_row_groups):
                length = file.metadata.row_group(group).num_rows
                if first + length > skip or groups:
                    groups.append(group)
                else:
                    first += length
            there = {field.name for field in file.schema_arrow}
            used = [name for name in roles.columns if name in there]
            wanted = [*dict.fromkeys([*used, *self.options.passed])]
            for whole in file.iter_batches(ROWS_PER_BATCH, row_groups=groups, columns=wanted):
                if first >= end:
                    return
                batch = whole.slice(0, end - first)
                stop = first + batch.num_rows
                if stop > skip:
                    rest = batch.slice(max(0, skip - first))
                    done = size * stop // max(1, rows)
                    sealed = []
                    while groups_to_seal and groups_to_seal[0][2] <= stop:
                        start, end, *lines = groups_to_seal.pop(0)
                        part = Range(start, end, digest_of_part(path, start, end))
                        sealed.append((part, *lines))
                    where = max(first, skip), done, digest, sealed
                    yield partial(self.encode, rest, roles, number, *where)
                first = stop

    def groups_to_seal(self, metadata: Any, number: int) -> list[tuple[int, int, int, int]]:
        """Return the row groups that have no seal yet: their bytes, their first and last rows."""
        if self.seals is None:
            return []
        known = {seal.start for seal in self.seals.of_file(number)}
        found, first = [], 1
        for group in range(metadata.num_row_groups):
            part = metadata.row_group(group)
            last = first + part.num_rows - 1
            start, stop = bytes_of(part)
            if part.num_rows and start not in known:
                found.append((start, stop, first, last))
            first = last + 1
        return found

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


def first_texts(file: Any) -> dict[str, list[Any]]:
    """Return the first values of the columns of text."""
    with suppress(UnicodeDecodeError):  # which is told when the columns are read
        texts = [field.name for field in file.schema_arrow if kind_of(field.type) == "text"]
        first = next(file.iter_batches(SAMPLE_VALUES, columns=texts), None) if texts else None
        return {} if first is None else dict(first.to_pydict())
    return {}


def bytes_of(group: Any) -> tuple[int, int]:
    """Return where the bytes of a row group begin and end."""
    starts, stops = [], []
    for k in range(group.num_columns):
        column = group.column(k)
        at = min(filter(None, (column.dictionary_page_offset, column.data_page_offset)), default=0)
        starts.append(at)
        stops.append(at + column.total_compressed_size)
    return min(starts, default=0), max(stops, default=0)


def digest_of_part(path: str, start: int, stop: int) -> bytes:
    """Return a digest of some bytes of a file."""
    digest = new_hash()
    with naming(path), open(path, "rb") as file:
        file.seek(start)
        while start < stop and (text := file.read(min(BLOCK, stop - start))):
            digest.update(text)
            start += len(text)
    found: bytes = digest.digest()
    return found


def digest_of_contents(path: str) -> str:
    """Return a digest of a file's metadata."""
    with open(path, "rb") as file:
        file.seek(-8, os.SEEK_END)
        size = int.from_bytes(file.read(4), "little")
        file.seek(-8 - size, os.SEEK_END)
        return hashlib.blake2b(file.read(size), digest_size=16).hexdigest()


class ParquetStream(Stream):
    """Parquet files."""

    name = "parquet"
    extensions = (".parquet", ".pq")
    reading_class = ParquetReading
    meaningless = ("header", "quotes", "delimiter", "encoding", "sheet", "follow", *WRITTEN)

    def __init__(self, paths: Paths, options: Options) -> None:
        super().__init__(paths, options)
        if STDIN in self.paths:
            raise NoRegretError(
                "Parquet cannot be read from standard input: its contents list is at its end"
            )


read_parquet = reader_of(ParquetStream)
