"""Tables with named columns as rows of features: what CSV, Parquet and JSON lines have in common.

Numbers and booleans are features of their column's name; text becomes indicators ``column=value``.
New features get positions in the row in which they first appear, in alphabetical order, as they
would if the rows came as dicts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.core.rowwise import assembled, stacked
from noregret.core.vocabulary import Vocabulary
from noregret.errors import BadExample, NoRegretError
from noregret.streams.base import INTERCEPT
from noregret.streams.block import Fault, Floats, Sparse
from noregret.streams.options import Options

NUMBER, BOOLEAN, TEXT = "numbers", "booleans", "text"


class Category(NamedTuple):
    """A column of text: for each row the number of its value, −1 where it is missing."""

    name: str
    codes: NDArray[np.int32]
    values: list[str]


class Table(NamedTuple):
    """The columns of some rows, ready to become features."""

    names: list[str]  # of the numbers, in alphabetical order
    numbers: Floats
    missing: NDArray[np.bool_] | None  # which of the numbers are
    categories: list[Category]
    y: Floats
    bad_outcomes: dict[int, str]  # row: what stands there instead of an outcome
    whole: bool = False  # whether the numbers have the intercept in place already


class Roles:
    """What each column is for.

    Parameters
    ----------
    kinds
        What each column holds, by name.
    options
        How they are read.
    where
        The file, for messages.
    needs_target
        Whether there must be outcomes.
    """

    def __init__(self, kinds: dict[str, str], options: Options, where: str, needs_target: bool = True) -> None:
        names = list(kinds)
        self.options, self.kinds, self.where = options, kinds, where
        for option in ("drop", "keep", "categories"):
            for column in getattr(options, option):
                known(column, names, where)
        self.target = self.target_among(names) if needs_target else None
        used = [name for name in names if name != options.target and name not in options.drop]
        if options.keep:
            used = [name for name in used if name in options.keep]
        for name in used if self.target is None else [*used, self.target]:
            if kinds[name] not in (NUMBER, BOOLEAN, TEXT):
                raise NoRegretError(
                    f"{where}: column {name!r} holds {kinds[name]}: drop it (--drop {name}), or take its"
                    f" values as names (--categories {name}); numbers, text and booleans are read as they are"
                )
        texts = {name for name in used if kinds[name] == TEXT or name in options.categories}
        self.numbers = sorted(set(used) - texts)
        self.categories = sorted(texts)
        if options.intercept and INTERCEPT in self.numbers:
            raise NoRegretError(
                f"{where}: there is a column called {INTERCEPT!r} already: use --no-intercept, or drop it"
            )

    def target_among(self, names: Sequence[str]) -> str:
        """Return the target, or say which columns there are instead."""
        target = self.options.target
        if target is None:
            raise BadExample(
                f"{self.where}: say which column is to be predicted: --target, target=…; there are"
                f" {listed(names)}"
            )
        known(target, names, self.where)
        return target

    @property
    def plain(self) -> bool:
        """Whether every row has the same features."""
        return not self.categories and self.options.missing != "indicator" and self.options.hash is None

    @property
    def dense_names(self) -> list[str]:
        """The features of every row, in alphabetical order."""
        return sorted([*self.numbers, *([INTERCEPT] if self.options.intercept else [])])


def known(column: str, names: Sequence[str], where: str) -> None:
    """Check that there is a column, or name the nearest."""
    if column not in names:
        near = get_close_matches(column, names)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are {listed(names)}"
        raise BadExample(f"{where}: there is no column {column!r}: {hint}")


def listed(names: Sequence[str], most: int = 12) -> str:
    """Name some columns for a message."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more if names else "no columns"


def kind_of(column: Any) -> str:
    """Say what an Arrow type holds."""
    from pyarrow import types

    if types.is_dictionary(column):
        column = column.value_type
    if types.is_boolean(column):
        return BOOLEAN
    if types.is_integer(column) or types.is_floating(column) or types.is_decimal(column) or types.is_null(column):
        return NUMBER
    if str(column) in ("string", "large_string", "string_view"):
        return TEXT
    if types.is_temporal(column):
        return "dates or times"
    return f"{column} values"


# In any thread: from Arrow's columns to arrays.


