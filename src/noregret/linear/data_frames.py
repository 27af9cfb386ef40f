"""Data frames of any library, through narwhals, as blocks of named rows.

A data frame gives the same numbers as its rows one by one as dicts: features join in the row in
which they first appear, and learning stops at a row that is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.checks import similar
from noregret.errors import BadExample
from noregret.limits import MAX_VALUE, MISSING
from noregret.linear.engine.block_rows import positions, rows_of_columns
from noregret.linear.inputs import block_rows, is_named, not_rows

if TYPE_CHECKING:
    import narwhals as nw

    from noregret.linear.engine.entry import Entry

Floats = NDArray[np.float64]

# Rows per block with text: enough to hide Python's overhead, few enough to stay in cache.
ROWS_PER_BLOCK = 8_192


class SparseBlock(NamedTuple):
    """Sparse rows for the engine: starts, positions, values, and the number of unseen features."""

    starts: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: Floats
    unseen: NDArray[np.int64]
    unseen_sums: Floats
    unseen_squares: Floats


class NamedBlock:
    """A block of rows of a data frame: its numbers, and its strings as indicator features.

    Parameters
    ----------
    names
        The names of the numeric features, in alphabetical order.
    columns
        One array per numeric feature, in the frame's own memory where possible.
    indicators
        For each string column, the indicator's name in each row, None for none.
    fault
        The error that ends the block before its last row, or None.
    gaps
        Which numbers are missing, one array per numeric feature; None if it is not known that any
        is. Most blocks have none, so nothing looks for them until the learner refuses a row.
    """

    def __init__(
        self,
        names: list[str],
        columns: list[Floats],
        indicators: list[list[str | None]],
        rows: int,
        fault: BadExample | None,
        gaps: list[NDArray[np.bool_]] | None = None,
    ) -> None:
        self.names, self.columns, self.indicators = names, columns, indicators
        self.rows, self.fault, self.gaps = rows, fault, gaps

    def has_gap(self, row: int) -> bool:
        """Return whether a number of this row is missing, and was taken for a number."""
        return self.gaps is None and bool(np.isnan(self.numbers(row, row + 1)).any())

    def with_gaps(self, derived: Iterable[str] = ()) -> NamedBlock:
        """Return the block with indicators of its missing numbers, which are then left out.

        The gaps of ``derived`` features are those of another one.
        """
        if self.gaps is not None:
            return self
        gaps = [np.isnan(column) for column in self.columns]
        told = [
            [f"{name}={MISSING}" if missing else None for missing in gap.tolist()]
            for name, gap in zip(self.names, gaps, strict=True)
            if name not in derived and gap.any()
        ]
        indicators = [*self.indicators, *told]
        return NamedBlock(self.names, self.columns, indicators, self.rows, self.fault, gaps)

    def in_order(self, entry: Entry) -> list[int] | None:
        """Return which column has each position, where every feature is a column; else None."""
        at = positions(entry, self.names)
        if self.indicators or self.gaps or sorted(at) != list(range(entry.engine.size)):
            return None
        return sorted(range(len(at)), key=at.__getitem__)

    def numbers(self, start: int, stop: int) -> Floats:
        """Return the numeric features of some rows."""
        return rows_of_columns([column[start:stop] for column in self.columns], stop - start)

    def arrivals(self, entry: Entry) -> dict[int, set[str]]:
        """Return the features new to the learner, by the row in which they first appear.

        They must join there and not earlier, as if the rows came one by one.
        """
        first: dict[str, int] = {}
        for column in self.indicators:
            for row, name in enumerate(column):
                if name is not None and row < first.get(name, self.rows):
                    first[name] = row
        if self.rows and self.gaps is None:
            first |= dict.fromkeys(self.names, 0)
        for name, gap in zip(self.names, self.gaps or (), strict=False):
            if not gap.all():
                first[name] = int(np.argmin(gap))
        new: dict[int, set[str]] = {}
        for name, position in zip(first, positions(entry, first), strict=True):
            if position < 0:
                new.setdefault(first[name], set()).add(name)
        return new

    def sparse(self, entry: Entry, start: int, stop: int) -> SparseBlock:
        """Return rows start to stop as sparse rows, with the number of unseen features in each."""
        rows = stop - start
        at = [np.tile(np.asarray(positions(entry, self.names), dtype=np.int32), (rows, 1))]
        parts = [indicators[start:stop] for indicators in self.indicators]
        at += [np.array([positions(entry, part)], np.int32).T for part in parts]
        places = np.hstack(at)
        values = np.hstack([self.numbers(start, stop), np.ones((rows, len(self.indicators)))])
        there = [np.ones((rows, len(self.names)), dtype=bool)]
        if self.gaps:
            there = [np.column_stack([~gap[start:stop] for gap in self.gaps])]
        there += [np.array([[n is not None for n in part]], bool).T for part in parts]
        present = np.hstack(there)
        order = np.argsort(places, axis=1, kind="stable")
        places = np.take_along_axis(places, order, axis=1)
        values = np.take_along_axis(values, order, axis=1)
        present = np.take_along_axis(present, order, axis=1)
        seen, new_here = present & (places >= 0), present & (places < 0)
        starts = np.concatenate([[0], np.cumsum(seen.sum(axis=1))]).astype(np.int64)
        unseen = new_here.sum(axis=1).astype(np.int64)
        new = np.where(new_here, values, 0.0)
        usable = (np.abs(new) < MAX_VALUE).all(axis=1)
        if not usable.all():
            raise self.unusable(start + int(np.argmin(usable)), entry.engine.played + 1)
        return SparseBlock(
            starts, places[seen], values[seen], unseen, new.sum(axis=1), (new * new).sum(axis=1)
        )

    def unusable(self, row: int, round: int) -> BadExample:
        """Return the error for a number that is not finite, or too large, in a new column."""
        numbers = self.numbers(row, row + 1)[0]
        k = int(np.argmin(np.abs(numbers) < MAX_VALUE))
        what = f"feature {self.names[k]!r} is {numbers[k]:g}: every value must be finite"
        return BadExample(f"{what}, and below {MAX_VALUE:g}", round=round, feature=self.names[k])


def split_target(X: Any, target: str) -> tuple[Any, Any]:
    """Return a data frame without its target column, and that column."""
    import narwhals as nw

    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError:
        raise not_rows(X) from None
    if target not in frame.columns:
        near = similar(target, frame.columns) or frame.columns[:10]
        raise BadExample(f"there is no column {target!r}: the nearest are {', '.join(near)}")
    return frame.drop(target).to_native(), frame[target].to_numpy()


def series_like(X: Any, values: NDArray[Any], name: str) -> Any:
    """Return values as a series of the frame's library, with its index; else unchanged."""
    if not is_frame(X):
        return values
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    series = nw.new_series(name, values, backend=frame.implementation)
    if frame.implementation.is_pandas_like():
        series.to_native().index = frame.to_native().index
    return series if frame is X else series.to_native()


