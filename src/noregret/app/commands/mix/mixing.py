"""One mix: a stream of forecasts, a master for each series, and the files written."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from noregret.app.commands.mix.noting import Notes, Rows
from noregret.app.commands.mix.refusing import LeftOut, nothing_learned
from noregret.app.commands.mix.series import Series
from noregret.app.commands.mix.writing import check_groups, write_all
from noregret.app.commands.outputs import Outputs
from noregret.app.results.run import skipped
from noregret.base.compiled.machine import keep_freed_memory
from noregret.base.expert_losses import ExpertLoss, expert_loss
from noregret.base.locks import Locks
from noregret.errors import NoRegretError, WrongUsage
from noregret.proof.game.play_blocks import numbers_of
from noregret.streams.block import Sparse
from noregret.streams.options import ASLEEP, AVERAGE
from noregret.streams.prefetch import ahead
from noregret.streams.table_reading import TableReading, rows_of_groups

if TYPE_CHECKING:
    from noregret.app.results.mix import MixResult
    from noregret.experts.master import Master
    from noregret.proof.certificates.certificate import Certificate
    from noregret.streams.block import Block
    from noregret.streams.stream import Stream


@dataclass
class Mix:
    """A master that mixes a stream of forecasts, or a copy of it for each of many series.

    Parameters
    ----------
    stream
        The forecasts: one column per expert, ``missing="asleep"``.
    master
        The untrained master; copies of it learn.
    outputs
        The files to write at the end.
    hindsight
        Whether to compare with the best in hindsight, which needs a record of all rows.
    watch
        Whether to record losses and weights over time, for charts.
    command
        The command line, to repeat the mix.
    told
        Called after every block.
    no_forecasts
        Columns that were left out as no forecasts, each with the reason.
    """

    stream: Stream
    master: Master
    outputs: Outputs = field(default_factory=Outputs)
    hindsight: bool = True
    watch: bool = False
    command: str = ""
    told: Callable[[Mix], None] | None = None
    no_forecasts: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        keep_freed_memory()
        reading, options = self.stream.reading(), self.stream.options
        if options.missing != ASLEEP or not isinstance(reading, TableReading):
            raise WrongUsage(
                f"{', '.join(self.stream.paths)}: forecasts come in a table with named columns:"
                " csv, tsv, parquet or jsonl"
            )
        self.grouped = options.group is not None and options.only is None
        self.group = options.group if self.grouped else None
        self.outputs.check(self.stream.paths)
        check_groups(self.outputs, self.grouped)
        self.reading = reading
        self.reading.without_outcomes = True
        self.reading.wanted = lambda: not (self.stopping or self.over)
        self.cost = cost_of(self.master)
        self.names: list[str] = []
        self.series: dict[int, Series] = {}
        self.notes = Notes(
            self.outputs,
            self.cost,
            expected=self.master._round.pays_expected,
            averaged=AVERAGE in options.add,
            grouped=self.grouped,
            stored=self.grouped and (self.hindsight or self.outputs.certificate is not None),
            watch=self.watch,
        )
        self.left_out = LeftOut(options.on_error == "stop")
        self.size = self.seen = 0
        self.spent = 0.0
        self.stopping = self.interrupted = self.over = self.looking_back = False
        self.failures: list[str] = []  # what could not be written
        self.certificates: dict[str, Certificate | str] = {}  # of groups, or why there is none
        self.recording = ExitStack()

    # While it runs.

    def go(self) -> MixResult:
        """Play to the end, or until stopped, and write everything that was asked for."""
        locks = Locks(self.outputs.given().values())
        try:
            return self.played()
        finally:
            locks.release()

    def played(self) -> MixResult:
        """Play, and write."""
        started = datetime.now(UTC).isoformat(timespec="seconds")
        began = time.perf_counter()
        try:
            with self.recording, closing(ahead(self.reading, self.reading.wanted)) as blocks:
                for block in blocks:
                    self.take(block)
                    self.spent = time.perf_counter() - began
                    if self.told is not None:
                        self.told(self)
                    if self.stopping:
                        break
                self.interrupted = self.stopping
        finally:
            self.over = True
        if not self.rounds:
            raise nothing_learned(self)
        for series in self.series.values():
            series.game.describe(self.reading.transforms, self.stream.target)
        self.spent = time.perf_counter() - began
        return self.finish(started)

    def take(self, block: Block) -> None:
        """Play a block, and record it."""
        if len(block):
            if isinstance(block.X, Sparse):
                raise NoRegretError("every row must have the same columns").at(block.place_of(0))
            self.begin()
            self.notes.note(self.play(block))
        self.seen += len(block) + len(block.faults) if block.read is None else block.read
        self.size = block.size
        self.left_out.add(skipped(error) for _, error in block.faults)
        if block.faults and self.left_out.stop:
            raise block.faults[0].error

    def begin(self) -> None:
        """Take the names of the experts from the first block."""
        if not self.names and self.reading.features:
            self.names = list(self.reading.feature_names(self.reading.features))
            self.notes.begin(len(self.names))

    def play(self, block: Block) -> Rows:
        """Play every row of a block in its series; return those that were not refused."""
        X, y, grouped = block.X, block.y, self.grouped and block.groups is not None
        assert not isinstance(X, Sparse)
        predictions = np.full(len(y), np.nan)
        weights = np.full(X.shape, np.nan) if self.notes.needs_weights else None
        kept, at = np.ones(len(y), dtype=bool), np.zeros(len(y), np.int64)
        for group, rows in rows_of_groups(block):
            series = self.series_of(group)
            refuse = partial(self.left_out.refuse, block, rows, kept)
            if not grouped:
                series.play(X, y, predictions, weights, refuse, block.batches)
                continue
            said = np.full(len(rows), np.nan)
            used = None if weights is None else np.full((len(rows), X.shape[1]), np.nan)
            first = series.master.rounds
            batches = None if block.batches is None else block.batches[rows]
            series.play(X[rows], y[rows], said, used, refuse, batches)
            learned = rows[kept[rows] & ~np.isnan(y[rows])]
            at[learned] = first + np.arange(len(learned))
            predictions[rows] = said
            if weights is not None and used is not None:
                weights[rows] = used
        numbers = numbers_of(block, self.seen)
        groups = np.zeros(len(y), np.int64) if block.groups is None else block.groups
        rounds = at if self.grouped else None
        played = Rows(numbers, groups, X, y, predictions, weights, rounds, block.batches)
        return played.only(kept)

    def series_of(self, group: int) -> Series:
        """Return a series; a new one gets its own master."""
        if group not in self.series:
            recorded = self.hindsight and not self.grouped
            made = Series(self.master.clone(), self.names, recorded)
            self.recording.enter_context(made.game.recorded())
            self.series[group] = made
        return self.series[group]

    def finish(self, started: str) -> MixResult:
        """Compare with hindsight, write all files, and return the result."""
        self.looking_back, began = self.hindsight, time.perf_counter()
        if self.told is not None:
            self.told(self)
        result = self.result(started, began)
        result, self.failures = write_all(self, result)
        if result.certificate is None and not self.grouped and self.outputs.certificate is not None:
            said = f"{self.outputs.certificate}: no certificate: {result.uncertified}"
            self.failures.append(said)
        return result

    def result(self, started: str, began: float) -> MixResult:
        """Compare with hindsight, and return all figures."""
        from noregret.app.commands.mix.figures import result_of

        return result_of(self, started, began)

    def save_model(self, path: str) -> None:
        """Write the master."""
        self.only_series.master.save(path)

    # The state so far.

    @property
    def rounds(self) -> int:
        """Number of rounds played in all series."""
        return sum(series.master.rounds for series in self.series.values())

    @property
    def total(self) -> float:
        """Cumulative loss."""
        return float(sum(series.total for series in self.series.values()))

    @property
    def mean(self) -> float:
        """Mean loss per round."""
        return self.total / max(1, self.rounds)

    @property
    def standing(self) -> str:
        """The error so far in a few words."""
        return f"mean loss {self.mean:.4g}"

    @property
    def groups(self) -> dict[str, int]:
        """The numbers of the groups, by name."""
        return self.reading.groups

    @property
    def group_names(self) -> list[str]:
        """The names of the groups, by number."""
        return list(self.reading.groups)

    @property
    def only_series(self) -> Series:
        """The series, if there is only one."""
        (found,) = self.series.values()
        return found


def cost_of(master: Master) -> ExpertLoss:
    """Return the loss of a master's forecasts, for tables of them."""
    cost = master._round.cost
    if type(cost).__name__ == "PythonLoss":
        return expert_loss(cost)
    return expert_loss(cost.name, cost.parameter if cost.name == "quantile" else None)
