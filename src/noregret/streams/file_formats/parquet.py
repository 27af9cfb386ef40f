"""Parquet, through Arrow."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from noregret.base.atomic_files import naming, new_hash
from noregret.errors import BadExample, NoRegretError, foreign
from noregret.streams.arrow_reading import ArrowReading, Batch, texts_in
from noregret.streams.local_dates import SAMPLE_VALUES
from noregret.streams.open_file import BLOCK, binary, is_remote, size_of
from noregret.streams.options import WRITTEN, Options
from noregret.streams.seals import Range
from noregret.streams.source import STDIN, Part, Paths
from noregret.streams.stream import Stream, reader_of

# Rows read at a time.
ROWS_PER_BATCH = 16_384
# Bytes of each column read at a time.
BUFFER = 1 << 18


class ParquetReading(ArrowReading):
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
        # From a store, small ranges would each be a request.
        remote = is_remote(path)
        place: Any = binary(path) if remote else path
        buffer = 0 if remote else BUFFER
        with parquet.ParquetFile(place, buffer_size=buffer, pre_buffer=remote) as file:
            if self.kinds is None:
                self.find_texts(first_texts(file), path)
            roles = self.roles_of(file.schema_arrow, path)
            rows, size, skip = file.metadata.num_rows, size_of(path), mark.get("row", 0)
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


def first_texts(file: Any) -> dict[str, list[Any]]:
    """Return the first values of the columns of text."""
    texts = texts_in(file.schema_arrow)
    with suppress(UnicodeDecodeError):  # which is told when the columns are read
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
    with naming(path), binary(path) as file:
        file.seek(start)
        while start < stop and (text := file.read(min(BLOCK, stop - start))):
            digest.update(text)
            start += len(text)
    found: bytes = digest.digest()
    return found


def digest_of_contents(path: str) -> str:
    """Return a digest of a file's metadata."""
    with binary(path) as file:
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
