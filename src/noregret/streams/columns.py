"""Tables with named columns as rows of features, shared by CSV, Parquet and JSON lines.

Numbers and booleans are features of their column's name; text becomes indicators ``column=value``.
Everything here may run in any thread; ``columns_to_rows`` continues in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.checks import similar
from noregret.errors import BadExample, NoRegretError, Use, WrongUsage, tell
from noregret.limits import INTERCEPT
from noregret.streams.block import Floats
from noregret.streams.options import ASLEEP, AVERAGE, CORRECTED, MEDIAN, TAB, Options
from noregret.streams.parsing.vocabulary import stacked, summarise

if TYPE_CHECKING:
    from noregret.streams.free_text import Bag

NUMBER, BOOLEAN, TEXT = "numbers", "booleans", "text"
DATE, TIME, ZONED = TIMES = ("dates", "times", "times with a zone")
BINARY = "binary values"
# Characters of the name of a column that messages show.
MAX_SHOWN_NAME = 80
# Options of the command that leave out an expert derived from the others.
NOT_ADDING = {AVERAGE: "average", MEDIAN: "average", CORRECTED: "correct"}


class Category(NamedTuple):
    """A column of text: the index of the value in each row, −1 if it is missing."""

    name: str
    codes: NDArray[np.int32]
    values: list[str]
    derived: bool = False  # from a column whose gaps are told elsewhere

    def features(self) -> list[str]:
        """Return the name of the indicator feature for each value."""
        return [f"{self.name}={value}" for value in self.values]


class Table(NamedTuple):
    """The columns of some rows, ready to become features."""

    names: list[str]  # of the numbers, in alphabetical order
    numbers: Floats
    missing: NDArray[np.bool_] | None  # which of the numbers are
    categories: list[Category]
    y: Floats  # NaN for a row without an outcome
    whole: bool = False  # whether the numbers have the intercept in place already
    groups: Category | None = None  # which rows belong together
    batches: Category | None = None  # which of them come at the same time
    bags: tuple[Bag, ...] = ()  # the words of columns of free text
    values: list[str] | None = None  # of outcomes that are text: y holds positions in it


class Roles:
    """The roles of the columns: target, features, groups.

    Parameters
    ----------
    kinds
        The kind of values in each column, by name.
    options
        The options of the stream.
    where
        The file, for messages.
    needs_target
        Whether there must be outcomes.
    """

    def __init__(
        self, kinds: dict[str, str], options: Options, where: str, needs_target: bool = True
    ) -> None:
        names = list(kinds)
        self.options, self.kinds, self.where = options, kinds, where
        check_columns(names, options, where, needs_target)
        self.target = options.target if needs_target else None
        apart = (options.target, *options.labels, *options.drop)
        used = [name for name in names if name not in apart]
        if options.keep:
            used = [name for name in used if name in options.keep]
        self.left_out: list[str] = []  # columns that are ignored, as they hold no forecasts
        if options.missing == ASLEEP:
            used = self.experts_of(used)
        self.times = sorted(name for name in used if self.is_time(name))
        for name in options.time:
            if name in used and name not in self.times:
                what = f"column {name!r} holds {kinds[name]}, not times"
                raise NoRegretError(what, "leave it out of the times", file=where, feature=name)
        for name in used if self.target is None else [*used, self.target]:
            if kinds[name] not in (NUMBER, BOOLEAN, TEXT) and name not in self.times:
                raise NoRegretError(
                    f"column {name!r} holds {kinds[name]}",
                    (
                        Use("categories", [name], "take its values as names ({})"),
                        Use("drop", [name], "drop it ({})"),
                    ),
                    file=where,
                    feature=name,
                )
        self.words = self.texts_in(used)
        texts = {name for name in used if kinds[name] == TEXT or name in options.categories}
        self.numbers = sorted({*used} - texts - {*self.times})
        self.categories = sorted(texts - {*self.words})
        self.pairs: list[tuple[str, str]] = []  # columns whose products are features
        if options.interactions:
            from noregret.streams.interactions import check_no_text, pairs_of

            check_no_text(options.interactions, self.words, where)
            factors = [name for name in used if name not in self.words]
            self.pairs = pairs_of(options.interactions, factors, where)
        for name in self.times:
            from noregret.base.calendar_features import circle_names

            for made in circle_names(name, kinds[name] == DATE):
                if made in used:
                    what = f"a feature of column {name!r} has the name of the column {made!r}"
                    raise NoRegretError(what, Use("drop", [made], "drop it ({})"), file=where)
        if options.intercept and INTERCEPT in self.numbers:
            raise NoRegretError(
                f"there is a column called {INTERCEPT!r} already",
                (Use("intercept", False), Use("drop", [INTERCEPT], "drop it ({})")),
                file=where,
            )

    def texts_in(self, used: list[str]) -> list[str]:
        """Return the columns of free text."""
        found = sorted(name for name in self.options.text if name in used)
        for name in found:
            if self.kinds[name] != TEXT:
                what = f"column {name!r} holds {self.kinds[name]}, not text"
                cure = "leave it out of the texts"
                raise NoRegretError(what, cure, file=self.where, feature=name)
            for other in used:
                if other.startswith(f"{name}:"):
                    what = f"a word of column {name!r} has the name of the column {other!r}"
                    raise NoRegretError(what, Use("drop", [other], "drop it ({})"), file=self.where)
        return found

    def is_time(self, name: str) -> bool:
        """Return whether a column becomes features of the calendar; without a target none does."""
        kind, options = self.kinds[name], self.options
        if name in options.categories or options.target is None:
            return False
        if name in options.time:
            return kind in TIMES or kind == NUMBER
        return kind in TIMES and options.sniff

    def experts_of(self, columns: list[str]) -> list[str]:
        """Return the numeric columns; others are ignored unless named in the options."""
        options, kinds, where = self.options, self.kinds, self.where
        experts = [name for name in columns if kinds[name] in (NUMBER, BOOLEAN)]
        self.left_out = [name for name in columns if name not in experts]
        if options.keep and self.left_out:
            name = self.left_out[0]
            raise NoRegretError(
                f"column {name!r} holds {kinds[name]}: an expert's forecasts are numbers",
                file=where,
            )
        if not experts:
            others = f"; {listed(self.left_out)} hold none" if self.left_out else ""
            raise NoRegretError(
                f"there is no expert: no column of numbers besides the target{others}", file=where
            )
        for name in options.add:
            if name in experts:
                raise NoRegretError(
                    f"there is a column called {name!r} already, which is to be added",
                    (
                        Use("drop", [name], "leave it out ({})"),
                        Use(NOT_ADDING[name], False, "do not add it ({})"),
                    ),
                    file=where,
                )
        return experts

    @property
    def plain(self) -> bool:
        """True if every row without gaps has the same features."""
        sparse = self.categories or self.times or self.words or self.pairs
        return not sparse and self.options.hash is None

    @property
    def columns(self) -> list[str]:
        """The columns to read."""
        apart = [] if self.target is None else [self.target]
        named = [*self.categories, *self.words, *apart, *self.options.labels]
        return [*self.numbers, *self.times, *named]

    @property
    def dense_names(self) -> list[str]:
        """The features of every row, in alphabetical order."""
        added = [INTERCEPT] if self.options.intercept else self.options.add
        return sorted([*self.numbers, *added])

    @property
    def expert_places(self) -> NDArray[np.int32]:
        """The positions of the experts' columns among ``dense_names``."""
        at = {name: k for k, name in enumerate(self.dense_names)}
        return np.array([at[name] for name in self.numbers], dtype=np.int32)


