"""Where the events of an id are in a journal: recent ones in memory, older ones in sorted runs.

A run is a pair of arrays, digests of ids in order and the numbers of their entries, which is
written once, in pages; the first digest of each page is in memory, so that a look at a run reads
one. Runs of similar size are merged, so that an id is written a few times in all. A Bloom filter
over the digests tells of almost every new id, without a look at the runs, that it is new.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from noregret.service.compiled import id_digests
from noregret.service.compiled.id_digests import IdTable, digest_of
from noregret.service.database import Database

# Entries in memory before they become a run, and runs of a level before they become one of the
# next; runs of the last level stay.
MAX_RECENT, MERGED, LAST_LEVEL = 8192, 16, 2
# Of the Bloom filter: bits per id, and how a layer grows.
BITS, GROWTH = 16, 4
# Digests of a page, which fits into one of the database, and pages in memory after a look at them.
PAGE, MAX_LOADED = 240, 256
# Pages whose digests are added to the filter at a time.
PAGES = 64
SCHEMA = """
CREATE TABLE ids (
    last INTEGER NOT NULL, page INTEGER NOT NULL, level INTEGER NOT NULL, digests BLOB NOT NULL,
    entries BLOB NOT NULL, PRIMARY KEY (last, page));
"""
Digests = NDArray[np.uint64]
Entries = NDArray[np.int64]


class Layer:
    """A Bloom filter of fixed size."""

    def __init__(self, room: int) -> None:
        self.room = room  # digests that it is made for
        self.bits = bytearray(room * BITS // 8)

    def add(self, digests: Digests) -> None:
        """Add digests."""
        self.room -= len(digests)
        id_digests.add(self.bits, digests)

    def has(self, digest: int) -> bool:
        """Return False if a digest was never added."""
        return id_digests.has(self.bits, digest)

    def may_have(self, digests: Digests) -> NDArray[np.bool_]:
        """Return, for each of some digests, False if it was never added."""
        return id_digests.may_have(self.bits, digests)


class Filter:
    """A set of digests without false negatives, which grows by layers, each larger than the last.

    None is ever made anew, which would take seconds for millions of digests.
    """

    def __init__(self) -> None:
        self.layers = [Layer(MAX_RECENT * MERGED)]

    def add(self, digests: Digests) -> None:
        """Add digests, those of labels with their predictions' once."""
        digests = digests[~self.may_have(digests)]
        if len(digests) > self.layers[0].room:
            room = len(self.layers[0].bits) * 8 // BITS
            self.layers.insert(0, Layer(GROWTH * room))
        self.layers[0].add(digests)

    def has(self, digest: int) -> bool:
        """Return False if a digest was never added."""
        return any(layer.has(digest) for layer in self.layers)

    def may_have(self, digests: Digests) -> NDArray[np.bool_]:
        """Return, for each of some digests, False if it was never added."""
        found = self.layers[0].may_have(digests)
        for layer in self.layers[1:]:
            found |= layer.may_have(digests)
        return found


