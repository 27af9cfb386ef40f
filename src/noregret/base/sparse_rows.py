"""Sparse matrices, checked once: nothing reads their parts before they are known to fit together.

SciPy trusts the three arrays of a CSR matrix, which any code may have replaced, and so do the loops
of the core. What leaves here has indices within its columns and rows within its data.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadExample

Floats = NDArray[np.float64]
# The core counts columns in int32.
MAX_COLUMNS = 2**31 - 1


def checked_csr(X: Any) -> Any:
    """Return a sparse matrix, or one sparse row, as CSR, after looking at all of its parts.

    Raises
    ------
    BadExample
        Where its rows do not lie within its data, or an index is no column of it.
    """
    from scipy import sparse

    csr = (X if X.ndim == 2 else X.reshape(1, -1)).tocsr()
    if not sparse.issparse(csr):
        raise BadExample(f"a sparse matrix is one of SciPy: got a {type(X).__name__}")
    starts, indices = np.asarray(csr.indptr), np.asarray(csr.indices)
    rows, width = csr.shape
    if np.asarray(csr.data).dtype.kind not in "fiub":
        raise BadExample(f"sparse values must be numbers: got {np.asarray(csr.data).dtype}")
    if width > MAX_COLUMNS:
        raise BadExample(f"at most 2^31 − 1 columns are possible: got {width}")
    for name, part in (("indptr", starts), ("indices", indices)):
        if part.dtype.kind not in "iu" or part.ndim != 1:
            raise BadExample(
                f"{name} of a sparse matrix is one row of whole numbers: got {part.dtype} of shape"
                f" {part.shape}"
            )
    if np.ndim(csr.data) != 1 or len(starts) != rows + 1 or starts[0] != 0:
        raise BadExample(
            f"a sparse matrix of {rows} rows has {rows + 1} starts of them, the first 0"
        )
    check_starts(starts, min(len(indices), len(csr.data)))
    check_indices(starts, indices[: starts[-1]], width)
    return csr


def check_starts(starts: NDArray[Any], most: int) -> None:
    """Refuse rows that do not follow each other within the data."""
    wrong = (starts[1:] < starts[:-1]) | (starts[1:] > most)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise BadExample(
            f"row {row} of a sparse matrix goes from {starts[row]} to {starts[row + 1]}, but there"
            f" are {most} values and indices"
        )


def check_indices(starts: NDArray[Any], indices: NDArray[Any], width: int) -> None:
    """Refuse an index that is no column, in the type in which it came: a cast would cut it."""
    if len(indices) and not 0 <= indices.min() <= indices.max() < width:
        at = int(np.argmax((indices < 0) | (indices >= width)))
        row = int(np.searchsorted(starts, at, "right")) - 1
        raise BadExample(
            f"row {row} of a sparse matrix has the column index {indices[at]}: indices are from 0"
            f" to {width - 1}"
        )


def sparse_parts(X: Any) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats, int]:
    """Return (starts, indices, data, width) of a sparse matrix, indices increasing in each row.

    Starts and indices are copies: other threads may change the matrix meanwhile, and the core
    finds its place in memory by them.
    """
    csr = checked_csr(X)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return (
        np.array(csr.indptr, np.int64, order="C"),
        np.array(csr.indices, np.int32, order="C"),
        np.require(csr.data, np.float64, ["C", "A"]),
        csr.shape[1],
    )
