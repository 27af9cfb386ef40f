"""The record of a game: pages of rows, in memory up to a limit, beyond it in a temporary file.

Sparse rows are decoded as they come, up to the numbers that a search in hindsight holds in memory.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.base.atomic_files import Growing, opened, reopened, temporary_folder
from noregret.base.platform_files import read_at
from noregret.errors import NoRegretError
from noregret.hindsight.sparse import DENSE_RATIO, MAX_NUMBERS, SparseRows
from noregret.hindsight.sums import add_outer_products
from noregret.linear.engine.recorder import unpack, unpacked

if TYPE_CHECKING:
    from noregret.proof.record.decoded_rows import DecodedRows

Floats = NDArray[np.float64]
# Words from which on a page is not extended.
WORDS_PER_PAGE = 2**17
# Bytes of sparse rows from which on they are decoded as they come, not at the end.
DECODED_FROM = 8 << 20
# Numbers up to which a table is dense in any case: SciPy takes a quarter of a second to load.
MAX_SMALL_TABLE = 2**12


class Table(NamedTuple):
    """Rows and their outcomes: dense, or a SciPy CSR array."""

    X: Any
    y: Floats
    whole: Floats | None = None  # (y, x) as one table, if available

    def is_dense(self) -> bool:
        """Return whether enough numbers are non-zero to process it as a dense table."""
        if self.whole is not None:
            return True
        count = self.X.nnz if hasattr(self.X, "nnz") else np.count_nonzero(self.X)
        rows, features = self.X.shape
        return bool(DENSE_RATIO * count >= rows * features)

    def product(self) -> Floats:
        """Return Σ z zᵀ for z = (y, x), on and above the diagonal."""
        features = self.X.shape[1]
        product = np.zeros((features + 1, features + 1))
        # Always of one table (y, x), so that the sums do not depend on how the rows arrived.
        X = self.X.toarray() if hasattr(self.X, "toarray") else self.X
        whole = np.column_stack([self.y, X]) if self.whole is None else self.whole
        add_outer_products(whole, product)
        return product

    @classmethod
    def of(cls, words: Floats, rows: int, features: int) -> Table:
        """Read a page; without a copy if every row has all features."""
        width = features + 3
        if features and rows * width == len(words):
            table = words.reshape(rows, width)
            heads = np.array((1 | features << 32, features << 32), dtype=np.uint64)
            if (table[:, :2].view(np.uint64) == heads).all():
                return cls(table[:, 3:], table[:, 2], table[:, 2:])
        starts, indices, data, outcomes = unpacked(words, rows)
        if rows * features <= MAX_SMALL_TABLE:
            X = np.zeros((rows, features))
            X[np.repeat(np.arange(rows), np.diff(starts)), indices] = data
            return cls(X, outcomes)
        from scipy import sparse

        made = sparse.csr_array((data, indices, starts), shape=(rows, features))
        made.has_canonical_format = True
        return cls(made, outcomes)


def read_whole_at(descriptor: int, place: int, size: int) -> bytes:
    """Return the requested bytes of the temporary file."""
    found = read_at(descriptor, place, size)
    if len(found) < size:
        raise OSError("the temporary file of a game is shorter than it was")
    return found


class Page(NamedTuple):
    """A stored page: its words if they are in memory, and their position in the file."""

    words: Floats | None
    place: int
    length: int
    rows: int
    features: int


class Pages:
    """Pages in order of arrival, which can be read repeatedly.

    Parameters
    ----------
    memory
        Bytes to hold in memory; later pages go to a temporary file.
    path
        A file for all pages that outlives this process; if None, a temporary file for the rest.
    """

    def __init__(self, memory: int, path: str | None = None) -> None:
        self.memory, self.path = memory, path
        self.held = 0
        self.index: list[Page] = []
        self.file: Growing | None = None
        self.decoded: DecodedRows | None = None  # all rows, in place of pages

    @property
    def spilled(self) -> bool:
        """True if some pages are only in the file."""
        return any(page.words is None for page in self.index)

    def add(self, words: Floats, rows: int, features: int, decode: bool = False) -> bool:
        """Add a page, decoded if that is wanted and pays; return whether its words are free."""
        begins = decode and self.decoded is None and self.path is None and self.file is None
        due = DECODED_FROM <= self.held + words.nbytes <= self.memory
        if begins and due and self.is_sparse(features):
            self.decode()
        if self.decoded is not None:
            if decode and self.decoded.add(words, rows, features):
                return True
            self.encode()
        if not self.put(words, rows, features):
            return True
        self.bind()
        return False

    def is_sparse(self, features: int) -> bool:
        """Return whether the pages so far are sparse, whatever their rows look like."""
        rows = sum(page.rows for page in self.index)
        words = sum(page.length for page in self.index) - 2 * rows
        # At least every second word is a value, as each has at most a place of its own.
        return words > 0 and DENSE_RATIO * words <= 2 * rows * features

    def decode(self) -> None:
        """Decode the pages so far, unless memory is short."""
        try:
            from noregret.proof.record.decoded_rows import DecodedRows

            decoded = DecodedRows()
        except MemoryError:
            return
        if all(decoded.add(self.words_of(p), p.rows, p.features) for p in self.index):
            self.decoded, self.index, self.held = decoded, [], 0

    def encode(self) -> None:
        """Turn decoded rows back into pages: they are too many, or no longer sparse."""
        decoded, self.decoded = self.decoded, None
        assert decoded is not None
        for words, rows in decoded.pages(WORDS_PER_PAGE):
            self.put(words, rows, decoded.features)

    def put(self, words: Floats, rows: int, features: int) -> bool:
        """Store a page; return whether it is in memory."""
        fits = self.held + words.nbytes <= self.memory
        place = 0
        if self.path is not None or not fits:
            file = self.opened()
            place = file.seek(0, 2)
            try:
                file.add(words.data)
            except OSError as error:
                raise NoRegretError(
                    f"the rows to be compared with in hindsight do not fit: {error.strerror}",
                    file=self.path or temporary_folder(),
                ) from None
        self.index.append(Page(words if fits else None, place, len(words), rows, features))
        self.held += words.nbytes if fits else 0
        return fits

    def take(self, other: Pages) -> None:
        """Add the rows of others."""
        if other.decoded is not None:
            for words, rows in other.decoded.pages(WORDS_PER_PAGE):
                self.put(words, rows, other.decoded.features)
        for page in other.index:
            self.put(other.words_of(page), page.rows, page.features)

    def opened(self) -> Growing:
        """Return the file."""
        if self.file is None:
            self.file = opened(self.path)
            weakref.finalize(self, self.file.close)
        return self.file

    def bind(self) -> None:
        """Merge the last two pages while the last is not shorter, so that there are few."""
        while len(self.index) > 1:
            before, last = self.index[-2:]
            short = last.length < before.length or last.length > WORDS_PER_PAGE
            if before.words is None or last.words is None or short:
                break
            joined = np.concatenate([before.words, last.words])
            rows = before.rows + last.rows
            self.index[-2:] = [Page(joined, before.place, len(joined), rows, last.features)]

    def blocks(self) -> Iterator[tuple[Any, Floats]]:
        """Yield the rows again, page by page."""
        if self.decoded is not None:
            yield from self.decoded.table(self.decoded.features).blocks()
        for page in list(self.index):
            table = Table.of(self.words_of(page), page.rows, page.features)
            yield table.X, table.y

    def sparse_rows(self, features: int) -> SparseRows | None:
        """Return the rows in three arrays; None if they are dense, or too many for memory."""
        if self.decoded is not None:
            table = self.decoded.table(features)
            return table if np.isfinite(table.own_outcomes).all() else None
        rows = sum(page.rows for page in self.index)
        words = sum(page.length for page in self.index) - 2 * rows
        if words > 2 * MAX_NUMBERS or not self.is_sparse(features):
            return None
        # Unfilled parts take no memory.
        starts, at = np.zeros(rows + 1, np.int64), np.empty(words, np.int32)
        values, outcomes = np.empty(words), np.empty(rows)
        row = filled = 0
        for page in self.index:
            last = row + page.rows
            filled += unpack(
                self.words_of(page),
                starts[row : last + 1],
                at[filled:],
                values[filled:],
                outcomes[row:last],
            )
            row = last
        dense = DENSE_RATIO * filled > rows * features
        if dense or filled > MAX_NUMBERS or not np.isfinite(outcomes).all():
            return None
        return SparseRows(starts, at[:filled], values[:filled], outcomes, features)

    def words_of(self, page: Page) -> Floats:
        """Return the words of a page, from memory or from the file."""
        return page.words if page.words is not None else self.read(page)

    def read(self, page: Page) -> Floats:
        """Read a page from the file, without moving the shared file position."""
        assert self.file is not None
        return np.frombuffer(read_whole_at(self.file.fileno(), page.place, 8 * page.length))

    # State.

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the pages, from memory or from the file."""
        found = [(self.words_of(page), page.rows, page.features) for page in self.index]
        if self.decoded is not None:
            features = self.decoded.features
            found = [(words, n, features) for words, n in self.decoded.pages(WORDS_PER_PAGE)]
        return _put_together, (self.memory, found)

    def get_state(self) -> dict[str, Any]:
        """Return the positions of the pages in the file."""
        index = [[p.words is not None, p.place, p.length, p.rows, p.features] for p in self.index]
        return {"index": index, "digest": None if self.file is None else self.file.settle()}

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue with the pages in the file; later ones are dropped."""
        index = state["index"]
        if not index:
            return
        if self.path is None:
            raise ValueError("there is no file that the pages could be in")
        stop = max(place + 8 * size for _, place, size, _, _ in index)
        self.file = reopened(self.path, stop, state["digest"])
        weakref.finalize(self, self.file.close)
        for held, place, length, rows, features in index:
            page = Page(None, place, length, rows, features)
            if held:
                page = page._replace(words=self.read(page).copy())
                self.held += 8 * length
            self.index.append(page)


def _put_together(memory: int, kept: list[tuple[Floats, int, int]]) -> Pages:
    pages = Pages(memory)
    for words, rows, features in kept:
        pages.put(words, rows, features)
    return pages