class Ids:
    """The entries of each id.

    Parameters
    ----------
    database
        Holds the runs, in the table ``ids``.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.recent = IdTable()
        self.runs: list[tuple[int, int]] = []  # last entry and level
        self.filter = Filter()
        self.starts: dict[int, Digests] = {}  # of each run, the first digest of each page
        self.loaded: dict[tuple[int, int], tuple[Digests, Entries]] = {}
        query = "SELECT last, level FROM ids WHERE page = 0 ORDER BY last"
        self.runs += [(last, level) for last, level in database.stream(query)]
        for last, _ in self.runs:
            self.starts[last] = np.array([digests[0] for digests in self._digests(last)])
        self._refill()

    @property
    def last(self) -> int:
        """The last entry whose id is in a run."""
        return self.runs[-1][0] if self.runs else 0

    def add(self, name: str, entry: int) -> None:
        """Add the entry of a prediction or of a label."""
        self.recent.add(digest_of(name), entry)

    def find(self, name: str) -> list[int]:
        """Return entries that may be of an id, those of labels last."""
        return self._with(digest_of(name))

    def _with(self, digest: int) -> list[int]:
        """Return the entries of a digest."""
        found = self.recent.find(digest)
        if self.runs and self.filter.has(digest):
            sought = np.uint64(digest)
            for last, _ in self.runs:
                starts = self.starts[last]
                first = max(0, int(starts.searchsorted(sought)) - 1)
                for page in range(first, int(starts.searchsorted(sought, "right"))):
                    digests, entries = self._page(last, page)
                    start, end = digests.searchsorted(sought), digests.searchsorted(sought, "right")
                    found += entries[start:end].tolist()
        return sorted(found)

    def are_new(self, digests: Digests) -> bool:
        """Return whether ids certainly differ from each other and from all before."""
        if not self.recent.are_new(digests):
            return False
        if not self.runs:
            return True
        suspected = self.filter.may_have(digests)
        return not suspected.any() or not any(map(self._with, digests[suspected].tolist()))

    def add_new(self, digests: Digests, first: int) -> None:
        """Add ids that ``are_new``, whose entries are numbered from one on."""
        self.recent.add_all(digests, first)

    def fold(self, last: int) -> None:
        """Write the recent ids as a run, if they are many, in the open transaction."""
        if self.recent.count < MAX_RECENT:
            return
        digests, entries = self.recent.columns()
        self._write(last, 0, digests, entries)
        self.recent.clear()
        level = 0
        while level < LAST_LEVEL and len(same := self._of_level(level)) >= MERGED:
            pages = [page for each in same for page in self._pages(each)]
            for each in same:
                self._drop(each)
            level += 1
            parts = [np.concatenate([page[k] for page in pages]) for k in (0, 1)]
            self._write(last, level, parts[0], parts[1])
        self.filter.add(digests)

    def forget(self, before: int) -> None:
        """Remove runs all of whose entries are before a number, in the open transaction."""
        old = [last for last, _ in self.runs if last < before]
        for last in old:
            self._drop(last)
        if old:
            self._refill()

    def _of_level(self, level: int) -> list[int]:
        return [last for last, each in self.runs if each == level]

    def _write(self, last: int, level: int, digests: Digests, entries: Entries) -> None:
        order = np.argsort(digests, kind="stable")
        digests, entries = digests[order].astype("<u8"), entries[order].astype("<i8")
        for page, start in enumerate(range(0, len(digests), PAGE)):
            some = slice(start, start + PAGE)
            self.database.run(
                "INSERT INTO ids VALUES (?, ?, ?, ?, ?)",
                [last, page, level, digests[some].tobytes(), entries[some].tobytes()],
            )
        self.runs.append((last, level))
        self.starts[last] = digests[::PAGE].copy()

    def _drop(self, last: int) -> None:
        self.database.run("DELETE FROM ids WHERE last = ?", [last])
        self.runs = [each for each in self.runs if each[0] != last]
        del self.starts[last]
        self.loaded = {where: page for where, page in self.loaded.items() if where[0] != last}

    def _page(self, last: int, page: int) -> tuple[Digests, Entries]:
        found = self.loaded.get((last, page))
        if found is None:
            query = "SELECT digests, entries FROM ids WHERE last = ? AND page = ?"
            row = self.database.row(query, [last, page])
            assert row is not None
            found = np.frombuffer(row[0], "<u8"), np.frombuffer(row[1], "<i8")
            while len(self.loaded) >= MAX_LOADED:
                del self.loaded[next(iter(self.loaded))]
            self.loaded[last, page] = found
        return found

    def _pages(self, last: int) -> Iterator[tuple[Digests, Entries]]:
        query = "SELECT digests, entries FROM ids WHERE last = ? ORDER BY page"
        for digests, entries in self.database.stream(query, [last]):
            yield np.frombuffer(digests, "<u8"), np.frombuffer(entries, "<i8")

    def _refill(self) -> None:
        """Make the filter from the runs."""
        self.filter = Filter()
        for last, _ in self.runs:
            for some in batched(self._digests(last), PAGES):
                self.filter.add(np.concatenate(some))

    def _digests(self, last: int) -> Iterator[Digests]:
        query = "SELECT digests FROM ids WHERE last = ? ORDER BY page"
        return (np.frombuffer(row[0], "<u8") for row in self.database.stream(query, [last]))


def batched(pages: Iterator[Digests], count: int) -> Iterator[list[Digests]]:
    """Yield pages, several at a time."""
    while some := list(islice(pages, count)):
        yield some