def encoded(table: Any, roles: Roles) -> Table:
    """Return the columns that matter as arrays."""
    rows = table.num_rows
    columns = {name: as_numbers(table.column(name), name, roles.where) for name in roles.numbers}
    whole = roles.plain and roles.options.intercept
    order = roles.dense_names if whole else roles.numbers
    numbers, any_missing = stacked([columns.get(name) for name in order], rows)
    missing = None
    if any_missing:
        missing = np.isnan(numbers)
        numbers[missing] = 0.0
        if whole:
            missing = np.delete(missing, order.index(INTERCEPT), axis=1)
    categories = [as_category(name, table.column(name)) for name in roles.categories]
    if roles.target is None:
        y, bad = np.full(rows, np.nan), {}
    else:
        y, bad = outcomes_of(table.column(roles.target), roles)
    return Table(roles.numbers, numbers, missing, categories, y, bad, whole)


def as_numbers(column: Any, name: str, where: str) -> Floats:
    """Return a column of numbers or booleans as floats, NaN where it is missing."""
    import pyarrow as pa

    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    if not pa.types.is_float64(column.type):
        try:
            column = column.cast(pa.float64())
        except pa.ArrowInvalid as error:
            said = str(error).splitlines()[0]
            raise BadExample(f"{where}: column {name!r}: {said}: give floats") from None
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return np.concatenate([floats_of(c) for c in chunks]) if len(chunks) != 1 else floats_of(chunks[0])


def floats_of(array: Any) -> Floats:
    """Return an Arrow array of float64, NaN where it is null.

    By its buffers: Arrow's own way would import pandas, where that is installed, and take a while.
    """
    valid, values = array.buffers()
    part = slice(array.offset, array.offset + len(array))
    if values is None:
        return np.zeros(len(array))
    floats: Floats = np.frombuffer(values, dtype=np.float64)[part]
    if valid is not None and array.null_count:
        there = np.unpackbits(np.frombuffer(valid, dtype=np.uint8), bitorder="little")[part]
        floats = np.where(there == 1, floats, np.nan)
    return floats


