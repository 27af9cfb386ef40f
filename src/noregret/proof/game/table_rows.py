"""Tables of any kind as blocks of rows: numbers, outcomes if any, names of columns.

Missing numbers (None, NaN, a missing key of a dict) are NaN. Named columns are in alphabetical
order, so that the same numbers are the same table in any format.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.base.sparse_rows import checked_csr
from noregret.errors import BadExample, NoRegretError, Place, Use
from noregret.linear import inputs
from noregret.linear.data_frames import split_target
from noregret.streams.block import Sparse

if TYPE_CHECKING:
    from noregret.streams.stream import Reading

Floats = NDArray[np.float64]
# Rows of a list per block.
ROWS = 4_096


class TableBlock(NamedTuple):
    """Some rows of a table.

    ``fault`` is the error of the row after the last, if any; ``place_of`` returns the place of a
    row, and ``batches`` are the numbers of the rows' batches, if they come in batches.
    """

    X: Floats
    y: Floats | None
    names: list[str] | None = None
    fault: NoRegretError | None = None
    place_of: Callable[[int], Place] | None = None
    batches: NDArray[np.int64] | None = None


def table_blocks(
    source: Any, outcomes: Any, target: str | None, known: Sequence[str] | None
) -> Iterator[TableBlock]:
    """Split a table into blocks of rows; ``known`` are the names of the columns, if known.

    Rows of an iterator are requested one by one, each after those before it were played.
    """
    if target is not None:
        source, outcomes = without_target(source, target)
    if is_frame(source):
        yield from frame_blocks(source, outcomes)
    elif hasattr(source, "tocsr"):
        yield from array_blocks(checked_csr(source).toarray(), outcomes)
    elif isinstance(source, np.ndarray | memoryview):
        yield from array_blocks(np.asarray(source), outcomes)
    elif isinstance(source, tuple) and len(source) == 2 and is_many(source[0]):
        yield from table_blocks(*source, None, known)
    elif isinstance(source, list | tuple):
        yield from list_blocks(source, outcomes, known)
    elif outcomes is not None:
        raise inputs.not_rows(source)
    else:
        yield from streamed_blocks(source, known)


def is_frame(source: Any) -> bool:
    """Return whether the rows are a data frame."""
    if isinstance(source, np.ndarray) or hasattr(source, "tocsr"):
        return False
    return hasattr(source, "columns") or hasattr(source, "column_names")


def is_many(x: Any) -> bool:
    """Return whether x holds many rows."""
    if isinstance(x, list | tuple):
        return bool(x) and (isinstance(x[0], Mapping | list | tuple) or np.ndim(x[0]) == 1)
    return is_frame(x) or len(getattr(x, "shape", ())) == 2


def without_target(source: Any, target: str) -> tuple[Any, Any]:
    """Return a table without its target column, and that column."""
    if isinstance(source, list | tuple) and source and isinstance(source[0], Mapping):
        for number, row in enumerate(source, 1):
            if target not in row:
                raise BadExample(f"row {number} has no {target!r}, which is the target")
        rest = [{key: row[key] for key in row if key != target} for row in source]
        return rest, [row[target] for row in source]
    return split_target(source, target)


# Whole tables.


def array_blocks(table: NDArray[Any], outcomes: Any) -> Iterator[TableBlock]:
    """Cut an array into blocks of rows."""
    if inputs.is_masked_array(table):
        table = np.ma.filled(table.astype(np.float64), np.nan)
    table = inputs.as_array(table)
    y, fault = outcomes_of(outcomes, len(table))
    table = table if y is None else table[: len(y)]
    for part, block in inputs.dense_blocks(table):
        last = part.stop == len(table)
        X = np.ascontiguousarray(block)
        yield TableBlock(X, None if y is None else y[part], None, fault if last else None)
    if not len(table) and fault:
        yield TableBlock(np.empty((0, table.shape[1])), np.empty(0), None, fault)


def outcomes_of(outcomes: Any, rows: int) -> tuple[Floats | None, BadExample | None]:
    """Return outcomes as numbers up to the first invalid one, and its error."""
    if outcomes is None:
        return None, None
    found = inputs.as_outcomes(outcomes)
    if found.bad is not None:
        return found.values, BadExample(
            f"the outcome is {found.bad}: every outcome must be a number"
        )
    if len(found.values) != rows:
        raise BadExample(f"{rows} rows, but {len(found.values)} outcomes")
    return found.values, None


def frame_blocks(frame: Any, outcomes: Any) -> Iterator[TableBlock]:
    """Cut a data frame into blocks of rows."""
    import narwhals as nw

    try:
        table = nw.from_native(frame, eager_only=True)
    except nw.exceptions.DuplicateError:
        raise BadExample("two columns have the same name") from None
    except TypeError:
        raise inputs.not_rows(frame) from None
    for name in table.columns:
        if not isinstance(name, str):
            raise BadExample(f"column names are strings: got {name!r}")
    names = sorted(table.columns)
    X = np.empty((len(table), len(names)))
    for k, name in enumerate(names):
        X[:, k] = column_of(table[name])
    for block in array_blocks(X, outcomes):
        yield block._replace(names=names)


def column_of(column: Any) -> Floats:
    """Return a column of a data frame as numbers."""
    import narwhals as nw

    if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
        raise BadExample(
            f"column {column.name!r} holds {column.dtype}: every column must be numbers",
            "drop it, or name it as the target",
            feature=column.name,
        )
    floats = column if column.dtype == nw.Float64 else column.cast(nw.Float64)
    return np.asarray(floats.to_numpy(), dtype=np.float64)


def list_blocks(
    rows: Sequence[Any], outcomes: Any, known: Sequence[str] | None
) -> Iterator[TableBlock]:
    """Cut a list of dicts, of rows or of pairs into blocks."""
    if not rows:
        return
    if outcomes is None and is_pair(rows[0]):
        for k, pair in enumerate(rows):
            if not is_pair(pair):
                raise BadExample(f"row {k + 1} is no pair (x, y) like those before it")
        if not is_many(rows[0][0]):
            rows, outcomes = [x for x, _ in rows], [y for _, y in rows]
    if outcomes is None and (is_many(rows[0]) or is_pair(rows[0])):
        yield from streamed_blocks(rows, known)
        return
    y, fault = outcomes_of(outcomes, len(rows))
    if y is not None:
        rows = rows[: len(y)]
    if rows and isinstance(rows[0], Mapping):
        known = known or names_in(rows)
    for start in range(0, len(rows), ROWS):
        part = slice(start, min(len(rows), start + ROWS))
        last = fault if part.stop == len(rows) else None
        X, wrong = rows_of(rows[part], known)
        names = list(known) if known and isinstance(rows[0], Mapping) else None
        yield TableBlock(X, None if y is None else y[part][: len(X)], names, wrong or last)
    if not rows and fault:
        raise fault.at(round=1)


# Iterators.


def streamed_blocks(source: Any, known: Sequence[str] | None) -> Iterator[TableBlock]:
    """Yield rows, pairs of a row and its outcome, or blocks of either, from an iterator."""
    try:
        items: Iterable[Any] = iter(source)
    except TypeError:
        raise BadExample(
            "play a table (a 2-d array, a data frame, a list of dicts), a file, or a stream of rows"
            f" or of pairs (x, y): got {inputs.kind_of(source)}"
        ) from None
    for item in items:
        x, y = item if is_pair(item) else (item, None)
        if is_many(x):
            yield from table_blocks(x, y, None, known)
            continue
        if isinstance(x, Mapping):
            known = known or names_in([x])
        yield from list_blocks([x], None if y is None else [y], known)


def names_in(rows: Sequence[Any]) -> list[str]:
    """Return the names of the columns of dicts, in alphabetical order."""
    names = set(chain.from_iterable(row for row in rows if isinstance(row, Mapping)))
    for name in names:
        if not isinstance(name, str):
            raise BadExample(f"column names are strings: got {name!r}")
    return sorted(names)


def is_pair(item: Any) -> bool:
    """Return whether this is a pair of a row, or a table, and its outcome."""
    return (
        isinstance(item, tuple)
        and len(item) == 2
        and (isinstance(item[0], Mapping) or hasattr(item[0], "__len__") or np.ndim(item[0]) > 0)
    )


def rows_of(rows: Sequence[Any], known: Sequence[str] | None) -> tuple[Floats, BadExample | None]:
    """Return rows as numbers up to the first invalid one, and its error."""
    named = isinstance(rows[0], Mapping)
    width = len(known) if named and known is not None else len(rows[0])
    if not named:
        with_gaps = np.asarray(rows, dtype=object) if has_gaps(rows) else None
        try:
            table = inputs.numbers_of(rows) if with_gaps is None else None
            if table is not None and table.ndim == 2:
                return np.ascontiguousarray(table, dtype=np.float64), None
        except (TypeError, ValueError):
            pass  # find it row by row
    X = np.empty((len(rows), width))
    for k, row in enumerate(rows):
        try:
            fill(X[k], row, known if named else None)
        except BadExample as wrong:
            return X[:k], wrong.with_traceback(None)
    return X, None


def has_gaps(rows: Sequence[Any]) -> bool:
    """Return whether some values are None."""
    return any(None in row for row in rows if isinstance(row, list | tuple))


def fill(out: Floats, row: Any, names: Sequence[str] | None) -> None:
    """Fill in one row; raise BadExample if it is invalid."""
    if names is not None:
        if not isinstance(row, Mapping):
            raise BadExample(f"a dict is expected, as before: got {inputs.kind_of(row)}")
        if unknown := next((key for key in row if key not in names), None):
            raise BadExample(
                f"column {unknown!r} was not there before", "name all columns in the first row"
            )
        row = [row.get(name) for name in names]
    elif isinstance(row, Mapping) or not hasattr(row, "__len__"):
        got = inputs.kind_of(row)
        raise BadExample(f"a row of {len(out)} numbers is expected, as before: got {got}")
    if len(row) != len(out):
        raise BadExample(f"{len(row)} numbers, but there were {len(out)} before")
    for k, value in enumerate(row):
        try:
            if isinstance(value, inputs.NOT_NUMBERS):
                raise TypeError
            out[k] = np.nan if value is None else float(value)
        except (TypeError, ValueError, OverflowError):
            name = repr(names[k]) if names is not None else str(k)
            raise BadExample(
                f"column {name} is {reprlib.repr(value)}: every value must be a number"
            ) from None


# Files.


def reading_blocks(reading: Reading) -> Iterator[TableBlock]:
    """Read the rows of files; convert prices to relatives."""
    blocks = plain_blocks(reading)
    if not reading.options.prices:
        return blocks
    from noregret.proof.game.price_relatives import relative_blocks

    return relative_blocks(blocks)


def plain_blocks(reading: Reading) -> Iterator[TableBlock]:
    """Read the rows of files, with outcomes if the stream has a target."""
    stream, options = reading.stream, reading.options
    if stream.target is None and (options.scale == "max" or options.positive is not None):
        what = "positive" if options.positive is not None else "scale=max"
        raise NoRegretError(
            f"{what} makes no difference to a table without a target", "leave it out"
        )
    for block in reading:
        stops = bool(block.faults) and options.on_error == "stop"
        if isinstance(block.X, Sparse) and not len(block):
            if stops:
                raise block.faults[0].error
            continue
        if isinstance(block.X, Sparse):
            raise NoRegretError(
                "every row must have the same columns, all of them numbers",
                (
                    Use("drop", text="drop those that hold text ({})"),
                    Use("target", text="name the target ({})"),
                ),
            ).at(block.place_of(0))
        names = reading.names(0, reading.features) if reading.named else None
        fault = block.faults[0].error if stops else None
        y = None if stream.target is None else block.y
        X = np.ascontiguousarray(block.X)
        yield TableBlock(X, y, names, fault, block.place_of, block.batches)
