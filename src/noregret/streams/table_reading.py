"""One pass through files of tables, shared by CSV, Parquet and JSON lines."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.checks import similar
from noregret.errors import NoRegretError, Place, Use, tell
from noregret.limits import INTERCEPT
from noregret.streams.block import Block, Fault, Floats, Sparse
from noregret.streams.columns import (
    BOOLEAN,
    DATE,
    TEXT,
    TIME,
    Category,
    Roles,
    Table,
    known,
    listed,
)
from noregret.streams.columns_to_rows import (
    dense_rows,
    faults_of,
    number_names,
    sparse_rows,
    without,
)
from noregret.streams.growth import Growth, tell_epochs
from noregret.streams.last_positions import LastPositions
from noregret.streams.many_values import ManyValues
from noregret.streams.options import ASLEEP, CORRECTED, INDICATOR
from noregret.streams.parsing.scaling import Scaler
from noregret.streams.stream import Reading, State, Stream

if TYPE_CHECKING:
    from noregret.streams.batches import InOrder
    from noregret.streams.corrected_forecast import Correcting

# Names of other groups that are kept, to suggest a similar one if the requested one is missing, and
# of those that are listed.
MAX_REMEMBERED_GROUPS, MAX_LISTED = 10_000, 10
# The share of dates from which a column of text is one of dates, and other values are bad rows.
MIN_DATE_SHARE = 0.9


class TableReading(Reading):
    """A pass in which every block is a table with the same columns."""

    # The share of its first values that must be dates for a column of text to be one of dates.
    min_date_share: ClassVar[float] = 1.0

    def __init__(self, stream: Stream, learning: bool, state: State | None) -> None:
        self.kinds: dict[str, str] | None = None
        self.settled: Roles | None = None
        # Whether to yield rows without an outcome.
        self.without_outcomes = False
        self.groups: dict[str, int] = {}  # numbers in order of first appearance
        self.batch_numbers: dict[str, int] = {}  # the same
        self.in_order: dict[int, InOrder] = {}  # the batches of each group
        self.others: dict[str, None] = {}  # other groups than the one in use
        self.correcting: dict[int, Correcting] = {}
        self.growth = Growth()
        self.looked_at = False  # whether the first rows were looked at
        self.many = ManyValues(learning, stream.paths[0])
        self.days: dict[str, str] = {}  # the kinds of columns of dates such as 31/12/2024
        self.iso_times: dict[str, str] = {}  # those of 2024-12-31 with other text among them
        self.positions = LastPositions()
        super().__init__(stream, learning, state)

    def columns_state(self) -> dict[str, Any]:
        """Return the kinds of columns, and which were found to hold free text or local dates."""
        given = self.stream.options.text
        texts = [name for name in self.options.text if name not in given]
        dates = [each for each in self.options.dates if each not in self.stream.options.dates]
        found: dict[str, Any] = {"kinds": self.kinds}
        found |= {"texts": texts} if texts else {}
        found |= {"many_values": self.many.columns} if self.many.columns else {}
        found |= {"positions": self.positions.last} if self.positions.last else {}
        return found | ({"days": self.days, "dates": dates} if self.days else {})

    def set_columns_state(self, state: dict[str, Any]) -> None:
        """Restore the kind of values in each column."""
        self.kinds = state["kinds"]
        self.add_texts(state.get("texts", ()))
        self.many.resume(state.get("many_values", ()))
        self.positions.last = dict(state.get("positions", {}))
        self.days = dict(state.get("days", {}))
        self.add_dates(state.get("dates", ()))

    def add_texts(self, names: Iterable[str]) -> None:
        """Take columns as free text, besides those that were named."""
        given = self.options.text
        self.options = replace(
            self.options, text=(*given, *(name for name in names if name not in given))
        )

    def add_dates(self, orders: Iterable[str]) -> None:
        """Take columns as dates in some order, besides those that were named."""
        given = self.options.dates
        self.options = replace(
            self.options, dates=(*given, *(each for each in orders if each not in given))
        )

    def decide(self, stream: Stream, first: list[Block]) -> list[Block]:
        """Continue with the options of a stream of the same files, and what was found so far."""
        texts, dates = self.options.text, self.options.dates
        first = super().decide(stream, first)
        self.add_texts(texts)
        self.add_dates(dates)
        return first

    def find_dates(self, columns: Mapping[str, Sequence[Any]], where: str) -> None:
        """Detect columns of dates from their first values: 31/12/2024, or 2024-12-31 in text."""
        from noregret.streams.local_dates import iso_kind, order_of, there, usual_order

        options = self.options
        if options.missing == ASLEEP or (options.target is None and self.learning):
            return
        apart = {options.target, *options.labels, options.id, *options.drop, *options.categories}
        for name, values in columns.items():
            used = name not in apart and (not options.keep or name in options.keep)
            if used and name not in options.text and name not in self.days:
                named = order_of(options.dates, name)
                detects, usual = options.sniff and self.learning, usual_order(options.dates)
                if named is not None or detects or (usual is not None and self.at_once):
                    self.find_order(name, values, named, usual, where)
                share, open_still = self.min_date_share, name not in self.days and not self.at_once
                if share < 1 and open_still and (detects or name in options.time):
                    kind = iso_kind(there(values), share)
                    self.iso_times |= {} if kind is None else {name: kind}

    def find_order(
        self, name: str, values: Sequence[Any], named: str | None, usual: str | None, where: str
    ) -> None:
        """Detect in which order a column holds dates, if it does."""
        from noregret.streams.local_dates import has_order, has_time, moment_in, orders_in, there

        texts = there(values)
        orders = orders_in(texts, self.min_date_share)
        given = named or usual
        if named is not None and texts:
            if not has_order(texts, named, self.min_date_share):
                odd = next(text for text in texts if moment_in(text, named) is None)
                what = f"column {name!r} does not hold dates in the order {named}: it has {odd!r}"
                raise NoRegretError(what, Use("dates", text="leave it out of {}"), file=where)
            orders = [named]
        elif given in orders:
            orders = [given]
        if len(orders) == 1 and (given is not None or not self.at_once):
            dates = [text for text in texts if moment_in(text, orders[0]) is not None]
            self.days[name] = TIME if any(map(has_time, dates)) else DATE
            self.add_dates([f"{name}={orders[0]}"])
        elif orders and not self.at_once:
            shown = next(text for text in texts if moment_in(text, orders[0]) is not None)
            tell(
                f"column {name!r} holds dates such as {shown!r}, which are taken as categories:"
                " whether the day or the month comes first cannot be told from its first values",
                (
                    Use("dates", orders[0], "say which with {}"),
                    Use("dates", orders[1], "or {}"),
                    Use("drop", name, "{} to leave them out"),
                    Use("categories", name, "{} if that is meant"),
                ),
                file=where,
            )

    def find_texts(self, columns: Mapping[str, Sequence[Any]], where: str) -> None:
        """Detect which text columns are dates or free text, from their first values."""
        from noregret.streams.free_text import is_free_text

        self.find_dates(columns, where)
        options = self.options
        if self.at_once or not options.sniff or options.missing == ASLEEP or not self.learning:
            return
        apart = {options.target, *options.labels, *options.drop, *options.categories, *options.time}
        apart |= self.days.keys() | self.iso_times.keys()
        for name, values in columns.items():
            used = name not in apart and (not options.keep or name in options.keep)
            if not used or name in options.text:
                continue
            if not is_free_text(values):
                continue
            self.add_texts([name])
            tell(
                f"column {name!r} holds free text, so its words and pairs of words become features",
                (
                    Use("categories", name, "use {} to take whole values instead"),
                    Use("drop", name, "{} to leave it out"),
                ),
                file=where,
            )

    def found(self) -> dict[str, Any]:
        """Return the columns of dates and times, and those of very many values."""
        given, many = self.options.time, self.many.named(self.options)
        times = self.times_found()
        return {
            "time": (*given, *(name for name in times if name not in given)),
            "many_values": many,
        }

    def times_found(self) -> Iterable[str]:
        """Return the columns of dates and times."""
        return () if self.settled is None else self.settled.times

    def roles(self, where: str) -> Roles:
        """Return the roles of the columns."""
        if self.settled is None:
            assert self.kinds is not None
            self.settled = Roles(self.kinds, self.options, where, self.learning)
        return self.settled

    def check_target(self) -> None:
        """Raise an error if no row so far has a column for the outcome, with a similar name."""
        if self.options.target is not None and self.kinds is not None:
            known(self.options.target, list(self.kinds), self.paths[0])

    def check_group(self) -> None:
        """Raise an error for a group that does not occur, with a similar name."""
        if self.options.only is None:
            return
        wanted, there = self.options.only, list(self.others)
        what = f"there is no group {wanted!r} in the column {self.options.group!r}"
        what += f": there are {listed(there, MAX_LISTED)}" if there else ""
        near = similar(wanted, there)
        cure = [f"did you mean {' or '.join(map(repr, near))}?"] if near else []
        raise NoRegretError(what, cure, file=", ".join(self.paths))

    def block_of(
        self,
        table: Table,
        place_of: Callable[[int], Place],
        mark: dict[str, Any],
        size: int,
        others: Sequence[Fault] = (),
    ) -> Block:
        """Make a block from a table, without rows that cannot be used or are not wanted.

        ``others`` are faults of lines that are not rows of the table.
        """
        faults = faults_of(table, self.options, place_of, not self.learning)
        unwanted = self.unwanted(table)
        faults = [fault for fault in faults if fault.row not in unwanted]
        if not faults and not unwanted:
            return self.made(table, place_of, mark, size, list(others))
        bad = sorted([*unwanted, *(fault.row for fault in faults)])
        kept = np.delete(np.arange(len(table.y)), bad)
        # A line that is not a row comes before the row of the table with its number.
        told = sorted([*others, *faults], key=lambda fault: fault.row)
        counted = [fault._replace(row=fault.row - bisect_left(bad, fault.row)) for fault in told]
        block = self.made(
            without(table, bad), lambda row: place_of(int(kept[row])), mark, size, counted
        )
        if unwanted:
            before = np.searchsorted([fault.row for fault in others], kept, side="right")
            block.read, block.numbers = len(table.y) + len(others), kept + before
        return block

    def unwanted(self, table: Table) -> set[int]:
        """Return the rows of other groups, and forecasts whose outcome is not known yet."""
        found: set[int] = set()
        if self.options.only is not None and table.groups is not None:
            values = table.groups.values
            code = values.index(self.options.only) if self.options.only in values else len(values)
            if len(self.others) < MAX_REMEMBERED_GROUPS:
                self.others |= dict.fromkeys(value for value in values if value)
            found |= set(np.flatnonzero(table.groups.codes != code).tolist())
        if self.options.missing == ASLEEP and self.learning and not self.without_outcomes:
            found |= set(np.flatnonzero(np.isnan(table.y)).tolist())
        return found

    def made(
        self,
        table: Table,
        place_of: Callable[[int], Place],
        mark: dict[str, Any],
        size: int,
        faults: list[Fault],
    ) -> Block:
        """Assign positions to the features, and make the block."""
        rows: Floats | Sparse
        self.look_at(table)
        known, learned = len(self.vocabulary), np.full(len(table.y), True)
        if self.learning and self.options.missing != ASLEEP:
            learned = ~np.isnan(table.y)
        if self.settled is not None and self.settled.times:
            self.positions.fill(table, self.settled.times, learned & self.many.learning)
        if self.fits_dense(table, bool(learned.any())):
            rows = dense_rows(table, self.options)
            if not known and not learned.all():
                rows[: int(np.argmax(learned))] = 0.0  # before the first row that is learned
        else:
            table = self.many.shared(table, self.options, self.vocabulary, learned)
            rows, left = sparse_rows(table, self.options, self.vocabulary, learned)
            self.note_growth(known, int(learned.sum()))
            if isinstance(self.scaler, Scaler) and self.scaler.kind == "standard":
                self.scaler.leave_out(left[left >= 0])  # without rows, an intercept has no place
        block = Block(rows, table.y, place_of, mark, size, faults=faults)
        block.booleans, block.values = self.has_boolean_outcomes, table.values
        if table.groups is not None:
            block.groups = numbered(table.groups, self.groups)
        if table.batches is not None:
            block.batches = numbered(table.batches, self.batch_numbers)
            self.check_batches(block)
        return block

    def look_at(self, table: Table) -> None:
        """Warn about columns of numbers in the first rows that look like times."""
        if self.looks(len(table.y)):
            tell_epochs(number_names(table, self.options), table.numbers, self.paths[0])

    def look_at_fields(self, examples: Sequence[Any]) -> None:
        """Warn about fields of numbers in the first examples that look like times."""
        if not self.looks(len(examples)):
            return
        found: dict[str, list[float]] = {}
        for example in examples:
            for name, value in example.items() if isinstance(example, dict) else ():
                if isinstance(value, int | float) and abs(value) < math.inf:
                    found.setdefault(name, []).append(float(value))
        features = set(self.vocabulary.names()).difference(self.options.time)
        for name, values in found.items():
            if name in features:
                tell_epochs([name], np.array(values)[:, None], self.paths[0])

    def looks(self, rows: int) -> bool:
        """Return whether to look at these rows: the first, if columns are detected."""
        if self.looked_at or not rows:
            return False
        self.looked_at, options = True, self.options
        detects = self.learning and options.sniff and self.mark is None and not self.at_once
        return detects and options.target is not None and options.missing != ASLEEP

    def note_growth(self, known: int, rows: int) -> None:
        """Count the new features of some rows."""
        if self.learning and self.options.hash is None:
            texts = [name for name, kind in (self.kinds or {}).items() if kind == TEXT]
            names = self.vocabulary.names(known, len(self.vocabulary))
            self.growth.told |= {*self.many.columns}  # of which ManyValues tells
            self.growth.note(names, rows, texts, self.paths[0])

    def check_batches(self, block: Block) -> None:
        """Raise an error for a batch that comes back after another of its group."""
        from noregret.streams.batches import InOrder

        assert block.batches is not None
        for group, rows in rows_of_groups(block):
            row = self.in_order.setdefault(group, InOrder()).first_back(block.batches[rows])
            if row is not None:
                name = list(self.batch_numbers)[int(block.batches[rows[row]])]
                raise NoRegretError(
                    f"the batch {name!r} of column {self.options.batch!r} comes back after another",
                    "sort the rows, so that those of a batch follow each other",
                ).at(block.place_of(int(rows[row])))

    def complete(self, block: Block) -> None:
        """Fill in the corrected forecasts, in order."""
        if CORRECTED not in self.options.add or not len(block) or isinstance(block.X, Sparse):
            return
        from noregret.streams.corrected_forecast import Correcting

        assert self.settled is not None
        experts, at = self.settled.expert_places, self.settled.dense_names.index(CORRECTED)
        for group, rows in rows_of_groups(block):
            if group not in self.correcting:
                self.correcting[group] = Correcting(len(experts))
            batches = None if block.batches is None else block.batches[rows]
            self.correcting[group].correct(block.X, experts, at, block.y, rows, batches)

    @property
    def has_boolean_outcomes(self) -> bool:
        """Return whether the outcomes are written as true and false."""
        if self.settled is None or self.kinds is None or self.options.positive is not None:
            return False
        return self.kinds.get(self.settled.target or "") == BOOLEAN

    def fits_dense(self, table: Table, learned: bool) -> bool:
        """Return whether the features and their positions are those of all earlier rows.

        The features of the first rows are added, if any of them is ``learned``.
        """
        roles = self.settled
        if roles is None or not roles.plain or table.names != roles.numbers or table.categories:
            return False
        if table.missing is not None and self.options.missing == INDICATOR:
            return False
        if learned:
            self.admit_dense(roles)
        places = self.vocabulary.positions(roles.dense_names)
        return len(self.vocabulary) == len(places) and bool((np.diff(places) == 1).all())

    def admit_dense(self, roles: Roles) -> None:
        """Assign positions to the features that every row has."""
        if not len(self.vocabulary):
            places = self.vocabulary.positions(roles.dense_names, True)
            if self.options.intercept and self.scaler is not None:
                at = roles.dense_names.index(INTERCEPT)
                self.scaler.leave_out([int(places[at])])


def numbered(column: Category, numbers: dict[str, int]) -> NDArray[np.int64]:
    """Return the number of each row's value, in order of first appearance; new ones are added."""
    codes, first = np.unique(column.codes, return_index=True)
    places = np.zeros(len(column.values), dtype=np.int64)
    for code in codes[np.argsort(first)].tolist():
        places[code] = numbers.setdefault(column.values[code], len(numbers))
    return places[column.codes]


def rows_of_groups(block: Block) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield the groups of a block in order of appearance, each with its rows in order."""
    if not len(block):
        return
    if block.groups is None:
        yield 0, np.arange(len(block))
        return
    order = np.argsort(block.groups, kind="stable")
    numbers = block.groups[order]
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    for rows in np.split(order, starts[1:]):
        yield int(block.groups[rows[0]]), rows
