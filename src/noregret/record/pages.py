"""The record of a game: pages of rows, in memory up to a limit, beyond it in a temporary file."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.core.recorder import unpacked
from noregret.core.sums import add_outer_products

Floats = NDArray[np.float64]
# Words of a page that is long enough.
LONG = 2**17


class Table(NamedTuple):
    """Rows and their outcomes: dense, or a SciPy CSR array."""

    X: Any
    y: Floats
    whole: Floats | None = None  # (y, x) as one table, where there is one
    full: bool = True  # whether every row has a number for every feature

    def product(self) -> Floats:
        """Return Σ z zᵀ for z = (y, x), on and above the diagonal; of full rows only."""
        features = self.X.shape[1]
        product = np.zeros((features + 1, features + 1))
        if self.whole is not None:
            add_outer_products(self.whole, product)
            return product
        gram = np.zeros((features, features))
        add_outer_products(self.X, gram)
        product[1:, 1:] = gram
        product[0, 1:] = self.y @ self.X
        product[0, 0] = self.y @ self.y
        return product

    @classmethod
    def of(cls, words: Floats, rows: int, features: int) -> Table:
        """Read a page: a view of it where every row has all features."""
        width = features + 3
        if features and rows * width == len(words):
            table = words.reshape(rows, width)
            heads = table[:, :2].view(np.uint64)
            full = np.array((1 | features << 32, features << 32), dtype=np.uint64)
            if (heads == full).all():
                return cls(table[:, 3:], table[:, 2], table[:, 2:])
        from scipy import sparse

        starts, indices, data, outcomes = unpacked(words, rows)
        made = sparse.csr_array((data, indices, starts), shape=(rows, features))
        made.has_canonical_format = True
        return cls(made, outcomes, full=False)


def read_at(descriptor: int, size: int, place: int) -> bytes:
    """Return so many bytes of a file."""
    parts = []
    while size > 0:
        part = os.pread(descriptor, size, place)
        if not part:
            raise OSError("the temporary file of a game is shorter than it was")
        parts.append(part)
        size, place = size - len(part), place + len(part)
    return b"".join(parts)


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
                # Without moving a position that other threads and processes share.
                kept = np.frombuffer(read_at(self.file.fileno(), 8 * length, kept))  # noqa: PLW2901
            table = Table.of(kept, rows, features)
            yield table.X, table.y
