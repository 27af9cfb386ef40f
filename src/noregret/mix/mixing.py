"""One mix: a stream of forecasts, a master for each series, what is noted and written."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadExample, NoRegretError
from noregret.experts.losses import expert_loss
from noregret.mix.history import Watching
from noregret.mix.series import Series
from noregret.mix.store import Store
from noregret.mix.writing import MixOutputs, write_all
from noregret.playing import numbers_of, without_round
from noregret.run.result import Skipped
from noregret.run.spool import Numbers
from noregret.streams.block import Sparse
from noregret.streams.options import ASLEEP, AVERAGE
from noregret.streams.tables import TableReading, rows_of_groups

if TYPE_CHECKING:
    from noregret.experts.master import Master
    from noregret.mix.result import MixResult
    from noregret.streams.base import Stream
    from noregret.streams.block import Block

Floats = NDArray[np.float64]
# Bad rows that are told in full.
TOLD = 10


@dataclass
class Mix:
    """A master that mixes a stream of forecasts, or a copy of it for each of many series.

    Parameters
    ----------
    stream
        The forecasts: a column an expert, ``missing="asleep"``.
    master
        Who mixes; it has learned nothing, and learns nothing: copies of it do.
    outputs
        What to write at the end.
    hindsight
        Whether to compare with the best in hindsight: it needs a record of all rows.
    watch
        Whether to note how it went, for charts.
    command
        The command line, to do it again.
    told
        Called after every block.
    """

    stream: Stream
    master: Master
    outputs: MixOutputs = field(default_factory=MixOutputs)
    hindsight: bool = True
    watch: bool = False
    command: str = ""
    told: Callable[[Mix], None] | None = None

    def __post_init__(self) -> None:
        reading, options = self.stream.reading(), self.stream.options
        if options.missing != ASLEEP or not isinstance(reading, TableReading):
            raise NoRegretError(
                f"{', '.join(self.stream.paths)}: forecasts come in a table with named columns:"
                " csv, tsv, parquet or jsonl"
            )
        self.grouped = options.group is not None and options.only is None
        self.group = options.group if self.grouped else None
        self.outputs.check(self.stream.paths)
        self.outputs.check_groups(self.grouped)
        self.reading = reading
        self.reading.without_outcomes = True
        self.reading.wanted = lambda: not self.stopping
        cost = self.master.cost
        takes = cost.parameter if cost.name == "quantile" else None
        own = type(cost).__name__ == "PythonLoss"
        self.cost = expert_loss(cost if own else cost.name, takes)
        self.names: list[str] = []
        self.series: dict[int, Series] = {}
        self.store = Store()
        self.watching: Watching | None = None
        self.predicted = self.weighed = Numbers(3)
        self.average = 0.0  # what the average paid, where it is no expert
        self.size = self.seen = self.skipped = self.open_rows = 0
        self.skipped_rows: list[Skipped] = []
        self.spent = self.looked_back = 0.0
        self.stopping = self.interrupted = self.looking_back = False
        self.failures: list[str] = []  # what could not be written
        self.recording = ExitStack()

    # While it runs.

    def go(self) -> MixResult:
        """Play to the end, or until stopped, and write everything that was asked for."""
        started = datetime.now(UTC).isoformat(timespec="seconds")
        began = time.perf_counter()
        with self.recording:
            for block in self.reading:
                self.take(block)
                self.spent = time.perf_counter() - began
                if self.told is not None:
                    self.told(self)
                if self.stopping:
                    break
            self.interrupted = self.stopping
        if not self.rounds:
            self.refuse_nothing()
        self.spent = time.perf_counter() - began
        return self.finish(started)

    def take(self, block: Block) -> None:
        """Play a block, and note what is wanted of it."""
        if isinstance(block.X, Sparse):
            raise NoRegretError(f"{block.place_of(0)}: every row must have the same columns")
        self.begin()
        predictions = np.full(len(block), np.nan)
        wanted = self.outputs.weights is not None or self.watch
        weights = np.full(block.X.shape, np.nan) if wanted else None
        kept, at = np.ones(len(block), dtype=bool), np.zeros(len(block), np.int64)
        for group, rows in rows_of_groups(block):
            refuse = partial(self.refuse, block, rows, kept)
            series = self.series_of(group)
            if block.groups is None or not self.grouped:
                series.play(block.X, block.y, predictions, weights, refuse)
                continue
            said = np.full(len(rows), np.nan)
            used = None if weights is None else np.full((len(rows), len(self.names)), np.nan)
            first = series.master.rounds
            series.play(block.X[rows], block.y[rows], said, used, refuse)
            learned = rows[kept[rows] & ~np.isnan(block.y[rows])]
            at[learned] = first + np.arange(len(learned))
            predictions[rows] = said
            if weights is not None and used is not None:
                weights[rows] = used
        self.note(block, predictions, weights, kept, at if self.grouped else None)
        self.skipped += len(block.faults)
        self.tell(Skipped(fault.place, fault.message) for fault in block.faults)
        if block.faults and self.stream.options.on_error == "stop":
            raise self.reading.refusal(block)

    def begin(self) -> None:
        """Learn from the first block who the experts are."""
        if self.names or not self.reading.features:
            return
        self.names = self.reading.feature_names(self.reading.features)
        if self.outputs.predictions is not None:
            self.predicted = Numbers(4)
        if self.outputs.weights is not None:
            self.weighed = Numbers(2 + len(self.names))
        if self.watch:
            self.watching = Watching(len(self.names), self.grouped)

    def series_of(self, group: int) -> Series:
        """Return a series; a new one gets its own master."""
        if group not in self.series:
            recorded = self.hindsight and not self.grouped
            made = Series(self.master.clone(), self.names, recorded)
            if made.game is not None:
                self.recording.enter_context(made.game.recorded())
            self.series[group] = made
        return self.series[group]

    def refuse(
        self,
        block: Block,
        rows: NDArray[np.int64],
        kept: NDArray[np.bool_],
        row: int,
        error: BadExample,
    ) -> None:
        """Leave a row out, or stop there."""
        at = int(rows[row])
        place, reason = block.place_of(at), without_round(str(error))
        if self.stream.options.on_error == "stop" or error.round is None:
            error.args = (f"{place}: {reason}",)
            raise error
        kept[at] = False
        self.skipped += 1
        self.tell([Skipped(place, reason)])

    def tell(self, skipped: Any) -> None:
        """Remember the first rows that were left out."""
        self.skipped_rows += skipped
        del self.skipped_rows[TOLD:]

    def note(
        self,
        block: Block,
        predictions: Floats,
        weights: Floats | None,
        kept: NDArray[np.bool_],
        at: NDArray[np.int64] | None,
    ) -> None:
        """Note the rows of a block; ``at`` are their rounds in their series."""
        assert not isinstance(block.X, Sparse)
        numbers = numbers_of(block, self.seen)
        self.seen += len(block) + len(block.faults) if block.read is None else block.read
        self.size = block.size
        groups = np.zeros(len(block)) if block.groups is None else block.groups.astype(np.float64)
        all_kept = bool(kept.all())
        if not all_kept:
            numbers, groups, predictions = numbers[kept], groups[kept], predictions[kept]
            weights = None if weights is None else weights[kept]
            at = None if at is None else at[kept]
        X, y = (block.X, block.y) if all_kept else (block.X[kept], block.y[kept])
        if self.outputs.predictions is not None:
            self.predicted.add(numbers, groups, predictions, y)
        if self.outputs.weights is not None:
            assert weights is not None
            self.weighed.add(numbers, groups, weights)
        known = ~np.isnan(y)
        if not known.all():
            self.open_rows += int(np.count_nonzero(~known))
            X, y, groups, predictions = X[known], y[known], groups[known], predictions[known]
            weights = None if weights is None else weights[known]
            at = None if at is None else at[known]
        if len(y):
            self.note_losses(X, y, predictions, weights, at)
            if self.grouped and (self.hindsight or self.outputs.certificate is not None):
                self.store.add(groups.astype(np.int64), X, y, predictions)

    def note_losses(
        self,
        X: Floats,
        y: Floats,
        predictions: Floats,
        weights: Floats | None,
        at: NDArray[np.int64] | None,
    ) -> None:
        """Note what rounds cost."""
        with np.errstate(all="ignore"):
            if AVERAGE not in self.stream.options.add:
                count = np.maximum(1, np.count_nonzero(~np.isnan(X), axis=1))
                said = np.where(np.isnan(X), 0.0, X).sum(axis=1) / count
                self.average += float(self.cost.value(said, y).sum())
            if self.watching is None or weights is None:
                return
            own = self.cost.value(predictions, y)
            each = self.cost.value(X, y[:, None])
            if self.master.pays_expected:
                own = np.where(weights > 0, weights * each, 0.0).sum(axis=1)
            self.watching.note(own, np.where(np.isnan(X), own[:, None], each), weights, at)

    # At the end.

    def refuse_nothing(self) -> None:
        """Say that there was nothing to learn from."""
        where = ", ".join(self.stream.paths)
        if self.interrupted:
            raise KeyboardInterrupt
        if self.skipped:
            first = self.skipped_rows[0]
            raise NoRegretError(
                f"{where}: none of its {self.skipped} rows could be used; {first.place}:"
                f" {first.reason}"
            )
        only = self.stream.options.only
        if only is not None and not self.series:
            raise NoRegretError(
                f"{where}: there is no group {only!r} in the column {self.stream.options.group!r}"
            )
        if self.open_rows:
            raise NoRegretError(
                f"{where}: none of its {self.open_rows} rows has an outcome: there is nothing to"
                " learn from"
            )
        raise NoRegretError(f"{where}: there are no forecasts in it")

    def finish(self, started: str) -> MixResult:
        """Look back, write everything, and return what came of it."""
        from noregret.mix.figures import result_of

        self.looking_back, began = True, time.perf_counter()
        if self.told is not None:
            self.told(self)
        result = result_of(self, started, began)
        result, self.failures = write_all(self, result)
        if result.certificate is None and not self.grouped and self.outputs.certificate is not None:
            said = f"{self.outputs.certificate}: no certificate: {result.uncertified}"
            self.failures.append(said)
        return result

    # How things stand.

    @property
    def rounds(self) -> int:
        """How many rounds were played, in all series."""
        return sum(series.master.rounds for series in self.series.values())

    @property
    def total(self) -> float:
        """What they cost."""
        return float(sum(series.master.total_loss for series in self.series.values()))

    @property
    def mean(self) -> float:
        """What a round cost."""
        return self.total / max(1, self.rounds)

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
        """The series, where there is but one."""
        (found,) = self.series.values()
        return found
