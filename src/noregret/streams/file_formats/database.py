"""Tables and queries of databases, through ADBC and Arrow.

Rows come in the order in which the database returns them; a query with ``ORDER BY`` fixes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from noregret.base.atomic_files import new_hash
from noregret.errors import NoRegretError, WrongUsage
from noregret.streams.addresses import SCHEMES, Address, check_known, scheme_of
from noregret.streams.arrow_reading import ArrowReading, texts_in
from noregret.streams.connections import batches_of, worded
from noregret.streams.local_dates import SAMPLE_VALUES
from noregret.streams.options import WRITTEN
from noregret.streams.seals import Range
from noregret.streams.source import Paths
from noregret.streams.stream import Stream, reader_of

CHANGED = "not the data that the checkpoint was made from: rows changed, or come in another order"
SORTED = "read them in a fixed order, with ?query=SELECT … ORDER BY …"


class DatabaseReading(ArrowReading):
    """One pass through tables of databases."""

    def jobs(self, mark: dict[str, Any] | None) -> Iterator[Callable[[], Any]]:
        """Yield a job for every batch."""
        start = mark or {"file": 0, "row": 0}
        for number in range(start["file"], len(self.paths)):
            skip = start["row"] if number == start["file"] else 0
            address = self.paths[number]
            assert isinstance(address, Address)
            yield from self.batches(number, address, skip)

    def batches(self, number: int, address: Address, skip: int) -> Iterator[Callable[[], Any]]:
        """Yield jobs for the rows of one table, from a row on; those before must be unchanged."""
        known = {} if self.seals is None else {s.start: s for s in self.seals.of_file(number)}
        first, read, roles = 0, 0, None
        with batches_of(address) as rows:
            while (batch := next_batch(rows, address, first)) is not None:
                stop, read = first + batch.num_rows, read + batch.nbytes
                part = None if self.seals is None else Range(first, stop, digest_of(batch))
                if first < skip and part is not None:
                    seal = known.get(first)
                    if stop > skip or seal is None or seal.digest != part.digest:
                        raise NoRegretError(CHANGED, SORTED, file=address, row=first + 1)
                if stop > skip:
                    batch = plain(batch.slice(max(0, skip - first)))
                    roles = roles or self.roles_in(batch, address)
                    sealed = [] if part is None else [(part, first + 1, stop)]
                    digest = "0" if part is None else part.digest.hex()
                    where = max(first, skip), read, digest, sealed
                    yield partial(self.encode, batch, roles, number, *where)
                first = stop
            if first < skip:
                raise NoRegretError(CHANGED, SORTED, file=address, row=first + 1)
        self.unchecked = False

    def roles_in(self, batch: Any, address: Address) -> Any:
        """Return the roles of the columns, which the first rows tell."""
        if self.kinds is None:
            texts = texts_in(batch.schema)
            self.find_texts(batch.select(texts).slice(0, SAMPLE_VALUES).to_pydict(), address)
        return self.roles_of(batch.schema, address)


def next_batch(rows: Any, address: Address, before: int) -> Any:
    """Return the next rows, or None; an error says how many came before."""
    try:
        while (batch := rows.read_next_batch()).num_rows == 0:
            continue
        return batch
    except StopIteration:
        return None
    except (OSError, ValueError) as error:
        what = f"the rest cannot be read: {worded(error, address)}"
        raise NoRegretError(what, file=address, row=before + 1) from None


def digest_of(batch: Any) -> bytes:
    """Return a digest of the values of a batch."""
    digest = new_hash()
    digest.update(batch.serialize())
    found: bytes = digest.digest()
    return found


def plain(batch: Any) -> Any:
    """Return a batch without the types of extensions: decimals are numbers, UUIDs text."""
    import pyarrow as pa

    columns = [*batch.columns]
    for k, column in enumerate(columns):
        if isinstance(column, pa.ExtensionArray):
            called = getattr(column.type, "type_name", column.type.extension_name)
            if called == "numeric":
                columns[k] = column.storage.cast(pa.float64())
            elif called == "arrow.uuid":
                columns[k] = pa.array([None if u is None else str(u) for u in column.to_pylist()])
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


class DatabaseStream(Stream):
    """Tables and queries of databases."""

    name = "database"
    reading_class = DatabaseReading
    meaningless: ClassVar[tuple[str, ...]] = (
        *("header", "quotes", "delimiter", "encoding", "sheet", "follow"),
        *WRITTEN,
    )

    @classmethod
    def paths_of(cls, given: Paths) -> tuple[str, ...]:
        """Return the addresses."""
        several = [given] if isinstance(given, str | Path) else given
        for each in several:
            if scheme_of(each) not in SCHEMES:
                check_known(each)
                known = ", ".join(f"{scheme}://" for scheme in SCHEMES)
                what = "not the address of a database"
                raise WrongUsage(what, f"begin it with one of {known}", file=each)
        return tuple(e if isinstance(e, Address) else Address(str(e)) for e in several)


read_database = reader_of(DatabaseStream)