def frame_like(X: Any, names: Iterable[Any], values: NDArray[Any]) -> Any:
    """Return named columns as a frame of the given frame's library; else the array unchanged.

    Names are strings, except for pandas, which allows any object.
    """
    if not is_frame(X):
        return values
    import narwhals as nw

    frame, names = nw.from_native(X, eager_only=True), list(names)
    columns = dict(zip(as_texts(names), values.T, strict=True))
    made = nw.from_dict(columns, backend=frame.implementation)
    native = made.to_native()
    if frame.implementation.is_pandas_like():
        native.index = frame.to_native().index
        native.columns = list(columns) if frame is X else names
    return made if frame is X else native


def labels_like(X: Any, labels: Iterable[Any]) -> list[Any]:
    """Return labels for a column of such a data frame: as strings if their types differ.

    Columns of pandas hold any object.
    """
    import narwhals as nw

    found = list(labels)
    pandas = nw.from_native(X, eager_only=True).implementation.is_pandas_like()
    return found if pandas or len(set(map(type, found))) < 2 else as_texts(found)


def as_texts(names: Iterable[Any]) -> list[str]:
    """Return names as strings, by ``repr`` if two, such as 1 and "1", would coincide."""
    found = list(names)
    texts = [str(name) for name in found]
    return texts if len(set(texts)) == len(texts) else [repr(name) for name in found]


def is_frame(X: Any) -> bool:
    """Return whether rows are a data frame."""
    return not isinstance(X, list | tuple) and is_named(X)


def rows_of(X: Any, rows: NDArray[np.int64]) -> Any:
    """Return rows of a data frame by index, with repetitions."""
    import narwhals as nw

    return nw.from_native(X, eager_only=True)[rows.tolist()].to_native()


def named_blocks(X: Any) -> Iterator[tuple[slice, NamedBlock]]:
    """Cut a data frame into blocks of named rows."""
    import narwhals as nw

    try:
        frame = nw.from_native(X, eager_only=True)
    except nw.exceptions.DuplicateError:
        raise BadExample("two columns have the same name") from None
    except TypeError:
        raise not_rows(X) from None
    columns = [Column(column) for column in frame.iter_columns()] if len(frame) else []
    numbers_only = all(column.numeric for column in columns)
    step = block_rows(len(columns)) if numbers_only else ROWS_PER_BLOCK
    for start in range(0, len(frame), step):
        part = slice(start, min(start + step, len(frame)))
        yield part, named_block(columns, part)