def tell_absent(name: str, where: str) -> None:
    """Warn that data to be scored lack a column of the model."""
    tell(f"there is no column {name!r}: its values count as missing", file=where)


def with_gaps(table: Any, types: dict[str, Any]) -> Any:
    """Return an Arrow table with columns of missing values besides, of the given types."""
    import pyarrow as pa

    for name, kind in types.items():
        table = table.append_column(name, pa.nulls(table.num_rows, kind))
    return table


def check_columns(names: Sequence[str], options: Options, where: str, needs_target: bool) -> None:
    """Check that the columns named in the options exist."""
    if needs_target and options.target is None:
        raise WrongUsage(
            f"no target column given; the columns are {listed(names)}",
            (Use("target", text="choose one with {}"), *headless(names)),
            file=where,
        )
    named = [options.target] if needs_target and options.target is not None else []
    named += options.labels
    for column in (
        *named,
        *options.drop,
        *options.keep,
        *options.categories,
        *options.text,
        *options.time,
        *options.passed,
        *(each.rpartition("=")[0] for each in options.dates if "=" in each),
    ):
        if needs_target or column != options.target:
            known(column, names, where)
    if needs_target and options.group is not None and options.group == options.target:
        raise WrongUsage(f"{options.group!r} is the target: groups need another column", file=where)


def known(column: str, names: Sequence[str], where: str) -> None:
    """Raise an error, with the most similar name, if a column does not exist."""
    if column not in names:
        check_separator(names, where)
        near = similar(column, names)
        others = "" if near else f"; the columns are {listed(names)}"
        hint = [f"did you mean {' or '.join(map(repr, near))}?"] if near else []
        raise BadExample(
            f"there is no column {column!r}{others}", [*headless(names), *hint], file=where
        )


