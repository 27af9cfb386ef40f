"""Predictions and tags on their way to a file, buffered on disk so that memory stays flat."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.atomic_files import opened, reopened
from noregret.errors import NoRegretError

Floats = NDArray[np.float64]
# Rows written at a time.
ROWS = 65_536


class Spool:
    """Bytes buffered in a file; a named file outlives the process.

    Parameters
    ----------
    path
        The file; a temporary one by default.
    size
        The number of bytes to keep; the rest of the file is dropped.
    digest
        The digest of these bytes, as ``settle`` returned it.
    """

    def __init__(self, path: str | None = None, size: int = 0, digest: str = "") -> None:
        self.path, self.size = path, size
        self.file = reopened(path, size, digest) if path is not None and size else opened(path)
        weakref.finalize(self, self.file.close)

    def write(self, contents: memoryview) -> None:
        """Append bytes."""
        try:
            self.file.add(contents)
        except OSError as error:
            raise NoRegretError(
                f"{self.path or tempfile.gettempdir()}: the predictions so far do not fit:"
                f" {error.strerror}"
            ) from None
        self.size += contents.nbytes

    def settle(self) -> list[Any]:
        """Flush to disk; return the size and the digest."""
        return [self.size, self.file.settle()]


class Numbers(Spool):
    """A few numbers for each row.

    Parameters
    ----------
    columns
        The number of columns.
    path, size, digest
        As for ``Spool``.
    """

    def __init__(
        self, columns: int, path: str | None = None, size: int = 0, digest: str = ""
    ) -> None:
        self.columns = columns
        super().__init__(path, size, digest)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.size // (8 * self.columns)

    def add(self, *columns: Floats) -> None:
        """Append rows."""
        self.write(np.column_stack(columns).astype(np.float64, copy=False).data)

    def blocks(self) -> Iterator[Floats]:
        """Yield all rows in blocks."""
        self.file.seek(0)
        left = self.rows
        while left:
            rows = min(left, ROWS)
            found = np.frombuffer(self.file.read(8 * rows * self.columns))
            yield found.reshape(rows, self.columns)
            left -= rows


class Tags(Spool):
    """The tags of rows, one per line; tags have no line ends."""

    def add(self, tags: Sequence[str]) -> None:
        """Append tags; an empty one for a row without."""
        self.write(memoryview("".join(f"{tag}\n" for tag in tags).encode()))

    def blocks(self) -> Iterator[list[str]]:
        """Yield all rows in blocks."""
        self.file.seek(0)
        with open(os.dup(self.file.fileno()), "rb") as lines:
            while some := list(islice(lines, ROWS)):
                yield [line[:-1].decode() for line in some]
