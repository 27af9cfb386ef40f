"""Leave out columns that are zero in all rows: sparse rows may have millions of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noregret.hindsight.blocks import Block, is_sparse
from noregret.hindsight.rows import Rows

Columns = NDArray[np.intp]


def without_empty_columns(rows: Rows) -> tuple[Rows, Columns]:
    """Return the rows without empty columns, but for the first one, and which columns are kept.

    The empty column that is kept stands for all: their weights have no effect. All are kept if at
    least half are used, or if there are dense rows.
    """
    features = rows.shape[1]
    used = np.zeros(features, np.bool_)
    for block, _ in rows.blocks():
        if not is_sparse(block):
            return rows, np.arange(features)
        used[block.indices[block.data != 0]] = True
    if 2 * np.count_nonzero(used) >= features:
        return rows, np.arange(features)
    used[np.argmin(used)] = True
    columns = np.flatnonzero(used)
    kept = Rows(features=len(columns))
    for block, outcomes in rows.blocks():
        kept.add(selected(block, columns), outcomes)
    return kept, columns


def selected(block: Block, columns: Columns) -> Block:
    """Return some columns of a sparse block, in ascending order, with all that are not empty."""
    from scipy import sparse

    block = sparse.csr_array(block, copy=True)
    block.eliminate_zeros()
    at = np.searchsorted(columns, block.indices)
    return sparse.csr_array((block.data, at, block.indptr), shape=(block.shape[0], len(columns)))
