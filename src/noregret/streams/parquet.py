"""Parquet, through Arrow."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from noregret.errors import BadExample, NoRegretError
from noregret.streams.base import Stream
from noregret.streams.block import Block
from noregret.streams.columns import NUMBER, Roles, Table, encoded, kind_of
from noregret.streams.options import Options
from noregret.streams.source import STDIN, Paths
from noregret.streams.tables import TableReading

# Rows read at a time.
ROWS = 16_384
# Bytes of each column read at a time.
BUFFER = 1 << 18


class Batch(NamedTuple):
    """Some rows of a file, where they are, and how many of its bytes that is about."""

    table: Table
    path: str
    file: int
    first: int
    read: int
    digest: str


class ParquetReading(TableReading):
    """One pass through Parquet files."""

    def jobs(self, mark: dict[str, Any] | None) -> Iterator[Callable[[], Any]]:
        """Yield a job for every few rows."""
        import pyarrow as pa

        start = mark or {"file": 0, "row": 0}
        for number in range(start["file"], len(self.paths)):
            path = self.paths[number]
            try:
                yield from self.batches(number, path, start if number == start["file"] else {})
            except (pa.ArrowException, OSError) as error:
                if isinstance(error, OSError) and error.errno is not None:
                    raise
                raise BadExample(
                    f"{path}: damaged, or not Parquet: {str(error).splitlines()[0]}"
                ) from None

    def batches(
        self, number: int, path: str, mark: dict[str, Any]
    ) -> Iterator[Callable[[], Batch]]:
        """Yield jobs for the rows of one file, from a mark on."""
        from pyarrow import parquet

        # Through small buffers, as Arrow would else hold a whole row group, packed and unpacked.
        with parquet.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False) as file:
            roles = self.roles_of(file.schema_arrow, path)
            rows, size, skip = file.metadata.num_rows, os.path.getsize(path), mark.get("row", 0)
            digest = digest_of_contents(path)
            if skip and mark["digest"] != digest:
                raise NoRegretError(f"{path}: not the data that the checkpoint was made from")
            groups: list[int] = []
            first = 0
            for group in range(file.metadata.num_row_groups):
                length = file.metadata.row_group(group).num_rows
                if first + length > skip or groups:
                    groups.append(group)
                else:
                    first += length
            wanted = roles.columns
            for batch in file.iter_batches(ROWS, row_groups=groups, columns=wanted):
                stop = first + batch.num_rows
                if stop > skip:
                    rest = batch.slice(max(0, skip - first))
                    done = size * stop // max(1, rows)
                    yield partial(self.encode, rest, roles, number, max(first, skip), done, digest)
                first = stop

    def encode(self, batch: Any, roles: Roles, number: int, *where: Any) -> Batch:
        """Turn Arrow's columns into arrays."""
        return Batch(encoded(batch, roles), self.paths[number], number, *where)

    def roles_of(self, schema: Any, path: str) -> Roles:
        """Return what the columns are for; every file must have those of the first."""
        try:
            kinds = {field.name: kind_of(field.type) for field in schema}
        except UnicodeDecodeError:
            raise BadExample(f"{path}: the names of its columns are not UTF-8 text") from None
        if len(kinds) < len(schema):
            twice = Counter(schema.names).most_common(1)[0][0]
            raise BadExample(f"{path}: two columns are called {twice!r}: rename one")
        for name in (*self.options.categories, self.options.group):
            if name in kinds:
                kinds[name] = "text"
        if self.kinds is None:
            self.kinds = kinds
        roles = self.roles(path)
        for name in roles.columns:
            held = self.kinds[name]
            if name not in kinds:
                raise BadExample(f"{path}: there is no column {name!r}, which the others have")
            if kinds[name] != held and NUMBER not in (kinds[name], held):
                raise BadExample(
                    f"{path}: column {name!r} holds {kinds[name]}, not {held} as before"
                )
            if kinds[name] != held and "text" in (kinds[name], held):
                raise BadExample(
                    f"{path}: column {name!r} holds {kinds[name]}, not {held} as before"
                )
        return roles

    def settle(self, raw: Batch) -> Block:
        """Make a block of some rows."""
        mark = {"file": raw.file, "row": raw.first + len(raw.table.y), "digest": raw.digest}
        size = self.read_so_far(raw.file, raw.read)
        return self.block_of(
            raw.table, lambda row: f"{raw.path}, row {raw.first + row + 1}", mark, size
        )


def digest_of_contents(path: str) -> str:
    """Return a digest of a file's list of contents: where its parts are, and what is in them."""
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
    meaningless = ("header",)

    def __init__(self, paths: Paths, options: Options) -> None:
        super().__init__(paths, options)
        if STDIN in self.paths:
            raise NoRegretError(
                "Parquet cannot be read from standard input: its contents list is at its end"
            )


def read_parquet(path: Paths, target: str | None = None, **options: Any) -> Stream:
    """Read Parquet files as a stream.

    Parameters
    ----------
    path
        One file or several, or a glob.
    target
        The column that holds the outcomes.
    **options
        See ``noregret.streams.Options``.
    """
    return ParquetStream(path, Options(target, **options))