class Column:
    """A column of a data frame, whose type is looked at once."""

    def __init__(self, series: nw.Series[Any]) -> None:
        import narwhals as nw

        self.name, self.series, dtype = series.name, series, series.dtype
        if not isinstance(self.name, str):
            raise BadExample(f"column names are strings: got {self.name!r}")
        self.numeric = dtype.is_numeric() or dtype == nw.Boolean
        self.dates, self.times = dtype == nw.Date, dtype in (nw.Date, nw.Datetime)
        self.floats = dtype == nw.Float64
        text = dtype in (nw.String, nw.Categorical, nw.Enum)
        if not (self.numeric or self.times or text):
            raise BadExample(
                f"column {self.name!r} holds {dtype}",
                "give numbers, strings, booleans or dates",
                feature=self.name,
            )
        # A slice of an array is far cheaper than one of a series.
        self.whole = in_place(series) if self.floats else None

    def numbers(self, part: slice) -> Floats:
        """Return some of its numbers, copied only where they are not float64 already."""
        if self.whole is not None:
            return self.whole[part]
        import narwhals as nw

        series = self.series[part]
        floats = series if self.floats else series.cast(nw.Float64)
        return np.asarray(floats.to_numpy(), dtype=np.float64)

    def calendar(self, part: slice) -> tuple[dict[str, Floats], list[list[str | None]]]:
        """Return the features of some of its dates or times: numbers, and indicators."""
        import narwhals as nw

        from noregret.base.calendar_features import VALUES, calendar

        series = self.series[part].cast(nw.Datetime("us")) if self.dates else self.series[part]
        ticks = np.asarray(series.dt.timestamp("us").cast(nw.Float64).to_numpy(), dtype=np.float64)
        numbers, codes = calendar(self.name, ticks / 1e6, self.dates)
        gone = np.isnan(ticks)
        for waves in numbers.values():
            waves[gone] = np.nan
        names = {p: [*(f"{self.name}.{p}={value}" for value in VALUES[p]), None] for p in codes}
        return numbers, [[names[p][code] for code in codes[p].tolist()] for p in codes]


def in_place(series: nw.Series[Any]) -> Floats | None:
    """Return a column of float64 as an array of its own memory; None where that needs a copy."""
    kind, native = series.implementation, series.to_native()
    try:
        if kind.is_pandas() and isinstance(native.dtype, np.dtype):
            found = native.to_numpy()
        elif kind.is_polars():
            found = native.to_numpy(allow_copy=False)
        elif kind.is_pyarrow() and native.num_chunks == 1:
            found = native.chunk(0).to_numpy(zero_copy_only=True)
        else:
            return None
    except (RuntimeError, ValueError):  # of Polars and of Arrow: several pieces, or nulls
        return None
    return np.asarray(found, dtype=np.float64)


def named_block(columns: list[Column], part: slice) -> NamedBlock:
    """Read some rows of a data frame."""
    import narwhals as nw

    numbers: dict[str, Floats] = {}
    indicators: list[list[str | None]] = []
    derived: set[str] = set()
    rows = part.stop - part.start
    fault: BadExample | None = None
    for column in columns:
        name = column.name
        if column.numeric:
            numbers[name] = column.numbers(part)
        elif column.times:
            made, parts = column.calendar(part)
            if same := sorted(numbers.keys() & made.keys()):
                raise BadExample(f"feature {same[0]!r} is given twice", feature=same[0])
            numbers |= made
            indicators += parts
            derived |= made.keys() - {name}
        else:
            series = column.series[part]
            gone, texts = series.is_null().to_list(), series.cast(nw.String).to_list()
            pairs = zip(gone, texts, strict=True)
            indicators.append([f"{name}={MISSING if gap else text}" for gap, text in pairs])
    twice = given_twice(set(numbers), indicators)
    if twice is not None:
        rows, name = twice
        fault = BadExample(f"feature {name!r} is given twice", feature=name)
        indicators = [column[:rows] for column in indicators]
    names = sorted(numbers)
    kept = [numbers[name][:rows] for name in names]
    block = NamedBlock(names, kept, indicators, rows, fault)
    if derived and any(np.isnan(numbers[name]).any() for name in derived):
        return block.with_gaps(derived)
    return block


def given_twice(names: set[str], indicators: list[list[str | None]]) -> tuple[int, str] | None:
    """Return the first row and feature given both as a column and as an indicator."""
    seen = set(names)
    clashing: set[str] = set()
    for column in indicators:
        values = {name for name in column if name is not None}
        clashing |= seen & values
        seen |= values
    if not clashing:
        return None
    for row, present in enumerate(zip(*indicators, strict=True)):
        for k, name in enumerate(present):
            if name in clashing and (name in names or name in present[:k]):
                return row, name
    return None
