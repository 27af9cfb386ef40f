"""Validation of sparse matrices, before any code reads their arrays.

SciPy and the compiled loops trust the three arrays of a CSR matrix, which any code may have
replaced. After validation indices lie within the columns and rows within the data.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadExample
from noregret.limits import MAX_POSITIONS

Floats = NDArray[np.float64]
# Compiled loops index columns with int32.


def checked_csr(X: Any) -> Any:
    """Return a sparse matrix, or one sparse row, as validated CSR.

    Raises
    ------
    BadExample
        If its rows do not lie within its data, or an index exceeds its columns.
    """
    csr = as_csr(X)
    check_parts(np.asarray(csr.indptr), np.asarray(csr.indices), np.asarray(csr.data), csr.shape)
    return csr


def as_csr(X: Any) -> Any:
    """Return a sparse matrix, or one sparse row, as CSR, without validation."""
    from scipy import sparse

    try:
        matrix = X if X.ndim == 2 else X.reshape(1, -1)
        csr = matrix.tocsr() if getattr(matrix, "format", "csr") == "csr" else converted(matrix)
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        if isinstance(error, BadExample):
            raise
        raise BadExample(f"a sparse matrix that SciPy cannot read: {error}") from None
    if not sparse.issparse(csr):
        raise BadExample(f"a sparse matrix is one of SciPy: got a {type(X).__name__}")
    return csr


def converted(X: Any) -> Any:
    """Convert a matrix of another format to CSR, after validating the arrays that SciPy trusts."""
    X = X.copy()  # other threads may change it meanwhile
    if X.format in ("csc", "bsr"):
        high, wide = X.blocksize if X.format == "bsr" else (1, 1)
        rows, columns = X.shape[0] // high, X.shape[1] // wide
        lines = (columns, rows) if X.format == "csc" else (rows, columns)
        check_parts(X.indptr, X.indices, X.data[:, 0, 0] if X.data.ndim == 3 else X.data, lines)
        return X.tocsr()
    if X.format == "lil" and [*map(len, X.rows)] != [*map(len, X.data)]:
        raise BadExample("a sparse matrix has as many values as indices in each row")
    X = X.tocoo()
    for name, at, most in (("row", X.row, X.shape[0]), ("column", X.col, X.shape[1])):
        if len(at) != len(X.data) or (len(at) and not 0 <= at.min() <= at.max() < most):
            raise BadExample(f"a sparse matrix names a {name} that it does not have")
    return X.tocsr()


def check_parts(
    starts: NDArray[Any], indices: NDArray[Any], data: NDArray[Any], shape: tuple[int, int]
) -> None:
    """Raise BadExample if the arrays of a compressed matrix are inconsistent."""
    rows, width = shape
    if data.dtype.kind not in "fiub":
        raise BadExample(f"sparse values must be numbers: got {data.dtype}")
    if width > MAX_POSITIONS:
        raise BadExample(f"at most 2^31 − 1 columns are possible: got {width}")
    for name, part in (("indptr", starts), ("indices", indices)):
        if part.dtype.kind not in "iu" or part.ndim != 1:
            raise BadExample(
                f"{name} of a sparse matrix is one row of whole numbers: got {part.dtype} of shape"
                f" {part.shape}"
            )
    if data.ndim != 1 or len(starts) != rows + 1 or starts[0] != 0:
        raise BadExample(
            f"a sparse matrix of {rows} rows has {rows + 1} starts of them, the first 0"
        )
    check_starts(starts, min(len(indices), len(data)))
    check_indices(starts, indices[: starts[-1]], width)


def check_starts(starts: NDArray[Any], most: int) -> None:
    """Raise BadExample if rows are not consecutive slices of the data."""
    wrong = (starts[1:] < starts[:-1]) | (starts[1:] > most)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise BadExample(
            f"row {row} of a sparse matrix goes from {starts[row]} to {starts[row + 1]}, but there"
            f" are {most} values and indices"
        )


def check_indices(starts: NDArray[Any], indices: NDArray[Any], width: int) -> None:
    """Raise BadExample for an index beyond the columns, before a cast could truncate it."""
    # Negative numbers are huge ones without a sign: one pass finds both.
    if len(indices) and not indices.view(f"u{indices.itemsize}").max() < width:
        at = int(np.argmax((indices < 0) | (indices >= width)))
        row = int(np.searchsorted(starts, at, "right")) - 1
        raise BadExample(
            f"row {row} of a sparse matrix has the column index {indices[at]}: indices are from 0"
            f" to {width - 1}"
        )


def sparse_parts(
    X: Any, copied: bool = True, checked: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats, int]:
    """Return (starts, indices, data, width) of a sparse matrix, with indices sorted in each row.

    Starts and indices are copies, since compiled loops use them as offsets and other threads may
    change the matrix meanwhile. With ``copied`` False, indices may be those of the matrix, for
    loops that copy and check them row by row; ``checked`` leaves out the validation of a matrix
    that has been validated.
    """
    csr = as_csr(X)
    starts, indices, data = np.array(csr.indptr), np.asarray(csr.indices), np.asarray(csr.data)
    if copied:
        indices = indices.copy()
    if not checked:
        check_parts(starts, indices, data, csr.shape)
    if not csr.has_canonical_format:
        csr = type(csr)((data.copy(), indices.copy(), starts), shape=csr.shape)
        csr.sum_duplicates()
        starts, indices, data = csr.indptr, csr.indices, csr.data
    return (
        np.require(starts, np.int64, ["C", "A"]),
        np.require(indices, np.int32, ["C", "A"]),
        np.require(data, np.float64, ["C", "A"]),
        csr.shape[1],
    )
