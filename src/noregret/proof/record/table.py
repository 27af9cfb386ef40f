"""The rows of a game over a table: in memory up to a limit, beyond it in a temporary file."""

from __future__ import annotations

import hashlib
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.base.atomic_files import Growing, opened
from noregret.errors import NoRegretError
from noregret.proof.record.digest import Digest
from noregret.proof.record.pages import read_whole_at

Floats = NDArray[np.float64]
# Numbers per page.
NUMBERS_PER_PAGE = 2**18


class Figures(NamedTuple):
    """The cumulative figures of a player."""

    rounds: int
    loss: float
    mistakes: float | None


class Leaf(NamedTuple):
    """A full page: its rows if they are in memory, or their position in the file."""

    X: Floats | None
    y: Floats | None
    rows: int
    place: int


class Table:
    """Rows of numbers, with outcomes if there are any, which can be read repeatedly.

    Missing numbers are NaN. All rows have the same columns.

    Parameters
    ----------
    memory
        Bytes to hold in memory; later rows go to a temporary file.
    """

    def __init__(self, memory: int) -> None:
        self.memory, self.held = memory, 0
        self.rows = self.width = 0
        self.has_outcomes = False
        self.leaves: list[Leaf] = []
        self.file: Growing | None = None
        self.numbers, self.outcomes = Digest(), Digest()
        self.X, self.y, self.filled = np.empty((0, 0)), np.empty(0), 0

    def add(self, X: Floats, y: Floats | None = None) -> None:
        """Add rows."""
        if not len(X):
            return
        if not self.rows:
            self.width, self.has_outcomes = X.shape[1], y is not None
            self._open(len(X), self.width)
        at = 0
        while at < len(X):
            if self.filled == len(self.X):
                self._turn(len(X) - at)
            part = min(len(X) - at, len(self.X) - self.filled)
            there = slice(self.filled, self.filled + part)
            self.X[there] = X[at : at + part]
            if self.has_outcomes:
                assert y is not None
                self.y[there] = y[at : at + part]
            self._unify(self.X[there])
            self.filled, at, self.rows = there.stop, at + part, self.rows + part

    def _open(self, rows: int, width: int) -> None:
        """Begin a page; the first is short."""
        step = max(1, NUMBERS_PER_PAGE // max(1, width))
        if not self.leaves:
            step = min(step, max(64, rows))
        self.X, self.y, self.filled = np.empty((step, width)), np.empty(step), 0

    def _turn(self, more: int) -> None:
        """Store the full page, or enlarge it if it is short."""
        step = max(1, NUMBERS_PER_PAGE // max(1, self.width))
        if self.filled < step:
            rows = min(step, max(2 * self.filled, self.filled + more))
            X, y = np.empty((rows, self.width)), np.empty(rows)
            X[: self.filled], y[: self.filled] = self.X, self.y
            self.X, self.y = X, y
            return
        self.numbers.update(self.X.reshape(-1))
        if self.has_outcomes:
            self.outcomes.update(self.y)
        self._keep()
        self._open(step, self.width)

    def _unify(self, X: Floats) -> None:
        """Replace all NaN by the same one."""
        missing = np.isnan(X)
        if missing.any():
            X[missing] = np.nan

    def _keep(self) -> None:
        """Store the current page."""
        self._put(self.X, self.y if self.has_outcomes else None)

    def _put(self, X: Floats, y: Floats | None) -> None:
        """Store a page in memory or in the file."""
        size = X.nbytes + (0 if y is None else y.nbytes)
        if self.held + size <= self.memory:
            self.held += size
            self.leaves.append(Leaf(X, y, len(X), 0))
            return
        if self.file is None:
            self.file = opened(None)
            weakref.finalize(self, self.file.close)
        place = self.file.seek(0, 2)
        try:
            self.file.add(X.data)
            if y is not None:
                self.file.add(y.data)
        except OSError as error:
            raise NoRegretError(
                f"the rows to be compared with in hindsight do not fit: {error.strerror}",
                file=tempfile.gettempdir(),
            ) from None
        self.leaves.append(Leaf(None, None, len(X), place))

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickles, with the rows in the file."""
        leaves = [leaf if leaf.X is not None else self._leaf(leaf) for leaf in self.leaves]
        return vars(self) | {"leaves": leaves, "file": None, "held": 0}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state | {"leaves": []})
        for leaf in state["leaves"]:
            self._put(leaf.X, leaf.y)

    def _leaf(self, leaf: Leaf) -> Leaf:
        return Leaf(*self._read(leaf), leaf.rows, 0)

    @property
    def spilled(self) -> bool:
        """True if some rows are only in the file."""
        return self.file is not None

    def blocks(self) -> Iterator[tuple[Floats, Floats | None]]:
        """Yield the rows in order, with their outcomes or None."""
        for leaf in list(self.leaves):
            if leaf.X is not None:
                yield leaf.X, leaf.y
            else:
                yield self._read(leaf)
        if self.filled:
            y = self.y[: self.filled] if self.has_outcomes else None
            yield self.X[: self.filled], y

    def _read(self, leaf: Leaf) -> tuple[Floats, Floats | None]:
        """Read a page from the file, without moving the shared file position."""
        assert self.file is not None
        columns = self.width + int(self.has_outcomes)
        words = read_whole_at(self.file.fileno(), leaf.place, 8 * leaf.rows * columns)
        numbers = np.frombuffer(bytearray(words))
        cut = leaf.rows * self.width
        y = numbers[cut:] if self.has_outcomes else None
        return numbers[:cut].reshape(leaf.rows, self.width), y

    def whole(self) -> tuple[Floats, Floats | None]:
        """Return all rows as one array, with their outcomes or None."""
        blocks = list(self.blocks())
        if len(blocks) == 1:
            return blocks[0]
        X = np.concatenate([np.empty((0, self.width)), *(X for X, _ in blocks)])
        if not self.has_outcomes:
            return X, None
        return X, np.concatenate([np.empty(0), *(y for _, y in blocks if y is not None)])

    def digest_text(self, names: Sequence[str] | None) -> str:
        """Return a digest: the same numbers give the same digest in any format.

        It is that of the rows, as in ``digest.pyx``; with outcomes, the BLAKE2b of the texts of two
        digests, that of the rows and that of the outcomes.
        """
        rows = self._text(self.numbers, self.X[: self.filled].reshape(-1), self.width, names)
        if not self.has_outcomes:
            return rows
        outcomes = self._text(self.outcomes, self.y[: self.filled], 1, None)
        both = hashlib.blake2b(f"{rows} {outcomes}".encode(), digest_size=32)
        return f"blake2b:{both.hexdigest()}"

    def _text(self, begun: Digest, rest: Floats, width: int, names: Sequence[str] | None) -> str:
        """Return the digest of the full pages and the rest."""
        digest = Digest()
        digest.set_state(*begun.get_state())
        digest.update(rest)
        return digest.text(self.rows, width, names or ())
