"""Conversion of inputs of any kind to rows for the engine: rows of columns, or named rows.

One example is a dict, a 1-d array (or anything NumPy converts to one) or one sparse row. Many are
a 2-d array, a SciPy sparse matrix, a data frame (see ``data_frames``), or a list of dicts.
"""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.base.sparse_rows import sparse_parts
from noregret.errors import BadExample
from noregret.linear.engine.entry import SparseRow

Floats = NDArray[np.float64]

# Numbers per block: enough to hide Python's overhead, few enough to answer Ctrl-C soon, and to stay
# in cache if a copy is needed.
BLOCK_NUMBERS = 2_000_000
COPIED_NUMBERS = 262_144
# Types that Python or NumPy would convert to numbers, but are not.
NOT_NUMBERS = (str, bytes, complex, np.complexfloating)


def block_rows(columns: int, numbers: int = BLOCK_NUMBERS) -> int:
    """Return the number of rows of this many entries per block."""
    return min(65_536, max(1, numbers // max(1, columns)))


def as_example(x: Any) -> dict[str, Any] | Floats | SparseRow:
    """Convert one example of any accepted kind to one that the entry reads directly."""
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
    """Convert x to an array, or raise BadExample if it has no numbers."""
    if is_masked_array(x) and np.ma.is_masked(x):
        raise TypeError("masked")
    array = np.asarray(x)
    if array.dtype.kind not in "fiub" or array.ndim == 0:
        raise TypeError("not numbers")
    return array


def is_masked_array(x: Any) -> bool:
    """Return whether x is a masked array, without importing ``numpy.ma``.

    NumPy imports it at first use. A fork while another thread does that leaves the child with a
    module whose import never ends, so learning must not need it. Without the module there are no
    masked arrays.
    """
    kind = getattr(sys.modules.get("numpy.ma"), "MaskedArray", None)
    return kind is not None and isinstance(x, kind)


def as_floats(array: NDArray[Any]) -> Floats:
    """Return contiguous float64 numbers, copied only if needed."""
    return np.require(array, np.float64, ["C", "A"])


def kind_of(x: Any) -> str:
    """Describe the type of an object for a message."""
    return f"an array of {x.dtype}" if isinstance(x, np.ndarray) else f"a {type(x).__name__}"


def sparse_row(x: Any) -> SparseRow:
    """Convert a SciPy sparse row to a row of the entry."""
    if x.ndim == 2 and x.shape[0] != 1:
        raise BadExample(f"an example is one row: got a sparse matrix of shape {x.shape}")
    _, indices, data, width = sparse_parts(x)
    return SparseRow(indices, data, width)


class Outcomes(NamedTuple):
    """Outcomes as numbers, up to the first invalid one, which is ``bad``."""

    values: Floats
    first_boolean: int | None
    bad: Any
    labels: list[Any] | None = None


class Coded(float):
    """An outcome that is a number for the learner already, not a label of the user's."""


def as_outcomes(y: Any) -> Outcomes:
    """Convert outcomes of any kind."""
    if not isinstance(y, list | tuple):
        try:
            given = np.asarray(y)
        except (TypeError, ValueError):
            raise BadExample(f"outcomes must be one number per row: got {kind_of(y)}") from None
        if given.ndim != 1:
            raise BadExample(f"outcomes must be one number per row: got shape {given.shape}")
        if given.dtype.kind in "fiub" and not (is_masked_array(y) and np.ma.is_masked(y)):
            first = 0 if given.dtype.kind == "b" else None
            return Outcomes(as_floats(given), first, None)
        if given.dtype.kind in "mMcV":  # dates would become numbers, complex ones lose a part
            raise BadExample(f"outcomes must be one number per row: got an array of {given.dtype}")
        y = y.tolist() if is_masked_array(y) else given.tolist()
    numbers: list[float] = []
    for value in y:
        try:
            if value is None or isinstance(value, NOT_NUMBERS):
                raise TypeError
            numbers.append(float(value))
        except (TypeError, ValueError, OverflowError):
            break
    bad = reprlib.repr(y[len(numbers)]) if len(numbers) < len(y) else None
    booleans = (row for row, value in enumerate(y) if isinstance(value, bool | np.bool_))
    return Outcomes(np.asarray(numbers, dtype=np.float64), next(booleans, None), bad)


def as_importances(importance: Any, rows: int) -> Floats | None:
    """Convert importances; return None if all are equal to 1."""
    if importance is None:
        return None
    try:
        weights = as_floats(numbers_of(importance))
    except (TypeError, ValueError):
        raise BadExample(
            f"importances must be one number per row: got {kind_of(importance)}"
        ) from None
    if weights.shape != (rows,):
        raise BadExample(f"{rows} rows, but importances of shape {weights.shape}")
    return None if (weights == 1).all() else weights


def row_count(X: Any) -> int:
    """Return the number of rows of a table."""
    try:
        return int(X.shape[0]) if hasattr(X, "shape") else len(X)
    except (TypeError, IndexError):
        raise not_rows(X) from None


def not_rows(X: Any) -> BadExample:
    """Return the error for rows of an unknown kind."""
    return BadExample(
        "rows are a 2-d array of numbers, a sparse matrix, a data frame or a list of dicts:"
        f" got {kind_of(X)}"
    )


def is_named(X: Any) -> bool:
    """Return whether rows have names: a list of dicts or a data frame."""
    if isinstance(X, np.ndarray | memoryview) or hasattr(X, "tocsr"):
        return False
    if isinstance(X, Sequence):
        return bool(X) and isinstance(X[0], Mapping)
    return hasattr(X, "__dataframe__") or hasattr(X, "columns") or hasattr(X, "column_names")


def as_array(X: Any) -> NDArray[Any]:
    """Return a table of unnamed numbers as a 2-d array."""
    try:
        table = numbers_of(X)
    except (TypeError, ValueError):
        raise ragged(X) or not_rows(X) from None
    if table.ndim != 2:
        raise BadExample(f"rows are a 2-d array: got shape {table.shape}")
    return table


def ragged(X: Any) -> BadExample | None:
    """Return the error for the first row of a list whose length is not that of row 0, if any."""
    if not isinstance(X, Sequence) or isinstance(X, str | bytes | memoryview):
        return None
    lengths = [len(row) if hasattr(row, "__len__") else None for row in X]
    odd = next((row for row, length in enumerate(lengths) if length != lengths[0]), None)
    if odd is None:
        return None

    def described(length: int | None) -> str:
        if length is None:
            return "is a single value"
        return f"has {length} value{'' if length == 1 else 's'}"

    return BadExample(
        f"row {odd} {described(lengths[odd])}, and row 0 {described(lengths[0])}: every row needs"
        " the same columns (rows that lack some go in as dicts of names to values)"
    )


def dense_blocks(table: NDArray[Any]) -> Iterator[tuple[slice, Floats]]:
    """Cut an array into blocks of rows, copying only if they are not contiguous float64 rows."""
    ready = (
        table.dtype == np.float64
        and table.flags.aligned
        and (table.strides[1] == table.itemsize or table.shape[1] <= 1)
    )
    step = block_rows(table.shape[1], BLOCK_NUMBERS if ready else COPIED_NUMBERS)
    for start in range(0, len(table), step):
        part = slice(start, min(start + step, len(table)))
        yield part, table[part] if ready else as_floats(table[part])
