"""The record of a game: pages of rows, in memory up to a limit, beyond it in a temporary file."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterator
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from noregret.core.recorder import unpacked

Floats = NDArray[np.float64]
# Words of a page that is long enough.
LONG = 2**17


def full_rows(words: Floats, rows: int, features: int) -> Floats | None:
    """Return a view of a page as a table (y, x), where every row has all features."""
    width = features + 3
    if rows * width != len(words) or not features:
        return None
    table = words.reshape(rows, width)
    heads = table[:, :2].view(np.uint64)
    if (heads != np.array((1 | features << 32, features << 32), dtype=np.uint64)).any():
        return None
    return table[:, 2:]


def read_page(words: Floats, rows: int, features: int) -> tuple[Any, Floats]:
    """Return (X, y) of a page: views of it where every row has all features, else a CSR array."""
    table = full_rows(words, rows, features)
    if table is not None:
        return table[:, 1:], table[:, 0]
    from scipy import sparse

    starts, indices, data, outcomes = unpacked(words, rows)
    made = sparse.csr_array((data, indices, starts), shape=(rows, features))
    made.has_canonical_format = True
    return made, outcomes


class Pages:
    """Pages in the order in which they came, to be read again as often as asked.

    Parameters
    ----------
    memory
        Bytes to hold in memory; what comes after goes to a temporary file.
    """

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.held = 0
        self.index: list[tuple[Floats | int, int, int, int]] = []
        self.file: IO[bytes] | None = None

    def add(self, words: Floats, rows: int, features: int) -> None:
        """Take a page on record."""
        if self.held + words.nbytes <= self.memory:
            self.held += words.nbytes
            self.index.append((words, len(words), rows, features))
            self.bind()
            return
        if self.file is None:
            self.file = tempfile.TemporaryFile(prefix="noregret-")  # noqa: SIM115
            weakref.finalize(self, self.file.close)
        place = self.file.seek(0, 2)
        words.tofile(self.file)
        self.file.flush()
        self.index.append((place, len(words), rows, features))

    def bind(self) -> None:
        """Make one page of the last two as long as the last is not shorter: few are left."""
        while len(self.index) > 1:
            (before, length, rows, _), (last, more, again, features) = self.index[-2:]
            if isinstance(before, int) or isinstance(last, int) or more < length or more > LONG:
                break
            joined = np.concatenate([before, last])
            self.index[-2:] = [(joined, length + more, rows + again, features)]

    def blocks(self) -> Iterator[tuple[Any, Floats]]:
        """Yield the rows again, page by page."""
        for kept, length, rows, features in list(self.index):
            if isinstance(kept, int):
                assert self.file is not None
                self.file.seek(kept)
                yield read_page(np.fromfile(self.file, np.float64, length), rows, features)
            else:
                yield read_page(kept, rows, features)
