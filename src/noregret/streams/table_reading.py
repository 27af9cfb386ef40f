"""One pass through files of tables: what CSV, Parquet and JSON lines do alike."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import Place
from noregret.limits import INTERCEPT
from noregret.streams.block import Block, Fault, Floats, Sparse
from noregret.streams.columns import BOOLEAN, TEXT, Category, Roles, Table
from noregret.streams.columns_to_rows import dense_rows, faults_of, sparse_rows, without
from noregret.streams.growth import Growth
from noregret.streams.options import ASLEEP, CORRECTED
from noregret.streams.parsing.scaling import Scaler
from noregret.streams.stream import Reading, State, Stream

if TYPE_CHECKING:
    from noregret.streams.corrected_forecast import Correcting

# Groups beside the only one that are remembered, to name the nearest where that is not there.
MAX_REMEMBERED_GROUPS = 10_000


class TableReading(Reading):
    """A pass in which every block is a table with the same columns."""

    def __init__(self, stream: Stream, learning: bool, state: State | None) -> None:
        self.kinds: dict[str, str] | None = None
        self.settled: Roles | None = None
        # Whether rows are wanted, too, whose outcome is still to come.
        self.without_outcomes = False
        self.groups: dict[str, int] = {}  # their numbers, by when they appeared
        self.others: dict[str, None] = {}  # groups that are not the only one, up to some number
        self.correcting: dict[int, Correcting] = {}
        self.growth = Growth()
        super().__init__(stream, learning, state)

    def columns_state(self) -> dict[str, Any]:
        """Return what the columns hold."""
        return {"kinds": self.kinds}

    def set_columns_state(self, state: dict[str, Any]) -> None:
        """Hold the columns to what they were."""
        self.kinds = state["kinds"]

    def roles(self, where: str) -> Roles:
        """Return what the columns are for."""
        if self.settled is None:
            assert self.kinds is not None
            self.settled = Roles(self.kinds, self.options, where, self.learning)
        return self.settled

    def block_of(
        self,
        table: Table,
        place_of: Callable[[int], Place],
        mark: dict[str, Any],
        size: int,
        others: Sequence[Fault] = (),
    ) -> Block:
        """Make a block of a table; rows that cannot be used, or are not wanted, are left out.

        ``others`` are faults that are not rows of the table.
        """
        faults = faults_of(table, self.options, place_of, not self.learning)
        unwanted = self.unwanted(table)
        faults = [fault for fault in faults if fault.row not in unwanted]
        if not faults and not unwanted:
            return self.made(table, place_of, mark, size, list(others))
        bad = sorted([*unwanted, *(fault.row for fault in faults)])
        kept = np.delete(np.arange(len(table.y)), bad)
        # What is no row at all comes before the row of the table that has its number.
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
        """Return the rows of other groups than the only one, and those that cannot be played yet.

        Those are forecasts whose outcome is still to come.
        """
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
        """Place the features, and make the block."""
        rows: Floats | Sparse
        if self.fits_dense(table):
            rows = dense_rows(table, self.options)
        else:
            known = len(self.vocabulary)
            rows, left = sparse_rows(table, self.options, self.vocabulary)
            self.note_growth(known, len(table.y))
            if isinstance(self.scaler, Scaler) and self.scaler.kind == "standard":
                self.scaler.leave_out(left)
        block = Block(rows, table.y, place_of, mark, size, faults=faults)
        block.booleans = self.has_boolean_outcomes
        if table.groups is not None:
            block.groups = self.numbered(table.groups)
        return block

    def note_growth(self, known: int, rows: int) -> None:
        """Take note of the features that rows have brought beyond those known before."""
        if self.learning and self.options.hash is None:
            texts = [name for name, kind in (self.kinds or {}).items() if kind == TEXT]
            names = self.vocabulary.names(known, len(self.vocabulary))
            self.growth.note(names, rows, texts, self.paths[0])

    def numbered(self, column: Category) -> NDArray[np.int64]:
        """Return the number of each row's group, by when it first appeared."""
        codes, first = np.unique(column.codes, return_index=True)
        places = np.zeros(len(column.values), dtype=np.int64)
        for code in codes[np.argsort(first)].tolist():
            places[code] = self.groups.setdefault(column.values[code], len(self.groups))
        return places[column.codes]

    def complete(self, block: Block) -> None:
        """Have the experts corrected, in order."""
        if CORRECTED not in self.options.add or not len(block) or isinstance(block.X, Sparse):
            return
        from noregret.streams.corrected_forecast import Correcting

        assert self.settled is not None
        experts, at = self.settled.expert_places, self.settled.dense_names.index(CORRECTED)
        for group, rows in rows_of_groups(block):
            if group not in self.correcting:
                self.correcting[group] = Correcting(len(experts))
            self.correcting[group].correct(block.X, experts, at, block.y, rows)

    @property
    def has_boolean_outcomes(self) -> bool:
        """Whether the outcomes are written as true and false."""
        if self.settled is None or self.kinds is None or self.options.positive is not None:
            return False
        return self.kinds.get(self.settled.target or "") == BOOLEAN

    def fits_dense(self, table: Table) -> bool:
        """Whether every row has the same features as all before, each in its place."""
        roles = self.settled
        if roles is None or not roles.plain or table.names != roles.numbers or table.categories:
            return False
        if len(table.y):
            self.admit_dense(roles)
        places = self.vocabulary.positions(roles.dense_names)
        return len(self.vocabulary) == len(places) and bool((np.diff(places) == 1).all())

    def admit_dense(self, roles: Roles) -> None:
        """Give the features of every row their positions."""
        if not len(self.vocabulary):
            places = self.vocabulary.positions(roles.dense_names, True)
            if self.options.intercept and self.scaler is not None:
                at = roles.dense_names.index(INTERCEPT)
                self.scaler.leave_out([int(places[at])])


def rows_of_groups(block: Block) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield the groups of a block, those that come first first, each with its rows in order."""
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
