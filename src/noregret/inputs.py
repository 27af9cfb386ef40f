"""What callers may hand over, turned into what the core plays: rows of columns, or named rows.

One example is a dict, a 1-d array (anything NumPy takes for one) or one sparse row. Many are a
2-d array, a SciPy sparse matrix, a data frame (see ``frames``), or a list of dicts.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.core.door import SparseRow
from noregret.errors import BadExample

Floats = NDArray[np.float64]

# Rows handed to the core at a time: enough to make Python's share vanish, few enough to
# stay in cache where a copy is needed and to answer Ctrl-C at once.
DENSE_ROWS = 65_536
COPIED_NUMBERS = 262_144


def as_example(x: Any) -> dict[str, Any] | Floats | SparseRow:
    """Turn one example of any accepted kind into one that the core reads directly."""
    if isinstance(x, Mapping) or (hasattr(x, "keys") and hasattr(x, "__getitem__")):
        return {key: x[key] for key in x.keys()}  # noqa: SIM118  (a Series iterates over values)
    if hasattr(x, "tocsr"):
        return sparse_row(x)
    try:
        row = numbers_of(x)
    except (TypeError, ValueError):
        raise BadExample(
            f"an example is a dict of names to values or a 1-d array of numbers: got {kind_of(x)}"
        ) from None
    if row.ndim != 1:
        raise BadExample(
            f"an example is a 1-d array: got shape {row.shape} (many rows go to learn_many)"
        )
    return as_floats(row)


def numbers_of(x: Any) -> NDArray[Any]:
    """Return what NumPy makes of x, or raise where that is no array of numbers."""
    if isinstance(x, np.ma.MaskedArray) and np.ma.is_masked(x):
        raise TypeError("masked")
    array = np.asarray(x)
    if array.dtype.kind not in "fiub" or array.ndim == 0:
        raise TypeError("not numbers")
    return array


def as_floats(array: NDArray[Any]) -> Floats:
    """Return numbers as the core reads them; copied only where they are not so already."""
    return np.require(array, np.float64, ["C", "A"])


def kind_of(x: Any) -> str:
    """Name a thing's type for a message."""
    return f"an array of {x.dtype}" if isinstance(x, np.ndarray) else f"a {type(x).__name__}"


def sparse_row(x: Any) -> SparseRow:
    """Turn a SciPy sparse row into a row of the core."""
    if x.ndim == 2 and x.shape[0] != 1:
        raise BadExample(f"an example is one row: got a sparse matrix of shape {x.shape}")
    _, indices, data, width = sparse_parts(x if x.ndim == 2 else x.reshape(1, -1))
    return SparseRow(indices, data, width)


def sparse_parts(
    X: Any,
) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats, int]:
    """Return (starts, indices, data, width) of a sparse matrix, indices increasing in each row."""
    csr = X.tocsr()
    if csr.data.dtype.kind not in "fiub":
        raise BadExample(f"sparse values must be numbers: got {csr.data.dtype}")
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    if csr.shape[1] >= 2**31:
        raise BadExample(f"more than 2^31 columns: got {csr.shape[1]}")
    filled = csr.indptr[1:] > csr.indptr[:-1]  # in each row indices increase: look at its ends
    first, last = csr.indices[csr.indptr[:-1][filled]], csr.indices[csr.indptr[1:][filled] - 1]
    if (first < 0).any() or (last >= csr.shape[1]).any():
        raise BadExample(f"a sparse matrix of {csr.shape[1]} columns has indices outside them")
    return (
        np.require(csr.indptr, np.int64, ["C", "A"]),
        np.require(csr.indices, np.int32, ["C", "A"]),
        as_floats(csr.data),
        csr.shape[1],
    )


class Outcomes(NamedTuple):
    """Outcomes as numbers, up to the first that is none; ``bad`` shows that one."""

    values: Floats
    booleans: bool
    bad: str | None


def as_outcomes(y: Any) -> Outcomes:
    """Read outcomes of any kind."""
    try:
        given = np.asarray(y, dtype=object if isinstance(y, list | tuple) else None)
        if given.ndim == 1 and given.dtype.kind == "O":  # numbers, if they all are
            given = np.asarray(y)
    except (TypeError, ValueError):
        raise BadExample(f"outcomes are one number a row: got {kind_of(y)}") from None
    if given.ndim != 1:
        raise BadExample(f"outcomes are one number a row: got shape {given.shape}")
    if given.dtype.kind in "fiub" and not np.ma.is_masked(y):
        return Outcomes(as_floats(given), given.dtype.kind == "b", None)
    numbers: list[float] = []
    objects = list(y) if isinstance(y, list | tuple) else np.ma.asarray(y).tolist()
    for value in objects:
        try:
            if value is None or isinstance(value, str | bytes):
                raise TypeError
            numbers.append(float(value))
        except (TypeError, ValueError, OverflowError):
            break
    bad = reprlib.repr(objects[len(numbers)]) if len(numbers) < len(objects) else None
    booleans = bool(numbers) and all(isinstance(value, bool) for value in objects[: len(numbers)])
    return Outcomes(np.asarray(numbers, dtype=np.float64), booleans, bad)


def row_count(X: Any) -> int:
    """Return how many rows a table has."""
    try:
        return int(X.shape[0]) if hasattr(X, "shape") else len(X)
    except (TypeError, IndexError):
        raise not_rows(X) from None


def not_rows(X: Any) -> BadExample:
    """Say what many examples look like."""
    return BadExample(
        "rows are a 2-d array of numbers, a sparse matrix, a data frame or a list of dicts:"
        f" got {kind_of(X)}"
    )


def is_named(X: Any) -> bool:
    """Whether the rows come with names: a list of dicts or a data frame."""
    if isinstance(X, np.ndarray) or hasattr(X, "tocsr"):
        return False
    if isinstance(X, Sequence):
        return bool(X) and isinstance(X[0], Mapping)
    return hasattr(X, "__dataframe__") or hasattr(X, "columns") or hasattr(X, "column_names")


def as_array(X: Any) -> NDArray[Any]:
    """Return a table of unnamed numbers as a 2-d array."""
    try:
        table = numbers_of(X)
    except (TypeError, ValueError):
        raise not_rows(X) from None
    if table.ndim != 2:
        raise BadExample(f"rows are a 2-d array: got shape {table.shape}")
    return table


def dense_blocks(table: NDArray[Any]) -> Iterator[tuple[slice, Floats]]:
    """Cut an array into blocks of rows, copying only what is not float64 rows already."""
    ready = (
        table.dtype == np.float64
        and table.flags.aligned
        and (table.strides[1] == table.itemsize or table.shape[1] <= 1)
    )
    step = DENSE_ROWS if ready else max(1, COPIED_NUMBERS // max(1, table.shape[1]))
    for start in range(0, len(table), step):
        part = slice(start, min(start + step, len(table)))
        yield part, table[part] if ready else as_floats(table[part])