def headless(names: Sequence[str]) -> list[Use]:
    """Return the cure for a missing header, if the names of the columns look like numbers."""
    numbers = sum(map(is_number, names))
    if len(names) < 2 or 2 * numbers < len(names):
        return []
    which = "all" if numbers == len(names) else "most"
    return [no_header(names, f"if there is no header, as {which} of these names are numbers, ")]


def no_header(names: Sequence[str], when: str = "") -> Use:
    """Return the cure for a file without a header."""
    return Use("header", False, f"{when}add {{}}: columns are then called 1 to {len(names)}")


def is_number(text: str) -> bool:
    """Return whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def check_separator(names: Sequence[str], where: str) -> None:
    """Raise an error if the only column looks like a header with another separator."""
    for mark in ",;\t|":
        if len(names) == 1 and mark in names[0]:
            called, given = ("tabs", TAB) if mark == "\t" else (repr(mark), mark)
            what = f"the file seems to be separated by {called}"
            raise BadExample(what, Use("delimiter", given), file=where)


def listed(names: Sequence[str], most: int = 12) -> str:
    """Return a list of columns for a message, always with the last one, the usual target."""
    if not names:
        return "no columns"
    if len(names) <= most:
        return ", ".join(map(quoted, names))
    first = ", ".join(map(quoted, names[: most - 1]))
    return f"{first}, {len(names) - most} more, and the last, {quoted(names[-1])}"


def quoted(name: str) -> str:
    """Return a name in quotes, shortened if it is too long for a message."""
    return repr(name if len(name) <= MAX_SHOWN_NAME else f"{name[: MAX_SHOWN_NAME - 1]}…")


def kind_of(column: Any) -> str:
    """Return the kind of values of an Arrow type."""
    from pyarrow import types

    if types.is_dictionary(column):
        column = column.value_type
    if types.is_boolean(column):
        return BOOLEAN
    if (
        types.is_integer(column)
        or types.is_floating(column)
        or types.is_decimal(column)
        or types.is_null(column)
    ):
        return NUMBER
    if str(column) in ("string", "large_string", "string_view"):
        return TEXT
    if types.is_date(column):
        return DATE
    if types.is_timestamp(column):
        return TIME if column.tz is None else ZONED
    return "times of day" if types.is_time(column) else f"{column} values"


def encoded(table: Any, roles: Roles) -> Table:
    """Return the columns in use as arrays."""
    rows = table.num_rows
    columns = {name: as_numbers(table.column(name), name, roles.where) for name in roles.numbers}
    parts: list[Category] = []
    for name in roles.times:
        by_feature, found = expanded(table.column(name), name, roles)
        columns |= by_feature
        parts += found
    parts += [as_category(table.column(name), name, roles.where) for name in roles.categories]
    groups, batches = (
        None if name is None else as_category(table.column(name), name, roles.where)
        for name in (roles.options.group, roles.options.batch)
    )
    y, values = np.full(rows, np.nan), None
    if roles.target is not None:
        y, values = outcomes_of(table.column(roles.target), roles)
    bags: tuple[Bag, ...] = ()
    if roles.words:
        from noregret.streams.free_text import bag_of

        bags = tuple(bag_of(table.column(name), name) for name in roles.words)
    made = combined(columns, parts, bags, roles, rows)
    return made._replace(groups=groups, batches=batches, y=y, values=values)


def combined(
    columns: dict[str, Floats],
    categories: list[Category],
    bags: tuple[Bag, ...],
    roles: Roles,
    rows: int,
) -> Table:
    """Return a table without outcomes; the numbers are NaN where they are missing."""
    if roles.pairs:
        from noregret.streams.interactions import product_bags

        bags += product_bags(columns, categories, roles, rows)
    intercept, added = roles.options.intercept, roles.options.add
    whole = roles.plain and bool(intercept or added)
    names = sorted(columns)
    order = roles.dense_names if whole else names
    numbers, any_missing = stacked([columns.get(name) for name in order], rows)
    if added:
        summaries(numbers, roles)
    missing = None
    if any_missing and roles.options.missing != ASLEEP:
        missing = np.isnan(numbers)
        numbers[missing] = 0.0
        if whole:
            missing = np.delete(missing, order.index(INTERCEPT), axis=1)
    categories = sorted(categories, key=lambda category: category.name)
    return Table(names, numbers, missing, categories, np.full(rows, np.nan), whole, bags=bags)


def expanded(column: Any, name: str, roles: Roles) -> tuple[dict[str, Floats], list[Category]]:
    """Return the features of the calendar of a column: numbers by name, and categories."""
    import pyarrow as pa

    from noregret.base.calendar_features import seconds_of

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if kind_of(kind) == TEXT:
        from noregret.streams.local_dates import as_times, order_of

        order = order_of(roles.options.dates, name)
        assert order is not None
        column = as_times(column, order, roles.kinds[name] == DATE)
    raw = column
    if pa.types.is_temporal(column.type):
        wide = pa.int32() if pa.types.is_date32(column.type) else pa.int64()
        raw = cast(column, wide, name, roles.where)
    seconds = seconds_of(column, as_numbers(raw, name, roles.where))
    return calendar_columns(name, seconds, roles.kinds[name] == DATE)


def calendar_columns(
    name: str, seconds: Floats, dates: bool
) -> tuple[dict[str, Floats], list[Category]]:
    """Return the features of the calendar of times since 1970: numbers by name, and categories."""
    from noregret.base.calendar_features import VALUES, calendar

    numbers, codes = calendar(name, seconds, dates)
    return numbers, [Category(f"{name}.{part}", codes[part], VALUES[part], True) for part in codes]


def summaries(numbers: Floats, roles: Roles) -> int:
    """Fill in the average and the median of the experts; return how many rows have none awake."""
    names, added = roles.dense_names, roles.options.add
    at = [names.index(name) if name in added else -1 for name in (AVERAGE, MEDIAN)]
    return summarise(numbers, roles.expert_places, *at)


def as_numbers(column: Any, name: str, where: str) -> Floats:
    """Return a column of numbers or booleans as floats, with NaN for missing values."""
    import pyarrow as pa

    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    if not pa.types.is_float64(column.type):  # an integer too large for one is rounded
        column = cast(column, pa.float64(), name, where)
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    floats = [values_of(chunk, np.float64, np.nan) for chunk in chunks]
    return floats[0] if len(floats) == 1 else np.concatenate([np.empty(0), *floats])


def cast(column: Any, kind: Any, name: str, where: str) -> Any:
    """Return an Arrow column as another type; raise an error if that is not possible."""
    import pyarrow as pa

    try:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        return column.cast(kind, safe=pa.types.is_string(kind))
    except pa.ArrowException:
        what = f"column {name!r} holds {column.type} values, which cannot be read"
        raise BadExample(what, file=where, feature=name) from None


def values_of(array: Any, kind: type[np.generic], missing: float) -> NDArray[Any]:
    """Return an Arrow array as a NumPy array, with ``missing`` in place of nulls.

    It reads the buffers, as Arrow's own conversion would import pandas, which is slow.
    """
    valid, values = array.buffers()
    part = slice(array.offset, array.offset + len(array))
    if values is None:
        return np.zeros(len(array), dtype=kind)
    found: NDArray[Any] = np.frombuffer(values, dtype=kind)[part]
    if valid is not None and array.null_count:
        there = np.unpackbits(np.frombuffer(valid, dtype=np.uint8), bitorder="little")[part]
        found = np.where(there == 1, found, kind(missing))
    return found


def as_category(column: Any, name: str, where: str) -> Category:
    """Return a column as categories."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):  # where there are no rows
            column = pa.array([], column.type)
    if kind_of(column.type) != TEXT:
        column = cast(column, pa.string(), name, where)
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    values = ["" if value is None else str(value) for value in column.dictionary.to_pylist()]
    indices = column.indices
    if not pa.types.is_int32(indices.type):
        indices = indices.cast(pa.int32())
    codes = np.array(values_of(indices, np.int32, -1))
    empty = [code for code, value in enumerate(values) if value == ""]
    if empty:
        codes[np.isin(codes, empty)] = -1
    return Category(name, codes, values)


def outcomes_of(column: Any, roles: Roles) -> tuple[Floats, list[str] | None]:
    """Return outcomes as numbers, NaN for missing ones, and text values.

    Of text, the numbers are positions in the values.
    """
    target = roles.target or ""
    if roles.kinds[target] != TEXT:
        return as_numbers(column, target, roles.where), None
    category = as_category(column, target, roles.where)
    if roles.options.missing == ASLEEP and len(column):
        shown = " or ".join(map(repr, category.values[:3]))
        what = f"the target {target!r} holds text ({shown}, …)"
        raise NoRegretError(f"{what}: forecasts are compared with numbers", file=roles.where)
    return np.where(category.codes < 0, np.nan, category.codes), category.values
