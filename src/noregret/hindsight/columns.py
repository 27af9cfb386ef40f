"""Leave out columns that are zero in all rows: sparse rows may have millions of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from noregret.hindsight.blocks import Block, is_sparse
from noregret.hindsight.rows import Rows
from noregret.hindsight.sparse import DENSE_RATIO, SparseRows

Columns = NDArray[np.intp]
# Numbers looked at between two counts of the columns used so far.
NUMBERS_PER_LOOK = 1_000_000


def without_empty_columns(rows: Rows) -> tuple[Rows, Columns]:
    """Return the rows without empty columns, but for the first one, and which columns are kept.

    The empty column that is kept stands for all: their weights have no effect. All are kept if at
    least half are used, or if there are dense rows.
    """
    features = rows.shape[1]
    used = np.zeros(features, np.bool_)
    for places in occupied(rows):
        used[places] = True
        if 2 * np.count_nonzero(used) >= features:
            break
    if 2 * np.count_nonzero(used) >= features:
        return rows, np.arange(features)
    used[np.argmin(used)] = True
    columns = np.flatnonzero(used)
    if isinstance(rows, SparseRows):
        starts, at, values = rows.parts
        if values.all() and DENSE_RATIO * len(values) <= len(rows.own_outcomes) * len(columns):
            places = np.cumsum(used, dtype=np.int32) - 1
            return SparseRows(starts, places[at], values, rows.own_outcomes, len(columns)), columns
    kept = Rows(features=len(columns))
    for block, outcomes in rows.blocks():
        kept.add(selected(block, columns), outcomes)
    return kept, columns


def occupied(rows: Rows) -> Iterator[slice | NDArray[np.int32]]:
    """Yield the columns of the numbers that are not zero, for some rows at a time."""
    if isinstance(rows, SparseRows):
        _, at, values = rows.parts
        for first in range(0, len(at), NUMBERS_PER_LOOK):
            some = slice(first, first + NUMBERS_PER_LOOK)
            yield at[some] if values[some].all() else at[some][values[some] != 0]
        return
    for block, _ in rows.blocks():
        yield block.indices[block.data != 0] if is_sparse(block) else slice(None)


def selected(block: Block, columns: Columns) -> Block:
    """Return some columns of a sparse block, in ascending order, with all that are not empty."""
    from scipy import sparse

    block = sparse.csr_array(block, copy=True)
    block.eliminate_zeros()
    at = np.searchsorted(columns, block.indices)
    return sparse.csr_array((block.data, at, block.indptr), shape=(block.shape[0], len(columns)))
