"""Digests of all data read, part by part, so that a resumed run can check that nothing changed.

They are kept only if checkpoints are made. A part is a few megabytes of text, a row group of a
Parquet file, or a range of rows of an array.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.base.atomic_files import DIGEST_SIZE, new_hash
from noregret.errors import NoRegretError

# Bytes per digest when text comes in smaller pieces.
PART = 1 << 22


class Range(NamedTuple):
    """The digest of a part of a file, from ``start`` to ``stop``, in bytes or rows."""

    start: int
    stop: int
    digest: bytes


class Seal(NamedTuple):
    """The digest of a part of a file, with its first and last line or row, counted from 1."""

    file: int
    start: int
    stop: int
    first: int
    last: int
    digest: bytes

    def check(self, digest: bytes, path: str, what: str) -> None:
        """Raise an error if the digest differs."""
        if digest != self.digest:
            raise NoRegretError(
                f"{what} {self.first:,} to {self.last:,}: not the data that the checkpoint was made"
                " from: they were changed after they had been read",
                file=path,
            )


class Seals:
    """The seals of all data before a mark, in order."""

    def __init__(self) -> None:
        self.all: list[Seal] = []

    def __iter__(self) -> Iterator[Seal]:
        return iter(self.all)

    def of_file(self, file: int) -> list[Seal]:
        """Return the seals of one file."""
        return [seal for seal in self.all if seal.file == file]

    def add(self, file: int, ranges: Iterable[Range], first: int, last: int) -> None:
        """Add parts of a file with these lines; a part that has grown replaces its old seal."""
        for start, stop, digest in ranges:
            begins = first
            if self.all and self.all[-1][:2] == (file, start):
                begins = self.all.pop().first
            self.all.append(Seal(file, start, stop, begins, last, digest))

    def get_state(self) -> dict[str, NDArray[Any]]:
        """Return the seals as arrays."""
        places = np.array([seal[:5] for seal in self.all], dtype=np.int64).reshape(-1, 5)
        digests = np.frombuffer(b"".join(seal.digest for seal in self.all), dtype=np.uint8)
        return {"places": places, "digests": digests.reshape(-1, DIGEST_SIZE)}

    def set_state(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Restore the seals from arrays."""
        self.all = [
            Seal(file, start, stop, first, last, digest.tobytes())
            for (file, start, stop, first, last), digest in zip(
                arrays["places"].tolist(), arrays["digests"], strict=True
            )
        ]


class Sealing:
    """Digests for text that is read sequentially, in pieces of any size.

    Parameters
    ----------
    start
        The first byte.
    """

    def __init__(self, start: int) -> None:
        self.start, self.hash, self.stop = start, new_hash(), start

    def add(self, text: bytes) -> Range:
        """Add text; return the range that ends with it."""
        if self.stop - self.start >= PART:
            self.start, self.hash = self.stop, new_hash()
        self.hash.update(text)
        self.stop += len(text)
        return Range(self.start, self.stop, self.hash.digest())
