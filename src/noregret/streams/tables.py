"""One pass through files of tables: what CSV, Parquet and JSON lines do alike."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from noregret.core.scaling import Scaler
from noregret.streams.base import Reading, State, Stream
from noregret.streams.block import Block, Fault, Floats, Sparse
from noregret.streams.columns import BOOLEAN, Roles, Table
from noregret.streams.rows import dense_rows, faults_of, sparse_rows, without


class TableReading(Reading):
    """A pass in which every block is a table with the same columns."""

    def __init__(self, stream: Stream, learning: bool, state: State | None) -> None:
        self.kinds: dict[str, str] | None = None
        self.settled: Roles | None = None
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
        place_of: Callable[[int], str],
        mark: dict[str, Any],
        size: int,
        others: Sequence[Fault] = (),
    ) -> Block:
        """Make a block of a table; rows that cannot be used are left out.

        ``others`` are faults that are not rows of the table.
        """
        faults = faults_of(table, self.options, place_of, not self.learning)
        if not faults:
            return self.made(table, place_of, mark, size, list(others))
        bad = [fault.row for fault in faults]
        kept = np.delete(np.arange(len(table.y)), bad)
        # What is no row at all comes before the row of the table that has its number.
        told = sorted([*others, *faults], key=lambda fault: fault.row)
        counted = [fault._replace(row=fault.row - bisect_left(bad, fault.row)) for fault in told]
        return self.made(
            without(table, bad), lambda row: place_of(int(kept[row])), mark, size, counted
        )

    def made(
        self,
        table: Table,
        place_of: Callable[[int], str],
        mark: dict[str, Any],
        size: int,
        faults: list[Fault],
    ) -> Block:
        """Place the features, and make the block."""
        rows: Floats | Sparse
        if self.fits_dense(table):
            rows = dense_rows(table, self.options)
        else:
            rows, left = sparse_rows(table, self.options, self.vocabulary)
            if isinstance(self.scaler, Scaler) and self.scaler.kind == "standard":
                self.scaler.leave_out(left)
        block = Block(rows, table.y, place_of, mark, size, faults=faults)
        block.booleans = self.has_boolean_outcomes
        return block

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
                at = roles.dense_names.index("intercept")
                self.scaler.leave_out([int(places[at])])
