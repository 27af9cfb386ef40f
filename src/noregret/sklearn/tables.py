"""Rows for learners, in any order, in blocks that fit in the cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noregret.base.sparse_rows import checked_csr, sparse_parts
from noregret.linear.inputs import COPIED_NUMBERS, as_floats, block_rows
from noregret.linear.learn_many import Block

Floats = NDArray[np.float64]
Order = NDArray[np.int64] | None
Part = slice | NDArray[np.int64]


class Table(Protocol):
    """Rows that can be read in blocks."""

    rows: int

    def blocks(self, order: Order) -> Iterator[tuple[Part, Block]]:
        """Yield the numbers of the next rows, and the rows."""


class DenseTable:
    """The rows of an array of numbers.

    Parameters
    ----------
    X
        The array.
    threshold
        Values above it become 1, others 0; None leaves them unchanged.
    """

    def __init__(self, X: NDArray[Any], threshold: float | None = None) -> None:
        self.X, self.threshold, self.rows = X, threshold, X.shape[0]

    def blocks(self, order: Order) -> Iterator[tuple[Part, Block]]:
        """Yield the numbers of the next rows, and the rows."""
        for part in parts(self.rows, self.X.shape[1], order):
            block = self.X[part]
            if self.threshold is not None:
                block = known(block) > self.threshold
            yield part, as_floats(block)


class SparseTable:
    """The rows of a sparse matrix.

    Parameters
    ----------
    X
        The SciPy matrix, which has been validated.
    threshold
        Values above it become 1, others 0; None leaves them unchanged.
    """

    def __init__(self, X: Any, threshold: float | None = None) -> None:
        if threshold is not None:
            if threshold < 0:
                raise ValueError("binarize must be at least 0 for a sparse X, whose zeros stay 0")
            X = checked_csr(X).copy()
            X.data = (known(X.data) > threshold).astype(float)
            X.eliminate_zeros()
        self.X, self.rows = X, X.shape[0]
        self.parts = sparse_parts(X, copied=False, checked=True)

    def blocks(self, order: Order) -> Iterator[tuple[Part, Block]]:
        """Yield the numbers of the next rows, and the rows."""
        starts, indices, data, width = self.parts
        for part in parts(self.rows, max(1, len(data) // max(1, self.rows)), order):
            if isinstance(part, slice):
                yield part, (starts[part.start : part.stop + 1], indices, data, width)
            else:
                yield part, sparse_parts(self.X[part], copied=False, checked=True)


def table_of(X: Any, threshold: float | None = None) -> Table:
    """Return rows that can be read in blocks."""
    kind = SparseTable if hasattr(X, "tocsr") else DenseTable
    return kind(X, threshold)


def known(values: NDArray[Any]) -> NDArray[Any]:
    """Return values, or raise ValueError if some are not finite."""
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError("Input X contains NaN or infinity: every value must be finite")
    return values


def parts(rows: int, width: int, order: Order) -> Iterator[Part]:
    """Split rows, or an order of them, into parts that fit in the cache."""
    step = block_rows(width, COPIED_NUMBERS)
    total = rows if order is None else len(order)
    for start in range(0, total, step):
        stop = min(start + step, total)
        yield slice(start, stop) if order is None else order[start:stop]


def with_constant(block: Block, constant: float) -> Any:
    """Return a block with one more column, as an array or a sparse matrix."""
    if isinstance(block, np.ndarray):
        if not constant:
            return block
        return np.hstack([block, np.full((len(block), 1), constant)])
    from scipy import sparse

    starts, indices, data, width = block
    own = slice(starts[0], starts[-1])
    csr = sparse.csr_array(
        (data[own], indices[own], starts - starts[0]), shape=(len(starts) - 1, width)
    )
    if not constant:
        return csr
    column = sparse.csr_array(np.full((len(starts) - 1, 1), constant))
    return sparse.hstack([csr, column], format="csr")
