"""From the columns of a table to rows of features, in order.

New features get positions in the row in which they first appear, in alphabetical order, as they
would if the rows came as dicts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadExample, Place, Use
from noregret.limits import INTERCEPT, MAX_VALUE
from noregret.streams.block import Fault, Floats, Sparse
from noregret.streams.columns import Category, Table
from noregret.streams.options import ASLEEP, INDICATOR, STOP, Options
from noregret.streams.parsing.vocabulary import Vocabulary, assembled

Faults = dict[int, BadExample]


def faults_of(
    table: Table, options: Options, place_of: Callable[[int], Place], scored: bool
) -> list[Fault]:
    """Return the rows that cannot be used; ``row`` counts all rows before."""
    found: Faults = {}
    if all_categories(table, options) or table.bags:  # else the learner refuses what it cannot use
        found |= given_twice(table, options)
        found |= too_large(table, options, scored)
    if options.missing == STOP:
        found |= empty_cells(table)
        if not scored:
            found |= {
                row: no_outcome(options) for row in np.flatnonzero(np.isnan(table.y)).tolist()
            }
    if options.missing == ASLEEP:
        found |= unfit_forecasts(table, options)
    for column, what in ((table.groups, "group"), (table.batches, "batch")):
        for row in [] if column is None else np.flatnonzero(column.codes < 0).tolist():
            assert column is not None
            said = f"column {column.name!r} is empty: every row needs its {what}"
            found[row] = BadExample(said, feature=column.name)
    return [Fault(row, error.at(place_of(row))) for row, error in sorted(found.items())]


def no_outcome(options: Options, what: str = "the outcome is missing") -> BadExample:
    """Return the error for a row without an outcome."""
    cures = (
        Use("missing", INDICATOR, "only predict such rows ({})"),
        Use("on_error", "skip", "leave them out ({})"),
    )
    return BadExample(what, cures if options.on_error == STOP else ())


def beyond(what: str, feature: str | None = None) -> BadExample:
    """Return the error for a number that is too large to be squared."""
    return BadExample(f"{what} must be finite, and below {MAX_VALUE:g}", feature=feature)


def empty(what: str, name: str) -> BadExample:
    """Return the error for an empty cell."""
    cures = ("fill it in", Use("missing", "zero"), Use("missing", "indicator", "{}"))
    return BadExample(f"{what} {name!r} is empty", cures, feature=name)


def too_large(table: Table, options: Options, scored: bool) -> Faults:
    """Return the rows with an infinity, or a number too large to be squared.

    They are detected here, so that a row that is refused adds no features.
    """
    found: Faults = {}
    large = np.abs(table.numbers) >= MAX_VALUE
    for row in np.flatnonzero(large.any(axis=1)).tolist():
        k = int(np.argmax(large[row]))
        name, value = number_names(table, options)[k], float(table.numbers[row, k])
        found[row] = beyond(f"column {name!r} is {value:g}: every value", name)
    if not scored:
        for row in np.flatnonzero(np.abs(table.y) >= MAX_VALUE).tolist():
            found[row] = beyond(f"the outcome is {table.y[row]:g}: it")
    return found


def unfit_forecasts(table: Table, options: Options) -> Faults:
    """Return the rows in which all experts sleep or a forecast is not valid."""
    columns = sorted([*table.names, *options.add])
    forecasts = table.numbers[:, [columns.index(name) for name in table.names]]
    found = {
        row: BadExample("every expert is asleep: there is no forecast to go by")
        for row in np.flatnonzero(np.isnan(forecasts).all(axis=1)).tolist()
    }
    for row, k in np.argwhere(np.abs(forecasts) >= MAX_VALUE)[::-1].tolist():
        name = table.names[k]
        found[row] = beyond(f"column {name!r} is {forecasts[row, k]:g}: every forecast", name)
    return found


def empty_cells(table: Table) -> Faults:
    """Return the rows with missing values."""
    found: Faults = {}
    for category in table.categories:
        gaps = () if category.derived else np.flatnonzero(category.codes < 0).tolist()
        for row in gaps:
            found.setdefault(row, empty("column", category.name))
    for bag in table.bags:
        for row in np.flatnonzero(bag.missing).tolist():
            found.setdefault(row, empty("column", bag.name))
    if table.missing is not None:
        for row in np.flatnonzero(table.missing.any(axis=1)).tolist():
            name = table.names[int(np.argmax(table.missing[row]))]
            found.setdefault(row, empty("column", name))
    return found


def given_twice(table: Table, options: Options) -> Faults:
    """Return the rows in which two columns give the same feature."""
    categories = all_categories(table, options)
    makers = [{name} for name in number_names(table, options)]
    makers += [set(category.features()) for category in categories]
    if len(set(chain(*makers))) == sum(map(len, makers)):
        return {}
    found: Faults = {}
    for row in range(len(table.y)):
        seen = set(number_names(table, options))
        for category in categories:
            if (code := category.codes[row]) >= 0:
                name = category.features()[code]
                if name in seen:
                    found[row] = BadExample(
                        f"feature {name!r} is given twice", "drop one of the columns", feature=name
                    )
                seen.add(name)
    return found


def number_names(table: Table, options: Options) -> list[str]:
    """Return the names of the numeric columns in order."""
    if table.whole:
        return sorted([*table.names, INTERCEPT])
    return [*table.names, INTERCEPT] if options.intercept else table.names


def all_categories(table: Table, options: Options) -> list[Category]:
    """Return the text columns and the indicators of missing values."""
    told = missing_indicators(table) if options.missing == "indicator" else []
    return [*table.categories, *told]


def without(table: Table, rows: Sequence[int]) -> Table:
    """Return a table without some of its rows."""
    keep = np.ones(len(table.y), dtype=bool)
    keep[list(rows)] = False
    return table._replace(
        numbers=table.numbers[keep],
        missing=None if table.missing is None else table.missing[keep],
        categories=[category._replace(codes=category.codes[keep]) for category in table.categories],
        y=table.y[keep],
        groups=kept(table.groups, keep),
        batches=kept(table.batches, keep),
        bags=tuple(bag.kept(keep) for bag in table.bags),
    )


def kept(column: Category | None, keep: NDArray[np.bool_]) -> Category | None:
    """Return some rows of a column, if there is one."""
    return None if column is None else column._replace(codes=column.codes[keep])


def dense_rows(table: Table, options: Options) -> Floats:
    """Return the numbers with the intercept in its alphabetical place."""
    if table.whole or not options.intercept:
        return table.numbers
    at = sorted([*table.names, INTERCEPT]).index(INTERCEPT)
    return np.insert(table.numbers, at, 1.0, axis=1)


def sparse_rows(
    table: Table, options: Options, vocabulary: Vocabulary, learned: NDArray[np.bool_]
) -> tuple[Sparse, NDArray[np.int32]]:
    """Return the rows as sparse rows, and the positions of all indicators.

    Only rows that are ``learned`` add features; others have those that are known by then.
    """
    known = len(vocabulary)
    if learned.all():
        admit_new(table, options, vocabulary)
        return placed_rows(table, options, vocabulary)
    admit_new(without(table, np.flatnonzero(~learned).tolist()), options, vocabulary)
    rows, left = placed_rows(table, options, vocabulary)
    return known_only(rows, learned, known), left


def known_only(rows: Sparse, learned: NDArray[np.bool_], known: int) -> Sparse:
    """Return rows in which those that are not learned have no feature that is new by then."""
    counts, filled = np.diff(rows.starts), learned & (np.diff(rows.starts) > 0)
    sizes = np.full(len(learned), known)  # known after each row, as new features come in order
    sizes[filled] = rows.indices[rows.starts[1:][filled] - 1] + 1
    sizes = np.maximum.accumulate(np.append(known, sizes))[:-1]
    keep = np.repeat(learned, counts) | (rows.indices < np.repeat(sizes, counts))
    starts = np.append(0, np.cumsum(keep))[rows.starts]
    return Sparse(starts, rows.indices[keep], rows.data[keep])


def placed_rows(
    table: Table, options: Options, vocabulary: Vocabulary
) -> tuple[Sparse, NDArray[np.int32]]:
    """Return the rows with the features that have a position, and those of all indicators."""
    categories = all_categories(table, options)
    numbers, names = table.numbers, number_names(table, options)
    if len(names) > numbers.shape[1]:
        numbers = np.column_stack([numbers, np.ones(len(numbers))])
    places = vocabulary.positions(names)
    columns = []
    for category in categories:
        at = vocabulary.positions(category.features())
        columns.append(np.append(at, np.int32(-1))[category.codes])
    indicators = np.column_stack(columns) if columns else np.empty((len(table.y), 0))
    indicators = np.ascontiguousarray(indicators, dtype=np.int32)
    rows = Sparse(*assembled(np.ascontiguousarray(numbers), places, indicators))
    left = np.unique(indicators[indicators >= 0])
    for bag in table.bags:
        at = vocabulary.positions(bag.features)
        rows = bag.added_to(rows, at)
        left = np.append(left, at[np.unique(bag.codes)])
    left = left[left >= 0]
    if options.intercept:
        left = np.append(left, places[names.index(INTERCEPT)])
    return rows, left


def missing_indicators(table: Table) -> list[Category]:
    """Return the indicators ``column=missing`` of missing values."""
    gaps = {
        category.name: category.codes < 0 for category in table.categories if not category.derived
    }
    gaps |= {bag.name: bag.missing for bag in table.bags}
    if table.missing is not None:
        gaps |= dict(zip(table.names, table.missing.T, strict=True))
    return [
        Category(name, np.where(gap, 0, -1).astype(np.int32), ["missing"])
        for name, gap in gaps.items()
        if gap.any()
    ]


def admit_new(table: Table, options: Options, vocabulary: Vocabulary) -> None:
    """Add new features, ordered by the row in which they first appear and then by name."""
    names, rows = number_names(table, options), len(table.y)
    if rows == 0:
        return
    # With hashing all names are passed on, so that collisions are counted.
    hashed = vocabulary.bits is not None
    places = vocabulary.positions(names).tolist()
    new = {name: 0 for name, at in zip(names, places, strict=True) if hashed or at < 0}
    for category in all_categories(table, options):
        written = category.features()
        unknown = np.flatnonzero(hashed | (vocabulary.positions(written) < 0))
        if not len(unknown):
            continue
        first = np.full(len(written) + 1, rows)
        # The last assignment wins, so the rows go backwards; absent values fall in the last place.
        first[category.codes[::-1]] = np.arange(rows - 1, -1, -1)
        for code in unknown.tolist():
            if first[code] < rows:
                new[written[code]] = min(int(first[code]), new.get(written[code], rows))
    for bag in table.bags:
        new |= bag.new_features(vocabulary)
    order = sorted(new, key=lambda name: (new[name], name))
    vocabulary.positions(order, True)