def as_category(name: str, column: Any) -> Category:
    """Return a column of names, or of anything that is taken for names."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):  # where there are no rows
            column = pa.array([], column.type)
    if not pa.types.is_dictionary(column.type):
        if kind_of(column.type) != TEXT:
            column = column.cast(pa.string())
        column = column.dictionary_encode()
    values = ["" if value is None else str(value) for value in column.dictionary.to_pylist()]
    codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    empty = [code for code, value in enumerate(values) if value == ""]
    if empty:
        codes[np.isin(codes, empty)] = -1
    return Category(name, codes, values)


def outcomes_of(column: Any, roles: Roles) -> tuple[Floats, dict[int, str]]:
    """Return outcomes as numbers, and what stands in rows where there is none."""
    options, kind = roles.options, roles.kinds[roles.target or ""]
    if options.positive is not None:
        return labels_of(column, kind, options.positive)
    if kind == TEXT:
        values = [value for value in column.slice(0, 1000).unique().to_pylist() if value][:3]
        shown = " or ".join(map(repr, values))
        raise NoRegretError(
            f"{roles.where}: the target {roles.target!r} holds text ({shown}, …): to tell one value from"
            f" the rest, use --positive {values[0] if values else 'VALUE'}"
        )
    y = as_numbers(column, roles.target or "", roles.where)
    bad = {int(row): "nothing" for row in np.flatnonzero(np.isnan(y))}
    return y, bad


def labels_of(column: Any, kind: str, positive: str) -> tuple[Floats, dict[int, str]]:
    """Return +1 where the outcome is the positive value, else −1."""
    if kind == TEXT:
        category = as_category("", column)
        hits = [code for code, value in enumerate(category.values) if value == positive]
        y = np.where(np.isin(category.codes, hits), 1.0, -1.0)
        return y, {int(row): "nothing" for row in np.flatnonzero(category.codes < 0)}
    values = as_numbers(column, "", "")
    bad = {int(row): "nothing" for row in np.flatnonzero(np.isnan(values))}
    return signed(values, positive), bad


def signed(values: Floats, positive: str) -> Floats:
    """Return +1 where a number is the positive one, else −1."""
    wanted = {"true": 1.0, "false": 0.0}.get(positive.lower())
    if wanted is None:
        try:
            wanted = float(positive)
        except ValueError:
            raise NoRegretError(f"the positive value {positive!r} is text, but outcomes are numbers") from None
    return np.where(np.isnan(values), np.nan, np.where(values == wanted, 1.0, -1.0))


# In order: from arrays to rows of features.


def faults_of(table: Table, options: Options, place_of: Callable[[int], str], scored: bool) -> list[Fault]:
    """Return the rows that cannot be used; ``row`` counts all rows before."""
    found: dict[int, str] = {}
    if not scored:
        for row, what in table.bad_outcomes.items():
            found[row] = f"the outcome is {what}: every row needs one"
    if options.missing == "stop":
        hint = "fill it in, or use --missing zero or --missing indicator"
        for category in table.categories:
            for row in np.flatnonzero(category.codes < 0).tolist():
                found.setdefault(row, f"column {category.name!r} is empty: {hint}")
        if table.missing is not None:
            for row in np.flatnonzero(table.missing.any(axis=1)).tolist():
                name = table.names[int(np.argmax(table.missing[row]))]
                found.setdefault(row, f"column {name!r} is empty: {hint}")
    return [Fault(row, place_of(row), message) for row, message in sorted(found.items())]


def without(table: Table, rows: Sequence[int]) -> Table:
    """Return a table without some of its rows."""
    keep = np.ones(len(table.y), dtype=bool)
    keep[list(rows)] = False
    return table._replace(
        numbers=table.numbers[keep],
        missing=None if table.missing is None else table.missing[keep],
        categories=[category._replace(codes=category.codes[keep]) for category in table.categories],
        y=table.y[keep],
    )


def dense_rows(table: Table, options: Options) -> Floats:
    """Return the numbers with the intercept in its alphabetical place."""
    if table.whole or not options.intercept:
        return table.numbers
    at = sorted([*table.names, INTERCEPT]).index(INTERCEPT)
    return np.insert(table.numbers, at, 1.0, axis=1)


def sparse_rows(table: Table, options: Options, vocabulary: Vocabulary) -> tuple[Sparse, NDArray[np.int32]]:
    """Return the rows with their features in place, and the positions of all indicators."""
    categories = table.categories
    if options.missing == "indicator":
        categories = [*categories, *missing_indicators(table)]
    numbers, names = table.numbers, table.names
    if table.whole:
        names = sorted([*names, INTERCEPT])
    elif options.intercept:
        numbers, names = np.column_stack([numbers, np.ones(len(numbers))]), [*names, INTERCEPT]
    admit_new(names, categories, vocabulary, len(table.y))
    places = vocabulary.positions(names)
    columns = []
    for category in categories:
        at = vocabulary.positions([f"{category.name}={value}" for value in category.values])
        columns.append(np.append(at, np.int32(-1))[category.codes])
    indicators = np.column_stack(columns) if columns else np.empty((len(table.y), 0))
    indicators = np.ascontiguousarray(indicators, dtype=np.int32)
    rows = Sparse(*assembled(np.ascontiguousarray(numbers), places, indicators))
    left = np.unique(indicators[indicators >= 0])
    if options.intercept:
        left = np.append(left, places[names.index(INTERCEPT)])
    return rows, left


def missing_indicators(table: Table) -> list[Category]:
    """Return what is missing as text: ``column=missing``."""
    made = []
    for category in table.categories:
        if (category.codes < 0).any():
            made.append(Category(category.name, np.where(category.codes < 0, 0, -1).astype(np.int32), ["missing"]))
    if table.missing is not None:
        for k in np.flatnonzero(table.missing.any(axis=0)).tolist():
            made.append(
                Category(table.names[k], np.where(table.missing[:, k], 0, -1).astype(np.int32), ["missing"])
            )
    return made


def admit_new(names: list[str], categories: list[Category], vocabulary: Vocabulary, rows: int) -> None:
    """Let features join that were never seen: by the row in which they appear, then by name."""
    if rows == 0:
        return
    new = {name: 0 for name, at in zip(names, vocabulary.positions(names).tolist(), strict=True) if at < 0}
    for category in categories:
        written = [f"{category.name}={value}" for value in category.values]
        unknown = np.flatnonzero(vocabulary.positions(written) < 0)
        if not len(unknown):
            continue
        first = np.full(len(written) + 1, rows)
        # The last assignment wins, so the rows go backwards; absent values fall in the last place.
        first[category.codes[::-1]] = np.arange(rows - 1, -1, -1)
        for code in unknown.tolist():
            if first[code] < rows:
                new[written[code]] = min(int(first[code]), new.get(written[code], rows))
    order = sorted(new, key=lambda name: (new[name], name))
    vocabulary.positions(order, True)
