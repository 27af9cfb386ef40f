"""Where the events of an id are in a journal: recent ones in memory, older ones in sorted runs.

A run is a pair of arrays, digests of ids in order and the numbers of their entries, which is
written once. Runs of similar size are merged, so that an id is written a few times in all. A Bloom
filter over the digests tells of almost every new id, without a look at the runs, that it is new.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from noregret.service.database import Database

# Entries in memory before they become a run, and runs of a level before they become one of the
# next; runs of the last level stay.
MAX_RECENT, MERGED, LAST_LEVEL = 8192, 16, 2
# Of the Bloom filter: bits per id, and how many of them are set by each.
BITS, PROBES = 16, 3
# Runs whose arrays are in memory after a look at them.
MAX_LOADED = 4
SCHEMA = """
CREATE TABLE ids (
    last INTEGER PRIMARY KEY, level INTEGER NOT NULL, digests BLOB NOT NULL, entries BLOB NOT NULL);
"""
Digests = NDArray[np.uint64]
Entries = NDArray[np.int64]


class Filter:
    """A Bloom filter that grows: a set of digests without false negatives."""

    def __init__(self) -> None:
        self.count, self.bits = 0, bytearray(MAX_RECENT * MERGED * BITS // 8)

    def full(self, more: int) -> bool:
        """Return whether the filter must be made anew, larger, for some more digests."""
        return (self.count + more) * BITS > len(self.bits) * 8

    def add(self, digests: Digests) -> None:
        """Add digests."""
        self.count += len(digests)
        bits, mask = np.frombuffer(self.bits, np.uint8), np.uint64(len(self.bits) * 8 - 1)
        for probe in range(PROBES):
            place = (digests >> np.uint64(probe * 12)) & mask
            value = np.uint8(1) << (place & np.uint64(7)).astype(np.uint8)
            np.bitwise_or.at(bits, place >> np.uint64(3), value)

    def has(self, digest: int) -> bool:
        """Return False if a digest was never added."""
        bits, mask = self.bits, len(self.bits) * 8 - 1
        for probe in range(PROBES):
            place = (digest >> probe * 12) & mask
            if not bits[place >> 3] >> (place & 7) & 1:
                return False
        return True


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
        self.runs: list[tuple[int, int]] = []  # last entry and level
        self.filter = Filter()
        self.loaded: dict[int, tuple[Digests, Entries]] = {}
        for last, level in list(database.stream("SELECT last, level FROM ids ORDER BY last")):
            self.runs.append((last, level))
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
            for last, _ in self.runs:
                digests, entries = self._arrays(last)
                at = int(np.searchsorted(digests, np.uint64(digest)))
                while at < len(digests) and int(digests[at]) == digest:
                    found.append(int(entries[at]))
                    at += 1
        if (label := self.labels.get(name)) is not None:
            found.append(label)
        return sorted(found)

    def fold(self, last: int) -> None:
        """Write the recent ids as a run, if they are many, in the open transaction."""
        count = len(self.recent) + len(self.labels)
        if count < MAX_RECENT:
            return
        named = (*self.recent, *self.labels)
        digests = np.fromiter(map(digest_of, named), np.uint64, count)
        entries = np.fromiter((*self.recent.values(), *self.labels.values()), np.int64, count)
        self._write(last, 0, digests, entries)
        self.recent, self.labels = {}, {}
        level = 0
        while level < LAST_LEVEL and len(same := self._of_level(level)) >= MERGED:
            arrays = [self._arrays(each) for each in same]
            for each in same:
                self._drop(each)
            level += 1
            parts = [np.concatenate([pair[k] for pair in arrays]) for k in (0, 1)]
            self._write(last, level, parts[0], parts[1])
        if self.filter.full(0):
            self._refill()
        else:
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
        digests, entries = digests[order], entries[order]
        self.database.run(
            "INSERT INTO ids VALUES (?, ?, ?, ?)",
            [last, level, digests.astype("<u8").tobytes(), entries.astype("<i8").tobytes()],
        )
        self.runs.append((last, level))

    def _drop(self, last: int) -> None:
        self.database.run("DELETE FROM ids WHERE last = ?", [last])
        self.runs = [each for each in self.runs if each[0] != last]
        self.loaded.pop(last, None)

    def _arrays(self, last: int) -> tuple[Digests, Entries]:
        found = self.loaded.get(last)
        if found is None:
            row = self.database.row("SELECT digests, entries FROM ids WHERE last = ?", [last])
            assert row is not None
            found = np.frombuffer(row[0], "<u8"), np.frombuffer(row[1], "<i8")
            while len(self.loaded) >= MAX_LOADED:
                del self.loaded[next(iter(self.loaded))]
            self.loaded[last] = found
        return found

    def _refill(self) -> None:
        """Make the filter from the runs."""
        self.filter = Filter()
        count = sum(len(digests) for digests in self._all())
        while self.filter.full(2 * count):
            self.filter.bits = bytearray(2 * len(self.filter.bits))
        for digests in self._all():
            self.filter.add(digests)

    def _all(self) -> Iterator[Digests]:
        for last, _ in self.runs:
            row = self.database.row("SELECT digests FROM ids WHERE last = ?", [last])
            yield np.frombuffer((row or [b""])[0], "<u8")


def digest_of(name: str) -> int:
    """Return 64 bits that hardly any other id has."""
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")
