"""Where the events of an id are in a journal: recent ones in memory, older ones in sorted runs.

A run is a pair of arrays, digests of ids in order and the numbers of their entries, which is
written once, in pages; the first digest of each page is in memory, so that a look at a run reads
one. Runs of similar size are merged, so that an id is written a few times in all. A Bloom filter
over the digests tells of almost every new id, without a look at the runs, that it is new.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from noregret.service.database import Database

# Entries in memory before they become a run, and runs of a level before they become one of the
# next; runs of the last level stay.
MAX_RECENT, MERGED, LAST_LEVEL = 8192, 16, 2
# Of the Bloom filter: bits per id, how many of them are set by each, and how a layer grows.
BITS, PROBES, GROWTH = 16, 5, 4
# Digests of a page, which fits into one of the database, and pages in memory after a look at them.
PAGE, MAX_LOADED = 240, 256
# Pages whose digests are added to the filter at a time.
PAGES = 64
SCHEMA = """
CREATE TABLE ids (
    last INTEGER NOT NULL, page INTEGER NOT NULL, level INTEGER NOT NULL, digests BLOB NOT NULL,
    entries BLOB NOT NULL, PRIMARY KEY (last, page));
"""
EACH_PROBE = np.arange(PROBES, dtype=np.uint64)[:, np.newaxis]
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
        bits = np.frombuffer(self.bits, np.uint8)
        for some in self._places(digests):
            value = np.uint8(1) << (some & np.uint64(7)).astype(np.uint8)
            np.bitwise_or.at(bits, some >> np.uint64(3), value)

    def has(self, digest: int) -> bool:
        """Return False if a digest was never added."""
        bits, mask, step = self.bits, len(self.bits) * 8 - 1, digest >> 32 | 1
        for probe in range(PROBES):
            place = (digest + probe * step) & mask
            if not bits[place >> 3] >> (place & 7) & 1:
                return False
        return True

    def may_have(self, digests: Digests) -> NDArray[np.bool_]:
        """Return, for each of some digests, False if it was never added."""
        bits, place = np.frombuffer(self.bits, np.uint8), self._places(digests)
        found = bits[place >> np.uint64(3)] >> (place & np.uint64(7)).astype(np.uint8) & np.uint8(1)
        return np.asarray(found.all(axis=0))

    def _places(self, digests: Digests) -> Digests:
        """Return the bits of each digest, a row for each probe."""
        step = digests >> np.uint64(32) | np.uint64(1)
        return (digests + EACH_PROBE * step) & np.uint64(len(self.bits) * 8 - 1)


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
        self.recent: dict[str, int] = {}  # of predictions
        self.labels: dict[str, int] = {}  # of labels that came later
        # Digests of the first of ``recent``, as far as they were computed, and of the last new ids.
        self.digests: list[Digests] = []
        self.last_new: tuple[list[str], Digests] | None = None
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

    def find(self, name: str) -> list[int]:
        """Return entries that may be of an id, those of labels last."""
        if (entry := self.recent.get(name)) is not None:
            label = self.labels.get(name)
            return [entry] if label is None else [entry, label]
        found: list[int] = []
        if self.runs and self.filter.has(digest := digest_of(name)):
            sought = np.uint64(digest)
            for last, _ in self.runs:
                starts = self.starts[last]
                first = max(0, int(starts.searchsorted(sought)) - 1)
                for page in range(first, int(starts.searchsorted(sought, "right"))):
                    digests, entries = self._page(last, page)
                    start, end = digests.searchsorted(sought), digests.searchsorted(sought, "right")
                    found += entries[start:end].tolist()
        if (label := self.labels.get(name)) is not None:
            found.append(label)
        return sorted(found)

    def are_new(self, names: list[str]) -> bool:
        """Return whether ids certainly differ from each other and from all before."""
        distinct = set(names)
        if len(distinct) < len(names) or not self.recent.keys().isdisjoint(distinct):
            return False
        if not self.labels.keys().isdisjoint(distinct):
            return False
        if not self.runs:
            return True
        digests = digests_of(names)
        self.last_new = names, digests
        hits = np.flatnonzero(self.filter.may_have(digests)).tolist()
        return not any(self.find(names[k]) for k in hits)

    def add_new(self, names: list[str], first: int) -> None:
        """Add ids that ``are_new`` for predictions, whose entries are numbered from one on."""
        if sum(map(len, self.digests)) == len(self.recent):
            new = self.last_new
            self.digests.append(new[1] if new and new[0] is names else digests_of(names))
        self.recent.update(zip(names, range(first, first + len(names)), strict=True))

    def fold(self, last: int) -> None:
        """Write the recent ids as a run, if they are many, in the open transaction."""
        count = len(self.recent) + len(self.labels)
        if count < MAX_RECENT:
            return
        names = [*self.recent, *self.labels]
        digests = np.concatenate(
            [*self.digests, digests_of(names[sum(map(len, self.digests)) :])], dtype=np.uint64
        )
        entries = np.fromiter((*self.recent.values(), *self.labels.values()), np.int64, count)
        self._write(last, 0, digests, entries)
        self.recent, self.labels, self.digests, self.last_new = {}, {}, [], None
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


def digest_bytes(name: str) -> bytes:
    """Return 64 bits that hardly any other id has."""
    return blake2b(name.encode(), digest_size=8).digest()


def digest_of(name: str) -> int:
    """Return the digest of an id as a number."""
    return int.from_bytes(digest_bytes(name), "little")


def digests_of(names: list[str]) -> Digests:
    """Return the digests of ids."""
    return np.frombuffer(b"".join(map(digest_bytes, names)), "<u8")
