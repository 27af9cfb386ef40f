"""Operations on a block of rows, dense or sparse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from noregret.base.sparse_rows import checked_csr
from noregret.errors import BadExample
from noregret.hindsight.proofs.rounding import Floats

# Rows per block: enough to amortise Python's overhead, few enough to fit in the cache and to keep
# the rounding error of sums small.
DENSE_ROWS = 4_096
SPARSE_ROWS = 16_384
# Numbers of sparse rows that are converted to dense ones at a time.
DENSE_NUMBERS = 2**21
# A sparse matrix product is faster than a dense one if fewer than one number in 20 is stored.
SPARSE_RATIO = 20

Block = Any  # a 2-d float64 array or a SciPy CSR array


def pieces(X: Any, y: Any) -> Iterator[tuple[Block, Floats]]:
    """Check rows and outcomes and split them into blocks, without a copy."""
    outcomes = np.ascontiguousarray(y, dtype=np.float64)
    if not np.isfinite(outcomes).all():
        row = int(np.flatnonzero(~np.isfinite(outcomes.ravel()))[0])
        raise BadExample("an outcome is not a finite number", row=row + 1)
    if hasattr(X, "tocsr"):
        table, step = csr(X), SPARSE_ROWS
    else:
        table, step = np.ascontiguousarray(X, dtype=np.float64), DENSE_ROWS
    if table.ndim != 2 or outcomes.shape != (table.shape[0],):
        raise BadExample(
            f"expected a 2-d table and one outcome per row, got shapes {table.shape} and"
            f" {outcomes.shape}"
        )
    for start in range(0, len(outcomes), step):
        part = slice(start, start + step)
        yield row_slice(table, part), outcomes[part]


def is_sparse(block: Block) -> bool:
    """Return whether a block is a SciPy sparse array."""
    return hasattr(block, "tocsr")


def csr(X: Any) -> Any:
    """Return X as a CSR array of float64 without duplicate entries."""
    from scipy import sparse

    table = sparse.csr_array(checked_csr(X), dtype=np.float64)
    if not table.has_canonical_format:
        table = table.copy()
        table.sum_duplicates()
    return table


def row_slice(table: Block, part: slice) -> Block:
    """Return a slice of rows as a view."""
    if not is_sparse(table):
        return table[part]
    from scipy import sparse

    starts = table.indptr[part.start : part.stop + 1]
    inner = slice(starts[0], starts[-1])
    made = sparse.csr_array(
        (table.data[inner], table.indices[inner], starts - starts[0]),
        shape=(len(starts) - 1, table.shape[1]),
    )
    made.has_canonical_format = True
    return made


def with_values(block: Block, values: Floats) -> Block:
    """Return a sparse block of the same structure with other values."""
    from scipy import sparse

    return sparse.csr_array((values, block.indices, block.indptr), shape=block.shape)


def padded(block: Block, width: int) -> Block:
    """Return the block, padded with columns of zeros to a width."""
    missing = width - block.shape[1]
    if not missing:
        return block
    if is_sparse(block):
        from scipy import sparse

        parts = (block.data, block.indices, block.indptr)
        return sparse.csr_array(parts, shape=(block.shape[0], width))
    return np.pad(block, ((0, 0), (0, missing)))


def magnitude(block: Block) -> Block:
    """Return |X|."""
    return with_values(block, np.abs(block.data)) if is_sparse(block) else np.abs(block)


def squared(block: Block) -> Block:
    """Return the elementwise square of X."""
    return with_values(block, block.data**2) if is_sparse(block) else block * block


def row_squares(block: Block) -> Floats:
    """Return ‖x_t‖² of each row."""
    with np.errstate(over="ignore", invalid="ignore"):
        if is_sparse(block):
            return np.asarray(squared(block).sum(axis=1)).ravel()
        return np.asarray(np.einsum("ti,ti->t", block, block))


def max_row_entries(block: Block) -> int:
    """Return the largest number of stored entries in a row."""
    if is_sparse(block):
        return int(np.diff(block.indptr).max(initial=0))
    return int(block.shape[1])


def row_scaled(block: Block, factors: Floats) -> Block:
    """Return each row times its factor, without the rows whose factor is zero."""
    used = np.flatnonzero(factors)
    if len(used) < len(factors):
        block, factors = block[used], factors[used]
    if is_sparse(block):
        return with_values(block, block.data * np.repeat(factors, np.diff(block.indptr)))
    return block * factors[:, None]


def products(block: Block) -> Iterator[Floats]:
    """Yield matrices whose sum is Σ x_t x_tᵀ."""
    if not is_sparse(block):
        yield block.T @ block
    elif SPARSE_RATIO * block.nnz < block.shape[0] * block.shape[1]:
        yield (block.T @ block).toarray()
    else:
        step = max(1, DENSE_NUMBERS // max(1, block.shape[1]))
        for start in range(0, block.shape[0], step):
            dense = block[start : start + step].toarray()
            yield dense.T @ dense
