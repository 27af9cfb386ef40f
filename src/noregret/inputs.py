"""What callers may hand over, turned into what the core plays: rows of columns, or named rows.

One example is a dict, a 1-d array (anything NumPy takes for one) or one sparse row. Many are a
2-d array, a SciPy sparse matrix, a data frame of any make (through narwhals), or a list of dicts.
Data frames give the same numbers as their rows given as dicts, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.core.door import SparseRow
from noregret.errors import BadExample

if TYPE_CHECKING:
    import narwhals as nw

    from noregret.learner import Learner

Floats = NDArray[np.float64]

# Rows handed to the core at a time: enough to make Python's share vanish, few enough to
# stay in cache where a copy is needed and to answer Ctrl-C at once.
DENSE_ROWS = 65_536
COPIED_NUMBERS = 262_144
TABLE_ROWS = 8_192


def as_example(x: Any) -> dict[str, Any] | Floats | SparseRow:
    """Turn one example of any accepted kind into one that the core reads directly."""
    if isinstance(x, Mapping) or (hasattr(x, "keys") and hasattr(x, "__getitem__")):
        return {key: x[key] for key in x.keys()}  # noqa: SIM118  (a Series iterates over values)
    if hasattr(x, "tocsr"):
        return sparse_row(x)
    try:
        row = np.asarray(x)
        if row.dtype.kind not in "fiub":
            raise TypeError
        row = np.ascontiguousarray(row, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadExample(
            f"an example is a dict of names to values or a 1-d array of numbers: got {kind_of(x)}"
        ) from None
    if row.ndim != 1:
        raise BadExample(
            f"an example is a 1-d array: got shape {row.shape} (many rows go to learn_many)"
        )
    return row


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
    if csr.nnz and not (csr.indices.min() >= 0 and csr.indices.max() < csr.shape[1]):
        raise BadExample(f"a sparse matrix of {csr.shape[1]} columns has indices outside them")
    return (
        np.ascontiguousarray(csr.indptr, dtype=np.int64),
        np.ascontiguousarray(csr.indices, dtype=np.int32),
        np.ascontiguousarray(csr.data, dtype=np.float64),
        csr.shape[1],
    )


def as_outcomes(y: Any, learner: Learner) -> tuple[Floats, bool]:
    """Return the outcomes as numbers, and whether they are booleans."""
    given = np.asarray(y)
    if given.ndim != 1:
        raise BadExample(f"outcomes are one number a row: got shape {given.shape}")
    if given.dtype.kind == "O":  # Python objects: say which one is not a number
        numbers = [learner.check_outcome(value) for value in given.tolist()]
        booleans = bool(numbers) and all(isinstance(value, bool) for value in given.tolist())
        return np.asarray(numbers, dtype=np.float64), booleans
    if given.dtype.kind not in "fiub":
        raise learner.bad_outcome(repr(given[0].item() if len(given) else given))
    return np.ascontiguousarray(given, dtype=np.float64), given.dtype.kind == "b"


def is_named(X: Any) -> bool:
    """Whether the rows come with names: a list of dicts or a data frame."""
    if isinstance(X, np.ndarray) or hasattr(X, "tocsr"):
        return False
    if isinstance(X, Sequence):
        return bool(X) and isinstance(X[0], Mapping)
    return hasattr(X, "__dataframe__") or hasattr(X, "columns") or hasattr(X, "column_names")


def as_array(X: Any) -> NDArray[Any]:
    """Return a table of unnamed numbers as a 2-d array."""
    table = np.asarray(X)
    if table.dtype.kind not in "fiub":
        raise BadExample(
            "rows are a 2-d array of numbers, a sparse matrix, a data frame or a list of dicts:"
            f" got {kind_of(X)}"
        )
    if table.ndim != 2:
        raise BadExample(f"rows are a 2-d array: got shape {table.shape}")
    return table


def dense_blocks(table: NDArray[Any]) -> Iterator[tuple[slice, Floats]]:
    """Cut an array into blocks of rows, copying only what is not float64 rows already."""
    ready = table.dtype == np.float64 and (
        table.strides[1] == table.itemsize or table.shape[1] <= 1
    )
    step = DENSE_ROWS if ready else max(1, COPIED_NUMBERS // max(1, table.shape[1]))
    for start in range(0, len(table), step):
        part = slice(start, min(start + step, len(table)))
        yield part, table[part] if ready else np.ascontiguousarray(table[part], dtype=np.float64)


class NamedBlock:
    """Some rows of a data frame: its numbers, and its strings as indicator features.

    Parameters
    ----------
    numbers
        One column a numeric feature, in the order of ``names``.
    names
        The names of the numeric features.
    indicators
        For each string column, the indicator's name in each row.
    gap
        The message about the first missing string, which ends the block, or None.
    """

    def __init__(
        self, numbers: Floats, names: list[str], indicators: list[list[str]], gap: str | None
    ) -> None:
        self.numbers, self.names, self.indicators, self.gap = numbers, names, indicators, gap
        self.rows = len(numbers)

    def arrivals(self, learner: Learner) -> dict[int, set[str]]:
        """Return which features the learner has never seen, by the row in which they first appear.

        They must join there and not earlier, as they would if the rows came one by one.
        """
        first: dict[str, int] = {}
        for column in self.indicators:
            for row, name in enumerate(column):
                if row < first.get(name, self.rows):
                    first[name] = row
        if self.rows:
            first |= dict.fromkeys(self.names, 0)
        new: dict[int, set[str]] = {}
        for name, position in zip(first, learner.positions(first), strict=True):
            if position < 0:
                new.setdefault(first[name], set()).add(name)
        return new

    def sparse(
        self, learner: Learner, start: int, stop: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats, NDArray[np.int64], Floats]:
        """Return rows start to stop as sparse rows, with the number and sum of unseen features."""
        rows = stop - start
        at = [np.tile(np.asarray(learner.positions(self.names), dtype=np.int32), (rows, 1))]
        at += [np.array([learner.positions(c[start:stop])], np.int32).T for c in self.indicators]
        positions = np.hstack(at)
        values = np.hstack([self.numbers[start:stop], np.ones((rows, len(self.indicators)))])
        order = np.argsort(positions, axis=1, kind="stable")
        positions = np.take_along_axis(positions, order, axis=1)
        values = np.take_along_axis(values, order, axis=1)
        self.refuse_repeats(positions, learner)
        seen = positions >= 0
        starts = np.concatenate([[0], np.cumsum(seen.sum(axis=1))]).astype(np.int64)
        unseen = (~seen).sum(axis=1).astype(np.int64)
        sums = np.where(seen, 0.0, values).sum(axis=1)
        if not np.isfinite(sums).all():
            raise self.unseen_not_finite(start, values, seen)
        return starts, positions[seen], values[seen], unseen, sums

    def unseen_not_finite(self, start: int, values: Floats, seen: NDArray[np.bool_]) -> BadExample:
        """Explain a NaN or infinity in a column never learned from."""
        row = int(np.argmin(np.isfinite(np.where(seen, 0.0, values).sum(axis=1))))
        bad = np.flatnonzero(~np.isfinite(self.numbers[start + row]))
        name = self.names[bad[0]] if len(bad) else "?"
        return BadExample(f"row {start + row + 1}: feature {name!r} is not finite", feature=name)

    def refuse_repeats(self, positions: NDArray[np.int32], learner: Learner) -> None:
        """Refuse a feature that a row gives twice: once as a column, once as an indicator."""
        twice = (positions[:, 1:] == positions[:, :-1]) & (positions[:, 1:] >= 0)
        if twice.any():
            name = learner.features[positions[:, 1:][twice][0]]
            raise BadExample(f"feature {name!r} is given twice", feature=name)


def named_blocks(X: Any) -> Iterator[tuple[slice, NamedBlock]]:
    """Cut a data frame into blocks of named rows."""
    import narwhals as nw

    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError:
        raise BadExample(
            "rows are a 2-d array of numbers, a sparse matrix, a data frame or a list of dicts:"
            f" got {kind_of(X)}"
        ) from None
    for start in range(0, len(frame), TABLE_ROWS):
        part = slice(start, min(start + TABLE_ROWS, len(frame)))
        yield part, named_block(frame[part], start)


def named_block(frame: nw.DataFrame[Any], start: int) -> NamedBlock:
    """Read one block of a data frame."""
    import narwhals as nw

    names: list[str] = []
    columns: list[Floats] = []
    texts: list[tuple[str, list[str], NDArray[np.intp]]] = []
    for column in frame.iter_columns():
        if not isinstance(column.name, str):
            raise BadExample(f"column names are strings: got {column.name!r}")
        if column.dtype.is_numeric() or column.dtype == nw.Boolean:
            names.append(column.name)
            columns.append(np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64))
        elif column.dtype in (nw.String, nw.Categorical, nw.Enum):
            missing = np.flatnonzero(column.is_null().to_numpy())
            texts.append((column.name, column.cast(nw.String).to_list(), missing))
        else:
            raise BadExample(
                f"column {column.name!r} holds {column.dtype}: give numbers, strings or booleans",
                feature=column.name,
            )
    rows, gap = len(frame), None
    for name, _, missing in texts:
        if len(missing) and missing[0] < rows:
            rows = int(missing[0])
            gap = f"row {start + rows + 1}: column {name!r} is missing: fill it in or leave it out"
    order = sorted(range(len(names)), key=names.__getitem__)
    numbers = np.empty((rows, len(names)))
    for k, j in enumerate(order):
        numbers[:, k] = columns[j][:rows]
    indicators = [[f"{name}={value}" for value in text[:rows]] for name, text, _ in texts]
    return NamedBlock(numbers, [names[j] for j in order], indicators, gap)
