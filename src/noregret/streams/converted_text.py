"""Files that are tables but not CSV, as CSV text: each row is written when it is read."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import IO


class Generated(io.RawIOBase):
    """Bytes that a generator yields, as a file."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self.parts, self.rest = parts, b""

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Read the next bytes; 0 at the end."""
        while not self.rest:
            found = next(self.parts, None)
            if found is None:
                return 0
            self.rest = found
        size = min(len(buffer), len(self.rest))
        buffer[:size], self.rest = self.rest[:size], self.rest[size:]
        return size


def csv_of(rows: Iterable[Sequence[str]]) -> IO[bytes]:
    """Return rows of cells as a file of CSV text."""

    def lines() -> Iterator[bytes]:
        held = io.StringIO()
        writer = csv.writer(held, lineterminator="\n")
        for row in rows:
            writer.writerow(row)
            yield held.getvalue().encode("utf-8", "surrogateescape")
            held.seek(0)
            held.truncate()

    return io.BufferedReader(Generated(lines()))
